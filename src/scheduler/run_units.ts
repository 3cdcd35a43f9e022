import {
  type BufferedUnit,
  type ClientHost,
  createUnit,
  isGone,
  SYSTEM_PRINCIPAL,
  type UnitChanges,
} from "../client/mod.ts";
import { type Principal, type ScheduleDocument, SYSTEM_ID } from "../contract/mod.ts";
import type { RunUnit } from "../engine/mod.ts";

/** The unit of work of a run, under the authority of its schedule (U3). */
export function storedUnit(host: ClientHost, { id, definition }: ScheduleDocument): BufferedUnit {
  return createUnit(host, authorityOf(definition), { draining: true, own: id });
}

/**
 * The same for a run that lives in this process only. No commit holds both stores, so that what it changes in the shared one
 * is committed before it is settled: should the process die in between, the run is gone as well.
 */
export function localUnit(host: ClientHost, document: ScheduleDocument): RunUnit {
  const unit = storedUnit(host, document);
  const seal = async () => {
    const { stored, local } = await unit.seal();
    if (stored.length > 0 && await isKept(host, document)) await commitChanges(host, { stored, local: [] });
    return { stored: local, local: [] };
  };
  return { client: unit.client, seal, discard: () => unit.discard() };
}

/** Whether what a run comes to counts: its schedule was not stopped meanwhile (L2). */
async function isKept(host: ClientHost, { id }: ScheduleDocument): Promise<boolean> {
  const current = await host.get("local", id);
  return current !== undefined && !isGone(current);
}

/** Commits what a unit changed. Errors: what it was refused with. */
export async function commitChanges(host: ClientHost, { stored, local }: UnitChanges): Promise<void> {
  for (const [place, group] of [["stored", stored], ["local", local]] as const) {
    if (group.length === 0) continue;
    const [result] = await host.apply(place, [group]);
    if (!result!.committed) throw result!.reason;
  }
}

function authorityOf({ authority }: ScheduleDocument["definition"]): Principal {
  return authority.id === SYSTEM_ID ? SYSTEM_PRINCIPAL : authority;
}
