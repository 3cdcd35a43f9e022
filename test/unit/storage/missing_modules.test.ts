import { afterEach, expect, it, vi } from "vitest";
import { kv } from "../../../plugins/storage/kv/mod.ts";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.doUnmock("@deno/kv");
  vi.doUnmock("node:sqlite");
  vi.resetModules();
});

it.each([
  ["Node", undefined, /^kv: path: \.\/x is opened with the package @deno\/kv.*\(npm install @deno\/kv\)/],
  ["Deno", {}, /^kv: path: \.\/x is opened with Deno\.openKv.*--unstable-kv/],
])("kv tells what a path needs that %s does not have", async (_, Deno, message) => {
  vi.stubGlobal("Deno", Deno);
  vi.resetModules();
  vi.doMock("@deno/kv", () => {
    throw new Error("no such package");
  });
  const { openPath } = await import("../../../plugins/storage/kv/opening.ts");
  const opening = openPath("./x");
  await expect(opening).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringMatching(message),
    cause: expect.any(Error),
  });
});

it("sqlite tells which Node has the module that a path is opened with", async () => {
  vi.resetModules();
  vi.doMock("node:sqlite", () => {
    throw new Error("No such built-in module: node:sqlite");
  });
  const { openDatabase } = await import("../../../plugins/storage/sqlite/opening.ts");
  await expect(openDatabase(":memory:")).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringMatching(/no node:sqlite; expected Node 22\.18 or newer/),
    cause: expect.any(Error),
  });
});

it("kv tells of a promise that it wants what that resolves to", () => {
  const handle = Promise.resolve({});
  expect(() => kv(handle as never)).toThrow("kv: options: a promise; expected what it resolves to");
  expect(() => kv({ kv: handle as never })).toThrow("kv: kv: a promise; expected what it resolves to");
});
