import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createScheduler, defineTask } from "../../mod.ts";
import { sqlite } from "../../plugins/storage/sqlite/mod.ts";
import { recorder, scratch } from "../unit/support/schedulers.ts";
import { launch } from "./processes.ts";

it("U1 U3 M3 what a killed process had open leaves nothing, and the run's second attempt commits its own", async () => {
  const file = join(scratch(), "schedules.db");
  const dying = launch("unit_child.ts", { file, leaseMs: 500 });
  const { parent } = await dying.said((message) => "parent" in message) as { readonly parent: string };
  const lost: string[] = [];
  for (const unit of ["run", "transaction"]) {
    lost.push((await dying.said((message) => message.unit === unit)).id as string);
  }
  dying.process.kill("SIGKILL");
  await once(dying.process, "close");

  const child = defineTask("child", () => {});
  const made: string[] = [];
  const again = defineTask("parent", async (_input, { schedules, attempt }) => {
    made.push((await schedules.after(child, "1h")).id);
    expect(attempt).toBe(2);
  });
  const scheduler = createScheduler({
    storage: sqlite(file),
    tasks: [child, again],
    leaseMs: 500,
    logger: recorder([]),
  });
  expect(await Promise.all(lost.map((id) => scheduler.valid(id)))).toEqual([false, false]);
  // Neither the stop of the transaction nor the pause of the run was made.
  expect(await scheduler.info(parent)).toMatchObject({ name: "parent", paused: false, retired: false });
  const settled = new Promise<void>((resolve) => void scheduler.on("succeeded", () => resolve()));
  await scheduler.start();
  await settled;
  const { schedules } = await scheduler.list().page();
  expect(schedules.map(({ id }) => id).toSorted()).toEqual([parent, made[0]!].toSorted());
  expect(made).toHaveLength(1);
  await scheduler.close();
});
