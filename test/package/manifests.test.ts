import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { STATUS } from "../../plugins/transports/http/problem.ts";
import { ERROR_CODES } from "../../src/contract/errors.ts";
import * as limits from "../../src/contract/limits.ts";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly imports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, unknown>>;
}

const read = (file: string): string => readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8");
const deno = JSON.parse(read("deno.json")) as Manifest;
const npm = JSON.parse(read("package.json")) as Manifest;

it("both manifests name the same package", () => {
  expect([npm.name, npm.version, npm.license]).toEqual([deno.name, deno.version, deno.license]);
});

it("both manifests export the same subpaths, and each of npm's is the built file of Deno's source", () => {
  const built = Object.entries(deno.exports as Record<string, string>).map(([subpath, source]) => {
    const file = source.replace(/^\.\//, "./dist/").replace(/\.ts$/, "");
    return [subpath, { types: `${file}.d.ts`, default: `${file}.js` }];
  });
  expect(npm.exports).toEqual(Object.fromEntries(built));
});

it("both manifests ask for the same versions of the same libraries", () => {
  const { "@std/ulid": ulid, ...others } = deno.imports;
  expect(ulid).toMatch(/^jsr:@std\/ulid@\^1/);
  expect({ ...npm.dependencies, ...npm.peerDependencies }).toEqual({
    "@std/ulid": expect.stringMatching(/^npm:ulid@\^3/),
    ...Object.fromEntries(Object.entries(others).map(([name, range]) => [name, range.replace(`npm:${name}@`, "")])),
  });
});

it("no peer is forced upon anybody", () => {
  const optional = Object.keys(npm.peerDependencies ?? {}).map((name) => [name, { optional: true }]);
  expect(npm.peerDependenciesMeta ?? {}).toEqual(Object.fromEntries(optional));
});

it("the changelog is in the form of Keep a Changelog, and tells of this version first", () => {
  const headings = [...read("CHANGELOG.md").matchAll(/^##+ (.*)$/gm)].map(([, heading]) => heading!);
  const [first] = headings.filter((heading) => heading.startsWith("[") && heading !== "[Unreleased]");
  expect(first?.split("]")[0]).toBe(`[${npm.version}`);
  for (const heading of headings) {
    expect(heading).toMatch(
      /^(?:\[Unreleased\]|\[\d+\.\d+\.\d+(?:-[\w.]+)?\] - (?:\d{4}-\d\d-\d\d|unreleased)|Added|Changed|Deprecated|Removed|Fixed|Security)$/,
    );
  }
});

it("the version is a semantic one", () => {
  expect(npm.version).toMatch(/^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[0-9A-Za-z.-]+)?$/);
});

it("the lock file installs from whatever registry is configured", () => {
  expect(read("package-lock.json")).not.toContain('"resolved"');
});

/** The codes in the first column of the tables under the README's heading about errors. */
function codesInReadme(readme: string): string[] {
  const section = /^#+ [^\n]*\berrors?\b[^\n]*\n(.*?)(?=^#+ |$(?![\s\S]))/ims.exec(readme)?.[1] ?? "";
  return [...section.matchAll(/^\|\s*`(\w+)`\s*\|/gm)].map((row) => row[1] as string);
}

it("the README's error table has every code once and no other", () => {
  expect(codesInReadme(read("README.md")).toSorted()).toEqual(Object.keys(ERROR_CODES).toSorted());
});

it("the README's table of statuses has every code at its status, but for the one that no server answers", () => {
  const section = /^## Over HTTP\n(.*?)^## /ms.exec(read("README.md"))![1]!;
  const rows = [...section.matchAll(/^\| (\d{3})\s*\| (.*?)\s*\|$/gm)].map((
    [, status, codes],
  ) => [Number(status), codes!]);
  expect(rows.length).toBeGreaterThan(8);
  for (const [code, status] of Object.entries(STATUS)) {
    if (code === "unreachable") continue;
    const told = rows.filter(([, codes]) => (codes as string).includes(`\`${code}\``)).map(([row]) => row);
    const isFamily = code.startsWith("invalid_") && status === 400;
    expect([code, isFamily || told.includes(status)]).toEqual([code, true]);
  }
});

it("an error table is read from its own section only", () => {
  const readme =
    "# A\n| `max_faults` | no |\n## Errors\n| code | m |\n|---|---|\n| `closed` | yes |\n## B\n| `no` | no |\n";
  expect(codesInReadme(readme)).toEqual(["closed"]);
  expect(codesInReadme(readme.slice(0, readme.indexOf("## B")))).toEqual(["closed"]);
  expect(codesInReadme("# Nothing here")).toEqual([]);
});

/** A number as the README writes it. */
const count = (value: number): string => value.toLocaleString("en-US");

it("the README's table of limits says what the code has", () => {
  const section = /^## Limits\n(.*?)^## /ms.exec(read("README.md"))![1]!;
  const rows = new Map([...section.matchAll(/^\| (.+?) +\| (.+?) +\|$/gm)].map(([, what, limit]) => [what!, limit!]));
  const expected: readonly (readonly [what: string, limit: string])[] = [
    ["resolution (`tick`); shortest interval", `${limits.DEFAULT_TICK_MS} ms unless configured`],
    ["latest deadline", new Date(limits.MAX_DEADLINE).toISOString()],
    [
      "input; state",
      `${limits.MAX_INPUT_BYTES / 1024} KiB; ${
        limits.MAX_STATE_BYTES / 1024
      } KiB of JSON, nested to ${limits.MAX_JSON_DEPTH}`,
    ],
    [
      "names, keys, targets, groups, tags, ids",
      `${limits.MAX_NAME_LENGTH} characters; ${limits.MAX_TAGS} tags`,
    ],
    ["cron expression", `${count(limits.MAX_CRON_LENGTH)} characters`],
    ["runs at once on an instance (`concurrency`)", `20; at most ${count(limits.MAX_CONCURRENCY)}`],
    ["runs of one schedule at once; waiting", `${limits.MAX_CONCURRENT_RUNS}; ${limits.MAX_WAITING}`],
    ["catchup `all`", `100 runs; \`limit\` at most ${count(limits.MAX_CATCHUP_LIMIT)}`],
    ["retries; `maxLost`", `${count(limits.MAX_RETRIES)}; 3, at most ${limits.MAX_LOST}`],
    ["lease (`leaseMs`)", `30 s; from ${limits.MIN_LEASE_MS} ms to ${limits.MAX_LEASE_MS / 3_600_000} h`],
    ["history", `${limits.DEFAULT_HISTORY} runs; at most ${limits.MAX_HISTORY}`],
    [
      "one `transaction`, `createMany` or `sync`",
      `${count(limits.MAX_OPERATIONS)} changes; ${limits.MAX_KV_OPERATIONS} in Deno KV`,
    ],
    [
      "a page of `list`; `nextRuns`",
      `${limits.DEFAULT_PAGE}, at most ${count(limits.MAX_PAGE)}; at most ${count(limits.MAX_NEXT_RUNS)}`,
    ],
  ];
  for (const [what, limit] of expected) expect(rows.get(what), what).toBe(limit);
});
