import {
  type ApiCallName,
  type ApiCalls,
  isSchedulerError,
  type Json,
  type RemoteClient,
  remoteClient,
  SchedulerError,
} from "../../../../src/contract/mod.ts";
import { callRequest, CARRIERS } from "./calls.ts";
import { exchange, ExchangeError } from "./exchange.ts";
import { type HttpClientOptions, type HttpClientSettings, readClientOptions } from "./options.ts";

/**
 * The calls of a scheduler elsewhere, over HTTP: those of `Scheduler.as`, with the same answers and the same errors by
 * code, for whoever the server takes the token's bearer for. It needs nothing but `fetch`: it works in browsers, Deno and
 * Node.
 *
 * Calls that may be made twice are made again, with growing pauses, when the server cannot be reached or says that it
 * cannot now; creations are among them, since each carries an `Idempotency-Key`, on which instances that share a store
 * agree. `trigger`, `transaction` and `invoke` are not, nor is a change with `ifRevision`, and a list of more than 1,000
 * schedules: after a lost connection nobody knows whether they were carried out.
 *
 * Errors besides those of the calls: `unreachable` without an answer, and for one that is no scheduler's, a redirect among
 * them; `unauthenticated`; `rate_limited`; `invalid_option` for a token that was asked for and is none.
 *
 * @param url The server's address, with the path under which the app is mounted.
 * @throws {SchedulerError} `invalid_option`, `unknown_option` or `invalid_duration` for what is wrong with the options.
 * @example
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 * import { bearerTokens, http, httpClient } from "@ostinato/scheduler/http";
 *
 * const greet = defineTask("greet", (input: { name: string }) => `hello ${input.name}`);
 * await using scheduler = createScheduler({ tasks: [greet] });
 * const app = http(scheduler, { authenticate: bearerTokens({ secret: { id: "alice" } }) });
 *
 * // Over a network there is no need of `fetch` here.
 * const remote = httpClient("http://localhost", { token: "secret", fetch: async (request) => await app.fetch(request) });
 * const daily = await remote.every(greet, "1d", { name: "world" });
 * console.log((await daily.info()).owner, await remote.invoke(greet, { name: "you" })); // alice hello you
 * ```
 */
export function httpClient<Extra extends object = object>(
  url: string | URL,
  options: HttpClientOptions = {},
): RemoteClient<Extra> {
  const settings = readClientOptions(url, options);
  return remoteClient<Extra>((name, parameters) => send(settings, name, parameters));
}

async function send<Name extends ApiCallName>(
  settings: HttpClientSettings,
  name: Name,
  parameters: { readonly [key: string]: Json },
): Promise<ApiCalls[Name]["answer"]> {
  try {
    return CARRIERS[name].read(await exchange(settings, callRequest(name, parameters)));
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    const { error: told, status } = error;
    if (name === "stop" && status === 409 && isSchedulerError(told, "conflict")) {
      return false as ApiCalls[Name]["answer"];
    }
    if (!isSchedulerError(told, "not_found")) throw told;
    return await refused(settings, name, told) as ApiCalls[Name]["answer"];
  }
}

/** The calls that answer false, and no error, where there is nothing to be done. */
const QUIET: readonly ApiCallName[] = ["stop", "pause", "resume", "trigger", "abortRun"];

/**
 * What a call is told that found nothing. The server answers somebody else's schedule like one that there is not; whether
 * an id is a live schedule's is open to anybody, though, so that the rule P2 can be kept here.
 */
async function refused(settings: HttpClientSettings, name: ApiCallName, error: SchedulerError): Promise<false> {
  const { id } = error.details;
  // A run's id begins with its schedule's.
  const scheduleId = typeof id === "string" ? id.split("-")[0]! : "";
  const isId = name !== "valid" && /^[0-9A-Za-z]{26}$/.test(scheduleId);
  if (isId && await send(settings, "valid", { id: scheduleId }) && await isHidden(settings, scheduleId)) {
    throw new SchedulerError("permission_denied", `schedule ${scheduleId}: it belongs to somebody else`, {
      details: { id: scheduleId },
    });
  }
  return quiet(name, error);
}

function quiet(name: ApiCallName, error: SchedulerError): false {
  if (QUIET.includes(name) && error.details.id !== undefined) return false;
  throw error;
}

/** Of one's own schedule a call may find nothing either: no run in progress, for one. */
async function isHidden(settings: HttpClientSettings, id: string): Promise<boolean> {
  try {
    await exchange(settings, callRequest("info", { id }));
    return false;
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    if (isSchedulerError(error.error, "not_found")) return true;
    throw error.error;
  }
}
