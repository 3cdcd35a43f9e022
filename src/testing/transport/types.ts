import type { AnyTask, Clock, Principal, RemoteClient, ScheduleClient } from "../../contract/mod.ts";

/** What the author of a transport gives the cases. */
export interface TransportHarness {
  /** Makes and starts a scheduler in memory of its own, with the tasks and the clock that it is given. */
  open(setup: { readonly tasks: readonly AnyTask[]; readonly clock: Clock }): Promise<TransportWorld>;
}

/** A scheduler and the ways to it. */
export interface TransportWorld {
  /** The scheduler's own calls, those of `as(principal)`: what the transport's are compared with. */
  direct(principal: Principal): ScheduleClient;
  /** The same calls over the transport, for somebody that it authenticates as the principal. */
  remote(principal: Principal): RemoteClient | Promise<RemoteClient>;
  /** Closes the scheduler, and leaves the transport reachable. May be called twice. */
  close(): Promise<void>;
  /** Closes the transport, too; the cases call it when they are done. */
  end?(): Promise<void>;
}

/** A promise that every transport keeps. */
export interface TransportCase {
  /** Says the promise, with the number of the rule where it proves one. */
  readonly name: string;
  /** Throws where the promise is broken. */
  run(harness: TransportHarness): Promise<void>;
}
