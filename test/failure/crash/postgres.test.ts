import { beforeAll } from "vitest";
import { freshSchema, sharedServer } from "../../support/postgres.ts";
import { crashSuite } from "./crash_suite.ts";

let url: string;
beforeAll(async () => void (url = await sharedServer()), 60_000);

// The server's own clock decides, so that a lease is waited for.
crashSuite("PostgreSQL", { store: "postgres", leaseMs: 500, place: () => `${url} ${freshSchema()}` });
