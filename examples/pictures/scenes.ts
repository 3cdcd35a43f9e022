/**
 * The pictures of the README: one for each policy, each line of them a scheduler that really ran.
 *
 * @module
 */
import type { JitterOption, OverlapOption } from "../../mod.ts";
import { type Storage, StorageError } from "../../src/contract/mod.ts";
import { record, type Row, type Scene } from "./scene.ts";

const SECOND = 1_000;
const MINUTE = 60_000;

/** All of them, in the order of the README. */
export async function scenes(): Promise<readonly Scene[]> {
  return [await catchup(), await overlap(), await jitter(), await retry(), await maxFaults(), await onLost()];
}

async function rows<T>(values: readonly T[], make: (value: T) => Promise<Row>): Promise<readonly Row[]> {
  const made: Row[] = [];
  for (const value of values) made.push(await make(value));
  return made;
}

async function catchup(): Promise<Scene> {
  const lengthMs = 10 * MINUTE;
  const down = [2.5 * MINUTE, 6.7 * MINUTE] as const;
  const row = (policy: "once" | "skip" | "all") =>
    record({
      label: `"${policy}"`,
      everyMs: MINUTE,
      lengthMs,
      run: (clock) => clock.sleep("4s"),
      async play({ clock, start }, scheduler) {
        const schedule = await scheduler.every("work", "1m", undefined, { catchup: policy });
        await clock.advance(down[0]);
        await scheduler.close();
        await clock.advance(down[1] - down[0]);
        await start();
        await clock.advance(lengthMs - down[1]);
        return schedule;
      },
    });
  const title = "catchup: every minute, and nothing runs for four of them";
  return { name: "catchup", title, lengthMs, markMs: MINUTE, down, rows: await rows(["once", "skip", "all"], row) };
}

async function overlap(): Promise<Scene> {
  const lengthMs = 9 * SECOND;
  const row = (policy: Extract<OverlapOption, string>) =>
    record({
      label: `"${policy}"`,
      everyMs: SECOND,
      lengthMs,
      run: (clock, { signal }) => clock.sleep("2500ms", { signal }),
      async play({ clock }, scheduler) {
        const schedule = await scheduler.every("work", "1s", undefined, { overlap: policy });
        await clock.advance(lengthMs + 2500);
        return schedule;
      },
    });
  const title = "overlap: every second, and a run takes 2.5 s";
  const all = await rows(["skip", "queue", "concurrent", "replace"], row);
  return { name: "overlap", title, lengthMs, markMs: SECOND, rows: all };
}

async function jitter(): Promise<Scene> {
  const lengthMs = 8 * MINUTE;
  const row = ([label, jitter]: readonly [string, JitterOption]) =>
    record({
      label,
      everyMs: MINUTE,
      lengthMs,
      run: (clock) => clock.sleep("5s"),
      async play({ clock }, scheduler) {
        const schedule = await scheduler.every("work", "1m", undefined, { jitter });
        await clock.advance(lengthMs);
        return schedule;
      },
    });
  const values = [["0", 0], ['"20s"', "20s"], ['{ spread: "40s" }', { spread: "40s" }]] as const;
  const title = "jitter: every minute; the cadence itself stays where it is";
  return { name: "jitter", title, lengthMs, markMs: MINUTE, rows: await rows(values, row) };
}

async function retry(): Promise<Scene> {
  const lengthMs = 100 * SECOND;
  const row = ([label, successAt]: readonly [string, number]) =>
    record({
      label,
      lengthMs,
      async run(clock, { attempt }) {
        await clock.sleep("2s");
        if (attempt < successAt) throw new Error("no route to host");
      },
      async play({ clock }, scheduler) {
        const schedule = await scheduler.after("work", "10s", undefined, {
          retry: { limit: 3, delay: "10s", backoff: 2 },
        });
        await clock.advance(lengthMs);
        return schedule;
      },
    });
  const values = [["the third succeeds", 3], ["none does", 9]] as const;
  const title = 'retry: { limit: 3, delay: "10s", backoff: 2 }';
  const all = await rows(values, row);
  return { name: "retry", title, lengthMs, markMs: 10 * SECOND, pointText: "the deadline", rows: all };
}

async function maxFaults(): Promise<Scene> {
  const lengthMs = 8 * MINUTE;
  const row = ([label, faults]: readonly [string, readonly number[]]) => {
    let runs = 0;
    return record({
      label,
      everyMs: MINUTE,
      lengthMs,
      async run(clock) {
        const fails = faults.includes(++runs);
        await clock.sleep("6s");
        if (fails) throw new Error("no route to host");
      },
      async play({ clock }, scheduler) {
        const schedule = await scheduler.every("work", "1m", undefined, { maxFaults: 3 });
        await clock.advance(lengthMs);
        return schedule;
      },
    });
  };
  const values = [["two, and one more", [2, 3, 5]], ["three in a row", [3, 4, 5]]] as const;
  const title = "maxFaults: 3: every minute, and some runs fault";
  return { name: "max_faults", title, lengthMs, markMs: MINUTE, rows: await rows(values, row) };
}

async function onLost(): Promise<Scene> {
  const lengthMs = 170 * SECOND;
  const row = (policy: "rerun" | "fault") => {
    let attempts = 0;
    return record({
      label: `"${policy}"`,
      everyMs: MINUTE,
      lengthMs,
      run: (clock) => ++attempts === 1 ? dead() : clock.sleep("10s"),
      async play({ clock, handle, start, note }, first) {
        // A process that dies in the middle of its first run, so that it renews no lease any more, and another one.
        await first.close();
        const { storage, die } = mortal(handle());
        const doomed = await start({ storage });
        const schedule = await doomed.every("work", "1m", undefined, { onLost: policy });
        await clock.advance("66s");
        die();
        note("its process dies");
        await start();
        await clock.advance(lengthMs - 66 * SECOND);
        return schedule;
      },
    });
  };
  const title =
    "onLost: every minute; a process dies during a run, and its lease is over 30 s after it was renewed last";
  return { name: "on_lost", title, lengthMs, markMs: 20 * SECOND, rows: await rows(["rerun", "fault"], row) };
}

/** What a dead process does. */
function dead(): Promise<void> {
  return new Promise(() => {});
}

/** A way to a store that can be cut, as by the death of the process. */
function mortal(store: Storage): { readonly storage: Storage; die(): void } {
  let isDead = false;
  const storage = new Proxy(store, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== "function") return member;
      const method = member.bind(target) as (...parameters: unknown[]) => unknown;
      return key === "close" ? method : (...parameters: unknown[]) => isDead ? refuse() : method(...parameters);
    },
  });
  return { storage, die: () => void (isDead = true) };
}

function refuse(): Promise<never> {
  return Promise.reject(new StorageError("dead", { retryable: true }));
}
