import type { Transition } from "./transition.ts";
import type { Report } from "./types.ts";

const DEFAULT_MAX_FAULTS = 50;

/** A schedule retires once, for a reason that holds, and is over then (L3, L4). */
export function checkRetirement(transition: Transition, report: Report): void {
  const { before, after } = transition;
  if (after.parked !== undefined) report("M2", `parked: ${after.parked}`);
  if (before.retired !== undefined) {
    if (JSON.stringify(before.retired) !== JSON.stringify(after.retired)) {
      report("L3", "it retired twice, or came back");
    }
    return;
  }
  if (after.retired === undefined) return;
  if (after.next !== null || after.waiting.length > 0 || after.backlog !== undefined) {
    report("L3", `it retired (${after.retired.reason}) with starts still to come`);
  }
  const wrong = unfounded(transition, after.retired.reason);
  if (wrong !== undefined) report("L4", `it retired with ${after.retired.reason}, but ${wrong}`);
}

function unfounded({ after, definition, points, entry }: Transition, reason: string): string | undefined {
  const { spec, options } = definition;
  const outcomes = entry.ended.map(({ outcome }) => outcome);
  switch (reason) {
    case "completed":
    case "failed":
    case "lost":
      return spec.kind === "at" ? undefined : "it is no one-shot";
    case "max_faults": {
      const { maxFaults = DEFAULT_MAX_FAULTS } = options as { readonly maxFaults?: number };
      return after.consecutiveFaults >= maxFaults
        ? undefined
        : `${after.consecutiveFaults} faults in a row are not ${maxFaults}`;
    }
    case "ended": {
      if (spec.kind === "at") return "it has no bounds";
      if (spec.maxRuns !== undefined && after.firings >= spec.maxRuns) return undefined;
      const next = points!.next(Math.max(entry.now, after.cursor ?? -Infinity));
      return next === undefined || next > (spec.endAt ?? Infinity) ? undefined : `${next} is still to come`;
    }
    case "stopped":
      return entry.by === "apply" ? undefined : "nobody stopped it";
    case "as planned":
      return outcomes.includes("succeeded") ? undefined : "no run has succeeded";
    default:
      return "nothing in a simulation gives that reason";
  }
}
