import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { bundle } from "./bundle.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const { exports } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, string>>;
};
const SUBPATHS = Object.entries(exports).map(([subpath, file]) => [subpath, join(ROOT, file)] as const);
const MOD = join(ROOT, exports["."]!);

describe("a bundler", () => {
  it("leaves little of the core where only defineTask is used", async () => {
    const all = await bundle(`export * from "${MOD}";`, true);
    const one = await bundle(`export { defineTask } from "${MOD}";`, true);
    expect(one.libraries).toEqual([]);
    expect(one.code.length).toBeGreaterThan(500);
    expect(one.code.length).toBeLessThan(all.code.length / 10);
  });

  it("finds no library in the core but those of ids and of cron expressions: no driver, no server, no module of Node", async () => {
    const { libraries } = await bundle(`export * from "${MOD}";`, true);
    expect(libraries).toEqual(["@std/ulid", "cron-parser"]);
  });

  it.each(SUBPATHS)("drops an import of %s of which nothing is used", async (_subpath, file) => {
    expect((await bundle(`import "${file}";`, true)).code.trim()).toBe("");
  });

  it("would tell if there were something to keep", async () => {
    const { code, libraries } = await bundle(
      `import { ulid } from "@std/ulid"; globalThis.kept = ulid(); export * from "${MOD}";`,
      false,
    );
    expect(code).toMatch(/globalThis\.kept/);
    expect(libraries).toContain("@std/ulid");
  });
});

/** What a program that imports a subpath finds changed by that, as JSON. */
const OBSERVER = `
  const seen = () => ({
    // Deno's own, once a package of npm is loaded; and Zod's, by which its copies know one another.
    globals: Reflect.ownKeys(globalThis).map(String).filter((name) => !/^(?:nodeBootstrap$|__zod_)/.test(name)),
    members: [Object, Array, Date, Promise, String, Number, Math, JSON, Error, Symbol, Map, Set, AbortSignal, Intl]
      .flatMap((one) => [one, one.prototype ?? {}]).map((one) => Reflect.ownKeys(one).length),
    listeners: process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
    resources: typeof Deno === "undefined" ? process.getActiveResourcesInfo().sort() : [],
  });
  const before = seen();
  await import(process.argv[2]);
  console.log(JSON.stringify({ before, after: seen() }));
`;

describe("importing", () => {
  it.each(SUBPATHS)("%s changes nothing that others see, and leaves nothing running", async (_subpath, file) => {
    const flags = "Deno" in globalThis
      ? ["run", "-A", "--ext=js", "-"]
      : ["--disable-warning=ExperimentalWarning", "--input-type=module", "-"];
    const child = spawn(process.execPath, [...flags, file], { cwd: ROOT, stdio: ["pipe", "pipe", "inherit"] });
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => void (out += text));
    child.stdin.end(`import process from "node:process";${OBSERVER}`);
    expect(await once(child, "close")).toEqual([0, null]);
    const { before, after } = JSON.parse(out) as { readonly before: object; readonly after: object };
    expect(after).toEqual(before);
  });
});
