import process from "node:process";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Folders whose tests wait for processes and servers, in this order, before all others: else the last of them runs alone. */
const SLOW = ["failure/crash", "cluster", "package/service", "failure", "package"];

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = SLOW.findIndex((folder) => moduleId.includes(`/test/${folder}`));
      return place === -1 ? SLOW.length : place;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/bench/**"],
    globalSetup: ["test/support/postgres_setup.ts"],
    // Processes rather than threads: the suites kill processes, and Deno gives a worker no process of its own.
    pool: "forks",
    // A process for every file would spend half of the suite's time on loading the same sources.
    isolate: false,
    sequence: { sequencer: SlowFirst },
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
