import { onTestFinished } from "vitest";
import { type AnyTask, createScheduler, defineTask, type Principal, type Scheduler } from "../../../mod.ts";
import { bearerTokens, http, type HttpApp, type HttpOptions } from "../../../plugins/transports/http/mod.ts";
import { type ManualClock, manualClock } from "../../../src/testing/mod.ts";
import { type Message, recorder } from "../support/schedulers.ts";

export const TOKENS: Readonly<Record<string, Principal>> = {
  alice: { id: "alice" },
  bob: { id: "bob" },
  root: { id: "root", admin: true },
};

/** A request, told shortly; `body` goes as JSON. */
export interface Asked {
  readonly as?: keyof typeof TOKENS;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any
  readonly json: any;
  readonly text: string;
}

/** A scheduler and its app, both gone when the test ends. */
export interface Served {
  readonly scheduler: Scheduler;
  readonly clock: ManualClock;
  readonly app: HttpApp;
  readonly messages: readonly Message[];
  /** Makes a request, as alice unless told otherwise. */
  ask(method: string, path: string, asked?: Asked): Promise<Answered>;
}

export function standardTasks(): readonly AnyTask[] {
  return [
    defineTask("beat", () => {}),
    defineTask("echo", (input) => input),
    defineTask("failing", () => {
      throw new RangeError("out of luck");
    }),
  ];
}

export async function served(options: HttpOptions = {}, tasks: readonly AnyTask[] = standardTasks()): Promise<Served> {
  const clock = manualClock("2026-01-01T00:00:00Z");
  const messages: Message[] = [];
  const logger = recorder(messages);
  const scheduler = createScheduler({ clock, tasks, logger });
  onTestFinished(() => scheduler.close({ drain: 0 }));
  await scheduler.start();
  const app = http(scheduler, { authenticate: bearerTokens(TOKENS), logger, ...options });
  return { scheduler, clock, app, messages, ask: asking((request) => app.fetch(request)) };
}

/** The body; of a stream of events, which does not end, what comes first. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get("content-type") !== "text/event-stream") return await response.text();
  const reader = response.body!.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

/** Makes requests through something that answers them. */
export function asking(fetch: (request: Request) => Response | Promise<Response>, base = "http://localhost") {
  return async (method: string, path: string, { as = "alice", body, headers = {} }: Asked = {}): Promise<Answered> => {
    const response = await fetch(
      new Request(base + path, {
        method,
        headers: {
          authorization: `Bearer ${as}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    const text = await textOf(response);
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson && text !== "" ? JSON.parse(text) : undefined,
    };
  };
}
