import type {
  Duration,
  Principal,
  SchedulerApi,
  SchedulerEventName,
  SchedulerListener,
} from "../../../src/contract/mod.ts";

/** What is served: a scheduler. */
export interface ServedScheduler<Extra extends object = object> {
  /** The system: code that embeds the scheduler. */
  readonly principal: Principal;
  /** What carries out calls. */
  readonly api: SchedulerApi<Extra>;
  /** Runs what is due now. */
  tick(options?: { readonly budget?: Duration }): Promise<Date | undefined>;
  /** Listens to an event. */
  on<Name extends SchedulerEventName>(name: Name, listener: SchedulerListener<Name>): () => void;
}
