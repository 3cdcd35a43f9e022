import { type Principal, SchedulerError, show } from "../contract/mod.ts";
import type { ClientHost } from "./host.ts";
import type { CoreValues } from "./options.ts";
import { isSystem } from "./principal.ts";

/** Whom the schedule belongs to and its runs are made under (P3). */
export function authorityOf(principal: Principal, { owner }: Readonly<CoreValues>, prefix: string): Principal {
  if (owner === undefined || owner === principal.id) return principal;
  if (!isSystem(principal)) {
    throw new SchedulerError("permission_denied", `${prefix}owner: only the system creates for somebody else`, {
      details: { where: `${prefix}owner`, given: owner },
    });
  }
  return { id: owner };
}

/** Whom the runs act for, where it is not the owner. */
export function runAsOf(
  host: ClientHost,
  principal: Principal,
  authority: Principal,
  { runAs }: Readonly<CoreValues>,
  prefix: string,
): string | undefined {
  if (runAs === undefined || runAs === authority.id) return undefined;
  checkRunAs(host, principal, runAs, prefix);
  return runAs;
}

/**
 * Whether a principal may have runs act for somebody else (P3).
 *
 * @throws {SchedulerError} `permission_denied` when it may not.
 */
export function checkRunAs(host: ClientHost, principal: Principal, runAs: string, prefix: string): void {
  // Compared with true: a promise, from a function that should be synchronous, allows nothing.
  if (runAs === principal.id || principal.admin === true || mayRunAs(host, principal, runAs)) return;
  throw new SchedulerError(
    "permission_denied",
    `${prefix}runAs.id: ${show(principal.id)} may not act for ${show(runAs)}`,
    {
      details: { where: `${prefix}runAs.id`, given: runAs },
    },
  );
}

/** A question that throws is answered no. */
function mayRunAs(host: ClientHost, principal: Principal, runAs: string): boolean {
  try {
    return host.canRunAs(principal, runAs) === true;
  } catch (cause) {
    host.logger.error("canRunAs threw; the call is refused", cause);
    return false;
  }
}
