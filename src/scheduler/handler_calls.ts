import type { Logger } from "../contract/mod.ts";
import type { RunningCall } from "../engine/mod.ts";
import { onUnhandledRejection, runScope } from "../system.ts";

/** The calls of handlers of one scheduler: what they leave behind is told apart from what the application does. */
export class HandlerCalls {
  readonly #scope = runScope<RunningCall>();
  readonly #logger: Logger;
  #ignore: (() => void) | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Calls a handler. A promise that it leaves to be rejected is logged, and does not end the process (F1). */
  readonly enter = <T>(call: RunningCall, work: () => T): T => {
    this.#ignore ??= onUnhandledRejection((reason) => this.#contain(reason));
    return this.#scope.enter(call, work);
  };

  /** Calls what is not a handler's, though one of its calls may have led to it. */
  readonly leave = <T>(work: () => T): T => this.#scope.leave(work);

  /** Whether the present call is made by a handler that is not over. */
  isInside(): boolean {
    return this.#scope.current()?.over === false;
  }

  /** Leaves the process without a listener of ours (X3). */
  end(): void {
    this.#ignore?.();
  }

  #contain(reason: unknown): boolean {
    if (this.#scope.current() === undefined) return false;
    this.#logger.error("a handler left a promise behind that was rejected, and that nobody handles", reason);
    return true;
  }
}
