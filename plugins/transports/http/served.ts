import {
  type Backlog,
  type Duration,
  type Principal,
  type SchedulerApi,
  SchedulerError,
  type SchedulerEventName,
  type SchedulerListener,
  type SchedulerObserver,
  show,
} from "../../../src/contract/mod.ts";

/** What health, metrics and event streams need of a scheduler. */
export interface ObservedScheduler {
  /** Is told of every event. */
  observe(observer: SchedulerObserver): () => void;
  /** Is told when the scheduler is closed. */
  on(name: "closed", listener: () => void): () => void;
  /** What is due and waits. */
  backlog(options: { readonly limit: number }): Promise<Backlog>;
}

/** What is served: a scheduler. */
export interface ServedScheduler<Extra extends object = object> {
  /** The system: code that embeds the scheduler. */
  readonly principal: Principal;
  /** What carries out calls. */
  readonly api: SchedulerApi<Extra>;
  /** Runs what is due now. */
  tick(options?: { readonly budget?: Duration }): Promise<Date | undefined>;
  /** Is told of every event. */
  observe(observer: SchedulerObserver): () => void;
  /** What is due and waits. */
  backlog(options?: { readonly limit?: number }): Promise<Backlog>;
  /** Listens to an event. */
  on<Name extends SchedulerEventName>(name: Name, listener: SchedulerListener<Name>): () => void;
}

/**
 * Tells somebody who has given something else in the place of a scheduler.
 *
 * @throws {SchedulerError} `config_invalid`
 */
export function checkScheduler(given: unknown): void {
  const { principal, api, observe } = (given ?? {}) as Partial<ServedScheduler>;
  if (typeof principal === "object" && typeof api === "object" && typeof observe === "function") return;
  throw new SchedulerError("config_invalid", `http: scheduler: ${show(given)}; expected what createScheduler answers`, {
    details: { where: "http.scheduler", given: show(given) },
  });
}
