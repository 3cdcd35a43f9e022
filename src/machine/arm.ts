import type { Cadence } from "../calendar/mod.ts";
import { MAX_DEADLINE } from "../contract/mod.ts";
import { armed, decided, type Draft, draftCadence, milliseconds, question } from "./draft.ts";

/** Points that policies may refuse in a row before the search rests: the next of them is armed, and asked about again then. */
const MAX_REFUSED = 1_000;

/** Whether a schedule has fired as often as it may (T9). */
export function isSpent(draft: Draft): boolean {
  const { spec } = draft.definition;
  return spec.kind !== "at" && spec.maxRuns !== undefined && draft.progress.firings >= spec.maxRuns;
}

/**
 * From when on nothing of a paused cadence can come any more, whenever it goes on (T9); `undefined` unless an `endAt`
 * ends what is armed.
 */
export function endOfPaused({ progress: { next, pausedAt }, definition: { spec } }: Draft): number | undefined {
  if (pausedAt === undefined || next === null || next.again === true) return undefined;
  return spec.kind === "at" || spec.endAt === undefined ? undefined : Math.max(spec.endAt, next.at);
}

/** Arms the first point of the cadence after an instant that is not yet accounted for, or nothing where there is none. */
export function arm(draft: Draft, after: number): void {
  const cadence = draftCadence(draft);
  if (cadence === null || isSpent(draft)) return armed(draft, null);
  let point = cadence.next(Math.max(after, draft.progress.cursor ?? after));
  for (let refused = 0; point !== null && refused < MAX_REFUSED; refused++) {
    const skip = refusal(draft, point);
    if (skip === undefined) break;
    const { until = point + 1 } = skip;
    const resume = point + Math.max(0, milliseconds(until - point, "the end of a skip") - 1);
    decided(draft, "skipped", cadence.previous(resume) ?? point, cadence.count(point - 1, resume), skip.skip);
    point = cadence.next(resume);
  }
  armed(draft, point === null || point > MAX_DEADLINE ? null : { point, at: deadlineOf(draft, point) });
}

/** What a policy says against a point, if one does. */
export function refusal(draft: Draft, point: number): { readonly skip: string; readonly until?: number } | undefined {
  for (const policy of draft.env.policies) {
    const answer = policy.admit?.({ ...question(draft), point });
    if (answer !== undefined) return answer === "run" ? undefined : answer;
  }
  return undefined;
}

/** The newest point in `[first, last]` that no policy refuses, as far as it is cheap to find; otherwise the first. */
export function newestAdmitted(draft: Draft, cadence: Cadence, first: number, last: number): number {
  let point = last;
  for (let refused = 0; point > first && refused < MAX_REFUSED; refused++) {
    if (refusal(draft, point) === undefined) return point;
    point = cadence.previous(point - 1) ?? first;
  }
  return first;
}

/** When a point is due: moved by the policies, and then never to earlier than one tick from now (J1). */
export function deadlineOf(draft: Draft, point: number): number {
  let deadline = point;
  let random: number | undefined;
  // From the last to the first, which so has the last word, as it has wherever one answer decides.
  for (let i = draft.env.policies.length - 1; i >= 0; i--) {
    const policy = draft.env.policies[i]!;
    if (policy.shift === undefined) continue;
    random ??= draft.env.random();
    deadline = policy.shift({ ...question(draft), point, deadline, random }) ?? deadline;
  }
  if (deadline === point) return point;
  const shifted = point + Math.round(milliseconds(deadline - point, "a shift"));
  return Math.min(MAX_DEADLINE, Math.max(shifted, draft.now + draft.env.tickMs));
}
