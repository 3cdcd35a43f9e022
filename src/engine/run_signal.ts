import type { RunSignal } from "../contract/mod.ts";
import { isThenable } from "../contract/thenable.ts";

/** How the listeners of a run's signal are called. */
export interface SignalCalls {
  /** Calls one so that what it leaves behind is known for its run's. */
  enter<T>(work: () => T): T;
  /** Told what one threw, or was rejected with. */
  failed(error: unknown): void;
}

type Callback = EventListenerOrEventListenerObject;

/**
 * Contains the listeners of a run's signal (F1): the runtimes report what one throws as an error that nobody caught, and
 * what one is rejected with, too, which ends the process. Nobody but who calls them can catch it. The signal stays the
 * platform's; those that others derive from it call their own listeners.
 */
export function containListeners(signal: RunSignal, { enter, failed }: SignalCalls): void {
  const contained = new WeakMap<Callback, EventListener>();
  const containing = (callback: Callback): EventListener => {
    const known = contained.get(callback);
    if (known !== undefined) return known;
    const listener = (event: Event) => {
      try {
        const result: unknown = enter(() => call(callback, signal, event));
        if (isThenable(result)) result.then(undefined, failed);
      } catch (error) {
        failed(error);
      }
    };
    contained.set(callback, listener);
    return listener;
  };
  const prototype = Object.getPrototypeOf(signal) as RunSignal;
  let onabort: RunSignal["onabort"] = null;
  Object.defineProperties(signal, {
    addEventListener: {
      value: (type: string, callback: Callback | null, options?: AddEventListenerOptions | boolean) =>
        prototype.addEventListener.call(signal, type, isCallback(callback) ? containing(callback) : callback!, options),
    },
    // Whoever has added one by the prototype's method may take it back by this.
    removeEventListener: {
      value: (type: string, callback: Callback | null, options?: EventListenerOptions | boolean) => {
        const listener = isCallback(callback) ? contained.get(callback) : undefined;
        if (listener !== undefined) prototype.removeEventListener.call(signal, type, listener, options);
        prototype.removeEventListener.call(signal, type, callback!, options);
      },
    },
    onabort: {
      get: () => onabort,
      set(callback: unknown) {
        onabort = isCallback(callback) ? callback as RunSignal["onabort"] : null;
        Reflect.set(prototype, "onabort", onabort && containing(onabort as EventListener), signal);
      },
    },
  });
}

function isCallback(value: unknown): value is Callback {
  return typeof value === "function" || (typeof value === "object" && value !== null);
}

function call(callback: Callback, signal: RunSignal, event: Event): unknown {
  return typeof callback === "function" ? callback.call(signal, event) : callback.handleEvent(event);
}
