/**
 * What an idle scheduler asks of its SQLite file: nothing at all until its next deadline with one process, a few cheap
 * look-ups a second while another process writes.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { createScheduler, defineTask } from "../../../mod.ts";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";
import { coresSince, inDirectory, print, silent, sleep } from "./tools.ts";

const WATCH_MS = Number(process.env["WATCH_MS"] ?? 10_000);
const task = defineTask("bench", () => {});

await inDirectory(async (directory) => {
  const file = `${directory}/idle.db`;
  let queries = 0;
  const database = counted(new DatabaseSync(file), () => queries++);
  const scheduler = createScheduler({
    storage: sqlite({ database }),
    tasks: [task],
    logger: silent,
  });
  await scheduler.at(task, "2100-01-01T00:00:00Z");
  await scheduler.start();
  await sleep(1_000);
  queries = 0;
  const [before, at] = [process.cpuUsage(), performance.now()];
  await sleep(WATCH_MS);
  print("idle", {
    queries,
    target: 0,
    cores: coresSince(before, performance.now() - at),
    seconds: WATCH_MS / 1_000,
  });
  queries = 0;
  const other = createScheduler({
    storage: sqlite(file),
    tasks: [],
    logger: silent,
  });
  const until = performance.now() + WATCH_MS;
  while (performance.now() < until) {
    await other.as({ id: "nobody" }).valid("none");
    await sleep(100);
  }
  print("idle beside a reader", {
    queriesPerSecond: queries / (WATCH_MS / 1_000),
    target: 4,
  });
  await other.close();
  await scheduler.close();
  database.close();
});

/** A database that counts the statements that it executes. */
function counted(database: DatabaseSync, executed: () => void): DatabaseSync {
  const counting = <T extends DatabaseSync | StatementSync>(
    target: T,
    methods: readonly string[],
  ): T =>
    new Proxy(target, {
      get(owner, key) {
        const value = Reflect.get(owner, key) as unknown;
        if (typeof value !== "function") return value;
        return (...given: unknown[]) => {
          if (methods.includes(String(key))) executed();
          const result = value.apply(owner, given) as unknown;
          return key === "prepare"
            ? counting(result as StatementSync, [
              "run",
              "get",
              "all",
              "iterate",
            ])
            : result;
        };
      },
    });
  return counting(database, ["exec"]);
}
