import { expect } from "vitest";
import { memory } from "../../../plugins/storage/memory/mod.ts";
import { standardPolicies } from "../../../plugins/policies/mod.ts";
import type { ClientHost, Done, Place } from "../../../src/client/mod.ts";
import type {
  AnyTask,
  GroupResult,
  OptionParser,
  Policy,
  Principal,
  SchedulerErrorCode,
  Storage,
} from "../../../src/contract/mod.ts";

/** Where a host's clock starts. */
export const START = Date.parse("2026-01-01T00:00:00Z");

/** A host over stores in memory, with a clock that stands until it is moved: clients without an engine. */
export interface MemoryHost extends ClientHost {
  /** The instant that everything sees. */
  time: number;
  /** What was committed, in order: what an engine would tell observers. */
  readonly told: string[];
  /** How often a store was written to or asked by an operation. */
  applied: number;
  readonly invoked: { readonly task: string; readonly input: unknown; readonly caller: Principal }[];
  /** Called before a group is applied, as another instance's change would come in between. */
  before?: (() => Promise<void>) | undefined;
}

export async function memoryHost(
  tasks: readonly AnyTask[],
  more: Partial<ClientHost> = {},
): Promise<MemoryHost> {
  const plugins = standardPolicies();
  const parsers = new Map<string, OptionParser>();
  for (const { options = {} } of plugins) {
    for (const [key, parser] of Object.entries(options)) parsers.set(key, parser as OptionParser);
  }
  const clock = {
    now: () => host.time,
    monotonic: () => host.time,
    setTimer: () => () => {},
    defer: (f: () => void) => f(),
  };
  const silent = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} };
  const stores: Readonly<Record<Place, Storage>> = { stored: memory(), local: memory() };
  for (const store of Object.values(stores)) await store.open({ clock, logger: silent });
  let ids = 0;
  const host: MemoryHost = {
    time: START,
    told: [],
    applied: 0,
    invoked: [],
    clock,
    logger: silent,
    env: {
      policies: plugins.map(({ policy }) => policy).filter((policy): policy is Policy => policy !== undefined),
      optionKeys: new Set(parsers.keys()),
      tickMs: 10,
      random: () => 0.5,
    },
    tasks: new Map(tasks.map((task) => [task.name, task])),
    learn: () => undefined,
    learnAll: () => Promise.resolve(),
    parsers,
    defaults: {},
    retentionMs: 60_000,
    canRunAs: () => false,
    newId: () => `01KDTW9M00${String(ids++).padStart(16, "0")}`,
    assertOpen: () => {},
    ready: () => Promise.resolve(),
    now: () => host.time,
    ability: (name) => host.tasks.has(name) ? "able" : "absent",
    async apply(place, groups): Promise<readonly GroupResult<Done>[]> {
      await host.before?.();
      host.applied += groups.length;
      const results = await stores[place].apply(groups, host.time);
      for (const result of results) {
        if (!result.committed) continue;
        for (const { result: { effects } } of result.values) host.told.push(...effects.map(({ type }) => type));
      }
      return results;
    },
    enlist: () => {
      throw new Error("no transactions here");
    },
    get: (place, id) => stores[place].get(id),
    find: (place, query) => stores[place].find(query),
    invoke(task, input, caller) {
      host.invoked.push({ task: task.name, input, caller });
      return Promise.resolve("invoked");
    },
    ...more,
  };
  return host;
}

/** A task that does nothing. */
export function task(name: string, more: Partial<AnyTask> = {}): AnyTask {
  return { name, run: () => {}, ...more };
}

/** What a rejection must be: an error of the code, whose message fits. */
export function refusal(code: SchedulerErrorCode, message: RegExp): unknown {
  return expect.objectContaining({ name: "SchedulerError", code, message: expect.stringMatching(message) });
}
