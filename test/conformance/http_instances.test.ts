import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createScheduler, defineTask, type Scheduler } from "../../mod.ts";
import { kv } from "../../plugins/storage/kv/mod.ts";
import { memory } from "../../plugins/storage/memory/mod.ts";
import { postgres } from "../../plugins/storage/postgres/mod.ts";
import { sqlite } from "../../plugins/storage/sqlite/mod.ts";
import { bearerTokens, http } from "../../plugins/transports/http/mod.ts";
import type { Storage } from "../../src/contract/mod.ts";
import { scratchKv } from "../support/kv.ts";
import { freshSchema, sharedServer } from "../support/postgres.ts";
import { asking, TOKENS } from "../unit/http/served.ts";
import { recorder, scratch } from "../unit/support/schedulers.ts";

let server = "";
beforeAll(async () => void (server = await sharedServer()));
const scratches: { remove(): void }[] = [];
afterAll(() => scratches.forEach((one) => one.remove()));

/** For each store what opens another handle on the same documents. */
const STORES: Readonly<Record<string, () => () => Storage>> = {
  memory: () => {
    const root = memory();
    return () => root.handle();
  },
  sqlite: () => {
    const file = `${scratch()}/schedules.db`;
    return () => sqlite(file);
  },
  postgres: () => {
    const schema = freshSchema();
    return () => postgres({ url: server, schema });
  },
  kv: () => {
    const file = scratchKv();
    scratches.push(file);
    return () => kv(file.file);
  },
};

/** One instance of the service: a scheduler on the store, and what asks its app. */
function instance(open: () => Storage) {
  const beat = defineTask("beat", () => {});
  const scheduler: Scheduler = createScheduler({ storage: open(), tasks: [beat], logger: recorder([]) });
  onTestFinished(() => scheduler.close({ drain: 0 }));
  const app = http(scheduler, { authenticate: bearerTokens(TOKENS), logger: recorder([]) });
  return { scheduler, ask: asking((request) => app.fetch(request)) };
}

const key = (text: string) => ({ "idempotency-key": text });
const soon = { task: "beat", after: 0, input: { n: 1 }, retention: 0 };

describe.each(Object.keys(STORES))("several instances over %s", (store) => {
  it("a creation that is repeated with its key makes one schedule, on whichever instance, also after it is gone", async () => {
    const open = STORES[store]!();
    const [a, b] = [instance(open), instance(open)];
    const first = await a.ask("POST", "/v1/schedules", { body: soon, headers: key("k") });
    expect(first.status).toBe(201);
    const again = await b.ask("POST", "/v1/schedules", { body: { ...soon }, headers: key("k") });
    expect([again.status, again.json.id, again.headers.get("location")])
      .toEqual([201, first.json.id, first.headers.get("location")]);
    // It has run, and its record is gone: still the same schedule, and none is made.
    await a.scheduler.tick();
    expect((await a.ask("GET", `/v1/schedules/${first.json.id}`)).status).toBe(404);
    const restarted = instance(open);
    const later = await restarted.ask("POST", "/v1/schedules", { body: soon, headers: key("k") });
    expect([later.status, later.json]).toMatchObject([201, { id: first.json.id, task: "beat", kind: "at" }]);
    expect(later.json).toMatchObject({ retired: true, nextRun: null });
    expect((await b.ask("GET", "/v1/schedules", { as: "root" })).json.schedules).toEqual([]);
  });

  it("another creation under the key is refused, and a key is each principal's own", async () => {
    const open = STORES[store]!();
    const [a, b] = [instance(open), instance(open)];
    const body = { task: "beat", every: "1h" };
    const first = await a.ask("POST", "/v1/schedules", { body, headers: key("k") });
    for (const other of [{ ...body, every: "2h" }, [body], { ...body, name: "n" }]) {
      const answer = await b.ask("POST", "/v1/schedules", { body: other, headers: key("k") });
      expect([answer.status, answer.json.code]).toEqual([409, "conflict"]);
    }
    const bobs = await b.ask("POST", "/v1/schedules", { as: "bob", body, headers: key("k") });
    expect([bobs.status, bobs.json.owner]).toEqual([201, "bob"]);
    expect(bobs.json.id).not.toBe(first.json.id);
    // The order of keys makes no other request.
    const turned = { every: "1h", task: "beat" };
    expect((await a.ask("POST", "/v1/schedules", { body: turned, headers: key("k") })).json.id).toBe(first.json.id);
    for (const wrong of ["", "x".repeat(201)]) {
      expect((await a.ask("POST", "/v1/schedules", { body, headers: key(wrong) })).status).toBe(400);
    }
    expect((await a.ask("GET", "/v1/schedules", { as: "root" })).json.schedules).toHaveLength(2);
  });

  it("creations that race under one key make one schedule, and all answer it", async () => {
    const open = STORES[store]!();
    const instances = [instance(open), instance(open), instance(open)];
    const bodies = [{ task: "beat", every: "1h" }, { task: "beat", every: "1h", key: "own", onConflict: "error" }];
    for (const [i, body] of bodies.entries()) {
      const answers = await Promise.all(
        Array.from(
          { length: 12 },
          (_, n) => instances[n % 3]!.ask("POST", "/v1/schedules", { body, headers: key(`race ${i}`) }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
      expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1);
    }
    expect((await instances[0]!.ask("GET", "/v1/schedules")).json.schedules).toHaveLength(2);
  });

  it("a list that is repeated with its key answers the same list, and a refused one may be sent anew", async () => {
    const open = STORES[store]!();
    const [a, b] = [instance(open), instance(open)];
    const list = [soon, { task: "beat", every: "1h", name: "n" }];
    const refused = await a.ask("POST", "/v1/schedules", { body: [...list, { task: "no" }], headers: key("l") });
    expect(refused.status).toBe(400);
    const first = await a.ask("POST", "/v1/schedules", { body: list, headers: key("l") });
    const again = await b.ask("POST", "/v1/schedules", { body: list, headers: key("l") });
    expect([first.status, again.status, again.json]).toEqual([201, 201, first.json]);
    const many = Array.from({ length: 1_001 }, () => soon);
    expect((await a.ask("POST", "/v1/schedules", { body: many, headers: key("m") })).json.code).toBe("invalid_option");
  });

  it("of changes that were made from one reading, one is let through, on whichever instance", async () => {
    const open = STORES[store]!();
    const [a, b] = [instance(open), instance(open)];
    const made = await a.ask("POST", "/v1/schedules", { body: { task: "beat", every: "1h" } });
    const path = `/v1/schedules/${made.json.id}`;
    const etag = (await b.ask("GET", path)).headers.get("etag")!;
    expect(etag).toBe(made.headers.get("etag"));
    const answers = await Promise.all(
      [a, b, a, b, a, b].map(({ ask }, i) =>
        ask("PATCH", path, { body: { every: `${i + 2}h` }, headers: { "if-match": etag } })
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412, 412]);
    const winner = answers.find(({ status }) => status === 200)!;
    const now = await b.ask("GET", path);
    expect(now.json.spec).toEqual(winner.json.spec);
    expect(now.headers.get("etag")).toBe(winner.headers.get("etag"));
    const loser = answers.find(({ status }) => status === 412)!;
    expect(`"${loser.json.details.revision}"`).toBe(now.headers.get("etag"));
  });

  it("an entity tag tells of the definition and of a pause, and not of runs", async () => {
    const open = STORES[store]!();
    const { ask, scheduler } = instance(open);
    const { json: { id } } = await ask("POST", "/v1/schedules", { body: { task: "beat", every: "1h" } });
    const path = `/v1/schedules/${id}`;
    const tag = async () => (await ask("GET", path)).headers.get("etag")!;
    const first = await tag();
    await scheduler.trigger(id);
    await scheduler.tick();
    expect([(await ask("GET", path)).json.runCount, await tag()]).toEqual([1, first]);
    await ask("POST", `${path}/pause`, { headers: { "if-match": first } });
    const paused = await tag();
    expect(paused).not.toBe(first);
    for (
      const [method, at, body] of [
        ["PATCH", path, { every: "2h" }],
        ["DELETE", path],
        ["POST", `${path}/resume`],
        ["POST", `${path}/pause`],
        ["POST", `${path}/trigger`],
      ] as const
    ) {
      const stale = await ask(method, at, { ...(body === undefined ? {} : { body }), headers: { "if-match": first } });
      expect([method, stale.status]).toEqual([method, 412]);
    }
    expect((await ask("PATCH", path, { body: {}, headers: { "if-match": "W/x" } })).json.code).toBe("invalid_option");
    expect((await ask("POST", `${path}/resume`, { headers: { "if-match": paused } })).json.done).toBe(true);
    expect(await tag()).toBe(first);
    expect((await ask("DELETE", path, { headers: { "if-match": first } })).status).toBe(204);
  });
});
