import { afterAll, beforeAll } from "vitest";
import { freshSchema, sharedServer } from "../../support/postgres.ts";
import { crashSuite } from "./crash_suite.ts";
import { endPools } from "./kept_pools.ts";

let url: string;
beforeAll(async () => void (url = await sharedServer()), 60_000);
afterAll(endPools);

// The server's own clock decides, so that a lease is waited for; a busy machine must not lose one.
crashSuite("PostgreSQL", { store: "postgres", leaseMs: 2_000, place: () => `${url} ${freshSchema()}` });
