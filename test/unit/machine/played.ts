import { expect } from "vitest";
import { standardPolicies } from "../../../plugins/policies/mod.ts";
import {
  checkDocument,
  type JsonObject,
  type LiveRun,
  type Policy,
  type RunOutcome,
  type ScheduleDefinition,
  type ScheduleDocument,
  type ScheduleProgress,
  type StoredSpec,
} from "../../../src/contract/mod.ts";
import {
  createDocument,
  type Effect,
  type MachineEnv,
  type MachineEvent,
  step,
  type StepResult,
} from "../../../src/machine/mod.ts";

/** 2026-01-01T00:00:00Z. */
export const T0 = Date.UTC(2026, 0, 1);
export const ID = "01KBB6Z5T3M6C3E6N1F0Q8XW2Y";
export const LEASE = 30_000;

const OPTION_KEYS = ["catchup", "overlap", "jitter", "retry", "maxFaults"];

/** How a schedule under test differs from an interval of one second. */
export interface Setting {
  readonly spec?: StoredSpec;
  readonly options?: JsonObject;
  readonly definition?: Partial<ScheduleDefinition>;
  /** Asked before the standard policies. */
  readonly policies?: readonly Policy[];
  /** Random numbers of each step, in order and over again. Default 0.5: no jitter at all. */
  readonly random?: readonly number[];
}

export function every(interval: number, more: object = {}): StoredSpec {
  return { kind: "every", every: interval, anchor: T0, ...more };
}

export function cron(expression: string, more: object = {}): StoredSpec {
  return { kind: "cron", cron: expression, timezone: "UTC", ...more };
}

export function definitionOf({ spec = every(1_000), options = {}, definition = {} }: Setting): ScheduleDefinition {
  return {
    task: "task",
    spec,
    options,
    owner: "system",
    authority: { id: "system", admin: true },
    adaptive: spec.kind === "at",
    retention: 60_000,
    history: 20,
    createdAt: T0,
    ...definition,
  };
}

/**
 * A schedule's document with the steps played on it. Each step is made twice on a frozen document: it must come to the
 * same both times, leave its input alone and answer a document that a store would take back.
 */
export class Played {
  document: ScheduleDocument | null;
  now: number;
  /** All effects so far. */
  readonly effects: Effect[] = [];
  /** What the last step answered. */
  result!: StepResult;
  /** Runs that the instance "a" says it is executing, whatever their lease. */
  readonly held = new Set<number>();
  readonly #setting: Setting;
  #draws = 0;

  constructor(setting: Setting = {}, now: number = T0) {
    this.#setting = setting;
    this.now = now;
    const { document, effects } = createDocument(ID, frozen(definitionOf(setting)), now, this.#env());
    this.#draws++;
    this.document = document;
    this.effects.push(...effects);
    this.#check();
  }

  get progress(): ScheduleProgress {
    return this.document!.progress;
  }

  #env(): MachineEnv {
    const { policies = [], random = [0.5] } = this.#setting;
    const standard = standardPolicies().flatMap(({ policy }) => policy === undefined ? [] : [policy]);
    let draws = this.#draws;
    return {
      policies: [...policies, ...standard],
      optionKeys: new Set(OPTION_KEYS),
      tickMs: 10,
      random: () => random[draws++ % random.length]!,
    };
  }

  /** Plays one event at an instant; answers the effects. */
  step(event: MachineEvent, now: number = this.now): readonly Effect[] {
    this.now = now;
    const before = frozen(this.document!);
    const fence = before.progress.fence;
    const made = step(before, event, now, this.#env());
    expect(step(before, event, now, this.#env())).toEqual(made);
    this.#draws++;
    this.result = made;
    this.document = made.document;
    this.effects.push(...made.effects);
    this.#check();
    for (const run of starts(made.effects)) expect(run.fence).toBeGreaterThan(fence);
    return made.effects;
  }

  #check(): void {
    if (this.document === null) return;
    expect(() => checkDocument(JSON.parse(JSON.stringify(this.document)))).not.toThrow();
  }

  /** Everything due by an instant, on an instance; answers the points that started. */
  due(now: number = this.now, instance = "a"): number[] {
    const claim = {
      instance,
      leaseMs: LEASE,
      patienceMs: 0,
      holds: (_: unknown, fence: number) => this.holds(instance, fence),
    };
    const effects = this.step({ type: "due", claim }, now);
    if (
      this.document !== null && this.document.parked === undefined && this.progress.wakeAt !== null &&
      this.result.answer
    ) {
      expect(this.progress.wakeAt).toBeGreaterThan(now);
    }
    return starts(effects).map(({ point }) => point);
  }

  private holds(instance: string, fence: number): boolean {
    return instance === "a" && this.held.has(fence);
  }

  /** A live run, the oldest unless a fence says which, ends; answers the points that started in the same step. */
  settle(
    now: number = this.now,
    more: {
      fence?: number;
      outcome?: Exclude<RunOutcome, "lost" | "released">;
      endedAt?: number;
      againMs?: number;
      retire?: string;
      closing?: boolean;
    } = {},
  ): number[] {
    const { fence = this.progress.runs[0]!.fence, outcome = "succeeded", endedAt = now, closing, ...rest } = more;
    const startedAt = this.progress.runs.find((run) => run.fence === fence)?.claimedAt ?? now;
    const settlement = { fence, outcome, startedAt, endedAt, durationMs: Math.max(0, endedAt - startedAt), ...rest };
    const claim = { instance: "a", leaseMs: LEASE, patienceMs: 0, holds: () => false };
    const effects = this.step(closing ? { type: "settled", settlement } : { type: "settled", settlement, claim }, now);
    return starts(effects).map(({ point }) => point);
  }

  /** A new definition; what is not given stays. */
  update(setting: Setting, now: number = this.now): readonly Effect[] {
    const { spec, options } = this.document!.definition;
    const definition = definitionOf({ spec, options, ...setting });
    return this.step({ type: "updated", definition }, now);
  }

  /** Seconds since T0 of every point that started, in order. */
  started(): number[] {
    return starts(this.effects).map(({ point }) => (point - T0) / 1_000);
  }

  /** How many points the effects told as missed and as overlapped. */
  told(type: "missed" | "overlapped"): number {
    return this.effects.reduce((sum, effect) => effect.type === type ? sum + effect.count : sum, 0);
  }
}

export function starts(effects: readonly Effect[]): LiveRun[] {
  return effects.flatMap((effect) => effect.type === "start" ? [effect.run] : []);
}

function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) frozen(inner);
  return value;
}
