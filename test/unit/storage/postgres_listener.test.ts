import { expect, it, onTestFinished } from "vitest";
import type { PgListenerLike } from "../../../plugins/storage/postgres/connecting.ts";
import { Listener } from "../../../plugins/storage/postgres/listener.ts";
import { manualClock } from "../../../src/testing/mod.ts";
import { SILENT } from "../../failure/crash/life.ts";

const never = () => new Promise<never>(() => {});
const answered = () => Promise.resolve({ rows: [] });

/** Clients that are handed out one after another, and which of them were cut. */
function clients(...behaviours: readonly Partial<PgListenerLike>[]) {
  const made: number[] = [];
  const cut: number[] = [];
  const connect = () => {
    const number = made.push(made.length) - 1;
    const client = {
      connect: answered,
      query: answered,
      end: () => Promise.resolve(),
      on() {},
      removeListener() {},
      connection: { stream: { destroy: () => void cut.push(number) } },
      ...behaviours[number],
    };
    return Promise.resolve(client as PgListenerLike);
  };
  return { connect, made, cut };
}

function listening({ connect }: ReturnType<typeof clients>) {
  const clock = manualClock();
  const changes: boolean[] = [];
  const changed = (listens: boolean) => void changes.push(listens);
  const listener = new Listener({ connect, channel: "c", clock, logger: SILENT, notified() {}, changed });
  onTestFinished(() => listener.close());
  listener.start();
  return { clock, changes };
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
