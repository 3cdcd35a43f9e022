import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { createScheduler, defineTask, type Scheduler } from "../../mod.ts";
import { sqlite } from "../../plugins/storage/sqlite/mod.ts";
import { manualClock } from "../../src/testing/mod.ts";
import { scratch } from "../unit/support/schedulers.ts";

const beat = defineTask("beat", () => {});

function onConnection(busyTimeout: number): { readonly database: DatabaseSync; readonly scheduler: Scheduler } {
  const database = new DatabaseSync(join(scratch(), "shop.db"));
  onTestFinished(() => database.close());
  const storage = sqlite({ database, busyTimeout });
  const scheduler = createScheduler({ clock: manualClock(), storage, tasks: [beat] });
  onTestFinished(() => scheduler.close());
  return { database, scheduler };
}

describe("U4 a transaction of the application, open on the connection that the scheduler shares", () => {
  it.each([["new", false], ["opened before", true]])("is named, not the disk, in a %s file", async (_state, isOpen) => {
    const { database, scheduler } = onConnection(20);
    if (isOpen) await scheduler.after(beat, "1h");
    database.exec("begin");
    await expect(scheduler.after(beat, "1h")).rejects.toMatchObject({
      code: "store_unavailable",
      retryable: true,
      message: expect.stringMatching(/a transaction open on the same connection for 20 ms; inside of it use within\(/),
    });
    database.exec("commit");
    expect(await scheduler.valid((await scheduler.after(beat, "1h")).id)).toBe(true);
  });

  it("is waited for, also by the opening", async () => {
    const { database, scheduler } = onConnection(10_000);
    database.exec("begin");
    const created = scheduler.after(beat, "1h");
    await new Promise((resolve) => setImmediate(resolve));
    database.exec("commit");
    expect(await scheduler.valid((await created).id)).toBe(true);
  });
});
