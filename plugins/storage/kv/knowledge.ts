import type { KvKey } from "./handle.ts";
import { nameOf } from "./keys.ts";
import type { Pointer } from "./ledger.ts";
import type { Read } from "./reader.ts";
import type { SharedEntry } from "./shared_wake.ts";
import type { Place } from "./places.ts";

/**
 * What is known of the store while a commit is planned. What is not known is taken to be absent, which new ids and names
 * nearly always are, and noted: it has to be read before the commit.
 */
export class Knowledge {
  readonly documents = new Map<string, Read | undefined>();
  readonly pointers = new Map<string, Pointer>();
  /** Documents as they were when somebody else had not written yet. They count once a commit has checked them. */
  readonly guessed = new Set<string>();
  readonly missingDocuments = new Set<string>();
  readonly missingPointers = new Map<string, KvKey>();
  /** Shared entries of when documents wake, by their names. */
  readonly wakes = new Map<string, SharedEntry | undefined>();
  readonly missingWakes = new Map<string, KvKey>();
  readonly #remembered: (name: string) => SharedEntry | undefined;

  /** @param remembered Answers a shared entry that need not be read. */
  constructor(remembered: (name: string) => SharedEntry | undefined) {
    this.#remembered = remembered;
  }

  /** A document as it is stored. */
  document(id: string): Read | undefined {
    if (!this.documents.has(id)) this.missingDocuments.add(id);
    return this.documents.get(id);
  }

  /** The entry of when it wakes that a document shares. */
  wake({ name, key }: Place): SharedEntry | undefined {
    if (this.wakes.has(name)) return this.wakes.get(name);
    const entry = this.#remembered(name);
    if (entry === undefined) this.missingWakes.set(name, key);
    else this.wakes.set(name, entry);
    return entry;
  }

  /** What stands at a key that tells an id. */
  pointer(key: KvKey): Pointer | undefined {
    const pointer = this.pointers.get(nameOf(key));
    if (pointer === undefined) this.missingPointers.set(nameOf(key), key);
    return pointer;
  }

  /** Whether a key is read before the commit; one that a document of the same commit leaves need not be. */
  isAskedFor(key: KvKey): boolean {
    return this.has(key) || this.missingPointers.has(nameOf(key));
  }

  /** Whether it is known what stands at a key. */
  has(key: KvKey): boolean {
    return this.pointers.has(nameOf(key));
  }
}
