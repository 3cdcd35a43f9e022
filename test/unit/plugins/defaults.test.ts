import { expect, it } from "vitest";
import { createScheduler } from "../../../mod.ts";

it("K3 a default zone that does not exist is told when the scheduler is made, not at the first cron", () => {
  expect(() => createScheduler({ defaults: { timezone: "Europe/Atlantis" } })).toThrow(
    expect.objectContaining({
      code: "config_invalid",
      message: expect.stringContaining('defaults.timezone: "Europe/Atlantis" is not a time zone'),
    }),
  );
});
