import type { ScheduleDocument } from "../contract/mod.ts";
import { draftOf } from "./draft.ts";
import { unknownOption } from "./due.ts";
import { mayStart, owedAt } from "./start.ts";
import type { MachineEnv } from "./types.ts";

/** Where a live schedule stands with what it owes. */
export interface Standing {
  /** Since when a start is owed, whether or not it may be made; `undefined` when none is by now. */
  readonly owedSince: number | undefined;
  /** Whether runs in progress leave it room. */
  readonly mayStart: boolean;
  /** An option that no plugin of this instance owns. */
  readonly unknownOption: string | undefined;
}

/** Works out what a schedule owes at an instant, as a step at that instant would find it; changes nothing. */
export function standing(document: ScheduleDocument, now: number, env: MachineEnv): Standing {
  const draft = draftOf(document, now, env);
  const { next, pausedAt } = draft.progress;
  const times = [owedAt(draft) ?? Infinity, pausedAt === undefined ? next?.at ?? Infinity : Infinity];
  const owedSince = Math.min(...times);
  return {
    owedSince: owedSince <= now ? owedSince : undefined,
    mayStart: mayStart(draft),
    unknownOption: unknownOption(draft),
  };
}
