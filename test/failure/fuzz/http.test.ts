import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createScheduler, defineTask } from "../../../mod.ts";
import { memory } from "../../../plugins/storage/memory/mod.ts";
import { bearerTokens, http } from "../../../plugins/transports/http/mod.ts";
import { ERROR_CODES } from "../../../src/contract/mod.ts";
import { faultyStore, manualClock } from "../../../src/testing/mod.ts";
import { SILENT } from "../crash/life.ts";
import { BEGAN } from "./corpus.ts";
import { fuzzAsync, mutated } from "./fuzzing.ts";

const TOKEN = "a token that nobody guesses";

/** Calls of the store that one request may cost: more is a way to make a server work. */
const CALLS_PER_REQUEST = 50;

const paths = fc.constantFrom(
  "/v1/schedules",
  "/v1/schedules?limit=5&owner=alice",
  "/v1/schedules/ID",
  "/v1/schedules/ID/explain",
  "/v1/schedules/ID/runs",
  "/v1/schedules/ID/valid",
  "/v1/schedules/ID/pause",
  "/v1/schedules/ID/trigger",
  "/v1/schedules/by-name/n",
  "/v1/sync",
  "/v1/transactions",
  "/v1/runs",
  "/v1/runs/ID/abort",
  "/v1/tasks",
  "/v1/invoke",
  "/v1/next-runs",
  "/v1/webhooks",
  "/v1/openapi.json",
  "/healthz",
  "/metrics",
);

const bodies = fc.constantFrom<unknown>(
  { kind: "every", task: "work", every: "1m", input: { n: 1 }, name: "n" },
  {
    kind: "cron",
    task: "work",
    cron: "*/5 * * * *",
    timezone: "Europe/Berlin",
    overlap: { policy: "queue", limit: 3 },
  },
  { kind: "at", task: "work", at: "2026-03-01T00:00:00Z", tags: ["a"], target: "room:1" },
  { kind: "after", task: "work", after: "1h", key: "k", retry: { limit: 2, delay: "1s" } },
  { group: "g", schedules: [{ name: "d", every: "1m", task: "work" }] },
  { steps: [{ kind: "after", task: "work", after: "1m" }] },
  { task: "work", input: [1, 2] },
  { every: "2m", catchup: "all", maxRuns: 3 },
  { spec: { cron: "0 0 * * *" }, count: 5 },
  {},
  [],
  null,
);

/** A body as text, whole, damaged in a few places, or no JSON at all. */
const texts = fc.oneof(
  bodies.map((body) => JSON.stringify(body)),
  mutated(bodies.map((body) => JSON.stringify(body))),
  fc.jsonValue({ maxDepth: 4 }).map((body) => JSON.stringify(body)),
  fc.constantFrom("", "{", `${"[".repeat(100_000)}`, `{"input":${"[".repeat(200)}${"]".repeat(200)}}`, "\u0000"),
);

const requests = fc.record({
  method: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"),
  path: fc.oneof({ weight: 3, arbitrary: paths }, { weight: 1, arbitrary: mutated(paths) }),
  isKnown: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  type: fc.constantFrom("application/json", "application/merge-patch+json", "text/plain", "multipart/form-data", "x"),
  body: texts,
  key: fc.option(fc.string({ maxLength: 210, unit: "grapheme-ascii" }), { nil: undefined }),
  match: fc.option(fc.constantFrom("*", '"x"', "W/", "\u00ff"), { nil: undefined }),
});

type Fuzzed = typeof requests extends fc.Arbitrary<infer T> ? T : never;

function requestOf(one: Fuzzed, id: string): Request | undefined {
  try {
    const headers = new Headers({
      "content-type": one.type,
      authorization: `Bearer ${one.isKnown ? TOKEN : "guessed"}`,
    });
    if (one.key !== undefined) headers.set("idempotency-key", one.key);
    if (one.match !== undefined) headers.set("if-match", one.match);
    const bare = one.method === "GET" || one.method === "HEAD";
    const path = `http://127.0.0.1${one.path.startsWith("/") ? "" : "/"}${one.path.replace("ID", id)}`;
    return new Request(path, { method: one.method, headers, ...(bare ? {} : { body: one.body }) });
  } catch {
    // What no client can send.
    return undefined;
  }
}

describe("fuzzing: HTTP requests", () => {
  it("each is answered, never by a crash, a refusal says why, and who is not let in changes nothing", async () => {
    const { storage, calls } = faultyStore(memory(), { at: 0, reply: "fails" });
    const clock = manualClock(BEGAN);
    const work = defineTask("work", () => "done");
    const scheduler = createScheduler({ storage, clock, tasks: [work], logger: SILENT });
    await scheduler.start();
    const { id } = await scheduler.as({ id: "alice" }).every(work, "1d");
    const errors: unknown[][] = [];
    const logger = { ...SILENT, error: (...told: unknown[]) => void errors.push(told) };
    const app = http(scheduler, { authenticate: bearerTokens({ [TOKEN]: { id: "alice" } }), logger });
    const stored = async () => JSON.stringify(await storage.find({ limit: 1_000, retired: true }));
    const accepted = await fuzzAsync("HTTP requests", 3_000, requests, async (one) => {
      const request = requestOf(one, id);
      if (request === undefined) return false;
      const before = one.isKnown ? undefined : await stored();
      const made = calls();
      const response = await app.fetch(request);
      expect(calls() - made).toBeLessThan(CALLS_PER_REQUEST);
      const text = await response.text();
      expect(response.status, text).toBeLessThan(500);
      expect(errors).toEqual([]);
      if (before !== undefined) expect(await stored()).toBe(before);
      if (response.status >= 400 && request.method !== "HEAD") problem(text, response);
      if (request.method === "POST" && response.status === 201) await readsBack(text);
      return response.ok;
    });
    expect(accepted).toBeGreaterThan(100);
    await scheduler.close();

    function problem(text: string, response: Response): void {
      // Paths that are none of the app's are answered by Hono.
      if (response.status === 404 && !text.startsWith("{")) return;
      expect(JSON.parse(text)).toMatchObject({ status: response.status, title: expect.any(String) });
      expect(response.headers.get("content-type")).toContain("application/problem+json");
      const { code } = JSON.parse(text) as { code?: string };
      if (code !== undefined) expect(Object.keys(ERROR_CODES)).toContain(code);
    }

    /** What was created is there, as it was answered; then it goes, so that the store stays small. */
    async function readsBack(text: string): Promise<void> {
      const made = JSON.parse(text) as { id?: string };
      if (typeof made.id !== "string") return;
      const found = await scheduler.info(made.id);
      expect(found).toMatchObject({ id: made.id, owner: "alice", task: "work" });
      if (made.id !== id) await scheduler.stop(made.id);
    }
  });
});
