import {
  type ApiCallName,
  type ApiCalls,
  infoToWire,
  invalidOption,
  isPlainObject,
  type Json,
  MAX_OPERATIONS,
  nearestName,
  plainOptions,
  type Principal,
  type Schedule,
  type SchedulerApi,
  show,
  type StopOptions,
  toWire,
  type WireSchedule,
} from "../contract/mod.ts";
import type { Calls } from "./calls.ts";
import { ApiClient, type Snapshot } from "./api_client.ts";
import type { ClientHost } from "./host.ts";
import { checkPrincipal, SYSTEM_PRINCIPAL } from "./principal.ts";
import { requestArray } from "./request.ts";

/** Makes what transports speak, over a host. */
export function createApi(host: ClientHost): SchedulerApi {
  return {
    async call<Name extends ApiCallName>(principal: Principal, name: Name, parameters: unknown) {
      // The very object, and no copy of it, so that nobody becomes the system by an id that they were let choose.
      const whose = principal === SYSTEM_PRINCIPAL ? principal : checkPrincipal(principal);
      if (!Object.hasOwn(CALLS, name)) throw unknownCall(name);
      const { keys, answer } = CALLS[name];
      const given = plainOptions(parameters, keys, name);
      return await answer(new ApiClient(host, whose), given as never) as ApiCalls[Name]["answer"];
    },
  };
}

function unknownCall(name: unknown): Error {
  const nearest = typeof name === "string" ? nearestName(name, Object.keys(CALLS)) : undefined;
  const expected = nearest === undefined ? `one of ${Object.keys(CALLS).join(", ")}` : `${show(nearest)}, perhaps`;
  return invalidOption("call", name, expected);
}

type CallTable = {
  readonly [Name in ApiCallName]: {
    /** The parameters that there are. */
    readonly keys: readonly string[];
    /** What the call comes to, as it travels. */
    answer(
      client: ApiClient,
      parameters: ApiCalls[Name]["parameters"],
    ): ApiCalls[Name]["answer"] | Promise<ApiCalls[Name]["answer"]>;
  };
};

const ID = ["id"] as const;
const CHANGE = ["id", "ifRevision"] as const;
const FILTER = ["owner", "target", "task", "name", "group", "tag", "dueBefore", "limit", "cursor"] as const;

const CALLS: CallTable = {
  create: {
    keys: ["schedule", "idempotencyKey"],
    async answer(client, { schedule, idempotencyKey }) {
      const { info, created } = await client.createTold(schedule, idempotencyKey);
      return Object.assign(infoToWire(info), { created });
    },
  },
  createMany: {
    keys: ["schedules", "idempotencyKey"],
    answer: async (client, { schedules, idempotencyKey }) =>
      (await client.createManyTold(schedules, idempotencyKey)).map(wire),
  },
  sync: {
    keys: ["schedules", "group"],
    answer: async (client, { schedules, ...options }) => (await client.sync(schedules, options)).map(wire),
  },
  transaction: { keys: ["steps"], answer: (client, { steps }) => transact(client, steps) },
  update: {
    keys: ["id", "to", "ifRevision"],
    answer: async (client, { id, to, ...options }) => infoToWire(await client.updateTold(id, to, options)),
  },
  stop: {
    keys: ["id", "abortRunning", "ifRevision"],
    answer: (client, { id, ...options }) => client.stop(id, options),
  },
  pause: { keys: CHANGE, answer: (client, { id, ...options }) => client.pause(id, options) },
  resume: { keys: CHANGE, answer: (client, { id, ...options }) => client.resume(id, options) },
  trigger: { keys: CHANGE, answer: (client, { id, ...options }) => client.trigger(id, options) },
  abortRun: { keys: ["runId"], answer: (client, { runId }) => client.abortRun(runId) },
  stopFor: {
    keys: ["target", "abortRunning"],
    answer: (client, { target, ...options }) => client.stopFor(target, options),
  },
  invoke: {
    keys: ["task", "input"],
    answer: async (client, { task, input }) => toWire(await client.invoke(task, input)) as Json | undefined,
  },
  valid: { keys: ID, answer: (client, { id }) => client.valid(id) },
  info: { keys: ID, answer: async (client, { id }) => infoToWire(await client.info(id)) },
  explain: { keys: ID, answer: async (client, { id }) => toWire(await client.explain(id)) },
  runs: { keys: ID, answer: async (client, { id }) => toWire(await client.runs(id)) },
  running: { keys: [], answer: async (client) => toWire(await client.running()) },
  list: {
    keys: FILTER,
    async answer(client, filter) {
      const { schedules, ...rest } = await client.list(filter).page();
      return { schedules: schedules.map(wire), ...rest };
    },
  },
  listFor: { keys: ["target"], answer: async (client, { target }) => (await client.listFor(target)).map(wire) },
  tasks: { keys: [], answer: async (client) => toWire(await client.tasks()) },
  nextRuns: {
    keys: ["spec", "count", "from"],
    answer: (client, { spec, count, ...options }) => toWire(client.nextRuns(spec, count, options)),
  },
};

function wire({ id, name, kind, task, nextRun }: Snapshot): WireSchedule {
  const next = nextRun === null ? null : nextRun.toISOString();
  return { id, ...(name === undefined ? {} : { name }), kind, task, nextRun: next };
}

/** Makes the steps in one unit of work, and answers what they came to in the end. */
async function transact(client: ApiClient, steps: unknown): Promise<readonly (WireSchedule | boolean)[]> {
  const list = requestArray(steps, "transaction", MAX_OPERATIONS);
  const answers = await client.transaction(async (tx) => {
    const made: (Schedule | boolean)[] = [];
    for (const [i, step] of list.entries()) made.push(await makeStep(tx as Calls, step, `transaction[${i}]`));
    return made;
  });
  return answers.map((answer) => typeof answer === "boolean" ? answer : wire(answer));
}

const STEPS = ["create", "update", "stop", "pause", "resume", "trigger"] as const;

async function makeStep(tx: Calls, step: unknown, where: string): Promise<Schedule | boolean> {
  const given = isPlainObject(step) ? STEPS.filter((name) => step[name] !== undefined) : [];
  const name = given[0];
  if (name === undefined || given.length > 1) {
    throw invalidOption(where, step, `an object of one of ${STEPS.join(", ")}`);
  }
  const besides = name === "update" ? ["to"] : name === "stop" ? ["abortRunning"] : [];
  const { [name]: subject, ...rest } = plainOptions(step, [name, ...besides], where);
  switch (name) {
    case "create":
      return await tx.create(subject, where);
    case "update":
      return await tx.update(subject as string, rest.to as object);
    case "stop":
      return await tx.stop(subject as string, rest as StopOptions);
    default:
      return await tx[name](subject as string);
  }
}
