import type { ScheduleDefinition } from "../../../contract/mod.ts";
import type { CommitEntry, DocumentView } from "../trace.ts";
import { checkArming, checkCreation } from "./arming.ts";
import { type Books, checkBalance } from "./balance.ts";
import { checkCounters } from "./counters.ts";
import type { Story } from "./history.ts";
import { checkLeases } from "./leases.ts";
import { type Points, pointsOf } from "./points.ts";
import { checkRetries } from "./retries.ts";
import { checkRetirement } from "./retirement.ts";
import { checkStarts } from "./starts.ts";
import { transitionOf } from "./transition.ts";
import type { Report } from "./types.ts";

/** One schedule's account: every commit to it, held against the one before and against the calendar. */
export class Account {
  definition: ScheduleDefinition;
  view: DocumentView | null = null;
  /** It was removed; nothing may ever be committed to it again. */
  removed = false;
  readonly books: Books = {
    mark: -Infinity,
    begun: new Set(),
    triggers: new Set(),
    agains: new Set(),
    outdated: 0,
    superseded: 0,
  };
  #points: Points | undefined;
  readonly #story: Story;

  constructor(entry: CommitEntry, story: Story) {
    this.definition = entry.definition!;
    this.#points = pointsOf(this.definition.spec);
    this.#story = story;
  }

  /** Takes a commit into account. */
  see(entry: CommitEntry, report: Report): void {
    const { before, after } = entry;
    if (this.removed) return report("I1", "changed after it was removed");
    if (JSON.stringify(before) !== JSON.stringify(this.view)) {
      report("M1", `found as ${JSON.stringify(before)}; last committed as ${JSON.stringify(this.view)}`);
    }
    const [old, oldPoints] = [this.definition, this.#points];
    if (entry.definition !== undefined) {
      this.definition = entry.definition;
      this.#points = pointsOf(this.definition.spec);
    }
    this.view = after;
    if (before === null) {
      if (after !== null) checkCreation(entry, after, this.definition, this.#points, this.books, report);
    } else if (after === null) {
      this.removed = true;
      checkRemoval(entry, before, this.definition, report);
    } else {
      const transition = transitionOf(entry, [before, after], [old, this.definition], [oldPoints, this.#points]);
      checkLeases(transition, this.#story, report);
      checkRetries(transition, this.books, report);
      checkStarts(transition, this.books, report);
      checkBalance(transition, this.books, report);
      checkArming(transition, this.books, report);
      checkCounters(transition, this.books, this.#story, report);
      checkRetirement(transition, report);
    }
  }
}

/** A live schedule goes when somebody stops it, a retired one's record when its time is over (L2, L3). */
function checkRemoval(
  { by, now }: CommitEntry,
  before: DocumentView,
  { retention }: ScheduleDefinition,
  report: Report,
): void {
  if (by === "apply") return;
  const { retired } = before;
  if (retired === undefined) return report("L2", "a live schedule was removed though nobody stopped it");
  if (retired.reason !== "stopped" && now < retired.at + retention) {
    report("L3", `its record was removed ${retired.at + retention - now} ms before its retention was over`);
  }
}
