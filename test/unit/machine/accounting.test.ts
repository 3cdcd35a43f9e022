import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Cadence, cronCadence, everyCadence } from "../../../src/calendar/mod.ts";
import { type JsonObject, readHistory, type ScheduleDocument, type StoredSpec } from "../../../src/contract/mod.ts";
import type { Effect } from "../../../src/machine/mod.ts";
import { cron, every, Played, starts, T0 } from "./played.ts";

/** Larger than any document of these schedules may grow: 100 waiting starts, 100 runs, the history, the decisions. */
const LARGEST_DOCUMENT = 48 * 1024;

/**
 * Counts points beside the machine: what arrived, by the cadence and what was armed; what became of it, by the effects.
 * Instants of triggers and of `again` are odd, points are even, so that the two cannot be taken for one another.
 */
class Ledger {
  readonly cadence: Cadence;
  arrived = 0;
  missed = 0;
  dropped = 0;
  readonly ran = new Set<number>();
  /** Points that were passed over since the last arrival are allowed: it was paused, or a run asked for another time. */
  #mayPass = false;

  constructor(cadence: Cadence) {
    this.cadence = cadence;
  }

  enter(before: ScheduleDocument, after: ScheduleDocument, effects: readonly Effect[], event: string): void {
    if (event === "resumed" || before.progress.next?.again === true || after.progress.next?.again === true) {
      this.#mayPass = true;
    }
    this.#arrive(before, after);
    for (const effect of effects) {
      if (effect.type === "missed") this.missed += effect.count;
      if (effect.type === "overlapped" && effect.point % 2 === 0) this.dropped += effect.count;
      // A run that is replaced was told as overlapped, and has run.
      if (effect.type === "abort" && effect.cause === "replaced") {
        const { point } = before.progress.runs.find(({ fence }) => fence === effect.fence)!;
        if (point % 2 === 0) this.dropped--;
      }
    }
    for (const { point, attempt } of starts(effects)) {
      if (point % 2 === 1 || attempt > 1) continue;
      expect(this.ran.has(point), `point ${point - T0} started twice`).toBe(false);
      expect(this.cadence.previous(point)).toBe(point);
      this.ran.add(point);
    }
  }

  #arrive({ progress: before }: ScheduleDocument, { progress: after }: ScheduleDocument): void {
    if (after.cursor === before.cursor) return;
    const old = before.cursor ?? -Infinity;
    expect(after.cursor!).toBeGreaterThan(old);
    const first = before.next!.again === true ? this.cadence.next(Math.max(before.next!.at, old))! : before.next!.point;
    if (!this.#mayPass) expect(this.cadence.next(old === -Infinity ? first - 1 : old)).toBe(first);
    this.#mayPass = false;
    this.arrived += this.cadence.count(first - 1, after.cursor!);
  }

  /** Every point that has arrived ran, was missed or dropped, or is still owed: once. */
  balance({ progress }: ScheduleDocument): void {
    const waiting = progress.waiting.filter(({ point, attempt }) => point % 2 === 0 && attempt === 1).length;
    const lined = (progress.backlog ?? []).reduce((sum, { next, last }) => sum + this.cadence.count(next - 1, last), 0);
    expect(this.ran.size + this.missed + this.dropped + waiting + lined).toBe(this.arrived);
    expect(progress.missedCount).toBe(this.missed);
  }
}

type Move =
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "step back"; readonly ms: number }
  | { readonly do: "wake" | "pause" | "resume" | "trigger" | "other instance" }
  | {
    readonly do: "settle";
    readonly nth: number;
    readonly outcome: "succeeded" | "faulted" | "timeout";
    readonly lateMs: number;
    readonly againMs?: number;
    readonly closing: boolean;
  }
  | { readonly do: "release" | "abort"; readonly nth: number }
  | { readonly do: "options"; readonly options: JsonObject };

const ms = fc.oneof(fc.nat(3_000), fc.nat(60_000), fc.nat(3_600_000), fc.constant(86_400_000 * 3));
const catchup = fc.oneof(
  fc.constantFrom("once", "skip", "all"),
  fc.record({ policy: fc.constantFrom("once", "skip", "all"), grace: fc.nat(10_000) }),
  fc.record({ policy: fc.constant("all"), limit: fc.integer({ min: 1, max: 8 }), window: fc.nat(20_000) }),
);
const overlap = fc.oneof(
  fc.constantFrom("skip", "queue", "concurrent", "replace"),
  fc.record({ policy: fc.constantFrom("queue", "concurrent"), limit: fc.integer({ min: 1, max: 4 }) }),
);
const jitter = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 1, max: 5_000 }),
  fc.record({ spread: fc.integer({ min: 1, max: 5_000 }) }),
);
const options = fc.record(
  { catchup, overlap, jitter, retry: fc.record({ limit: fc.nat(3), delay: fc.nat(5_000) }), maxFaults: fc.constant(0) },
  { requiredKeys: ["catchup", "overlap", "maxFaults"] },
) as fc.Arbitrary<JsonObject>;
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("pass" as const), ms }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("wake" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("step back" as const), ms: fc.nat(100_000) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("pause", "resume", "trigger", "other instance") }) as fc.Arbitrary<Move>,
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("settle" as const),
      nth: fc.nat(3),
      outcome: fc.constantFrom("succeeded", "succeeded", "faulted", "timeout"),
      lateMs: fc.oneof(fc.constant(0), fc.nat(5_000)),
      againMs: fc.nat(20_000),
      closing: fc.boolean(),
    }, { requiredKeys: ["do", "nth", "outcome", "lateMs", "closing"] }) as fc.Arbitrary<Move>,
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom("release", "abort"), nth: fc.nat(3) }) as fc.Arbitrary<Move>,
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("options" as const), options }) },
);
const spec: fc.Arbitrary<StoredSpec> = fc.oneof(
  fc.integer({ min: 5, max: 30_000 }).map((half) => every(half * 2)),
  fc.constantFrom("* * * * * *", "*/7 * * * *", "0,1 * * * *", "30 2 * * *").map((expression) =>
    cron(expression, { timezone: "Europe/Berlin" })
  ),
);

function cadenceOf(given: StoredSpec): Cadence {
  if (given.kind === "every") return everyCadence(given.anchor, given.every);
  if (given.kind === "cron") return cronCadence(given.cron, { timezone: given.timezone });
  throw new Error("no cadence");
}

/** Under `replace` a trigger may take the place of the deadline itself. */
const oneShotOptions = options.filter(({ overlap }) => overlap !== "replace");

/** A run that asks for another time gives up the deadline that is armed (A1). */
function withoutAgain(one: Move): Move {
  if (one.do !== "settle") return one;
  const { againMs: _, ...rest } = one;
  return rest;
}

/** Makes an instant odd, so that it is no point. */
const odd = (instant: number) => instant % 2 === 0 ? instant + 1 : instant;

/** An odd instant that no run stands for, so that a trigger stands for it and for no point. */
function ownInstant({ progress: { runs, waiting, next, history }, now }: Played): number {
  const taken = [...runs, ...waiting, ...readHistory(history), ...(next === null ? [] : [next])];
  let instant = odd(now);
  while (taken.some(({ point }) => point === instant)) instant += 2;
  return instant;
}

/** Plays one move; answers the event's name, and the effects. */
function play(played: Played, { runs }: { runs: readonly { fence: number }[] }, one: Move): readonly Effect[] {
  const before = played.effects.length;
  const fence = "nth" in one && runs.length > 0 ? runs[one.nth % runs.length]!.fence : undefined;
  switch (one.do) {
    case "pass":
      played.now += one.ms;
      played.due();
      break;
    case "step back":
      played.now -= one.ms;
      break;
    case "wake":
      played.now = Math.max(played.now, played.progress.wakeAt ?? 0);
      played.due();
      break;
    case "other instance":
      played.due(played.now, "b");
      break;
    case "pause":
      played.step({ type: "paused" });
      break;
    case "resume":
      played.step({ type: "resumed" });
      break;
    case "trigger":
      played.step({ type: "triggered" }, ownInstant(played));
      break;
    case "options":
      played.update({ options: one.options, definition: { adaptive: true, history: 5 } });
      break;
    case "settle": {
      if (fence === undefined) break;
      const { outcome, lateMs, againMs, closing } = one;
      const endedAt = played.now;
      const now = odd(played.now + lateMs);
      const again = againMs === undefined ? {} : { againMs: againMs - againMs % 2 };
      played.settle(now, { fence, outcome, endedAt, closing, ...again });
      break;
    }
    case "release":
      if (fence !== undefined) played.step({ type: "released", fence, instance: "a", started: true });
      break;
    case "abort":
      if (fence !== undefined) played.step({ type: "aborted", fence });
      break;
  }
  return played.effects.slice(before);
}

describe("accounting", () => {
  it("C2 O1 J2 T8 every cadence point is accounted for exactly once, whatever happens in whatever order", () => {
    fc.assert(
      fc.property(
        spec,
        options,
        fc.array(fc.nat(99), { minLength: 3, maxLength: 3 }),
        fc.array(move, { maxLength: 60 }),
        (given, opts, draws, moves) => {
          const random = draws.map((draw) => draw / 100);
          const played = new Played({ spec: given, options: opts, random, definition: { adaptive: true, history: 5 } });
          const ledger = new Ledger(cadenceOf(given));
          for (const one of moves) {
            const before = played.document!;
            const effects = play(played, before.progress, one);
            const after = played.document!;
            ledger.enter(before, after, effects, one.do === "resume" ? "resumed" : one.do);
            ledger.balance(after);
            expect(JSON.stringify(after).length).toBeLessThan(LARGEST_DOCUMENT);
            expect(after.progress.fence).toBeGreaterThanOrEqual(before.progress.fence);
          }
          expect(played.progress.overlapCount).toBe(played.told("overlapped"));
          expect(played.progress.runCount).toBe(starts(played.effects).length);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("T9 a schedule bounded by maxRuns and endAt fires within its bounds, then ends, whatever happens", () => {
    fc.assert(
      fc.property(
        options,
        fc.integer({ min: 1, max: 6 }),
        fc.array(move, { maxLength: 60 }),
        (opts, maxRuns, moves) => {
          const endAt = T0 + 3_600_000;
          const played = new Played({
            spec: every(2_000, { maxRuns, endAt }),
            options: opts,
            definition: { adaptive: true },
          });
          for (const one of moves) {
            if (played.document === null || played.progress.retired !== undefined) break;
            play(played, played.progress, one.do === "options" ? { do: "wake" } : one);
          }
          const fired = starts(played.effects).filter(({ point, attempt }) => point % 2 === 0 && attempt === 1);
          expect(fired.length).toBeLessThanOrEqual(maxRuns);
          for (const { point } of fired) expect(point).toBeLessThanOrEqual(endAt);
          if (played.document?.progress.retired !== undefined) expect(played.progress.retired!.reason).toBe("ended");
        },
      ),
      { numRuns: 100 },
    );
  });

  it("T1 F3 a one-shot is never dropped: it fires, and its record tells how it ended", () => {
    fc.assert(
      fc.property(oneShotOptions, fc.nat(100_000), fc.array(move, { maxLength: 40 }), (opts, delay, moves) => {
        const at = T0 + delay * 2;
        const played = new Played({ spec: { kind: "at", at }, options: opts });
        for (const one of moves) {
          if (played.document === null || played.progress.retired !== undefined) break;
          play(played, played.progress, one.do === "options" ? { do: "wake" } : withoutAgain(one));
        }
        // Let everything end well.
        for (let i = 0; played.document !== null && played.progress.retired === undefined; i++) {
          expect(i).toBeLessThan(300);
          if (played.progress.pausedAt !== undefined) played.step({ type: "resumed" });
          if (played.progress.runs.length > 0) {
            played.settle(odd(played.now), { fence: played.progress.runs[0]!.fence });
          } else play(played, played.progress, { do: "wake" });
        }
        const firings = starts(played.effects).filter(({ point, attempt }) => point === at && attempt === 1);
        expect(firings).toHaveLength(1);
        expect(played.told("missed")).toBe(0);
        if (played.document !== null) {
          expect(["completed", "failed", "lost"]).toContain(played.progress.retired!.reason);
        }
      }),
      { numRuns: 100 },
    );
  });
});
