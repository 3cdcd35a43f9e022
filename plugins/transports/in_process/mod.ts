/**
 * The transport within one process: the typed client of any transport, over a scheduler that is at hand. Everything goes
 * through JSON both ways, so code and tests written against it work unchanged over HTTP.
 *
 * @module
 */
import {
  type ApiCallName,
  type ApiCalls,
  errorFromWire,
  errorToWire,
  type Principal,
  type RemoteClient,
  remoteClient,
  type SchedulerApi,
  toWire,
} from "../../../src/contract/mod.ts";

/** What is connected to: a scheduler. */
export interface Connectable<Extra extends object = object> {
  /** Whom calls are made for unless told otherwise. */
  readonly principal: Principal;
  /** What carries them out. */
  readonly api: SchedulerApi<Extra>;
}

/**
 * The calls of a principal over JSON, as a client at the other end of a network would make them.
 *
 * @param scheduler Any scheduler, also one that is not started.
 * @param principal Whom the calls are made for. Default: the system, as with the scheduler's own calls. One that is none
 * is refused by each call with `invalid_option`.
 * @example
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 * import { connect } from "@ostinato/scheduler/in-process";
 *
 * const greet = defineTask("greet", (input: { name: string }) => `hello ${input.name}`);
 * await using scheduler = createScheduler({ tasks: [greet] });
 * const alice = connect(scheduler, { id: "alice" });
 * const daily = await alice.every(greet, "1d", { name: "world" });
 * console.log((await daily.info()).owner, await alice.invoke(greet, { name: "you" })); // alice hello you
 * ```
 */
export function connect<Extra extends object = object>(
  scheduler: Connectable<Extra>,
  principal: Principal = scheduler.principal,
): RemoteClient<Extra> {
  return remoteClient<Extra>(async (name, parameters) => {
    try {
      return await carry(scheduler.api as unknown as SchedulerApi, principal, name, parameters);
    } catch (error) {
      throw errorFromWire(toWire(errorToWire(error)));
    }
  });
}

/** A call there and back, as text both ways. */
async function carry<Name extends ApiCallName>(
  api: SchedulerApi,
  principal: Principal,
  name: Name,
  parameters: unknown,
): Promise<ApiCalls[Name]["answer"]> {
  const sent = toWire(parameters) as ApiCalls[Name]["parameters"];
  return toWire(await api.call(principal, name, sent)) as ApiCalls[Name]["answer"];
}
