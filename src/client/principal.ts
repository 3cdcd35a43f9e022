import {
  invalidOption,
  plainOptions,
  type Principal,
  type ScheduleDocument,
  SchedulerError,
  SYSTEM_ID,
} from "../contract/mod.ts";
import { checkText } from "./text.ts";

/** Who the code that embeds the scheduler is (P1). */
export const SYSTEM_PRINCIPAL: Principal = Object.freeze({ id: SYSTEM_ID, admin: true });

/** Whether a principal is the system. */
export function isSystem(principal: Principal): boolean {
  return principal.id === SYSTEM_ID;
}

/**
 * Reads the principal that `scheduler.as` was given, as what is stored of it.
 *
 * @throws {SchedulerError} `invalid_option` when it is no principal, or the system's reserved id.
 */
export function checkPrincipal(value: unknown): Principal {
  const { id, admin } = plainOptions(value, ["id", "admin"], "principal");
  if (id === SYSTEM_ID) {
    throw invalidOption("principal.id", id, `another id; ${SYSTEM_ID} is the embedding code itself`);
  }
  if (admin !== undefined && typeof admin !== "boolean") throw invalidOption("principal.admin", admin, "a boolean");
  const checked = checkText(id, "principal.id");
  return Object.freeze(admin === true ? { id: checked, admin } : { id: checked });
}

/** Whether a principal may change and inspect a schedule: its owner or an admin (P2). */
export function mayManage(principal: Principal, document: ScheduleDocument): boolean {
  return principal.admin === true || document.definition.owner === principal.id;
}

/** The error for a schedule of somebody else. */
export function notYours(id: string): SchedulerError {
  return new SchedulerError("permission_denied", `schedule ${id}: it belongs to somebody else`, { details: { id } });
}

/** The error for an id that names no schedule. */
export function notFound(id: string): SchedulerError {
  const message = `schedule ${String(id).slice(0, 80)}: there is none of this id; ` +
    "what has retired is kept for its retention, 60 s unless set, and what was stopped is not";
  return new SchedulerError("not_found", message, { details: { id } });
}
