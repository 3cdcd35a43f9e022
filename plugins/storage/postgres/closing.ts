import type { Clock } from "../../../src/contract/mod.ts";

/** Milliseconds that closing waits for a server, before it goes on without: its network may be gone without a word. */
export const CLOSE_MS = 5_000;

/** Whether work ends within {@linkcode CLOSE_MS}. What it fails with later is nobody's any more. */
export async function endsInTime(clock: Clock, work: Promise<unknown>): Promise<boolean> {
  let cancel = () => {};
  const late = new Promise<false>((resolve) => cancel = clock.setTimer(() => resolve(false), CLOSE_MS));
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
