import { expect, it } from "vitest";
import { z } from "zod";
import { createScheduler, defineTask, type Plugin } from "../../../mod.ts";

// The compiler proves these: each expected error that does not come is itself an error of `npm run check`.
it("I2 a task's input and a plugin's options are known to the compiler in every call", async () => {
  const typed = defineTask("typed", {
    input: z.object({ orderId: z.string(), count: z.coerce.number<string>().optional() }),
    run: (input, ctx) => `${input.orderId.toUpperCase()} ${(input.count ?? 0).toFixed(0)} ${ctx.attempt}`,
  });
  const free = defineTask("free", () => {});
  const weekday: Plugin<{ readonly weekday?: string }> = {
    name: "weekday",
    contract: 1,
    options: { weekday: { parse: (value) => value } },
  };
  const scheduler = createScheduler({ tasks: [typed, free], plugins: [weekday] });
  const inputs = { orderId: "1", count: "2" };
  await scheduler.at(typed, 0, inputs, { weekday: "monday", jitter: "5s" });
  await scheduler.every(typed, "1m", inputs, { startAt: 0, overlap: { policy: "queue", limit: 2 } });
  await scheduler.cron("n", "@daily", typed, inputs, { timezone: "Europe/Berlin", dst: { fold: "both" } });
  await scheduler.after(free, "1m");
  await scheduler.at("typed", 0, inputs);
  await scheduler.transaction((tx) => tx.after(typed, "1m", inputs, { weekday: "sunday" }));
  const refused: readonly (() => Promise<unknown>)[] = [
    // @ts-expect-error the input is required
    () => scheduler.after(typed, "1m"),
    // @ts-expect-error orderId is a string
    () => scheduler.at(typed, 0, { orderId: 1 }),
    // @ts-expect-error count is given as text
    () => scheduler.at(typed, 0, { orderId: "1", count: {} }),
    // @ts-expect-error no such option
    () => scheduler.at(typed, 0, inputs, { weekdy: "monday" }),
    // @ts-expect-error a one-shot has no startAt
    () => scheduler.at(typed, 0, inputs, { startAt: 0 }),
    // @ts-expect-error no such policy
    () => scheduler.every(typed, "1m", inputs, { overlap: "both" }),
    // @ts-expect-error a cron's name stands before its options
    () => scheduler.cron("n", "@daily", typed, inputs, { name: "m" }),
    // @ts-expect-error an interval has no dst
    () => scheduler.every(typed, "1m", inputs, { dst: {} }),
  ];
  for (const call of refused) await expect(call()).rejects.toMatchObject({ name: "SchedulerError" });
  await scheduler.close();
});
