import { MAX_CACHED_DEFINITIONS, type ScheduleDefinition } from "../../../src/contract/mod.ts";

interface Known {
  readonly text: string;
  readonly definition: ScheduleDefinition;
}

/**
 * Definitions of recurring schedules as they were read before: they are read at each firing, and hardly ever change.
 * Two generations, of which the older is dropped whole once the younger is full.
 */
export class Definitions {
  #young = new Map<string, Known>();
  #old = new Map<string, Known>();

  /** The definition that this text of this schedule says. */
  get(id: string, text: string): ScheduleDefinition | undefined {
    let known = this.#young.get(id);
    if (known === undefined) {
      known = this.#old.get(id);
      if (known !== undefined) this.#keep(id, known);
    }
    return known?.text === text ? known.definition : undefined;
  }

  /** Keeps one that was found right. */
  set(id: string, text: string, definition: ScheduleDefinition): void {
    if (definition.spec.kind !== "at") this.#keep(id, { text, definition });
  }

  #keep(id: string, known: Known): void {
    if (this.#young.size >= MAX_CACHED_DEFINITIONS / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(id, known);
  }
}
