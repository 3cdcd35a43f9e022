import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parseCrontab } from "../../../examples/crontab.ts";
import { createScheduler } from "../../../mod.ts";
import { manualClock } from "../../../src/testing/mod.ts";

const scheduler = createScheduler({ clock: manualClock("2026-01-01T00:00:00Z") });
const check = (cron: string, timezone: string | undefined) =>
  void scheduler.nextRuns(timezone === undefined ? { cron } : { cron, timezone }, 1);
const read = (text: string) => parseCrontab(text, check);

describe("a line of a crontab", () => {
  it.each([
    ["0 2 * * * backup", "0 2 * * *", "backup"],
    ["  0\t2 * *   *\t\tbackup --all  ", "0 2 * * *", "backup --all"],
    ["*/5 8-18/2 1,15 jan-mar MON-fri x", "*/5 8-18/2 1,15 jan-mar MON-fri", "x"],
    ["@daily backup", "@daily", "backup"],
    ["@Hourly\tcd / && run-parts /etc/cron.hourly", "@Hourly", "cd / && run-parts /etc/cron.hourly"],
    ["*/10 * * * * * curl -s x", "*/10 * * * * *", "curl -s x"],
    ["30 0 9 * * 1-5 x", "30 0 9 * * 1-5", "x"],
    ["0 0 9 * * ? x", "0 0 9 * * ?", "x"],
    ["0 2 * * * 7z a b.7z /srv", "0 2 * * *", "7z a b.7z /srv"],
    ["0 2 * * * FOO=1 backup", "0 2 * * *", "FOO=1 backup"],
    ["0 2 * * * /usr/bin/sun", "0 2 * * *", "/usr/bin/sun"],
  ])("%j", (line, cron, command) => {
    expect(read(line)).toMatchObject({ entries: [{ line: 1, cron, command, name: command }], errors: [] });
  });

  it("has its name from the comment at the end of its command, as a shell sees one", () => {
    const names = read([
      "* * * * * a # nightly backup",
      "* * * * * b#c",
      "* * * * * echo '# no' \"# no\" \\# no # yes # and on",
      "* * * * * d #",
    ].join("\n")).entries.map(({ name, command }) => [name, command]);
    expect(names).toEqual([
      ["nightly backup", "a"],
      ["b#c", "b#c"],
      ["yes # and on", "echo '# no' \"# no\" \\# no"],
      ["d", "d"],
    ]);
  });

  it("has a name of its own, also where commands repeat or are long", () => {
    const long = "x".repeat(300);
    const names = read(["a", "a", "a (2)", "b # a", long, long].map((command) => `* * * * * ${command}`).join("\n"))
      .entries.map(({ name }) => name);
    expect(names.slice(0, 4)).toEqual(["a", "a (2)", "a (2) (2)", "a (3)"]);
    expect(new Set(names).size).toBe(6);
    expect(Math.max(...names.map(({ length }) => length))).toBeLessThanOrEqual(200);
  });

  it("ends its command at the first %, and gives it the rest to read", () => {
    const entries = read([
      "* * * * * mail -s hi me%Good morning,%%bye",
      "* * * * * dump > $(date +\\%F).sql # dump",
      "* * * * * cat%",
      "* * * * * cat # named%in\\%put",
    ].join("\n")).entries;
    expect(entries.map(({ name, command, stdin }) => [name, command, stdin])).toEqual([
      ["mail -s hi me", "mail -s hi me", "Good morning,\n\nbye\n"],
      ["dump", "dump > $(date +%F).sql", undefined],
      ["cat", "cat", "\n"],
      ["named", "cat", "in%put\n"],
    ]);
  });
});

describe("variables of a crontab", () => {
  it("hold for the lines below them", () => {
    const { entries, errors } = read([
      "@daily a",
      'SHELL = /bin/bash\r\nMAILTO=""',
      "@daily b",
      "'PATH' = '/usr/bin : /bin '  ",
      '"A_1"=x # y',
      "@daily c",
    ].join("\r\n"));
    expect(errors).toEqual([]);
    expect(entries.map(({ line, env }) => [line, env])).toEqual([
      [1, {}],
      [4, { SHELL: "/bin/bash", MAILTO: "" }],
      [7, { SHELL: "/bin/bash", MAILTO: "", PATH: "/usr/bin : /bin ", A_1: "x # y" }],
    ]);
  });

  it("K3 CRON_TZ is the zone of the lines below it, and no variable; an empty one ends it", () => {
    const { entries } = read(
      "@daily a\nCRON_TZ=Europe/Berlin\n@daily b\nTZ=Asia/Tokyo\nCRON_TZ = America/New_York\n@daily c\nCRON_TZ=\n@daily d",
    );
    expect(entries.map(({ timezone }) => timezone)).toEqual([
      undefined,
      "Europe/Berlin",
      "America/New_York",
      undefined,
    ]);
    expect(entries[2]!.env).toEqual({ TZ: "Asia/Tokyo" });
  });
});

describe("what is wrong with a crontab", () => {
  it.each([
    ["hello world", /"hello world" is not a line of a crontab; expected five fields or a nickname/],
    ["0 2 * *", /not a line of a crontab/],
    ["0 2 * * *", /no command after the schedule/],
    ["*/10 * * * * *", /no command after the schedule/],
    ["@daily", /no command after the schedule/],
    ["* * * * * # only a name", /no command after the schedule/],
    ["@dayly x", /it is no nickname that is known here; expected @yearly/],
    ["61 * * * * x", /in its minute field: "61"/],
    ["0 0 30 2 * x", /never comes/],
    ["0 */5 * * * mon x", /"mon" may be a sixth field or a command/],
    ["CRON_TZ=Mars/Olympus", /"Mars\/Olympus" is not a time zone/],
  ])("K1 %j", (line, message) => {
    const { entries, errors } = read(`# a comment\n\n${line}\n@daily fine`);
    expect(errors).toEqual([{ line: 3, message: expect.stringMatching(message) }]);
    expect(entries.map(({ line, command }) => [line, command])).toEqual([[4, "fine"]]);
  });

  it("K1 is told for every line, with @reboot apart, which is right but not supported", () => {
    const { entries, errors, unsupported } = read("99 * * * * a\n@reboot b\n* 99 * * * c\n@REBOOT d\n@daily e");
    expect(errors.map(({ line }) => line)).toEqual([1, 3]);
    expect(unsupported).toEqual([2, 4].map((line) => ({ line, message: expect.stringMatching(/^@reboot is not/) })));
    expect(entries).toHaveLength(1);
  });
});

it("an empty crontab is an empty one, with a byte order mark too", () => {
  expect(read("")).toMatchObject({ entries: [], errors: [], unsupported: [] });
  expect(read("\uFEFF# nothing\n")).toMatchObject({ entries: [], errors: [] });
});

it("N4 the example's crontab is right, and its names are those that a person would give", () => {
  const file = fileURLToPath(new URL("../../../examples/crontab", import.meta.url));
  const { entries, errors, unsupported } = read(readFileSync(file, "utf8"));
  expect(errors).toEqual([]);
  expect(unsupported).toHaveLength(1);
  expect(entries.map(({ name, timezone }) => `${name} ${timezone ?? "-"}`)).toEqual(expect.arrayContaining([
    "health -",
    "nightly-backup Europe/Berlin",
    "prices America/New_York",
  ]));
  expect(entries.find(({ name }) => name === "nightly-backup")!.command).toContain("$(date +%F)");
});
