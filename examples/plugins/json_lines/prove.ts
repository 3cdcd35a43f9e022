import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { createScheduler } from "../../../mod.ts";
import { transportCases } from "../../../src/testing/mod.ts";
import { type Lines, linesClient, serveLines } from "./mod.ts";

function lines(input: PassThrough, output: PassThrough): Lines {
  return { input: createInterface({ input }), write: (line) => void output.write(`${line}\n`) };
}

const logger = { ...console, error: () => {} };
let kept = 0;
for (const { name, run } of transportCases()) {
  const harness = {
    async open(setup: object) {
      const scheduler = createScheduler({ ...setup, logger });
      await scheduler.start();
      const streams: PassThrough[] = [];
      return {
        direct: scheduler.as.bind(scheduler),
        remote(principal: { readonly id: string }) {
          const [there, back] = [new PassThrough(), new PassThrough()];
          streams.push(there, back);
          void serveLines(scheduler.api, principal, lines(there, back));
          return linesClient(lines(back, there));
        },
        close: () => scheduler.close(),
        end: () => Promise.resolve(streams.forEach((stream) => stream.end())),
      };
    },
  };
  await run(harness).catch((cause) => Promise.reject(new Error(`broken: ${name}`, { cause })));
  kept++;
}
console.log(`${kept} promises kept`);
