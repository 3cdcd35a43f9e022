import { DatabaseSync } from "node:sqlite";
import Database from "better-sqlite3";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { createScheduler, defineTask, type Json, type Task } from "../../../mod.ts";
import { memory } from "../../../plugins/storage/memory/mod.ts";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";
import { scratch } from "../support/schedulers.ts";

const silent = { error() {}, warn() {}, info() {}, debug() {} };

describe("a configuration", () => {
  it("I2 names every part that lacks what is called of it", () => {
    const wrong = { clock: {}, logger: {}, canRunAs: 1, unref: "yes" } as unknown as Parameters<
      typeof createScheduler
    >[0];
    expect(() => createScheduler(wrong)).toThrow(
      /clock: .*lacks now(?:.|\n)*logger: .*lacks error(?:.|\n)*canRunAs: 1(?:.|\n)*unref: "yes"/,
    );
    expect(() => sqlite({ database: null as never })).toThrow(expect.objectContaining({ code: "config_invalid" }));
  });

  it("P3 a canRunAs that throws answers no", async () => {
    const task = defineTask("task", () => {});
    const canRunAs = () => {
      throw new Error("down");
    };
    const scheduler = createScheduler({ tasks: [task], canRunAs, logger: silent });
    const made = scheduler.as({ id: "alice" }).after(task, "1h", undefined, { runAs: { id: "bob" } });
    await expect(made).rejects.toMatchObject({ code: "permission_denied" });
    await scheduler.close();
  });
});

describe("a task's input", () => {
  it("S4 has the type of the handler's parameter, or of the schema", () => {
    const typed = defineTask("typed", (input: { name: string }) => input.name);
    const long = defineTask("long", { run: (input: { name: string }) => input.name, timeout: "1m" });
    const bare = defineTask("bare", () => {});
    const schema = defineTask("schema", {
      input: z.object({ n: z.string().transform(Number) }),
      run: (input) => input.n + 1,
    });
    expectTypeOf(typed).toEqualTypeOf<Task<{ name: string }>>();
    expectTypeOf(long).toEqualTypeOf<Task<{ name: string }>>();
    expectTypeOf(bare).toEqualTypeOf<Task<Json | undefined>>();
    expectTypeOf(schema).toEqualTypeOf<Task<{ n: string }, { n: number }>>();
    const scheduler = createScheduler({ tasks: [typed] });
    // @ts-expect-error the input is missing
    expect(() => void scheduler.after(typed, "1s").catch(() => {})).not.toThrow();
    // @ts-expect-error a key of it is misspelt
    expect(() => void scheduler.after(typed, "1s", { nam: "x" }).catch(() => {})).not.toThrow();
  });
});

describe.each([["memory", () => memory()], ["sqlite", () => sqlite(`${scratch()}/closed.db`)]])(
  "over %s",
  (_name, store) => {
    it("X2 a unit of work that outlasts its scheduler is told that it is closed", async () => {
      const task = defineTask("task", () => {});
      const scheduler = createScheduler({ storage: store(), tasks: [task], logger: silent });
      const work = scheduler.transaction(async (tx) => {
        await tx.after(task, "1h");
        await scheduler.close();
      });
      await expect(work).rejects.toMatchObject({ code: "closed" });
    });
  },
);

describe("a database that may not be written", () => {
  it.each([
    ["node:sqlite", (file: string) => new DatabaseSync(file, { readOnly: true })],
    ["better-sqlite3", (file: string) => new Database(file, { readonly: true })],
  ])("I3 is refused at the start, through %s", async (_name, open) => {
    const file = `${scratch()}/read_only.db`;
    const task = defineTask("task", () => {});
    const maker = createScheduler({ storage: sqlite(file), tasks: [task], logger: silent });
    await maker.after(task, "1h");
    await maker.close();
    const scheduler = createScheduler({
      storage: sqlite({ database: open(file) as never }),
      tasks: [task],
      logger: silent,
    });
    await expect(scheduler.start()).rejects.toMatchObject({ code: "store_unavailable", retryable: false });
    await scheduler.close();
  });
});
