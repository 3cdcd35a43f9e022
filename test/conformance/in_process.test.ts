import { describe, expect, it } from "vitest";
import { createScheduler, defineTask, type Principal } from "../../mod.ts";
import { connect } from "../../plugins/transports/in_process/mod.ts";
import { API_CALLS, type RemoteClient, type ScheduleClient, type SchedulerApi } from "../../src/contract/mod.ts";
import { transportCases, type TransportHarness } from "../../src/testing/mod.ts";
import { recorder } from "../unit/support/schedulers.ts";

function harness(change: (api: SchedulerApi) => SchedulerApi = (api) => api): TransportHarness {
  return {
    async open(setup) {
      const scheduler = createScheduler({ ...setup, logger: recorder([]) });
      await scheduler.start();
      const { principal } = scheduler;
      return {
        direct: (who) => scheduler.as(who),
        remote: (who) => connect({ principal, api: change(scheduler.api) }, who),
        close: () => scheduler.close(),
      };
    },
  };
}

describe("the in-process transport", () => {
  it.each(transportCases().map(({ name, run }) => [name, run] as const))("%s", async (_name, run) => {
    await run(harness());
  });

  it("P1 acts for the system unless told otherwise, and for nobody who only says so", async () => {
    const quick = defineTask("quick", { run: () => "ran", internal: true });
    const scheduler = createScheduler({ tasks: [quick] });
    expect(await connect(scheduler).invoke(quick)).toBe("ran");
    const made = await connect(scheduler).every(quick, "1h");
    expect((await made.info()).owner).toBe("system");
    for (const principal of [{ id: "system", admin: true }, { id: "" }, {}, null]) {
      await expect(connect(scheduler, principal as Principal).info(made.id)).rejects.toMatchObject({
        code: "invalid_option",
      });
    }
    await scheduler.close();
  });

  it("refuses a call or a parameter that there is not", async () => {
    const scheduler = createScheduler();
    const { api, principal } = scheduler;
    await expect(api.call(principal, "inf" as never, {} as never)).rejects.toMatchObject({ code: "invalid_option" });
    await expect(api.call(principal, "__proto__" as never, {} as never)).rejects.toMatchObject({
      code: "invalid_option",
    });
    await expect(api.call(principal, "info", { idd: "x" } as never)).rejects.toMatchObject({ code: "unknown_option" });
    await expect(api.call(principal, "info", null as never)).rejects.toMatchObject({ code: "invalid_option" });
    await scheduler.close();
  });

  it("has a call for all that a client can do", () => {
    const client = connect(createScheduler());
    const calls = Object.getOwnPropertyNames(Object.getPrototypeOf(client)).filter((name) => name !== "constructor");
    // Each kind of creation travels as `create`.
    const kinds = ["at", "after", "every", "cron"];
    expect(calls.sort()).toEqual([...Object.keys(API_CALLS).filter((name) => name !== "create"), ...kinds].sort());
    type Missing = Exclude<keyof ScheduleClient, keyof RemoteClient>;
    const missing: Readonly<Record<Missing, true>> = { principal: true, within: true };
    expect(Object.keys(missing)).toHaveLength(2);
  });
});

/** What a careless transport does to an answer or an error. */
const DEFECTS: readonly (readonly [string, (api: SchedulerApi) => SchedulerApi])[] = [
  ["drops a field", ({ call }) => altered(call, (text) => text.replace(/"nextRun":"[^"]*"/, '"nextRun":null'))],
  ["rounds instants", ({ call }) => altered(call, (text) => text.replace(/:00\.000Z/, ":01.000Z"))],
  ["answers nothing", ({ call }) => altered(call, () => "null")],
  ["loses its errors' codes", ({ call }) => ({
    call: (...parameters) => call(...parameters).catch((error) => Promise.reject(new Error((error as Error).message))),
  })],
  ["lets everybody be an admin", ({ call }) => ({
    call: ({ id }, ...parameters) => call({ id, admin: true }, ...parameters),
  })],
];

function altered(call: SchedulerApi["call"], alter: (text: string) => string): SchedulerApi {
  return {
    async call(...parameters) {
      const answer = await call(...parameters);
      return answer === undefined ? answer : JSON.parse(alter(JSON.stringify(answer)));
    },
  };
}

describe("the transport cases notice a transport that", () => {
  it.each(DEFECTS)("%s", async (_, defect) => {
    const failures = await Promise.all(
      transportCases().map(({ run }) => run(harness(defect)).then(() => false, () => true)),
    );
    expect(failures).toContain(true);
  });
});
