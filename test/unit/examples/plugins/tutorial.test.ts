import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { importsOf } from "../../../package/import_rules.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const FOLDER = join(ROOT, "examples/plugins");
const RUNTIME = "Deno" in globalThis ? ["run", "-A"] : [];
const FILES = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).map((file) => file.replaceAll("\\", "/"));
const SOURCES = FILES.filter((file) => file.endsWith(".ts"));
const read = (file: string) => readFileSync(join(FOLDER, file), "utf8");

describe("the tutorial about plugins", () => {
  it("shows the files that run, as they are, and every one of them", () => {
    const shown = [...read("README.md").matchAll(/^`([\w/]+\.ts)`\n\n```ts\n(.*?)^```$/gms)];
    for (const [, file, source] of shown) expect(source, file).toBe(read(file!));
    expect(shown.map(([, file]) => file).sort()).toEqual([...SOURCES].sort());
  });

  it("and the READMEs link to what is there", () => {
    for (const page of FILES.filter((file) => file.endsWith("README.md"))) {
      for (const [, link] of read(page).matchAll(/\]\(([^)#]+)/g)) {
        expect(existsSync(join(FOLDER, dirname(page), link!)), `${page}: ${link}`).toBe(true);
      }
      for (const [, test] of read(page).matchAll(/`(test\/[\w/]+\.test\.ts)`/g)) {
        expect(existsSync(join(ROOT, test!)), `${page}: ${test}`).toBe(true);
      }
    }
    for (const file of SOURCES) expect(FILES, file).toContain(join(dirname(file), "README.md"));
  });

  it.each(SOURCES)("%s imports the contract, the testing suites and its own folder alone", (file) => {
    const proof = file.endsWith("prove.ts") ? ["../../../src/testing/mod.ts", "../../../mod.ts"] : [];
    const allowed = ["../../../src/contract/mod.ts", ...proof];
    const others = importsOf(read(file)).filter((specifier) =>
      !allowed.includes(specifier) && !specifier.startsWith("node:") && !/^\.\/[a-z_]+\.ts$/.test(specifier)
    );
    expect(others).toEqual([]);
  });

  it.each(SOURCES.filter((file) => file.endsWith("prove.ts")))("%s keeps its promises", async (file) => {
    const child = spawn(process.execPath, [...RUNTIME, join(FOLDER, file)], { stdio: ["ignore", "pipe", "pipe"] });
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => void (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => void (err += text));
    const [code] = await once(child, "close");
    expect({ code, err: code === 0 ? "" : err }).toEqual({ code: 0, err: "" });
    expect(Number(/^(\d+) promises kept$/m.exec(out)?.[1])).toBeGreaterThanOrEqual(10);
  });
});
