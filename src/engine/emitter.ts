import type {
  Logger,
  ObservedEvent,
  SchedulerEventName,
  SchedulerEvents,
  SchedulerListener,
  SchedulerObserver,
} from "../contract/mod.ts";
import { isThenable } from "../contract/thenable.ts";

/** Tells listeners of events. A listener that throws or rejects harms nothing and is logged (V5). */
export class Emitter {
  readonly #listeners = new Map<SchedulerEventName, Set<SchedulerListener<never>>>();
  readonly #observers = new Set<SchedulerObserver>();
  readonly #logger: Logger;
  readonly #outside: <T>(call: () => T) => T;

  /** @param outside Calls a listener outside of the run that the event may come from: it is the application's. */
  constructor(logger: Logger, outside: <T>(call: () => T) => T) {
    this.#logger = logger;
    this.#outside = outside;
  }

  on<Name extends SchedulerEventName>(name: Name, listener: SchedulerListener<Name>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    // Wrapped, so that one function may listen twice and each unsubscribes its own.
    const own: SchedulerListener<Name> = (event) => listener(event);
    listeners.add(own as SchedulerListener<never>);
    return () => void listeners.delete(own as SchedulerListener<never>);
  }

  observe(observer: SchedulerObserver): () => void {
    const own: SchedulerObserver = (observed) => observer(observed);
    this.#observers.add(own);
    return () => void this.#observers.delete(own);
  }

  /** Whether anybody listens or observes, so that an event need not be made for nobody. */
  has(name: SchedulerEventName): boolean {
    return this.#observers.size > 0 || this.hasListener(name);
  }

  /** Whether somebody listens to this very event. */
  hasListener(name: SchedulerEventName): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0;
  }

  emit<Name extends SchedulerEventName>(name: Name, event: SchedulerEvents[Name]): void {
    for (const listener of [...this.#listeners.get(name) ?? []]) {
      this.#tell(name, listener as SchedulerListener<Name>, event);
    }
    if (this.#observers.size === 0) return;
    const observed = { name, event } as unknown as ObservedEvent;
    for (const observer of [...this.#observers]) this.#tell(name, observer, observed);
  }

  #tell<Told>(name: SchedulerEventName, listener: (told: Told) => unknown, told: Told): void {
    try {
      const result = this.#outside(() => listener(told));
      if (isThenable(result)) result.then(undefined, (error) => this.#failed(name, error));
    } catch (error) {
      this.#failed(name, error);
    }
  }

  #failed(name: string, error: unknown): void {
    this.#logger.error(`a listener of "${name}" threw`, error);
  }
}
