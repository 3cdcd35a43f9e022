import * as fc from "fast-check";
import { again, createScheduler, defineTask } from "../../../mod.ts";
import { memory } from "../../../plugins/storage/memory/mod.ts";
import { type ScheduleDocument, writeProgress } from "../../../src/contract/mod.ts";
import { manualClock } from "../../../src/testing/mod.ts";
import { SILENT } from "../crash/life.ts";

/** When the corpus begins, and when it was taken. */
export const BEGAN = Date.UTC(2026, 0, 1);
export const TAKEN = BEGAN + 3_600_000;

/** A document as a store holds it. */
export interface Stored {
  readonly id: string;
  readonly definition: string;
  readonly progress: string;
}

/** Real documents: schedules of every kind and policy, in every state that an hour brings them to. */
export async function corpus(): Promise<readonly Stored[]> {
  const clock = manualClock(BEGAN);
  const storage = memory();
  const quick = defineTask("work", () => {});
  const long = defineTask("long", () => clock.sleep("1h"));
  const faulty = defineTask("faulty", () => Promise.reject(new Error("it faults")));
  const chain = defineTask("chain", () => again("7m"));
  const tasks = [quick, long, faulty, chain];
  const scheduler = createScheduler({ clock, storage, tasks, logger: SILENT, retention: "1d" });
  await scheduler.start();
  const kept: ScheduleDocument[] = [];
  const take = async () => void kept.push(...await storage.find({ limit: 1_000, retired: true }));
  for (const task of tasks) {
    await scheduler.after(task, "2m", { n: 1 }, { key: `key of ${task.name}`, target: "room:1" });
    await scheduler.every(task, "1m", undefined, { name: `n ${task.name}`, tags: ["a", "b"], state: { s: 1 } });
    for (const overlap of ["queue", "concurrent", "replace"] as const) {
      const maxRuns = overlap === "queue" ? 20 : 1_000;
      await scheduler.every(task, "1m", undefined, { overlap, catchup: "all", jitter: "5s", maxRuns });
    }
    const zone = { timezone: "Europe/Berlin", dst: { gap: "skip" }, catchup: "skip" } as const;
    await scheduler.cron(`c ${task.name}`, "*/5 * * * *", task, undefined, { ...zone, retry: { limit: 2 } });
  }
  await take();
  await clock.advance("20m");
  await take();
  for await (const schedule of scheduler.list({ task: "work" })) await scheduler.pause(schedule.id);
  await clock.advance("40m");
  await take();
  await scheduler.close({ drain: 0 });
  return kept.map(({ id, definition, progress }) => ({
    id,
    definition: JSON.stringify(definition),
    progress: writeProgress(progress),
  }));
}

/** What a value of a document may have turned into. */
const values: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    0.5,
    1,
    2,
    59_999,
    2 ** 31,
    2 ** 53,
    8.64e15,
    -8.64e15,
    253_402_300_799_999,
    1e300,
    5e-324,
    "",
    "x",
    "x".repeat(1_001),
    "* * * * *",
    "0 0 30 2 *",
    "Mars/Olympus",
    [],
    {},
    [[]],
    [null],
    Array(101).fill(1),
  ),
  fc.integer({ min: BEGAN - 1e9, max: TAKEN + 1e9 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string({ maxLength: 5 }),
);

interface Damage {
  readonly how: "text" | "value" | "removed" | "moved";
  readonly where: number;
  readonly value: unknown;
  readonly other: number;
}

const damage: fc.Arbitrary<Damage> = fc.record({
  how: fc.constantFrom("text", "value", "value", "value", "removed", "moved"),
  where: fc.nat(),
  value: values,
  other: fc.nat(),
});

/** A real document, with one or a few places of its two texts damaged. */
export function damaged(documents: readonly Stored[]): fc.Arbitrary<Stored> {
  const damages = fc.array(fc.tuple(fc.boolean(), damage), { minLength: 1, maxLength: 3 });
  return fc.tuple(fc.constantFrom(...documents), damages).map(([stored, all]) =>
    all.reduce(
      (now, [isDefinition, one]) =>
        isDefinition
          ? { ...now, definition: hurt(now.definition, one) }
          : { ...now, progress: hurt(now.progress, one) },
      stored,
    )
  );
}

function hurt(text: string, { how, where, value, other }: Damage): string {
  if (how === "text") {
    const at = where % (text.length + 1);
    return text.slice(0, at) + String.fromCharCode(32 + other % 95) + text.slice(at + (other >> 7) % 2);
  }
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return text;
  }
  const places = placesOf(root);
  if (places.length === 0) return JSON.stringify(value) ?? "";
  const [holder, key] = places[where % places.length]!;
  if (how === "removed") delete holder[key];
  else holder[key] = how === "value" ? value : valueAt(places[other % places.length]!);
  return writable(root) ?? text;
}

type Place = readonly [holder: Record<string, unknown>, key: string];

function placesOf(value: unknown): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((key) => [[holder, key] as const, ...placesOf(holder[key])]);
}

function valueAt([holder, key]: Place): unknown {
  return holder[key];
}

/** A value that was moved into itself cannot be written. */
function writable(root: unknown): string | undefined {
  try {
    return JSON.stringify(root);
  } catch {
    return undefined;
  }
}
