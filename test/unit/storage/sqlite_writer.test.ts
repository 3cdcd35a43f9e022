import { expect, it } from "vitest";
import { Writer, type WriterOptions } from "../../../plugins/storage/sqlite/writer.ts";

/** A writer whose commits take as long as the test says, on a loop whose turns the test makes. */
function setUp(commitMs: number) {
  let now = 0;
  let next: (() => void)[] = [];
  const commits: number[][] = [];
  let current: number[] = [];
  const writer = new Writer({
    connection: {
      write(_doing: string, work: () => unknown) {
        current = [];
        const done = work();
        commits.push(current);
        now += commitMs;
        return Promise.resolve(done);
      },
    },
    documents: { forget() {} },
    clock: { monotonic: () => now, defer: (callback: () => void) => void next.push(callback) },
    foreign: { mark: () => "", own: (work: () => unknown) => work() },
    statements: {},
  } as unknown as WriterOptions);
  return {
    commits,
    pass: (ms: number) => void (now += ms),
    write: (...numbers: readonly number[]) => {
      for (const number of numbers) void writer.run(() => void current.push(number));
    },
    async turn() {
      const [...callbacks] = next;
      next = [];
      for (const callback of callbacks) callback();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it("what is written in one turn is one commit, and the first is not waited for", async () => {
  const { commits, write, turn } = setUp(5);
  write(1, 2);
  await turn();
  expect(commits).toEqual([[1, 2]]);
});

it("while commits are slow, turns that bring more are waited for, and the first that brings nothing is the end", async () => {
  const { commits, write, turn } = setUp(5);
  write(1);
  await turn();
  write(2, 3);
  await turn();
  write(4);
  await turn();
  expect(commits, "still gathering").toEqual([[1]]);
  await turn();
  expect(commits).toEqual([[1], [2, 3, 4]]);
  write(5);
  await turn();
  expect(commits, "one alone waits for nobody").toEqual([[1], [2, 3, 4], [5]]);
});

it("they are not waited for longer than a commit takes", async () => {
  const { commits, write, turn, pass } = setUp(5);
  write(1);
  await turn();
  write(2, 3);
  await turn();
  pass(5);
  write(4);
  await turn();
  expect(commits).toEqual([[1], [2, 3, 4]]);
});

it("while commits are quick, each turn is a commit", async () => {
  const { commits, write, turn } = setUp(0.1);
  write(1);
  await turn();
  write(2, 3);
  await turn();
  write(4);
  await turn();
  expect(commits).toEqual([[1], [2, 3], [4]]);
});
