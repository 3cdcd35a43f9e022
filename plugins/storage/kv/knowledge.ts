import type { KvKey } from "./handle.ts";
import { nameOf } from "./keys.ts";
import type { Pointer } from "./ledger.ts";
import type { Read } from "./reader.ts";

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

  /** A document as it is stored. */
  document(id: string): Read | undefined {
    if (!this.documents.has(id)) this.missingDocuments.add(id);
    return this.documents.get(id);
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
