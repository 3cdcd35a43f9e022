import type { Stored } from "./codec.ts";
import type { KvKey } from "./handle.ts";
import { keyBytes, type Keys } from "./keys.ts";

/** Where an entry stands that documents share. */
export interface Place {
  readonly name: string;
  readonly key: KvKey;
  /** What the key takes. */
  readonly bytes: number;
}

/** The places of shared entries, each worked out once for all documents of a commit. */
export class Places {
  readonly #keys: Keys;
  readonly #known = new Map<string, Place>();

  constructor(keys: Keys) {
    this.#keys = keys;
  }

  /** Of the entry that tells when a document wakes, where it shares one. */
  wake({ shared, index }: Stored): Place | undefined {
    if (shared === undefined) return undefined;
    const known = this.#known.get(shared);
    if (known !== undefined) return known;
    const key = this.#keys.wake(shared, index);
    return key && this.#keep(shared, key);
  }

  /** Of the list that tells a document's task, where it is in one. */
  list({ list, index }: Stored): Place | undefined {
    return list === undefined
      ? undefined
      : this.#known.get(list) ?? this.#keep(list, this.#keys.list(list, index.task));
  }

  #keep(name: string, key: KvKey): Place {
    const place = { name, key, bytes: keyBytes(key) };
    this.#known.set(name, place);
    return place;
  }
}
