import { afterEach, expect, it, vi } from "vitest";
import { defineTask } from "../../../mod.ts";
import { healthz, type ReadyOptions, readyRules, readyz } from "../../../plugins/transports/http/health.ts";
import { StoreLook } from "../../../plugins/transports/http/store_look.ts";
import { memory } from "../../../plugins/storage/memory/mod.ts";
import type { Backlog } from "../../../src/contract/mod.ts";
import { cuttable, START, world } from "../support/schedulers.ts";

const work = defineTask("work", () => {});
const mail = defineTask("mail", () => {});

afterEach(() => void vi.useRealTimers());

async function answer(response: Response | Promise<Response>): Promise<[number, unknown]> {
  const { status, headers } = await response;
  expect(headers.get("cache-control")).toBe("no-store");
  return [status, await (await response).json()];
}

/** Asks as a probe does that comes when no earlier answer serves any more. */
function probe(scheduler: ConstructorParameters<typeof StoreLook>[0], options: ReadyOptions = { timeout: "1m" }) {
  const rules = readyRules(options);
  return answer(readyz(new StoreLook(scheduler, rules.maxDue + 1), rules));
}

it("/healthz tells that the process lives, whatever the store does", async () => {
  expect(await answer(healthz())).toEqual([200, { status: "ok" }]);
});

it("/readyz tells whether the store answers, and a closed scheduler", async () => {
  const { storage, cut, mend } = cuttable(memory());
  const scheduler = world("memory").create({ storage, tasks: [work] });
  expect(await probe(scheduler)).toEqual([200, { status: "ready" }]);
  cut();
  expect(await probe(scheduler)).toEqual([503, { status: "unready", reason: "store_unavailable" }]);
  mend();
  expect(await probe(scheduler)).toEqual([200, { status: "ready" }]);
  await scheduler.close();
  expect(await probe(scheduler)).toEqual([503, { status: "unready", reason: "closed" }]);
});

it("/readyz tells a backlog over its limit, of tasks that this instance has", async () => {
  const { create } = world("memory");
  const storage = memory();
  const [here, there] = [
    create({ storage: storage.handle(), tasks: [work] }),
    create({ storage: storage.handle(), tasks: [work, mail] }),
  ];
  for (let i = 0; i < 3; i++) await there.at(work, START);
  await there.at(mail, START);
  expect(await probe(here, { maxDue: 3, timeout: "1m" })).toEqual([200, { status: "ready" }]);
  const backlog = [503, { status: "unready", reason: "backlog" }];
  expect(await probe(here, { maxDue: 2, timeout: "1m" })).toEqual(backlog);
  expect(await probe(there, { maxDue: 3, timeout: "1m" })).toEqual(backlog);
  await there.close();
  await here.start();
});

it("/readyz answers in bounded time, and asks a store that hangs once for many probes", async () => {
  vi.useFakeTimers();
  let asked = 0;
  const hanging = { ...refusing, backlog: () => (asked++, new Promise<Backlog>(() => {})) };
  const look = new StoreLook(hanging, 10);
  const ask = async () => {
    const answered = answer(readyz(look, readyRules()));
    await vi.advanceTimersByTimeAsync(2_000);
    return await answered;
  };
  const timeout = [503, { status: "unready", reason: "timeout" }];
  expect(await ask()).toEqual(timeout);
  expect(await ask()).toEqual(timeout);
  expect(asked).toBe(1);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await ask()).toEqual(timeout);
  expect(asked, "what was never answered is given up").toBe(2);
  expect(vi.getTimerCount()).toBe(0);
});

it("an answer of the store serves a second of probes, also one that it failed with", async () => {
  vi.useFakeTimers();
  let asked = 0;
  const look = new StoreLook({ ...refusing, backlog: () => (asked++, Promise.reject(new Error("gone"))) }, 10);
  for (let i = 0; i < 100; i++) expect((await readyz(look, readyRules())).status).toBe(503);
  expect(asked).toBe(1);
  await vi.advanceTimersByTimeAsync(1_000);
  await readyz(look, readyRules());
  expect(asked).toBe(2);
});

it("/readyz tells nothing of what the store's error says", async () => {
  const error = new Error("connect ECONNREFUSED postgres://app:hunter2@10.0.0.7/app");
  const answered = await probe({ ...refusing, backlog: () => Promise.reject(error) });
  expect(answered).toEqual([503, { status: "unready", reason: "store_unavailable" }]);
});

it.each([{ maxDue: 0 }, { maxDue: 1e9 }, { timeout: "soon" }, { maxdue: 5 }])("refuses the options %o", (options) => {
  expect(() => readyRules(options as ReadyOptions)).toThrowError(/http\.ready/);
});

const refusing = { observe: () => () => {}, on: () => () => {} };
