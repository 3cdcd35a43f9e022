import { expect, it } from "vitest";
import { type AnyPlugin, createScheduler, defineTask, type Plugin } from "../../../mod.ts";
import { CONTRACT } from "../../../src/contract/mod.ts";
import { manualClock } from "../../../src/testing/mod.ts";

interface Colour {
  readonly colour?: string;
}

const coloured: Plugin<Colour> = {
  name: "coloured",
  contract: CONTRACT,
  options: { colour: { parse: (value) => value } },
};
const listening: Plugin = { name: "listening", contract: CONTRACT, listeners: { created: () => {} } };

it("I2 a plugin's option is known to creation by type and by value, beside plugins without any", async () => {
  const beat = defineTask("beat", () => {});
  await using scheduler = createScheduler({ clock: manualClock(), plugins: [coloured, listening], tasks: [beat] });
  const { options } = await (await scheduler.every(beat, "1h", undefined, { colour: "red" })).info();
  expect(options).toMatchObject({ colour: "red" });
  // @ts-expect-error: no plugin has this option
  await expect(scheduler.every(beat, "1h", undefined, { color: "red" })).rejects.toMatchObject({
    code: "unknown_option",
    details: expect.objectContaining({ nearest: "colour" }),
  });
});

it("a list of plugins of all kinds is a list of plugins", () => {
  const plugins: readonly AnyPlugin[] = [coloured, listening];
  // @ts-expect-error: a plugin says for which contract it was written
  const nameless: AnyPlugin = { name: "without a contract" };
  expect(() => createScheduler({ plugins: [...plugins, nameless] })).toThrow(/contract undefined/);
});
