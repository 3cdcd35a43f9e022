/**
 * Every example runs to its end in a process of its own, and says what it is there to show. Times are not looked at, other
 * than those of a clock that the example moves by hand.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { sharedServer } from "../support/postgres.ts";
import { Program, type ProgramOptions } from "../support/program.ts";
import { scratch } from "../unit/support/schedulers.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples/", import.meta.url));

/** Runs an example to its end; answers what it said. */
async function run(name: string, options: Partial<ProgramOptions> = {}): Promise<string> {
  const program = new Program(join(EXAMPLES, name), { directory: scratch(), ...options });
  expect(await program.ended(), program.output).toBe(0);
  return program.output;
}

/** The examples that say the very same each time, with some lines of what they say. */
const SAME_EACH_TIME: readonly (readonly [name: string, ...lines: readonly string[]])[] = [
  [
    "permissions.ts",
    "bob asks for what is not in his plan: unknown_task",
    "bob asks for an internal task: unknown_task",
    "bob asks for a task that there is not: unknown_task",
    "bob stops alice's: permission_denied",
    "bob sees 1",
    "carol sees 2",
    "  sales for alice, made under alice",
    "  stock for bob, made under support",
    "carol stops alice's: true",
  ],
  [
    "custom_plugin.ts",
    "ran 2026-12-24T08:00:00.000Z",
    "ran 2026-12-28T08:00:00.000Z",
    "the runs of restock took 360 s in all",
  ],
  [
    "recipes/debounce.ts",
    '09:00:01.600  edit  letter: "Dear all"',
    '09:00:03.600  wrote letter: "Dear all"',
    '09:00:04.000  wrote notes: "milk"',
    '09:00:09.000  wrote letter: "Dear all, thanks"',
  ],
  [
    "recipes/upkeep.ts",
    "2026-01-01 18:40  10 min, 0 missed: 98.67 l",
    "2026-01-02 06:00  685 min, 67 missed: 75.83 l",
    "2026-01-02 06:20  10 min, 0 missed: 75.33 l",
    "expected after 12.33 h: 75.33 l",
  ],
  [
    "recipes/one_driver_per_object.ts",
    "20:00:00  one more in library: it is driven already",
    "20:00:06  library moves on, 2 in it, 5000 ms after its last move",
    "drivers: 1 for the library",
    "20:00:11  library is empty: its driver ends",
    "20:00:13  one more in library: a new driver",
  ],
  [
    "recipes/batch.ts",
    "2026-01-01T12:00  69 due this time, 835 charged so far",
    "1 schedule, 5000 subscriptions charged, 0 of them twice",
  ],
  [
    "recipes/audit.ts",
    "alice    beat     every 100 ms",
    "bob      chase    every 50 ms, as its last 20 runs show",
    "4 schedules looked at",
  ],
  [
    "recipes/retention.ts",
    "2026-03-28T02:00:00.000Z  600 rows deleted, 600 left",
    "2026-03-29T01:00:00.000Z  20 rows deleted, 580 left",
    "alice may not: unknown_task",
  ],
];

/** Parts of examples, which do nothing by themselves. */
const PARTS = [
  "crontab_schedules.ts",
  "program.ts",
  "serve.ts",
  "pictures/scene.ts",
  "pictures/scenes.ts",
  "pictures/svg.ts",
  "crontab.ts",
  "crontab_schedules.ts",
  "postgres_server.ts",
  "program.ts",
  "quickstart_output.ts",
  "serve.ts",
  "testing/reminders.ts",
];

// Only to end what hangs: three processes of one example start slowly on a machine that others use.
describe("the examples", { timeout: 180_000 }, () => {
  it.each(SAME_EACH_TIME)("%s", async (name, ...lines) => {
    const said = (await run(name)).split("\n");
    // In this order, whatever stands between them.
    let from = 0;
    for (const line of lines) {
      const at = said.indexOf(line, from);
      expect(at, `${line}\n---\n${said.slice(from).join("\n")}`).toBeGreaterThanOrEqual(0);
      from = at + 1;
    }
  });

  it("A2 adaptive_polling.ts: often while something moves, seldom while nothing does, one id", async () => {
    const said = await run("adaptive_polling.ts");
    const lines = [...said.matchAll(/later: +(\d+) %, (?:looks again in (\d+) ms|done)$/gm)];
    let [seen, delay] = ["0", 100];
    for (const [, percent, next] of lines) {
      delay = percent === seen ? Math.min(800, delay * 2) : 100;
      seen = percent!;
      expect(next, said).toBe(percent === "100" ? undefined : String(delay));
    }
    const looks = lines.length;
    expect(looks).toBeGreaterThan(0);
    expect(said).toMatch(new RegExp(`100 %, done\nthe chain is over: completed, after ${looks} looks under one id\n$`));
  });

  it("M3 cluster.ts: what a killed process ran is run by another one", async () => {
    const said = await run("cluster.ts");
    const victim = /^KILLED ([ABC]):/m.exec(said)?.[1];
    expect(said).toMatch(new RegExp(`^${victim} crawls, attempt 1$`, "m"));
    const heir = new RegExp(`^([ABC]) has finished what ${victim} began$`, "m").exec(said)?.[1];
    expect(heir).not.toBe(victim);
    expect(said).toMatch(new RegExp(`^${heir} has crawled$`, "m"));
    expect(said).toMatch(/^crawl: attempt 1 lost$/m);
    expect(said).toMatch(/^crawl: attempt \d succeeded$/m);
    const beats = [...said.matchAll(/has beaten/g)].length;
    const runs = Number(/^beat: (\d+) runs in all/m.exec(said)?.[1]);
    expect(runs).toBeGreaterThanOrEqual(beats);
  });

  it("M1 deno_kv.ts: two isolates wake at once, and each deadline runs in one of them", async () => {
    const said = await run("deno_kv.ts");
    const greeted = [...said.matchAll(/^(?:frankfurt|tokyo) greets (\w+)$/gm)].map(([, name]) => name);
    expect(greeted.toSorted()).toEqual(["ann", "bob", "cem", "dora", "eve"]);
    expect(said).toMatch(/^what is left: report at 09:00 in Berlin$/m);
  });

  it("U4 I3 outbox.ts: what committed is mailed by the next life of the application, once; what did not is not", async () => {
    const said = await run("outbox.ts", { env: { DATABASE_URL: await freshDatabase() } });
    expect(said).toMatch(/^no unicorn: out of stock$/m);
    expect(said).toMatch(/^2 orders and 2 mails to come are committed$/m);
    expect(said).toMatch(/^sent: thanks for the chair, thanks for the lamp$/m);
    expect(said.slice(0, said.indexOf("the application ends"))).not.toMatch(/^mailed/m);
  });

  it("outbox.ts starts a server for itself where it is given none", async () => {
    // In a directory where the server's user may be, too: for root it is another one.
    const said = await run("outbox.ts", { env: { DATABASE_URL: "" }, directory: EXAMPLES });
    expect(said).toMatch(/^sent: thanks for the chair/m);
  });

  it("F4 A2 webhook.ts: a delivery that fails is tried again under its id, and the answer asks for the next one", async () => {
    const said = await run("webhook.ts");
    const deliveries = [...said.matchAll(/attempt (\d+) of the delivery …(\w+)$/gm)];
    expect(deliveries.map(([, attempt]) => attempt)).toEqual(["1", "2", "1"]);
    const [first, second, third] = deliveries.map(([, , id]) => id);
    expect([second === first, third === first]).toEqual([true, false]);
    expect(said).toMatch(/500 .*the warehouse is closed; it is tried again$/m);
    expect(said).toMatch(
      /^the schedule is over: completed\nattempt 1: faulted\nattempt 2: succeeded\nattempt 1: succeeded$/m,
    );
    expect(said).toMatch(/^what nobody has signed is answered 4\d\d$/m);
  });

  it("pictures/draw.ts: the README's pictures are what the scheduler does today, and the README shows each", async () => {
    const said = await run("pictures/draw.ts", { parameters: ["--check"] });
    const drawn = [...said.matchAll(/^(\w+\.svg) is current$/gm)].map(([, file]) => file!);
    expect(drawn).toEqual(expect.arrayContaining(["catchup.svg", "overlap.svg", "jitter.svg", "retry.svg"]));
    const files = readdirSync(join(EXAMPLES, "pictures")).filter((file) => file.endsWith(".svg"));
    expect(drawn.toSorted()).toEqual(files.toSorted());
    const readme = readFileSync(join(EXAMPLES, "../README.md"), "utf8");
    for (const file of files) expect(readme).toContain(`(examples/pictures/${file})`);
  });

  it("testing/reminders.test.ts", async () => {
    const flags = "Deno" in globalThis ? ["test", "-A", "--no-check"] : ["--test", "--test-reporter=tap"];
    const said = await run("testing/reminders.test.ts", { flags, directory: EXAMPLES });
    expect(said).toMatch("Deno" in globalThis ? /4 passed \| 0 failed/ : /^# pass 4$/m);
  });

  it("are all tried, and the list of examples names each with what starts it", () => {
    const files = readdirSync(EXAMPLES, { recursive: true, encoding: "utf8" })
      .map((file) => file.replaceAll("\\", "/"))
      .filter((file) => file.endsWith(".ts") && !file.startsWith("plugins/") && !PARTS.includes(file));
    const here = fileURLToPath(new URL(".", import.meta.url));
    const tests = readdirSync(here).filter((file) => file.endsWith(".test.ts"))
      .map((file) => readFileSync(join(here, file), "utf8")).join("\n");
    expect(files.filter((file) => !tests.includes(`${file}"`))).toEqual([]);
    const list = readFileSync(join(EXAMPLES, "README.md"), "utf8");
    for (const file of files) {
      expect(list, file).toContain(`(${file})`);
      const head = readFileSync(join(EXAMPLES, file), "utf8").split("*/", 1)[0];
      expect(head).toMatch(new RegExp(` \\*     (?:node (?:--test )?examples/${file}\\b|npm (?:start|run \\w+)\\b)`));
      expect(head).toMatch(new RegExp(` \\*     deno (?:run|test) -A examples/${file}\\b`));
    }
  });
});

/** The address of a database that this test has to itself. */
async function freshDatabase(): Promise<string> {
  const server = new URL(await sharedServer());
  const name = `example_${process.pid}_${Date.now()}`;
  const client = new pg.Client({ connectionString: server.href });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  onTestFinished(async () => {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.end();
  });
  server.pathname = `/${name}`;
  return server.href;
}
