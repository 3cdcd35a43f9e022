import { expect, it, onTestFinished } from "vitest";
import type { PgListenerLike } from "../../../plugins/storage/postgres/connecting.ts";
import { Listener } from "../../../plugins/storage/postgres/listener.ts";
import { manualClock } from "../../../src/testing/mod.ts";
import { SILENT } from "../../failure/crash/life.ts";

const never = () => new Promise<never>(() => {});
const answered = () => Promise.resolve({ rows: [] });

/** A client that hears nothing of what others tell. */
const DEAF = { on() {} };

/** Clients that are handed out one after another, and which of them were cut. */
function clients(...behaviours: readonly Partial<PgListenerLike>[]) {
  const made: number[] = [];
  const cut: number[] = [];
  let hear = (_: { readonly channel: string }) => {};
  const tell = (channel: string) => Promise.resolve(hear({ channel }));
  const connect = () => {
    const number = made.push(made.length) - 1;
    hear = () => {};
    const client = {
      connect: answered,
      query: answered,
      end: () => Promise.resolve(),
      on: (event: string, listener: typeof hear) => void (event === "notification" && (hear = listener)),
      removeListener() {},
      connection: { stream: { destroy: () => void cut.push(number) } },
      ...behaviours[number],
    };
    return Promise.resolve(client as PgListenerLike);
  };
  return { connect, tell, made, cut };
}

function listening({ connect, tell }: ReturnType<typeof clients>) {
  const clock = manualClock();
  const changes: boolean[] = [];
  const warnings: unknown[] = [];
  const changed = (listens: boolean) => void changes.push(listens);
  const logger = { ...SILENT, warn: (_: string, error: unknown) => void warnings.push(error) };
  const listener = new Listener({ connect, channel: "c", tell, clock, logger, notified() {}, changed });
  onTestFinished(() => listener.close());
  listener.start();
  return { clock, changes, warnings };
}

it("B117 M6 an attempt to listen that is not answered, connecting or listening, is given up and made again", async () => {
  const some = clients({ connect: never, end: never }, { query: never });
  const { clock, changes } = listening(some);
  await clock.advance("9s");
  expect(some.made).toHaveLength(1);
  await clock.advance("2s");
  expect(some.made).toHaveLength(1);
  await clock.advance("30s");
  expect(some.made).toHaveLength(3);
  expect(changes).toEqual([true]);
  expect(some.cut).toEqual([0]);
});

it("M6 a connection that hears nothing, as behind a pooler, does not count as listening, and is tried again by the minute", async () => {
  const some = clients(DEAF, DEAF);
  const { clock, changes, warnings } = listening(some);
  await clock.advance("64s");
  expect(some.made).toHaveLength(1);
  await clock.advance("65s");
  expect(some.made).toHaveLength(2);
  expect(changes).toEqual([]);
  expect(warnings.map(String)).toEqual([expect.stringContaining("pooler of transactions")]);
  await clock.advance("65s");
  expect(changes).toEqual([true]);
});
