/**
 * One process of the SQLite cluster tests: reads commands from its arguments, works on the file, and tells what it did
 * on standard output, a JSON line at a time.
 */
import { sqlite } from "../../plugins/storage/sqlite/mod.ts";
import type { ScheduleDocument } from "../../src/contract/mod.ts";
import { systemClock } from "../../src/system.ts";
import { create, document, id, moved, started } from "../../src/testing/storage/documents.ts";

const LATER = 9_000_000_000_000;
const [command, file, ...parameters] = process.argv.slice(2) as [string, string, ...string[]];
const storage = sqlite({ path: file, busyTimeout: 30_000 });
const tell = (what: unknown) => process.stdout.write(`${JSON.stringify(what)}\n`);
await storage.open({ clock: systemClock(), logger: console });

const commands: Record<string, () => Promise<void>> = {
  /** Creates schedules for ever, telling of each once it resolved. */
  async create() {
    for (let n = 0;; n += 10) {
      const batch = Array.from({ length: 10 }, (_, i) => document(n + i, 5_000, { definition: { name: `n${n + i}` } }));
      await Promise.all(batch.map((one) => storage.apply([create(one)], 1_000).then(() => tell(one.id))));
    }
  },
  /** Wins what is due until nothing is. */
  async drain() {
    const won: string[] = [];
    for (let more = true; more;) {
      const result = await storage.advance({ lanes: ["work"], limit: 7, now: 5_000 }, (current) => ({
        document: started(current, LATER),
        value: current.id,
      }));
      won.push(...result.values);
      more = result.more;
    }
    tell(won);
  },
  /** Registers one name many times. */
  async register() {
    const [which, times] = parameters.map(Number) as [number, number];
    for (let n = 0; n < times; n++) {
      await storage.apply([[{
        select: { owner: "system", name: "nightly" },
        decide: (current) => ({
          document: current === undefined
            ? document(1_000 * which + n, 5_000, { definition: { name: "nightly" } })
            : moved(current, { runCount: current.progress.runCount + 1 }),
          value: 0,
        }),
      }]], 1_000);
    }
    tell("done");
  },
  /** Moves a pair of schedules in step, one group after another, for ever. */
  async pair() {
    for (let n = 1;; n++) {
      const grow = (which: number) => ({
        select: { id: id(which) },
        decide: (current: ScheduleDocument | undefined) => ({
          document: moved(current ?? document(which, LATER), { runCount: n }),
          value: 0,
        }),
      });
      await storage.apply([[grow(1), grow(2)]], 1_000);
      tell(n);
    }
  },
  /** Opens the store and no more. */
  async open() {
    tell(await storage.nextWake(["work"]));
  },
  /** Writes one schedule and leaves without closing, so that nothing but the driver could keep the process. */
  async leave() {
    storage.subscribe?.(() => {});
    await storage.apply([create(document(1, 5_000))], 1_000);
    if (parameters[0] === "closed") await storage.close();
    tell("left");
  },
};

await commands[command]!();
if (command !== "leave") await storage.close();
