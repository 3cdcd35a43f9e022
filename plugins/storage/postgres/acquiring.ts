import { type Clock, StorageError } from "../../../src/contract/mod.ts";
import { storageError } from "./errors.ts";

/** How a connection is waited for. */
export interface Acquiring {
  readonly clock: Clock;
  /** Milliseconds for which it is waited for. */
  readonly acquireMs: number;
}

/**
 * Waits for a connection; one that comes too late goes back at once. Whatever it fails with, nothing was sent: its details
 * say so by `connecting`.
 */
export function acquire<Connection>(
  doing: string,
  { clock, acquireMs }: Acquiring,
  connect: () => Promise<Connection>,
  giveBack: (late: Connection) => void,
): Promise<Connection> {
  return new Promise((resolve, reject) => {
    let late = false;
    const cancel = clock.setTimer(() => {
      late = true;
      const message = `postgres: ${doing}: no connection of the pool was free within ${acquireMs} ms`;
      reject(new StorageError(message, { details: { connecting: true } }));
    }, acquireMs);
    connect().then((connection) => {
      cancel();
      if (late) giveBack(connection);
      else resolve(connection);
    }, (error) => {
      cancel();
      reject(storageError(`${doing}, connecting`, error, { connecting: true }));
    });
  });
}
