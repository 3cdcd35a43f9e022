import {
  type ApiCallName,
  type ApiCalls,
  errorFromWire,
  errorToWire,
  type Principal,
  type RemoteClient,
  remoteClient,
  type SchedulerApi,
  SchedulerError,
  type WireError,
} from "../../../src/contract/mod.ts";

/** One end of a connection that carries lines of text both ways: two pipes, a socket, a terminal. */
export interface Lines {
  /** The lines that arrive, until the other end has closed. */
  readonly input: AsyncIterable<string>;
  /** Sends a line, which holds no end of line itself. */
  write(line: string): void;
}

interface Request {
  readonly call: number;
  readonly name: ApiCallName;
  readonly parameters: never;
}

type Reply =
  | { readonly call: number; readonly answer?: unknown }
  | { readonly call: number; readonly error: WireError };

/**
 * Answers calls that come in as lines of JSON, for a principal: whoever made the connection knows who is at its other
 * end. Resolves once that end has closed and everything is answered.
 */
export async function serveLines(api: SchedulerApi, principal: Principal, { input, write }: Lines): Promise<void> {
  const pending = new Set<Promise<void>>();
  for await (const line of input) {
    // Calls are answered as they are done: a slow one holds up no other.
    const answering = answer(api, principal, line).then((reply) => write(lineOf(reply)));
    pending.add(answering);
    answering.finally(() => pending.delete(answering)).catch(() => {});
  }
  await Promise.allSettled(pending);
}

async function answer(api: SchedulerApi, principal: Principal, line: string): Promise<Reply> {
  let request: Request | undefined;
  try {
    request = JSON.parse(line) as Request;
    return { call: request.call, answer: await api.call(principal, request.name, request.parameters) };
  } catch (error) {
    return { call: request?.call ?? -1, error: errorToWire(error) };
  }
}

/** The typed client at the other end. Calls that are unanswered when the connection ends are `store_unavailable`. */
export function linesClient({ input, write }: Lines): RemoteClient {
  const waiting = new Map<number, { resolve(answer: unknown): void; reject(error: unknown): void }>();
  let calls = 0;
  let isOver = false;
  void (async () => {
    for await (const line of input) {
      const reply = JSON.parse(line) as Reply;
      const caller = waiting.get(reply.call);
      waiting.delete(reply.call);
      if ("error" in reply) caller?.reject(errorFromWire(reply.error));
      else caller?.resolve(reply.answer);
    }
  })().catch(() => {}).finally(() => {
    isOver = true;
    for (const { reject } of waiting.values()) reject(gone());
  });
  return remoteClient(<Name extends ApiCallName>(name: Name, parameters: object) =>
    new Promise<ApiCalls[Name]["answer"]>((resolve, reject) => {
      if (isOver) return reject(gone());
      const call = calls++;
      waiting.set(call, { resolve: resolve as (answer: unknown) => void, reject });
      write(lineOf({ call, name, parameters }));
    })
  );
}

/** JSON in one line. Some readers of lines end one at U+2028 and U+2029, which JSON leaves as they are. */
function lineOf(value: unknown): string {
  return JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

function gone(): SchedulerError {
  return new SchedulerError("store_unavailable", "the connection to the scheduler is over", { retryable: true });
}
