/** What of an `AbortSignal` is used, for programs whose types know none. */
export interface AbortSignalLike {
  /** Whether it has aborted. */
  readonly aborted: boolean;
  /** Why it has aborted. */
  // deno-lint-ignore no-explicit-any
  readonly reason: any;
  /** Throws the reason if it has aborted. */
  throwIfAborted(): void;
  /** Listens for the abort. */
  addEventListener(type: "abort", listener: () => void, options?: { readonly once?: boolean }): void;
  /** Takes a listener back. */
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * The platform's `AbortSignal`: what `fetch` and others take. Whether a program's types know one is for its `lib` and
 * `types` to say; without (plain `"lib": ["es2022"]`) it is what is always there of it.
 */
export type RunSignal = typeof globalThis extends { AbortSignal: { prototype: infer Signal } } ? Signal
  : AbortSignalLike;
