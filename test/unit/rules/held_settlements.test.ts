import { expect, it, onTestFinished, vi } from "vitest";
import { createScheduler, defineTask } from "../../../mod.ts";
import { memory } from "../../../plugins/storage/memory/mod.ts";

it("O1 what is over is written down although claiming never pauses, so that it does not count as executing for ever", async () => {
  const storage = memory();
  const advance = storage.advance.bind(storage);
  // As where a claim takes longer than the next deadline is away.
  storage.advance = async (request, step) => ({ ...await advance(request, step), more: true });
  const work = defineTask("work", () => {});
  const scheduler = createScheduler({ storage, tasks: [work] });
  onTestFinished(() => scheduler.close());
  await scheduler.start();
  const { id } = await scheduler.at(work, new Date(0));
  await vi.waitFor(async () => expect((await scheduler.info(id)).retireReason).toBe("completed"), { timeout: 20_000 });
});
