import { type Clock, RELEASE_MS } from "../../../src/contract/mod.ts";

/** Whether work ends within a time: that of closing, unless said otherwise. What it fails with later is nobody's any more. */
export async function endsInTime(
  clock: Clock,
  work: Promise<unknown>,
  { withinMs = RELEASE_MS, unref = false }: { readonly withinMs?: number; readonly unref?: boolean } = {},
): Promise<boolean> {
  let cancel = () => {};
  const late = new Promise<false>((resolve) => {
    cancel = clock.setTimer(() => resolve(false), withinMs, { unref });
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    cancel();
  }
}

/** The socket of a client of `pg`, which its own goodbye leaves open for as long as the server does not answer. */
interface Connected {
  readonly connection?: { readonly stream?: { destroy?(): void } };
}

/** Ends a connection without waiting for the server. */
export function cut(client: object): void {
  (client as Connected).connection?.stream?.destroy?.();
}
