import { invalidOption, type ScheduleDocument } from "../contract/mod.ts";
import type { Creation } from "./create.ts";
import type { Place } from "./host.ts";

/** The names and keys of creations that are asked for together: each stands for one schedule, and may stand once. */
export class Unique {
  readonly #what: string;
  readonly #seen = new Set<string>();

  /** @param what What they are given in, for the error: a list, a set. */
  constructor(what: string) {
    this.#what = what;
  }

  /**
   * Takes down a creation's name or key.
   *
   * @throws {SchedulerError} `invalid_option` when one before it has it too, of the same owner and for the same store.
   */
  add(prefix: string, { place, definition }: Creation): void {
    for (const by of ["name", "key"] as const) {
      const value = definition[by];
      if (value === undefined) continue;
      const taken = identity(place, by, definition.owner, value);
      if (this.#seen.has(taken)) throw invalidOption(`${prefix}${by}`, value, `each ${by} once in a ${this.#what}`);
      this.#seen.add(taken);
    }
  }

  /** Whether a document has the name of one that was taken down. */
  hasName(place: Place, { definition: { owner, name = "" } }: ScheduleDocument): boolean {
    return this.#seen.has(identity(place, "name", owner, name));
  }
}

function identity(place: Place, by: "name" | "key", owner: string, value: string): string {
  return JSON.stringify([place, by, owner, value]);
}
