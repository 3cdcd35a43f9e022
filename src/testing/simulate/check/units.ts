import type { AnswerEntry, CommitEntry, HandlerEntry } from "../trace.ts";
import { Story } from "./history.ts";
import type { Report } from "./types.ts";

/** Which group of which call something was committed in. */
type Place = string;

/** Changes that belong together are all made, or none of them (U1, U3). */
export class Units {
  /** What handlers were told by `ctx.schedules`, by run. */
  readonly #buffered = new Map<string, string[]>();
  /** Where each schedule was made, and where each run was settled as succeeded. */
  readonly #made = new Map<string, Place>();
  readonly #settled = new Map<string, Place>();
  /** Runs by the ids that they were told. */
  readonly #makers = new Map<string, string>();
  /** Units of users: what they were told inside, and what became of them. */
  readonly #answers: AnswerEntry[] = [];

  committed(entry: CommitEntry): void {
    const place = `${entry.request}/${entry.group}`;
    if (entry.before === null) this.#made.set(entry.id, place);
    for (const { fence, outcome } of entry.ended) {
      if (outcome === "succeeded") this.#settled.set(Story.runId(entry.id, fence), place);
    }
  }

  heard({ run, id }: HandlerEntry): void {
    if (id === undefined) return;
    this.#buffered.set(run, [...this.#buffered.get(run) ?? [], id]);
    this.#makers.set(id, run);
  }

  answered(entry: AnswerEntry): void {
    if (entry.inside !== undefined) this.#answers.push(entry);
  }

  wasMade(id: string): boolean {
    return this.#made.has(id);
  }

  end(report: Report): void {
    for (const [run, ids] of this.#buffered) this.#checkRun(run, ids, report);
    for (const answer of this.#answers) this.#checkUnit(answer, report);
  }

  #checkRun(run: string, ids: readonly string[], report: Report): void {
    const settled = this.#settled.get(run);
    for (const id of ids) {
      const made = this.#made.get(id);
      if (made === settled) continue;
      report(
        "U3",
        made === undefined
          ? `run ${run} succeeded without ${id}, which it had made`
          : `run ${run} did not succeed together with ${id}, which it had made`,
        id,
      );
    }
  }

  #checkUnit({ inside = [], error, call }: AnswerEntry, report: Report): void {
    const places = new Set(inside.map((id) => this.#made.get(id)));
    if (places.size > 1) {
      return report("U1", `call ${call}: of ${inside.join(", ")} only some were made, or not together`);
    }
    const [made] = places;
    if (error === undefined && made === undefined) {
      report("U1", `call ${call} resolved, and ${inside.join(", ")} were not made`);
    }
    // Where the store failed, nobody knows.
    if (error !== undefined && error !== "store_unavailable" && made !== undefined) {
      report("U1", `call ${call} failed with ${error}, and ${inside.join(", ")} were made`);
    }
  }
}
