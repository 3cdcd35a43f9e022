import { invalidOption, MAX_NAME_LENGTH, plainOptions, type Principal, SYSTEM_ID } from "../../../src/contract/mod.ts";

/**
 * Reads a principal as `Scheduler.as` does. The scheduler's own, which is frozen, stays the object that it is: whether it
 * really is that one is seen at each request.
 *
 * @throws {SchedulerError} `unknown_option`, `invalid_option`, naming the key.
 */
export function readPrincipal(value: unknown, where: string): Principal {
  const { id, admin } = plainOptions(value, ["id", "admin"], where);
  if (id === SYSTEM_ID) {
    if (admin === true && Object.isFrozen(value)) return value as Principal;
    throw invalidOption(`${where}.id`, id, `another id; ${SYSTEM_ID} is the embedding code itself`);
  }
  if (!isPrincipalId(id)) {
    const expected = `text of 1 to ${MAX_NAME_LENGTH} characters without U+0000 and without lone surrogates`;
    throw invalidOption(`${where}.id`, id, expected);
  }
  if (admin !== undefined && typeof admin !== "boolean") throw invalidOption(`${where}.admin`, admin, "a boolean");
  return Object.freeze(admin === true ? { id, admin } : { id });
}

/** Whether a value may be a principal's id, but for the system's own. */
export function isPrincipalId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_NAME_LENGTH && value.isWellFormed() &&
    !value.includes("\0");
}
