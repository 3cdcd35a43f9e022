import { type ScheduleDocument, SchedulerError, type Selector, show, type Write } from "../../../src/contract/mod.ts";
import type { KvKey } from "./handle.ts";
import { type Keys, nameOf } from "./keys.ts";
import type { Knowledge } from "./knowledge.ts";

/**
 * The documents, and who holds which name, as a commit in the making would leave them. What is looked at for a group is
 * noted: the commit has to check it.
 */
export class PlannedDocuments {
  /** Ids that were looked at since the last {@linkcode forgetLooks}. */
  readonly seenIds = new Set<string>();
  /** Names and keys that were looked at and lead to nothing. */
  readonly seenNames = new Map<string, KvKey>();
  readonly #keys: Keys;
  readonly #known: Knowledge;
  readonly #documents = new Map<string, ScheduleDocument | null>();
  readonly #names = new Map<string, string | null>();

  constructor(keys: Keys, known: Knowledge) {
    this.#keys = keys;
    this.#known = known;
  }

  /** Begins to note what is looked at for another group. */
  forgetLooks(): void {
    this.seenIds.clear();
    this.seenNames.clear();
  }

  /** Whether something was looked at that may have changed meanwhile. */
  sawGuesses(): boolean {
    for (const id of this.seenIds) if (this.#known.guessed.has(id)) return true;
    return false;
  }

  find(select: Exclude<Selector, null>): ScheduleDocument | undefined {
    if ("id" in select) return this.#current(select.id);
    const key = this.#keys.selected(select);
    const id = this.#holder(key);
    const found = id === undefined ? undefined : this.#current(id);
    if (found === undefined) this.seenNames.set(nameOf(key), key);
    return found;
  }

  /** Why documents of these ids and names cannot be stored beside the others. */
  conflict(writes: readonly Write[]): SchedulerError | undefined {
    const names = new Map<string, string | null>();
    // In their order: what a later one leaves is not free for an earlier one.
    for (const { before, after } of writes) {
      if (before !== undefined) { for (const key of this.#namesOf(before)) names.set(nameOf(key), null); }
      if (after === null) continue;
      if (before === undefined ? this.#current(after.id) !== undefined : before.id !== after.id) {
        return conflict(`id ${show(after.id)} is in use`, after.id);
      }
      for (const key of this.#namesOf(after)) {
        const text = nameOf(key);
        const holder = names.has(text) ? names.get(text) ?? undefined : this.#holder(key);
        if (holder !== undefined && holder !== after.id) {
          return conflict(
            `the name or key of schedule ${show(after.id)} names a live one of its owner already`,
            holder,
          );
        }
        names.set(text, after.id);
      }
    }
    return undefined;
  }

  /** Takes a change to have been made. */
  apply({ before, after }: Write): void {
    if (before !== undefined) {
      for (const key of this.#namesOf(before)) this.#names.set(nameOf(key), null);
    }
    if (after !== null) {
      for (const key of this.#namesOf(after)) this.#names.set(nameOf(key), after.id);
    }
    this.#documents.set((after ?? before)!.id, after);
  }

  #current(id: string): ScheduleDocument | undefined {
    this.seenIds.add(id);
    const planned = this.#documents.get(id);
    return planned === undefined ? this.#known.document(id)?.stored.document : planned ?? undefined;
  }

  /** The id of the live document that holds a name or key; a key that leads to one that does not is as good as none. */
  #holder(key: KvKey): string | undefined {
    const text = nameOf(key);
    const planned = this.#names.get(text);
    if (planned !== undefined) return planned ?? undefined;
    const id = this.#known.pointer(key)?.id;
    const stored = id === undefined ? undefined : this.#known.document(id)?.stored;
    return stored !== undefined &&
        this.#keys.names(stored.index).some((name) => nameOf(name) === text)
      ? id
      : undefined;
  }

  #namesOf({ definition, progress }: ScheduleDocument): readonly KvKey[] {
    if (progress.retired !== undefined) return [];
    const { owner, name = null, key = null } = definition;
    return this.#keys.names({ owner, name, key });
  }
}

function conflict(message: string, id: string): SchedulerError {
  return new SchedulerError("conflict", message, { details: { id } });
}
