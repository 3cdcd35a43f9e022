import type { z } from "@hono/zod-openapi";
import { invalidOption, SchedulerError, type SchedulerErrorCode, show } from "../../../src/contract/mod.ts";

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

/** Keys around a schedule that the scheduler's own calls do not have, so that no place names them. */
const ENVELOPES: ReadonlySet<PropertyKey> = new Set(["schedules", "create", "to"]);

/**
 * The error for a value that a schema refuses: the same code and place as the scheduler's own calls name.
 *
 * @param root What the value is called, such as `"createMany"`; empty for an object whose keys are the places.
 */
export function schemaError(error: z.core.$ZodError, value: unknown, root: string): SchedulerError {
  const { path, message } = deepest(error.issues, []);
  const where = placeText(root, path.filter((key, i) => i > 1 || !ENVELOPES.has(key)));
  const given = path.reduce<unknown>((from, key) => (from as Record<PropertyKey, unknown> | undefined)?.[key], value);
  const code = CODES[String(path.at(-1))];
  const expected = message.replace(/^.*?\bexpected /, "");
  if (code === undefined) return invalidOption(where, given, expected);
  return new SchedulerError(code, `${where}: ${show(given)} is not accepted; expected ${expected}`, {
    details: { where, given: show(given) },
  });
}

interface Found {
  readonly path: Path;
  readonly message: string;
}

/** Of a union's branches, the one that fits furthest in says what is wrong. */
function deepest(issues: readonly Issue[], prefix: Path): Found {
  const [issue] = issues;
  if (issue === undefined) return { path: prefix, message: "something else" };
  const path = [...prefix, ...issue.path];
  if (issue.code !== "invalid_union") return { path, message: issue.message };
  const branches = issue.errors.map((branch) => deepest(branch as readonly Issue[], path));
  const best = branches.toSorted((a, b) => b.path.length - a.path.length)[0];
  if (best === undefined || best.path.length === path.length) return { path, message: issue.message };
  return best;
}

function placeText(root: string, path: Path): string {
  let text = root;
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else text += text === "" ? String(key) : `.${String(key)}`;
  }
  return text === "" ? "body" : text;
}
