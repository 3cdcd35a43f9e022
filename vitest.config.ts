import process from "node:process";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/bench/**"],
    globalSetup: ["test/support/postgres_setup.ts"],
    // Processes rather than threads: the suites kill processes, and Deno gives a worker no process of its own.
    pool: "forks",
    // Many tests wait for processes and servers rather than for a core.
    maxWorkers: 3,
    // Only to end what hangs: no test is to fail because the machine is busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    // Real processes and servers on a machine that others use: what fails there has to fail twice.
    retry: process.env["CI"] === undefined ? 0 : 1,
    env: {
      // The workers must run on the runtime that was asked for; test/package/runtime.test.ts holds them to it.
      SUITE_RUNTIME: "Deno" in globalThis ? "deno" : "node",
      // Hundreds of processes are started, and Node takes half as long to load the sources when it has done so before.
      NODE_COMPILE_CACHE: fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url)),
    },
  },
});
