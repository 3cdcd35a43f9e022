import { describe, expect, it } from "vitest";
import type { httpClient } from "../../../plugins/transports/http/mod.ts";
import { TOKENS } from "./served.ts";
import { watched } from "./watched.ts";

const ID = "01KDTW9M000000000000000000";

/** Every call of a client, with what a scheduler is asked for. */
const CALLS: Readonly<Record<string, (client: ReturnType<typeof httpClient>) => Promise<unknown>>> = {
  at: (client) => client.at("beat", "2027-01-01T00:00:00Z"),
  createMany: (client) => client.createMany([{ task: "beat", after: "1h" }]),
  sync: (client) => client.sync([{ name: "a", task: "beat", after: "1h" }], { group: "g" }),
  transaction: (client) => client.transaction([{ pause: ID }]),
  update: (client) => client.update(ID, { every: "2h" }),
  stop: (client) => client.stop(ID),
  pause: (client) => client.pause(ID),
  resume: (client) => client.resume(ID),
  trigger: (client) => client.trigger(ID),
  abortRun: (client) => client.abortRun(`${ID}-1`),
  stopFor: (client) => client.stopFor("room:42"),
  invoke: (client) => client.invoke("beat"),
  valid: (client) => client.valid(ID),
  info: (client) => client.info(ID),
  explain: (client) => client.explain(ID),
  runs: (client) => client.runs(ID),
  running: (client) => client.running(),
  list: (client) => client.list().page(),
  listFor: (client) => client.listFor("room:42"),
  tasks: (client) => client.tasks(),
  nextRuns: (client) => client.nextRuns({ every: "1h" }, 1),
};

describe("what is no scheduler, and answers JSON, is told as such by every call", () => {
  it.each(Object.entries(CALLS))("%s", async (name, call) => {
    const answers: unknown[] = [[], null, 7, "text", { status: "ok" }, [null], { schedules: null, runs: [7], id: "x" }];
    answers.push({ schedules: [{}], runs: {}, tasks: [{}], nextRuns: ["soon"], valid: 1, done: 1, stopped: "1" });
    // A handler that answers nothing answers this.
    if (name !== "invoke") answers.push({});
    for (const answer of answers) {
      const { client, requests } = await watched(() => Response.json(answer));
      const given = await call(client).catch((error: Error) => error) as Error;
      expect([answer, given]).toEqual([answer, expect.objectContaining({ code: "unreachable", retryable: false })]);
      expect(given.message).toMatch(
        /something else than a scheduler answered: status 200 with application\/json; expected a scheduler's answer$/,
      );
      expect(requests).toHaveLength(1);
    }
    const { client } = await watched(() =>
      new Response(null, { status: name === "stop" || name === "abortRun" ? 200 : 204 })
    );
    await expect(call(client)).rejects.toMatchObject({ code: "unreachable" });
    const conflicting = await watched(() => Response.json({}, { status: 409 }));
    await expect(call(conflicting.client)).rejects.toMatchObject({ code: "unreachable" });
  });

  it("also where a schedule's information lacks what is read of it", async () => {
    const { client, scheduler } = await watched(async (_, next) => {
      const answer = await next();
      const json = await answer.json() as Record<string, unknown>;
      return Response.json({ ...json, ...changes[0] }, { status: answer.status });
    });
    const changes: Record<string, unknown>[] = [{}];
    const { id } = await scheduler.as(TOKENS.alice!).every("beat", "1h");
    expect((await client.info(id)).id).toBe(id);
    for (
      const change of [{ spec: null }, { running: [{}] }, { decisions: undefined }, { lastFault: 7 }, { nextRun: "x" }]
    ) {
      changes[0] = change;
      await expect(client.info(id)).rejects.toMatchObject({ code: "unreachable" });
    }
  });
});
