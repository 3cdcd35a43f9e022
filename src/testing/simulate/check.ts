import type { CommitEntry, TraceEntry } from "./trace.ts";
import { Account } from "./check/account.ts";
import { Calls } from "./check/calls.ts";
import { Story } from "./check/history.ts";
import { Liveness } from "./check/liveness.ts";
import type { Bounds, Report, Violation } from "./check/types.ts";
import { Units } from "./check/units.ts";

export type { Bounds, Violation } from "./check/types.ts";

/** So many violations say enough. */
const MAX_VIOLATIONS = 100;

/**
 * Holds a trace against the rules. Reads what happened and works out the calendar by itself: it shares no code with
 * what it checks.
 */
export function check(trace: readonly TraceEntry[], bounds: Bounds): readonly Violation[] {
  return new Checker(bounds).check(trace);
}

class Checker {
  readonly #bounds: Bounds;
  readonly #violations: Violation[] = [];
  readonly #accounts = new Map<string, Account>();
  readonly #story = new Story();
  readonly #units = new Units();
  readonly #calls = new Calls();
  readonly #liveness: Liveness;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#liveness = new Liveness(bounds, this.#accounts);
  }

  check(trace: readonly TraceEntry[]): readonly Violation[] {
    for (const entry of trace) {
      if (this.#violations.length >= MAX_VIOLATIONS) break;
      this.#see(entry, (rule, message, schedule) => {
        this.#violations.push({ rule, at: entry.at, ...(schedule === undefined ? {} : { schedule }), message });
      });
    }
    return this.#violations;
  }

  #see(entry: TraceEntry, report: Report): void {
    switch (entry.type) {
      case "commit":
        return this.#commit(entry, report);
      case "host":
        this.#calls.host(entry);
        return this.#liveness.host(entry, report);
      case "store clock":
        return this.#liveness.clockSet(entry.at, entry.offset, report);
      case "failure":
        return this.#liveness.failed(entry, report);
      case "call":
        return this.#calls.called(entry);
      case "answer":
        this.#units.answered(entry);
        return this.#calls.answered(entry, this.#accounts, this.#units, report);
      case "handler": {
        this.#units.heard(entry);
        const wrong = this.#story.heard(entry);
        if (wrong !== undefined) report("M1", wrong);
        return;
      }
      case "event": {
        const wrong = this.#story.told(entry);
        if (wrong !== undefined) report("V5", wrong, entry.id);
        return;
      }
      case "end":
        this.#calls.end(entry, report);
        return this.#units.end(report);
    }
  }

  #commit(entry: CommitEntry, report: Report): void {
    const { id, at, after } = entry;
    let account = this.#accounts.get(id);
    if (account === undefined) {
      if (entry.definition === undefined) return report("M1", "committed to before it was made", id);
      this.#accounts.set(id, account = new Account(entry, this.#story));
    } else if (entry.before === null && after !== null) {
      return report("I1", "its id was given to another schedule", id);
    }
    this.#checkLosses(entry, report);
    account.see(entry, (rule, message) => report(rule, message, id));
    this.#units.committed(entry);
    this.#story.committed(entry);
    this.#liveness.committed(id, at, after, (rule, message) => report(rule, message, id));
  }

  /** A lease that its holder could renew all the time is not lost (M3, T8). */
  #checkLosses({ id, at, before, ended }: CommitEntry, report: Report): void {
    for (const { fence, outcome } of ended) {
      const run = outcome === "lost" ? before?.runs.find((one) => one.fence === fence) : undefined;
      const holder = run === undefined ? undefined : this.#story.hostOf(run.instance);
      const told = this.#story.run(id, fence);
      if (holder === undefined || told?.called !== true) continue;
      const well = at - this.#liveness.wellSince(holder);
      if (well > this.#bounds.leaseMs + this.#bounds.lateMs) {
        report("M3", `run ${fence} was lost although ${holder}, which executes it, has been well for ${well} ms`, id);
      }
    }
  }
}
