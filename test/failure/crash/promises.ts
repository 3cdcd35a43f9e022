import { expect } from "vitest";
import { type PastRun, readHistory, type ScheduleDocument, type Storage } from "../../../src/contract/mod.ts";
import { type Call, type Entry, POINTS } from "./life.ts";

/** Every document, retired ones too. */
export async function documents(storage: Storage): Promise<readonly ScheduleDocument[]> {
  return await storage.find({ limit: 1_000, retired: true });
}

export function isOver(found: readonly ScheduleDocument[]): boolean {
  return found.every(({ definition, progress }) => definition.task === "idle" || progress.retired !== undefined);
}

const tagged = (found: readonly ScheduleDocument[], tag: string) =>
  found.filter(({ definition }) => definition.tags?.includes(tag));
const named = (found: readonly ScheduleDocument[], name: string) =>
  found.filter(({ definition }) => definition.name === name);
const outcomes = ({ progress }: ScheduleDocument, outcome: PastRun["outcome"]) =>
  readHistory(progress.history).filter((run) => run.outcome === outcome);
const calls = (journal: readonly Entry[], what: "asked" | "resolved", call: Call) =>
  journal.some((entry) => entry.what === what && "call" in entry && entry.call === call);

/** How many documents a call may have left: what resolved is there, what was never asked for is not. */
function fits(journal: readonly Entry[], call: Call, count: number, whole: number): void {
  if (calls(journal, "resolved", call)) expect(count, `I3 ${call} resolved`).toBe(whole);
  else if (calls(journal, "asked", call)) expect([0, whole], `U1 ${call}: all or nothing`).toContain(count);
  else expect(count, `${call} was never asked for`).toBe(0);
}

/** What holds the moment a store is opened again, whatever was under way. */
export function holdsAtOnce(found: readonly ScheduleDocument[], journal: readonly Entry[]): void {
  fits(journal, "pair", tagged(found, "pair").length, 2);
  fits(journal, "unit", named(found, "heir").length, 1);
  fits(journal, "beat", named(found, "beat").length, 1);
  fits(journal, "flaky", tagged(found, "flaky").length, 1);
  fits(journal, "once", tagged(found, "once").length, 1);
  if (named(found, "heir").length === 1) expect(named(found, "victim"), "U1 stopped with the creation").toEqual([]);
  for (const parent of tagged(found, "pair")) {
    const children = tagged(found, `of:${parent.id}`).length;
    expect(children, "U3 follow-ups exist exactly with the run that made them").toBe(
      2 * outcomes(parent, "succeeded").length,
    );
  }
  expect(found.filter(({ parked }) => parked !== undefined), "nothing is torn").toEqual([]);
}

/** What holds once an able instance has run what was owed. */
export function holdsAfterwards(found: readonly ScheduleDocument[], journal: readonly Entry[]): void {
  holdsAtOnce(found, journal);
  const count = (what: "start" | "end", id: string, point: number) =>
    journal.filter((entry) => entry.what === what && entry.id === id && entry.point === point).length;
  for (const document of found) {
    const { id, definition, progress } = document;
    if (definition.task === "idle") continue;
    const of = `${definition.task} ${progress.history}`;
    const history = readHistory(progress.history);
    expect(progress.runs, `${of}: no run is left`).toEqual([]);
    expect(progress.waiting, `${of}: nothing waits`).toEqual([]);
    const points = new Set(history.map(({ point }) => point));
    expect(points.size, `${of}: every point is accounted for`).toBe(definition.task === "beat" ? POINTS : 1);
    const succeeded = outcomes(document, "succeeded").map(({ point }) => point);
    expect(new Set(succeeded).size, `${of}: no point is doubled`).toBe(succeeded.length);
    const lost = outcomes(document, "lost").length;
    for (const point of points) {
      const entries = history.filter((run) => run.point === point);
      expect(count("start", id, point), `M4 ${of}: no start but those written down`).toBeLessThanOrEqual(
        entries.length,
      );
    }
    for (const point of succeeded) {
      expect(count("end", id, point), `${of}: what succeeded has run`).toBeGreaterThanOrEqual(1);
    }
    if (definition.task === "once") {
      expect(succeeded.length + lost, `M3 ${of}: at most once`).toBe(1);
    } else expect(succeeded.length, `M3 ${of}: every point succeeds`).toBe(points.size);
    const faulted = outcomes(document, "faulted").length;
    expect(faulted, `${of}: no fault but what the handler threw`).toBeLessThanOrEqual(
      definition.task === "flaky" ? 1 : 0,
    );
    expect(progress.faultCount, `${of}: counters`).toBe(faulted + lost);
    expect(progress.fence, `${of}: counters`).toBe(history.length);
    expect(progress.runCount, `${of}: counters`).toBe(history.length);
    expect(progress.retired?.reason).toBe(
      definition.task === "beat" ? "ended" : definition.task === "once" && lost > 0 ? "lost" : "completed",
    );
  }
}
