import {
  CONTRACT,
  isPlainObject,
  type JitterOption,
  type Json,
  type JsonObject,
  type OptionPlace,
  parseDuration,
  plainOptions,
  type Plugin,
  type ShiftQuestion,
} from "../../src/contract/mod.ts";

/** The option that {@linkcode jitter} owns. */
export interface JitterOptions {
  /** ± a duration drawn anew for each deadline, or one stable offset. Default 0. */
  readonly jitter?: JitterOption;
}

/** What is stored, in milliseconds. */
type StoredJitter = number | { readonly spread: number };

/**
 * Owns the option `jitter` (J): a duration `d` moves each deadline by a uniformly random amount in [-d, +d]; `{ spread:
 * d }` moves all deadlines of a schedule by one stable offset in [0, d] that its id decides. No deadline becomes
 * earlier than one tick from now, and the cadence itself stays where it is, so jitter never adds up (J2).
 *
 * @example
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 * import { jitter } from "@ostinato/scheduler/policies";
 *
 * const beat = defineTask("beat", () => {});
 * await using scheduler = createScheduler({ tasks: [beat], policies: [jitter()] });
 * const bounds = [Date.parse("2031-01-01T00:59:00Z"), Date.parse("2031-01-01T01:01:00Z")] as const;
 * const { nextRun } = await scheduler.every(beat, "1h", undefined, { startAt: "2031-01-01T01:00:00Z", jitter: "1m" });
 * console.log(nextRun!.getTime() >= bounds[0] && nextRun!.getTime() <= bounds[1]); // true
 * ```
 */
export function jitter(): Plugin<JitterOptions> {
  return {
    name: "jitter",
    contract: CONTRACT,
    options: { jitter: { parse: parseJitter, default: 0 } },
    policy: {
      shift: (question) => shift(stored(question.options), question),
      span: ({ id, options }) => span(stored(options), id),
    },
  };
}

function shift(jitter: StoredJitter, { id, deadline, random }: ShiftQuestion): number {
  if (jitter === 0) return deadline;
  if (typeof jitter === "number") return deadline + Math.floor(random * (2 * jitter + 1)) - jitter;
  return deadline + spreadOffset(id, jitter.spread);
}

function span(jitter: StoredJitter, id: string): number {
  return typeof jitter === "number" ? jitter : spreadOffset(id, jitter.spread);
}

function stored({ jitter = 0 }: JsonObject): StoredJitter {
  return jitter as StoredJitter;
}

function parseJitter(value: JitterOption, { where }: OptionPlace): Json | undefined {
  if (!isPlainObject(value)) return Math.round(parseDuration(value as number, where)) || undefined;
  const { spread } = plainOptions(value, ["spread"], where);
  const ms = Math.round(parseDuration(spread as number, `${where}.spread`));
  return ms === 0 ? undefined : { spread: ms };
}

/**
 * The stable offset of a schedule, in whole milliseconds from 0 to `spreadMs`, both included.
 *
 * FNV-1a over the id's characters (Fowler, Noll, Vo: 32 bits, offset basis 2166136261, prime 16777619), then the
 * finaliser of MurmurHash3 (Appleby: fmix32), since the ids of schedules made together differ in few characters.
 *
 * @example
 * ```ts
 * import { spreadOffset } from "@ostinato/scheduler/policies";
 *
 * const offset = spreadOffset("01JGFJJZ00QWERTYQWERTYQWER", 60_000);
 * console.log(offset >= 0 && offset <= 60_000); // true
 * ```
 */
export function spreadOffset(id: string, spreadMs: number): number {
  let hash = 2_166_136_261;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 16_777_619);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return Math.floor(((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32 * (spreadMs + 1));
}
