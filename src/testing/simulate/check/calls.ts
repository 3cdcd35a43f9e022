import type { Json } from "../../../contract/mod.ts";
import type { AnswerEntry, CallEntry, EndEntry, HostEntry } from "../trace.ts";
import type { Account } from "./account.ts";
import type { Report } from "./types.ts";
import type { Units } from "./units.ts";

/** Errors that a user of a simulation may meet; anything else is nobody's doing. */
const EXPECTED = new Set([
  "store_unavailable",
  "conflict",
  "not_found",
  // Bounds that leave no room for a deadline, options that do not go with a kind.
  "invalid_option",
  "deadline_out_of_range",
  "rolled back",
]);

/** What users are told is so (I3, L1, X2). */
export class Calls {
  readonly #open = new Map<number, CallEntry>();
  readonly #dead = new Set<string>();
  readonly #up = new Set<string>();

  called(entry: CallEntry): void {
    this.#open.set(entry.call, entry);
  }

  host({ host, what }: HostEntry): void {
    if (what === "up") this.#up.add(host);
    else if (what === "closed" || what === "killed") this.#up.delete(host);
    if (what === "killed") this.#dead.add(host);
  }

  answered(entry: AnswerEntry, accounts: ReadonlyMap<string, Account>, units: Units, report: Report): void {
    const { call, what, answer, error } = entry;
    const asked = this.#open.get(call);
    this.#open.delete(call);
    if (asked === undefined) return report("I2", `call ${call} was answered twice`);
    if (error !== undefined) {
      if (!EXPECTED.has(error)) report("I2", `call ${call}, ${what}, failed with ${error}`);
      return;
    }
    if (what === "create" || what === "upsert" || what === "sync") {
      for (const id of answer as readonly string[]) {
        if (!units.wasMade(id)) report("I3", `call ${call}, ${what}, answered ${id}, which was never stored`, id);
      }
    }
    if (what === "stop" && answer === true) checkStopped(idOf(asked.args), accounts, report);
  }

  end({ documents, lanes, timers }: EndEntry, report: Report): void {
    for (const { call, what, host } of this.#open.values()) {
      if (!this.#dead.has(host)) {
        report("I3", `call ${call}, ${what}, was never answered, and ${host} did not die`);
      }
    }
    for (const host of this.#up) report("X1", `${host} has not come to the end of its close`);
    if (documents.length > 0) report("L3", `still stored at the end: ${documents.join(", ")}`);
    if (lanes.length > 0) report("L3", `still due at the end: ${lanes.map((lane) => `"${lane}"`).join(", ")}`);
    if (timers > 0) report("X3", `${timers} timers are left of closed schedulers`);
  }
}

function idOf(args: Json): string {
  return (args as { readonly id: string }).id;
}

function checkStopped(id: string, accounts: ReadonlyMap<string, Account>, report: Report): void {
  const account = accounts.get(id);
  const over = account === undefined || account.removed || account.view?.retired !== undefined;
  if (!over) report("L1", "stop answered true, and it lives", id);
}
