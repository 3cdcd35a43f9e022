import { pathText } from "../contract/check_json.ts";
import { isThenable } from "../contract/thenable.ts";
import {
  type AnyTask,
  checkJson,
  copyJson,
  type Json,
  type JsonRule,
  MAX_INPUT_BYTES,
  SchedulerError,
  type SchemaIssue,
  type SchemaResult,
} from "../contract/mod.ts";

/** Issues of a schema that an error tells; a long array of wrong values has one for each. */
const MAX_ISSUES = 10;

const INPUT: JsonRule = {
  where: "input",
  maxBytes: MAX_INPUT_BYTES,
  invalid: "invalid_input",
  tooLarge: "input_too_large",
};

/**
 * Reads an input as what is stored of it: JSON, or nothing at all when none was given (S4).
 *
 * @param where Names the place in an error's message. Default `"input"`.
 * @throws {SchedulerError} `invalid_input` for a value that JSON would change, `input_too_large` over 32 KiB.
 */
export function readInput(input: unknown, where = "input"): Json | undefined {
  if (input === undefined) return undefined;
  return checkJson(input, where === "input" ? INPUT : { ...INPUT, where });
}

/**
 * What the task's schema makes of an input: what its handler gets, and may change, since it is the run's own. A promise
 * only where the schema itself answers one. Without a schema it is a copy of the input.
 *
 * @throws {SchedulerError} `invalid_input` when the schema refuses it, or throws.
 */
export function validateInput(task: AnyTask, stored: Json | undefined, where = "input"): unknown | Promise<unknown> {
  const input = copyJson(stored);
  if (task.input === undefined) return input;
  try {
    const result: SchemaResult<unknown> | Promise<SchemaResult<unknown>> = task.input["~standard"].validate(input);
    if (!isThenable(result)) return accepted(result, where);
    return Promise.resolve(result).then((awaited) => accepted(awaited, where), (cause) => {
      throw schemaThrew(where, cause);
    });
  } catch (cause) {
    throw cause instanceof SchedulerError ? cause : schemaThrew(where, cause);
  }
}

function accepted(result: SchemaResult<unknown>, where: string): unknown {
  if (result.issues === undefined) return result.value;
  const issues = result.issues.slice(0, MAX_ISSUES).map((issue) => describe(issue, where));
  const more = result.issues.length > MAX_ISSUES ? `; and ${result.issues.length - MAX_ISSUES} more` : "";
  throw new SchedulerError(
    "invalid_input",
    issues.map((issue) => `${issue.where}: ${issue.message}`).join("; ") + more,
    {
      details: { where, issues },
    },
  );
}

function describe(
  { message, path = [] }: SchemaIssue,
  where: string,
): { readonly where: string; readonly message: string } {
  const keys = path.map((step) => typeof step === "object" ? step.key : step);
  return {
    where: pathText(where, keys.map((key) => typeof key === "symbol" ? String(key) : key)),
    message: String(message).slice(0, 500),
  };
}

function schemaThrew(where: string, cause: unknown): SchedulerError {
  return new SchedulerError("invalid_input", `${where}: the task's schema threw instead of answering`, {
    details: { where },
    cause,
  });
}
