import type { z } from "@hono/zod-openapi";
import { SchedulerError, type SchedulerErrorCode, show } from "../../../src/contract/mod.ts";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** What a value that the schema refuses is called, by its key; anything else is an invalid option. */
const CODES: Readonly<Record<string, SchedulerErrorCode>> = {
  task: "unknown_task",
  at: "invalid_time",
  startAt: "invalid_time",
  endAt: "invalid_time",
  dueBefore: "invalid_time",
  from: "invalid_time",
  after: "invalid_duration",
  every: "invalid_duration",
  jitter: "invalid_duration",
  spread: "invalid_duration",
  grace: "invalid_duration",
  window: "invalid_duration",
  delay: "invalid_duration",
  maxDelay: "invalid_duration",
  timeout: "invalid_duration",
  retention: "invalid_duration",
  budget: "invalid_duration",
  cron: "invalid_cron",
  timezone: "invalid_timezone",
};

/** Keys around a schedule that the scheduler's own calls do not have, so that no place inside of them names them. */
const ENVELOPES: ReadonlySet<PropertyKey> = new Set(["schedules", "create", "to"]);

/**
 * The error for a value that a schema refuses: the same code and place as the scheduler's own calls name.
 *
 * @param root What the value is called, such as `"createMany"`; empty for an object whose keys are the places.
 */
export function schemaError(error: z.core.$ZodError, value: unknown, root: string): SchedulerError {
  const { path, expected } = deepest(error.issues, []);
  const where = placeText(root, path.filter((key, i) => i > 1 || i === path.length - 1 || !ENVELOPES.has(key)));
  const given = path.reduce<unknown>((from, key) => (from as Record<PropertyKey, unknown> | undefined)?.[key], value);
  const code = CODES[String(path.at(-1))] ?? "invalid_option";
  const told = given === undefined ? "nothing given" : `${show(given)} is not accepted`;
  const list = listOf(expected);
  return new SchedulerError(code, `${where}: ${told}; expected ${list}`, {
    details: { where, given: show(given), expected: list },
  });
}

/** The error for a parameter of the query that was given more than once. */
export function repeated(key: string, times: number): SchedulerError {
  const expected = "it once";
  return new SchedulerError("invalid_option", `${key}: given ${times} times; expected ${expected}`, {
    details: { where: key, given: `${times} times`, expected },
  });
}

interface Found {
  readonly path: Path;
  /** What would be accepted there: any of these. */
  readonly expected: readonly string[];
}

/** Of a union's branches, those that fit furthest in say what is wrong. */
function deepest(issues: readonly Issue[], prefix: Path): Found {
  const [issue] = issues;
  if (issue === undefined) return { path: prefix, expected: ["something else"] };
  const path = [...prefix, ...issue.path];
  const own = expectationsOf(issue);
  if (issue.code !== "invalid_union" || own !== undefined) return { path, expected: own ?? ["something else"] };
  const branches = issue.errors.map((branch) => deepest(branch as readonly Issue[], path));
  const furthest = Math.max(path.length, ...branches.map((branch) => branch.path.length));
  const [best, ...others] = branches.filter((branch) => branch.path.length === furthest);
  if (best === undefined) return { path, expected: ["something else"] };
  // Further in than the union itself, each branch says something of its own; the first is enough.
  const told = furthest > path.length ? best.expected : [best, ...others].flatMap(({ expected }) => expected);
  return { path: best.path, expected: [...new Set(told)] };
}

/** What is expected, as the schema says it in the words of this house, or else by the kind of value. */
function expectationsOf(issue: Issue): readonly string[] | undefined {
  const words = /^expected (.*)$/s.exec(issue.message)?.[1];
  if (words !== undefined) return [words];
  if (issue.code === "invalid_value") return issue.values.map((value) => show(value));
  if (issue.code === "invalid_type") return [KINDS[issue.expected] ?? `a value of type ${issue.expected}`];
  return undefined;
}

/** Kinds of values, as the scheduler's own messages call them. */
const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "a boolean",
  null: "null",
  array: "an array",
  object: "an object",
  record: "an object",
};

function listOf(words: readonly string[]): string {
  return words.length < 3 ? words.join(" or ") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function placeText(root: string, path: Path): string {
  let text = root;
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else text += text === "" ? String(key) : `.${String(key)}`;
  }
  return text === "" ? "body" : text;
}
