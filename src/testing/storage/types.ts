import type { Storage, StorageSupports } from "../../contract/mod.ts";

/** What the author of a driver gives the cases: an empty store of its own for each case. */
export interface StorageHarness {
  /** Another handle on the store, opened. The harness closes what a case leaves open. */
  open(): Promise<Storage>;
  /**
   * Overwrites a stored text of a document behind the driver's back, as a person with an editor would. Leave it out
   * where a document cannot be reached so; the cases that carry `damages` are to be left out then.
   */
  damage?(id: string, what: "definition" | "progress", text: string): Promise<void>;
}

/** A promise that every driver keeps. */
export interface StorageCase {
  /** Says the promise, with the number of the rule where it proves one. */
  readonly name: string;
  /** What the driver must support for the case to apply. Nothing else excuses a driver. */
  readonly needs?: readonly (keyof StorageSupports)[];
  /** Whether it needs {@linkcode StorageHarness.damage}. */
  readonly damages?: true;
  /** Throws where the promise is broken. */
  run(harness: StorageHarness): Promise<void>;
}
