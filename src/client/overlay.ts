import { NameIndex, type ScheduleDocument, type Selector } from "../contract/mod.ts";
import type { Place } from "./host.ts";

/** A document as a unit has left it. */
export interface Written {
  readonly place: Place;
  readonly document: ScheduleDocument | null;
}

/** The stores with a unit's own changes laid over them. */
export class Overlay {
  readonly #written = new Map<string, Written>();
  readonly #names: Readonly<Record<Place, NameIndex>> = { stored: new NameIndex(), local: new NameIndex() };
  /** What each change took the place of, in their order: a copy for each call would cost as much as all calls before it. */
  readonly #replaced: (readonly [id: string, before: Written | undefined])[] = [];

  /** How far the changes have come. */
  mark(): number {
    return this.#replaced.length;
  }

  /** Takes back the changes since a mark, the latest first. */
  takeBack(mark: number): void {
    for (const [id, before] of this.#replaced.splice(mark).reverse()) {
      const { place, document } = this.#written.get(id)!;
      this.#names[place].replace(document, before?.document ?? null);
      if (before === undefined) this.#written.delete(id);
      else this.#written.set(id, before);
    }
  }

  /** What was made of a document, if anything. */
  get(id: string): Written | undefined {
    return this.#written.get(id);
  }

  /** Puts a document in the place of what the unit, or the store, had of it; `null` removes it. */
  put(place: Place, id: string, document: ScheduleDocument | null): void {
    const before = this.#written.get(id);
    this.#replaced.push([id, before]);
    this.#names[place].replace(before?.document, document);
    this.#written.set(id, { place, document });
  }

  /** What was made of the document that a selector finds, if anything. */
  find(place: Place, select: Exclude<Selector, null>): Written | undefined {
    const id = "id" in select ? select.id : this.#names[place].find(select);
    return id === undefined ? undefined : this.#written.get(id);
  }
}
