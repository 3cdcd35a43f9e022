import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { linesClient, serveLines } from "../../../../examples/plugins/json_lines/mod.ts";
import { createScheduler, defineTask, type Principal, type SchedulerApi } from "../../../../mod.ts";
import { transportCases, type TransportHarness } from "../../../../src/testing/mod.ts";
import { recorder } from "../../support/schedulers.ts";

/** A connection over two real streams. */
function connection(api: SchedulerApi, principal: Principal) {
  const [there, back] = [new PassThrough(), new PassThrough()];
  const lines = (input: PassThrough, output: PassThrough) => ({
    input: createInterface({ input, crlfDelay: Infinity }),
    write: (line: string) => void output.write(`${line}\n`),
  });
  const served = serveLines(api, principal, lines(there, back));
  return { client: linesClient(lines(back, there)), there, back, served };
}

const harness: TransportHarness = {
  async open(setup) {
    const scheduler = createScheduler({ ...setup, logger: recorder([]) });
    await scheduler.start();
    const streams: PassThrough[] = [];
    return {
      direct: (principal) => scheduler.as(principal),
      remote(principal) {
        const { client, there, back } = connection(scheduler.api, principal);
        streams.push(there, back);
        return client;
      },
      close: () => scheduler.close(),
      end: () => Promise.resolve(streams.forEach((stream) => stream.end())),
    };
  },
};

describe("the transport over lines of JSON", () => {
  it.each(transportCases().map(({ name, run }) => [name, run] as const))("%s", async (_name, run) => {
    await run(harness);
  });

  it("answers what is no call, and goes on", async () => {
    const scheduler = createScheduler({ tasks: [defineTask("quick", () => "ran")] });
    const { client, there, back, served } = connection(scheduler.api, { id: "alice" });
    there.write("{broken\nnull\n7\n");
    expect(await client.invoke("quick")).toBe("ran");
    there.end();
    await served;
    back.end();
    await scheduler.close();
  });

  it("fails the calls that are under way when the connection ends, and those after it", async () => {
    let end = () => {};
    const slow = defineTask("slow", () => new Promise<void>((resolve) => end = resolve));
    const scheduler = createScheduler({ tasks: [slow] });
    const { client, back } = connection(scheduler.api, { id: "alice" });
    const unanswered = client.invoke(slow);
    await client.valid("nope");
    back.end();
    await expect(unanswered).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
    await expect(client.valid("nope")).rejects.toMatchObject({ code: "store_unavailable" });
    end();
    await scheduler.close();
  });
});
