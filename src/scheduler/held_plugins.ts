import {
  type AnyPlugin,
  checkJson,
  isPlainObject,
  isSchedulerError,
  type Json,
  type OptionParser,
  type Policy,
  SchedulerError,
  show,
} from "../contract/mod.ts";

/** What a decision point may be answered, and how that is said. */
interface Answers {
  readonly fits: (answer: unknown) => boolean;
  readonly expected: string;
}

const isNumber = (value: unknown): boolean => typeof value === "number" && !Number.isNaN(value);
const isText = (value: unknown): boolean => typeof value === "string";
const isOptional = (value: unknown): boolean => value === undefined || isNumber(value);

const MILLISECONDS: Answers = { fits: isNumber, expected: "milliseconds" };

const ANSWERS: { readonly [Decision in keyof Required<Policy>]: Answers } = {
  grace: MILLISECONDS,
  shift: MILLISECONDS,
  span: MILLISECONDS,
  missed: {
    fits: (answer) =>
      isPlainObject(answer) &&
      (answer["run"] === "none" || answer["run"] === "newest" ||
        (answer["run"] === "each" && isNumber(answer["limit"]) && isOptional(answer["windowMs"]))),
    expected: '{ run: "none" }, { run: "newest" } or { run: "each", limit, windowMs? }',
  },
  overlap: {
    fits: (answer) => answer === "drop" || answer === "queue" || answer === "start" || answer === "replace",
    expected: '"drop", "queue", "start" or "replace"',
  },
  admit: {
    fits: (answer) =>
      answer === "run" || (isPlainObject(answer) && isText(answer["skip"]) && isOptional(answer["until"])),
    expected: '"run" or { skip: "the reason", until? }',
  },
  settled: {
    fits: (answer) => isPlainObject(answer) && (isNumber(answer["retryAfterMs"]) || isText(answer["retire"])),
    expected: '{ retryAfterMs } or { retire: "the reason" }',
  },
};

/**
 * The policy of a plugin, held to what the contract lets it answer: whoever reads the error of a creation, or of a parked
 * schedule, is to know whose mistake it is.
 */
export function heldPolicy({ name, policy }: AnyPlugin): Policy | undefined {
  if (policy === undefined || policy === null) return undefined;
  const held: Partial<Record<keyof Policy, (question: never) => unknown>> = {};
  for (const decision of Object.keys(ANSWERS) as (keyof Policy)[]) {
    const decide = policy[decision] as ((question: never) => unknown) | undefined;
    if (decide === undefined) continue;
    const place = `plugin ${name}: policy.${decision}`;
    const { fits, expected } = ANSWERS[decision];
    held[decision] = (question) => {
      const answer = named(place, "config_invalid", () => decide.call(policy, question));
      if (answer === undefined || fits(answer)) return answer;
      throw new SchedulerError(
        "config_invalid",
        `${place} answered ${show(answer)}; expected ${expected}, or nothing`,
        {
          details: { where: place, given: show(answer) },
        },
      );
    };
  }
  return held as Policy;
}

/** A parser of a plugin, held to answer what can be stored. */
export function heldParser({ name }: AnyPlugin, parser: OptionParser): OptionParser {
  const parse: OptionParser["parse"] = (value, place) => {
    const stored = named(`${place.where}: plugin ${name}`, "invalid_option", () => parser.parse(value, place));
    return stored === undefined ? undefined : checkStored(stored, `${place.where}, as plugin ${name} reads it`);
  };
  return parser.default === undefined ? { parse } : { parse, default: parser.default };
}

/** Not bounded in bytes here: that is for whoever stores the whole. */
function checkStored(value: unknown, where: string): Json {
  return checkJson(value, { where, maxBytes: Infinity, invalid: "config_invalid", tooLarge: "config_invalid" });
}

/** Names where an error comes from that is not the scheduler's own. */
function named<T>(where: string, code: "config_invalid" | "invalid_option", ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    if (isSchedulerError(error)) throw error;
    const message = error instanceof Error ? error.message : show(error);
    throw new SchedulerError(code, `${where} threw: ${message}`, { cause: error, details: { where } });
  }
}
