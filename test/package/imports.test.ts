import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { importFaults, importsOf, placeOf, usingFaults, worldFaults, worldUses } from "./import_rules.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FILES = ["mod.ts", ...filesOf("src"), ...filesOf("plugins")];
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

function filesOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((file) => `${folder}/${file.replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith(".ts"));
}

describe("the source tree", () => {
  it("has the files that this test means to read", () => {
    for (const place of ["contract", "calendar", "machine", "engine", "client", "testing", "scheduler", "system"]) {
      expect(FILES.filter((file) => placeOf(file) === place), place).not.toEqual([]);
    }
  });

  it("imports one way only", () => {
    expect(FILES.flatMap((file) => importFaults(file, read(file)))).toEqual([]);
  });

  it("takes clocks, timers and randomness as arguments, outside of src/system.ts", () => {
    expect(FILES.flatMap((file) => worldFaults(file, read(file)))).toEqual([]);
  });

  it("runs unbuilt on Node 22, which has no `using` declarations", () => {
    expect([...FILES, ...filesOf("examples")].flatMap((file) => usingFaults(file, read(file)))).toEqual([]);
    expect(usingFaults("a.ts", "{\n  using file = open();\n}")).toEqual(["a.ts:2 declares with using"]);
    expect(usingFaults("a.ts", "await using file = open();")).toEqual(["a.ts:1 declares with await using"]);
    expect(usingFaults("a.ts", "const using = 1;")).toEqual([]);
  });

  it("carries only names in snake_case", () => {
    expect(FILES.filter((file) => !/^(?:[a-z0-9_]+\/)*[a-z0-9_]+\.ts$/.test(file))).toEqual([]);
  });
});

describe("the import rules", () => {
  it("read every form of import", () => {
    const source = `
      import a, { type B } from "./a.ts";
      import type { C } from "./c.ts";
      import "./side.ts";
      export * from "./d.ts";
      export { e } from "./e.ts";
      export const none = 1;
      type F = import("./f.ts").F;
      const g = await import("g");
      const h = await import(name);
      // import "./comment.ts";
      const text = 'import "./text.ts"';
    `;
    expect(importsOf(source).sort()).toEqual(
      ["(computed)", "./a.ts", "./c.ts", "./d.ts", "./e.ts", "./f.ts", "./side.ts", "g"],
    );
  });

  it.each([
    ["src/contract/errors.ts", "../calendar/mod.ts"],
    ["src/contract/errors.ts", "node:util"],
    ["src/calendar/cron.ts", "../machine/step.ts"],
    ["src/calendar/cron.ts", "luxon"],
    ["src/calendar/cron.ts", "../contract/errors"],
    ["src/machine/step.ts", "../engine/engine.ts"],
    ["src/machine/step.ts", "../system.ts"],
    ["src/engine/engine.ts", "../client/client.ts"],
    ["src/engine/engine.ts", "../scheduler.ts"],
    ["src/engine/engine.ts", "../../plugins/storage/memory/mod.ts"],
    ["src/client/client.ts", "node:async_hooks"],
    ["src/testing/mod.ts", "../../plugins/storage/sqlite/mod.ts"],
    ["src/scheduler.ts", "../plugins/storage/sqlite/mod.ts"],
    ["src/scheduler.ts", "../plugins/storage/memory/store.ts"],
    ["src/helpers.ts", "./contract/mod.ts"],
    ["mod.ts", "./plugins/policies/mod.ts"],
    ["mod.ts", "./test/unit/helper.ts"],
    ["plugins/storage/memory/mod.ts", "../../../src/contract/errors.ts"],
    ["plugins/storage/memory/mod.ts", "../sql/mod.ts"],
    ["plugins/storage/memory/mod.ts", "kysely"],
    ["plugins/storage/file/file_looks.ts", "../sqlite/change_watch.ts"],
    ["plugins/storage/postgres/storage.ts", "../file/file_looks.ts"],
    ["plugins/storage/kv/storage.ts", "../sql/codec.ts"],
    ["plugins/storage/sqlite/mod.ts", "../../../src/engine/engine.ts"],
    ["plugins/storage/sqlite/mod.ts", "../../policies/mod.ts"],
    ["plugins/storage/sqlite/mod.ts", "better-sqlite3"],
    ["plugins/storage/sqlite/mod.ts", "kysely-like"],
    ["plugins/unknown/mod.ts", "../../src/contract/mod.ts"],
  ])("refuse %s importing %s", (file, specifier) => {
    expect(importFaults(file, `import { x } from "${specifier}";`)).toHaveLength(1);
  });

  it.each([
    ["src/calendar/cron.ts", "../contract/errors.ts"],
    ["src/calendar/cron.ts", "../contract/zone/zone.ts"],
    ["src/calendar/cron.ts", "cron-parser"],
    ["src/machine/step.ts", "../calendar/mod.ts"],
    ["src/engine/engine.ts", "../machine/step.ts"],
    ["src/scheduler.ts", "../plugins/storage/memory/mod.ts"],
    // What a simulation runs on unless it is told otherwise.
    ["src/testing/simulate.ts", "../../plugins/storage/memory/mod.ts"],
    ["src/scheduler.ts", "./system.ts"],
    ["src/system.ts", "node:process"],
    ["mod.ts", "./src/scheduler.ts"],
    ["plugins/storage/sqlite/driver.ts", "../../../src/contract/mod.ts"],
    ["plugins/storage/sqlite/driver.ts", "../sql/mod.ts"],
    ["plugins/storage/sqlite/driver.ts", "node:sqlite"],
    ["plugins/storage/kv/driver.ts", "../file/file_looks.ts"],
    ["plugins/storage/postgres/driver.ts", "kysely/helpers/postgres"],
  ])("allow %s importing %s", (file, specifier) => {
    expect(importFaults(file, `import { x } from "${specifier}";`)).toEqual([]);
  });
});

describe("the purity rules", () => {
  it.each([
    ["Date.now", "const now = Date.now();"],
    ["Date.now", "const clock = { now: Date.now };"],
    ["new Date()", "const now = new Date();"],
    ["new Date(year, month, …)", "const local = new Date(2026, 0);"],
    ["Date()", "const text = Date();"],
    ["performance", "const t = performance.now();"],
    ["globalThis", "const t = globalThis.performance.now();"],
    ["Temporal", "const t = Temporal.Now.instant();"],
    ["setTimeout", "setTimeout(() => {}, 1);"],
    ["setTimeout(…, 0)", "setTimeout(go, 0);"],
    ["setInterval", "const timers = { setInterval };"],
    ["AbortSignal.timeout", "const signal = AbortSignal.timeout(5);"],
    ["Math.random", "const r = Math.random();"],
    ["crypto", "const id = crypto.randomUUID();"],
    ["Deno", "const on = Deno.build.os;"],
    ["process", "process.on('SIGINT', stop);"],
    ["getHours", "const h = date.getHours();"],
    ["toLocaleString", "const s = date.toLocaleString('en');"],
  ])("notice %s in %s", (use, source) => {
    expect(worldUses(source)).toEqual([use]);
    expect(worldFaults("src/machine/step.ts", source)).toEqual([`src/machine/step.ts uses ${use}`]);
  });

  it.each([
    ["an instant that is given", "const d = new Date(value);"],
    ["an injected timer", "const stop = system.setTimeout(wake, ms);"],
    ["a timer's declaration", "interface Timers { setTimeout(fn: () => void, ms: number): void }"],
    ["a member of the same name", "const o = { performance: 1 }; o.performance;"],
    ["a comment and a text", "// Date.now()\nconst s = 'setTimeout';"],
    ["UTC", "const y = date.getUTCFullYear();"],
    ["a type", "type T = Temporal.Instant;"],
    ["the type of what there is", "type T = typeof globalThis;"],
  ])("leave %s alone", (_what, source) => {
    expect(worldUses(source)).toEqual([]);
  });

  it("let the manual clock turn the event loop and nothing else", () => {
    expect(worldFaults("src/testing/clock.ts", "setImmediate(go); setTimeout(go, 0);")).toEqual([]);
    expect(worldFaults("src/testing/clock.ts", "setTimeout(go, 1);")).toHaveLength(1);
    expect(worldFaults("src/engine/engine.ts", "setImmediate(go);")).toHaveLength(1);
  });

  it("keep clocks from drivers, and everything from policies", () => {
    expect(worldFaults("plugins/storage/memory/mod.ts", "const now = Date.now();")).toHaveLength(1);
    expect(worldFaults("plugins/storage/postgres/mod.ts", "setTimeout(reconnect, 1_000);")).toEqual([]);
    expect(worldFaults("plugins/policies/retry.ts", "setTimeout(again, 1_000);")).toHaveLength(1);
  });

  it("leave src/system.ts its clock", () => {
    expect(worldFaults("src/system.ts", "export const now = () => Date.now();")).toEqual([]);
  });
});
