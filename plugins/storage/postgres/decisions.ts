import type { Write } from "../../../src/contract/mod.ts";
import { encodeProgress } from "../sql/codec.ts";
import { type Decision, Desk } from "./desk.ts";
import { type AttemptedTexts, type Pending, tookEffect } from "./jobs.ts";
import type { Held } from "./reading.ts";

/** What groups come to, and what is to be written for all of them together. */
export interface Decided {
  readonly decisions: ReadonlyMap<Pending, Decision>;
  readonly writes: readonly Write[];
}

/** Decides groups in order. A decision that throws fails its own call, and the others are decided without it. */
export function decideAll(pendings: readonly Pending[], held: Held): Decided {
  for (;;) {
    const desk = new Desk(held.documents);
    const decisions = decideOn(desk, pendings.filter(({ job }) => !job.failed), held);
    if (decisions !== undefined) return { decisions, writes: desk.writes() };
  }
}

function decideOn(desk: Desk, pendings: readonly Pending[], held: Held): ReadonlyMap<Pending, Decision> | undefined {
  const decisions = new Map<Pending, Decision>();
  for (const pending of pendings) {
    const { attempt, group, job } = pending;
    if (attempt !== undefined && tookEffect(attempt, held.rows)) {
      decisions.set(pending, { result: attempt.result, ids: [] });
      continue;
    }
    try {
      const decision = desk.apply(group, held.now);
      pending.ids = decision.ids;
      decisions.set(pending, decision);
    } catch (error) {
      job.fail(error);
      return undefined;
    }
  }
  return decisions;
}

/** Keeps what was sent and not answered, so that the next attempt finds out whether it took effect. */
export function remember({ decisions, writes }: Decided): void {
  const texts = new Map(writes.map((write) => [(write.after ?? write.before!).id, attempted(write)]));
  for (const [pending, { result, ids }] of decisions) {
    if (ids.length === 0) continue;
    pending.attempt = { result, texts: new Map(ids.map((id) => [id, texts.get(id) ?? null])) };
  }
}

function attempted({ before, after }: Write): AttemptedTexts | null {
  if (after === null) return null;
  return before === undefined
    ? { definition: JSON.stringify(after.definition) }
    : { progress: encodeProgress(after).progress };
}

/** Tells every group what became of it. */
export function settleAll({ decisions }: Pick<Decided, "decisions">): void {
  for (const [pending, { result }] of decisions) pending.settle(result);
}
