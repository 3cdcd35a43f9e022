/**
 * Deliberate defects, each one line of the source changed, to show that the checker can fail. The text must stand in the
 * file exactly once: a mutant whose line is gone fails loudly, and is then written anew for the line that took its place.
 */
import type { StoreName } from "./stores.ts";

/** One defect. */
export interface Mutant {
  /** What is wrong. */
  readonly name: string;
  readonly file: string;
  readonly line: string;
  readonly becomes: string;
  /** The store that the simulation runs on. Default the memory store. */
  readonly store?: StoreName;
  /** A seed that is known to catch it: tried first. */
  readonly seed: number;
}

const MACHINE: readonly Mutant[] = [
  {
    name: "arms from now instead of from the point",
    file: "src/machine/arm.ts",
    line: "let point = cadence.next(Math.max(after, draft.progress.cursor ?? after));",
    becomes: "let point = cadence.next(Math.max(draft.now, draft.progress.cursor ?? after));",
    seed: 33,
  },
  {
    name: "lets jitter move the cadence",
    file: "src/machine/arm.ts",
    line: "{ point, at: deadlineOf(draft, point) });\n}\n\n/** What a policy says",
    becomes: "{ point: deadlineOf(draft, point), at: deadlineOf(draft, point) });\n}\n\n/** What a policy says",
    seed: 0,
  },
  {
    name: "forgets the fence",
    file: "src/machine/step.ts",
    line: "const run = document.progress.runs.find((live) => live.fence === fence);",
    becomes: "const run = document.progress.runs.find((live) => live.fence === fence) ?? document.progress.runs[0];",
    seed: 27,
  },
  {
    name: "leaves a settled run live, to be settled twice",
    file: "src/machine/settle.ts",
    line: "  progress.runs = progress.runs.filter((live) => live.fence !== run.fence);\n  progress.lastDurationMs",
    becomes: "  progress.lastDurationMs",
    seed: 0,
  },
  {
    name: "catches up one point more than the limit",
    file: "src/machine/arrive.ts",
    line: "owed = limit;",
    becomes: "owed = limit + 1;",
    seed: 4,
  },
  {
    name: "counts the point that stands for all as missed",
    file: "src/machine/arrive.ts",
    line: "const dropped = folds && ordinary === undefined ? count - 1 : count;",
    becomes: "const dropped = count;",
    seed: 2,
  },
  {
    name: "doubles the grace",
    file: "src/machine/arrive.ts",
    line: "if (upTo - at <= grace(first)) return first;",
    becomes: "if (upTo - at <= 2 * grace(first)) return first;",
    seed: 30,
  },
  {
    name: "drops points that overlap without counting them all",
    file: "src/machine/overlap.ts",
    line: "if (kept < count) overlapped(draft, count - kept,",
    becomes: "if (kept < count) overlapped(draft, 1,",
    seed: 50,
  },
  {
    name: "takes a lease a second before it is over",
    file: "src/machine/due.ts",
    line: "return run.leaseUntil + claim.patienceMs <= draft.now && !isOwn(draft, claim, run);",
    becomes: "return run.leaseUntil - 1_000 + claim.patienceMs <= draft.now && !isOwn(draft, claim, run);",
    seed: 149,
  },
  {
    name: "reruns a lost run for ever",
    file: "src/machine/settle.ts",
    line: "losses < (definition.maxLost ?? DEFAULT_MAX_LOST) &&",
    becomes: "losses < Infinity &&",
    seed: 28,
  },
  {
    name: "makes up for what a pause has held",
    file: "src/machine/change.ts",
    line: "    else arm(draft, now);\n",
    becomes: "    else arm(draft, next.at - 1);\n",
    seed: 45,
  },
  {
    name: "forgets what the old time owes without counting it",
    file: "src/machine/change.ts",
    line: "writeOff(draft, progress.waiting.filter((entry) => !stays(entry)));",
    becomes: "",
    seed: 351,
  },
  {
    name: "fires once more than maxRuns",
    file: "src/machine/arm.ts",
    line: "draft.progress.firings >= spec.maxRuns",
    becomes: "draft.progress.firings > spec.maxRuns",
    seed: 0,
  },
  {
    name: "keeps a retired record for ever",
    file: "src/machine/wake.ts",
    line: "return Math.min(progress.retired.at + definition.retention, ...leases);",
    becomes: "return leases.length === 0 ? null : Math.min(...leases);",
    seed: 0,
  },
];

const ENGINE: readonly Mutant[] = [
  {
    name: "drops a buffered change",
    file: "src/engine/settler.ts",
    line: "[settle, ...buffered]",
    becomes: "[settle, ...buffered.slice(1)]",
    seed: 0,
  },
  {
    name: "commits the changes of a run that failed",
    file: "src/engine/runner.ts",
    line: 'if (context.unit !== undefined && result?.outcome === "succeeded") {',
    becomes: "if (context.unit !== undefined && result !== undefined) {",
    seed: 0,
  },
  {
    name: "forgets an outcome when the store fails",
    file: "src/engine/settler.ts",
    line: "for (const pending of batch) this.#pending.push(pending);",
    becomes: "",
    seed: 3,
  },
  {
    name: "renews leases too late",
    file: "src/engine/renewer.ts",
    line: "leaseMs / 3,",
    becomes: "leaseMs * 3,",
    seed: 1,
  },
  {
    name: "believes that leases end by a jump of the clock",
    file: "src/engine/engine.ts",
    line: "claim: (patienceMs) => this.#claim(patienceMs),",
    becomes: "claim: () => this.#claim(0),",
    seed: 50,
  },
  {
    name: "sleeps on when its clock was set back",
    file: "src/engine/waker.ts",
    line: "this.#clock.onJump?.(() => this.#rise());",
    becomes: "this.#clock.onJump?.(() => this.#arm());",
    seed: 5,
  },
  {
    name: "does not look for what a lost reply has stored",
    file: "src/engine/engine.ts",
    line: "this.#pump.pump();\n      throw error;",
    becomes: "throw error;",
    seed: 28,
  },
];

const DRIVERS: readonly Mutant[] = [
  {
    name: "memory: loses the first write of a group",
    file: "plugins/storage/memory/mod.ts",
    line: "const reason = this.#write(evaluation.writes);",
    becomes:
      "const reason = this.#write(evaluation.writes.length > 1 ? evaluation.writes.slice(1) : evaluation.writes);",
    seed: 0,
  },
  {
    name: "memory: answers the latest wake-up as the next",
    file: "plugins/storage/memory/table.ts",
    line: "(earliest === null || wakeAt < earliest)",
    becomes: "(earliest === null || wakeAt > earliest)",
    seed: 0,
  },
  {
    name: "sqlite: remembers a document that was removed or put away",
    file: "plugins/storage/sqlite/documents.ts",
    line: "if (after === null || !isInHand(after)) this.#cache.delete(before.id);",
    becomes: "if (after === null || !isInHand(after)) return;",
    store: "sqlite",
    seed: 0,
  },
  {
    name: "sqlite: keeps the old time of what moved",
    file: "plugins/storage/sqlite/statements.ts",
    line: 'const STEP_COLUMNS = [...STAY_COLUMNS, "wake_at"] as const;',
    becomes: 'const STEP_COLUMNS = STAY_COLUMNS as unknown as readonly [...typeof STAY_COLUMNS, "wake_at"];',
    store: "sqlite",
    seed: 0,
  },
  {
    name: "kv: writes one document too few",
    file: "plugins/storage/kv/plan.ts",
    line: "for (const [id, write] of planned) this.writes.set(id, write);",
    becomes: "for (const [id, write] of planned.slice(planned.length > 1 ? 1 : 0)) this.writes.set(id, write);",
    store: "kv",
    seed: 0,
  },
  {
    name: "kv: forgets whoever shares an entry with one that leaves it",
    file: "plugins/storage/kv/shared_entries.ts",
    line: "const rest = [...ids].filter((id) => !gone.has(id));",
    becomes: "const rest = gone.size > 0 ? [] : [...ids];",
    store: "kv",
    seed: 60,
  },
  {
    name: "postgres: keeps what is removed alone",
    file: "plugins/storage/postgres/writes.ts",
    line: "if (removed.length > 0) await session.run(statements.remove, { ids: arrayText(removed) });",
    becomes: "if (removed.length > 1) await session.run(statements.remove, { ids: arrayText(removed) });",
    store: "postgres",
    seed: 0,
  },
  {
    name: "postgres: loses an update that stands alone",
    file: "plugins/storage/postgres/writes.ts",
    line: "if (changes !== undefined) await session.run(statements.update, { ...changes, ...told });",
    becomes: "if (changed.length > 1) await session.run(statements.update, { ...changes!, ...told });",
    store: "postgres",
    seed: 0,
  },
];

/** Every mutant. */
export const MUTANTS: readonly Mutant[] = [...MACHINE, ...ENGINE, ...DRIVERS];
