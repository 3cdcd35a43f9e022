import type { Principal } from "../../../src/contract/mod.ts";
import type { EventReader } from "./event_reader.ts";

/**
 * Who may see what: readers by principal, so that an event costs those who may not see it nothing, and of each principal
 * the first event that its readers have not been served for.
 */
export class Audience {
  readonly #admins = new Set<EventReader>();
  readonly #byOwner = new Map<string, Set<EventReader>>();
  readonly #counts = new Map<string, number>();
  readonly #fresh = new Map<string, number>();
  #freshForAdmins: number | undefined;
  #beating: EventReader[] = [];

  /** How many readers a principal has. */
  countOf({ id }: Principal): number {
    return this.#counts.get(id) ?? 0;
  }

  add(reader: EventReader): void {
    const { id, admin } = reader.principal;
    this.#counts.set(id, this.countOf(reader.principal) + 1);
    if (admin === true) return void this.#admins.add(reader);
    const readers = this.#byOwner.get(id) ?? new Set();
    this.#byOwner.set(id, readers.add(reader));
  }

  remove(reader: EventReader): void {
    const { id } = reader.principal;
    const count = this.countOf(reader.principal) - 1;
    if (count === 0) this.#counts.delete(id);
    else this.#counts.set(id, count);
    this.#admins.delete(reader);
    const readers = this.#byOwner.get(id);
    readers?.delete(reader);
    if (readers?.size === 0) this.#byOwner.delete(id);
  }

  /** Notes an event; answers whether anybody here may see it. */
  note(owner: string | undefined, number: number): boolean {
    const isOwners = owner !== undefined && this.#byOwner.has(owner);
    if (isOwners && !this.#fresh.has(owner)) this.#fresh.set(owner, number);
    if (this.#admins.size > 0) this.#freshForAdmins ??= number;
    return isOwners || this.#admins.size > 0;
  }

  /** A reader that waits is to get a sign of life, whose id says that there was nothing for it before `next`. */
  beat(reader: EventReader, next: number): void {
    const { id, admin } = reader.principal;
    reader.needsBeat = true;
    if (reader.isQueued) return;
    const fresh = admin === true ? this.#freshForAdmins : this.#fresh.get(id);
    reader.skipTo(fresh ?? next);
    reader.isQueued = true;
    this.#beating.push(reader);
  }

  /** Every reader that waits and is to be served, once. */
  *takeFresh(): Generator<EventReader> {
    const groups = [...this.#fresh].map(([owner, number]) => [this.#byOwner.get(owner) ?? [], number] as const);
    if (this.#freshForAdmins !== undefined) groups.push([this.#admins, this.#freshForAdmins]);
    this.#fresh.clear();
    this.#freshForAdmins = undefined;
    yield* this.#beating.splice(0);
    for (const [readers, number] of groups) {
      for (const reader of readers) {
        // One that is not waiting takes what there is when it comes back for more.
        if (reader.isQueued || !reader.isWaiting) continue;
        reader.skipTo(number);
        reader.isQueued = true;
        yield reader;
      }
    }
  }
}
