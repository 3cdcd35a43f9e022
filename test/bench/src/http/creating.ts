/**
 * Creating over HTTP against creating in the process, through the same store; and both against servers that serve and do
 * nothing, by which one sees how much of the difference is the runtime's.
 */
import type { Storage } from "../../../../src/contract/mod.ts";
import { median, otherCores, percentile, print } from "../tools.ts";
import { bareHono, bareServer, type Floor } from "./floor.ts";
import type { Generator } from "./generator.ts";
import { input, OWNER, schedulerOn, served, task, TOKEN } from "./served.ts";

const CONNECTIONS = 50;
const WARM_UP = 4_000;
/** Schedules of one request that creates a list. */
const LIST = 50;

/** How fast something went, and what it cost each time, in microseconds of processor time of this process. */
interface Pace {
  readonly perSecond: number;
  readonly cpuUs: number;
}

/** A store by name, empty each time. */
export interface Store {
  readonly name: string;
  open(): Storage | Promise<Storage>;
}

/** What a creation asks for, in each request. */
const creation = { kind: "at", task: "bench", after: "1h", input };

/** Compares on one store, everything in turn and so many times over; prints medians. */
export async function compareCreating(
  generator: Generator,
  { name: store, open }: Store,
  { amount, reps }: { readonly amount: number; readonly reps: number },
): Promise<void> {
  const otherCoresBusy = await otherCores();
  const answer = await answerOf(await open());
  const paces: Record<"inProcess" | "server" | "hono" | "http" | "lists", Pace[]> = {
    inProcess: [],
    server: [],
    hono: [],
    http: [],
    lists: [],
  };
  const [reads, generatorUs]: [number[], number[]] = [[], []];
  for (let rep = 0; rep < reps; rep++) {
    paces.inProcess.push(await inProcess(await open(), amount));
    paces.server.push(await atFloor(generator, bareServer, answer, amount));
    paces.hono.push(await atFloor(generator, bareHono, answer, amount));
    const over = await overHttp(generator, await open(), amount);
    paces.http.push(over);
    paces.lists.push(over.lists);
    reads.push(...over.readMs);
    generatorUs.push(over.generatorUs);
  }
  const middle = (runs: readonly Pace[]): Pace => ({
    perSecond: Math.round(median(runs.map(({ perSecond }) => perSecond))),
    cpuUs: Math.round(median(runs.map(({ cpuUs }) => cpuUs)) * 10) / 10,
  });
  const [http, here, server, hono, lists] = [
    middle(paces.http),
    middle(paces.inProcess),
    middle(paces.server),
    middle(paces.hono),
    middle(paces.lists),
  ];
  print("http create", {
    store,
    ...http,
    inProcess: here,
    ratio: http.perSecond / here.perSecond,
    target: 0.5,
    cpuRatio: here.cpuUs / http.cpuUs,
    bareServer: compared(server, here, http),
    bareHono: compared(hono, here, http),
    generatorCpuUs: median(generatorUs),
    otherCores: otherCoresBusy,
  });
  print("http create lists", { store, of: LIST, ...lists, ratio: lists.perSecond / here.perSecond });
  print("http read while creating", {
    store,
    reads: reads.length,
    p50Ms: percentile(reads, 50),
    p99Ms: percentile(reads, 99),
  });
}

/**
 * A server that does nothing, with the ratio that there would be if creations over HTTP cost what it does and what they
 * cost in the process, and how much of that there is.
 */
function compared(server: Pace, here: Pace, http: Pace) {
  const [bound, cpuBound] = [
    1 / (1 + here.perSecond / server.perSecond),
    here.cpuUs / (here.cpuUs + server.cpuUs),
  ];
  return {
    ...server,
    boundOfRatio: round(bound),
    reached: round(http.perSecond / here.perSecond / bound),
    boundOfCpuRatio: round(cpuBound),
    reachedOfCpu: round(here.cpuUs / http.cpuUs / cpuBound),
  };
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

/** Work's rate and what it cost this process. */
async function measured(amount: number, work: () => Promise<unknown>): Promise<Pace> {
  const [cpu, began] = [process.cpuUsage(), performance.now()];
  await work();
  const [elapsedMs, { user, system }] = [performance.now() - began, process.cpuUsage(cpu)];
  return { perSecond: amount / elapsedMs * 1_000, cpuUs: (user + system) / amount };
}

/** Creates in the process as fifty connections would: each has one creation under way. */
async function inProcess(storage: Storage, amount: number): Promise<Pace> {
  const scheduler = schedulerOn(storage);
  const client = scheduler.as(OWNER);
  const create = async (count: number) => {
    let left = count;
    const one = async () => {
      while (left-- > 0) await client.after(task, "1h", input);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, one));
  };
  await create(WARM_UP);
  const pace = await measured(amount, () => create(amount));
  await scheduler.close();
  return pace;
}

async function overHttp(generator: Generator, storage: Storage, amount: number) {
  const { scheduler, target, close } = await served(storage);
  const { id } = await scheduler.as(OWNER).after(task, "1h", input);
  const load = (body: object, count: number, read?: string) => {
    const requests = [{ method: "POST", path: "/v1/schedules", body: JSON.stringify(body) }] as const;
    return generator.load({
      ...target,
      connections: CONNECTIONS,
      requests,
      amount: count,
      ...(read === undefined ? {} : { read }),
    });
  };
  await load(creation, WARM_UP);
  let generatorUs = 0;
  const pace = await measured(amount, async () => ({ cpuUs: generatorUs } = await load(creation, amount)));
  const list = Array.from({ length: LIST }, () => creation);
  const lists = await measured(amount, () => load(list, Math.ceil(amount / LIST)));
  const { readMs } = await load(creation, amount, `/v1/schedules/${id}`);
  await close();
  return { ...pace, lists, readMs, generatorUs };
}

async function atFloor(generator: Generator, floor: Floor, answer: object, amount: number): Promise<Pace> {
  const { url, close } = await floor(answer);
  const requests = [{ method: "POST", path: "/v1/schedules", body: JSON.stringify(creation) }] as const;
  const load = (count: number) =>
    generator.load({ url, token: TOKEN, connections: CONNECTIONS, amount: count, requests });
  await load(WARM_UP);
  const pace = await measured(amount, () => load(amount));
  await close();
  return pace;
}

/** What a creation is answered: the servers that do nothing answer the same. */
async function answerOf(storage: Storage): Promise<object> {
  const { target, close } = await served(storage);
  const response = await fetch(`${target.url}/v1/schedules`, {
    method: "POST",
    headers: { "authorization": `Bearer ${target.token}`, "content-type": "application/json" },
    body: JSON.stringify(creation),
  });
  const answer = await response.json();
  await close();
  return answer;
}
