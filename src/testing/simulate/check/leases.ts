import type { LiveRun } from "../../../contract/mod.ts";
import type { Story } from "./history.ts";
import { overlapOf } from "./policies.ts";
import type { Transition } from "./transition.ts";
import type { Report } from "./types.ts";

/** Who may do what to a run: nobody without its lease (M3, M4). */
export function checkLeases(transition: Transition, story: Story, report: Report): void {
  const { entry, before, after, started, definition } = transition;
  for (const run of started) story.started(entry, run.fence, run.point, run.instance);
  if (after.fence !== before.fence + started.length) {
    report("M4", `fences went from ${before.fence} to ${after.fence} for ${started.length} runs`);
  }
  checkEnded(transition, story, report);
  for (const run of after.runs) checkKept(transition, run, story, report);
  const { together } = overlapOf(definition);
  if (after.runs.length > Math.max(together, before.runs.length - transition.gone.length)) {
    report("O1", `${after.runs.length} runs together; its overlap policy allows ${together}`);
  }
}

function checkEnded({ entry, before, gone, lost, settled, released }: Transition, story: Story, report: Report): void {
  const holder = ({ instance }: LiveRun) => story.hostOf(instance);
  for (const { fence, outcome } of settled) {
    const run = gone.find((one) => one.fence === fence);
    if (run === undefined) {
      report("M4", `run ${fence} was settled (${outcome}) though nobody held it`);
      continue;
    }
    if (holder(run) !== entry.host) report("M4", `run ${fence} of ${holder(run)} was settled by ${entry.host}`);
    const told = story.run(entry.id, fence);
    if (outcome === "succeeded" && told?.end !== "returned") {
      report("M4", `run ${fence} was settled as succeeded; its handler ${told?.end ?? "has not ended"}`);
    }
  }
  for (const { fence } of lost) {
    const run = gone.find((one) => one.fence === fence);
    if (run === undefined) report("M3", `run ${fence} was lost though nobody held it`);
    else if (run.leaseUntil > entry.now) {
      report("M3", `run ${fence} was lost ${run.leaseUntil - entry.now} ms before its lease was over`);
    }
  }
  for (const run of released) {
    const record = before.retired !== undefined && run.leaseUntil <= entry.now;
    if (holder(run) !== entry.host && !record) report("M4", `run ${run.fence} vanished by ${entry.host}`);
  }
}

function checkKept({ entry, before, after }: Transition, run: LiveRun, story: Story, report: Report): void {
  const old = before.runs.find(({ fence }) => fence === run.fence);
  if (old !== undefined && run.leaseUntil !== old.leaseUntil && entry.by === "apply") {
    const holder = story.hostOf(run.instance);
    if (holder !== entry.host) {
      report("M3", `the lease of run ${run.fence} of ${holder} was set by ${entry.host}`);
    }
  }
  const twins = after.runs.filter(({ point }) => point === run.point);
  if (twins.length > 1 && twins[0] === run && run.attempt + twins[1]!.attempt > 2) {
    report("M1", `runs ${twins.map(({ fence }) => fence).join(" and ")} hold live leases for ${run.point} together`);
  }
}
