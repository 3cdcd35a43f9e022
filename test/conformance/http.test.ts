import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { createScheduler, type Principal } from "../../mod.ts";
import { bearerTokens, http, httpClient } from "../../plugins/transports/http/mod.ts";
import { transportCases, type TransportHarness } from "../../src/testing/mod.ts";
import { listen, type Served } from "../support/http_server.ts";
import { recorder } from "../unit/support/schedulers.ts";

const TOKENS: Readonly<Record<string, Principal>> = {
  "the token of alice": { id: "alice" },
  "the token of bob": { id: "bob" },
  "the token of root": { id: "root", admin: true },
};

/** A scheduler behind a real server on the loopback interface. */
function harness(path: string, place: (app: ReturnType<typeof http>) => Served): TransportHarness {
  return {
    async open(setup) {
      const scheduler = createScheduler({ ...setup, logger: recorder([]) });
      await scheduler.start();
      const app = http(scheduler, { authenticate: bearerTokens(TOKENS), logger: recorder([]) });
      const server = await listen(place(app));
      return {
        direct: (who) => scheduler.as(who),
        remote: ({ id }) => httpClient(server.url + path, { token: `the token of ${id}` }),
        close: () => scheduler.close(),
        end: () => server.end(),
      };
    },
  };
}

const cases = transportCases().map(({ name, run }) => [name, run] as const);

describe("the HTTP transport", () => {
  it.each(cases)("%s", async (_name, run) => {
    await run(harness("", (app) => app));
  });
});

describe("the HTTP transport under a path of the user's app", () => {
  it.each(cases)("%s", async (_name, run) => {
    await run(harness("/my/schedules/", (app) => new Hono().route("/my/schedules", app)));
  });
});

it("the cases are there", () => expect(cases.length).toBeGreaterThan(8));
