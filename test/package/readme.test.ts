import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { scratch } from "../unit/support/schedulers.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const RUNTIME = "Deno" in globalThis ? ["run", "-A"] : [];
const { name, exports } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8")) as {
  readonly name: string;
  readonly exports: Readonly<Record<string, string>>;
};

mkdirSync(join(ROOT, ".data"), { recursive: true });
/** Inside the repository, so that libraries are found. */
const directory = mkdtempSync(join(ROOT, ".data", "readme-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** The README's programs, each under its heading. */
function programs(readme: string): readonly (readonly [heading: string, source: string])[] {
  return readme.split(/^## /m).flatMap((section) => {
    const heading = section.slice(0, section.indexOf("\n")).replace(/^# /, "");
    return [...section.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, source]) => [heading, source!] as const);
  });
}

/** What a program says it prints: in comments behind `console.log(…);`, and in whole lines of comment behind `advance`. */
function promised(source: string): readonly string[] {
  let isAfterAdvance = false;
  return source.split("\n").flatMap((line) => {
    const comment = /^\/\/ (.*?)(?: \(.*\))?$/.exec(line)?.[1];
    if (comment !== undefined && isAfterAdvance) return [comment];
    isAfterAdvance = line.startsWith("await clock.advance(");
    return /console\.log\(.*; \/\/ (.*)$/.exec(line)?.slice(1, 2) ?? [];
  });
}

/** The source with the package's subpaths as this repository's files. */
function local(source: string): string {
  return source.replace(/(?<=from ")[^"]+(?=";)/g, (specifier) => {
    if (specifier !== name && !specifier.startsWith(`${name}/`)) return specifier;
    const file = exports[specifier.replace(name, ".")];
    if (file === undefined) throw new Error(`${specifier} is not exported`);
    return pathToFileURL(join(ROOT, file)).href;
  });
}

let files = 0;

/** Runs a program to its end; one that waits for SIGTERM gets it as soon as it has printed something. */
async function run(source: string): Promise<{ readonly code: unknown; readonly out: string; readonly err: string }> {
  const file = join(directory, `${++files}.ts`);
  writeFileSync(file, local(source));
  const child = spawn(process.execPath, [...RUNTIME, file], {
    cwd: scratch(),
    env: { ...process.env, NO_COLOR: "1", NODE_NO_WARNINGS: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (err += text));
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (out === "" && source.includes("SIGTERM")) process.kill(child.pid!, "SIGTERM");
    out += text;
  });
  const [code, signal] = await once(child, "close");
  return { code: code ?? signal, out, err };
}

/** Runs a program, and looks for what it says that it prints, in that order. */
async function prove(source: string): Promise<string> {
  const { code, out, err } = await run(source);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const lines = out.split("\n");
  const found = promised(source).filter((line) => {
    const index = lines.indexOf(line);
    lines.splice(0, index + 1);
    return index >= 0;
  });
  expect(found, out).toEqual(promised(source));
  return out;
}

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

describe("the README's programs run, and print what they say", () => {
  const all = programs(read("README.md"));

  it("are read from it", () => {
    expect(all.length).toBeGreaterThanOrEqual(8);
    expect(all.flatMap(([, source]) => promised(source)).length).toBeGreaterThanOrEqual(12);
    expect(promised('await clock.advance("1h");\n// a (why)\n// b\nconsole.log(f(1)); // c; d\n// no\nx(); // no\n'))
      .toEqual(["a", "b", "c; d"]);
  });

  it.each(all)("%s", async (_heading, source) => {
    const out = await prove(source);
    if (source === all[0]![1]) expect(out).toMatch(/^hello world$/m);
  }, 60_000);
});

describe("the guides' programs do, too", () => {
  const guides = readdirSync(join(ROOT, "examples/guides")).filter((file) => file !== "README.md");
  const all = guides.flatMap((guide) =>
    programs(read(`examples/guides/${guide}`)).map(([heading, source]) => [guide, heading, source] as const)
  );

  it("are read from them, and the list of guides names each", () => {
    expect(all.length).toBeGreaterThanOrEqual(8);
    expect(all.flatMap(([, , source]) => promised(source)).length).toBeGreaterThanOrEqual(10);
    const list = read("examples/guides/README.md");
    for (const guide of guides) expect(list).toContain(`(${guide})`);
  });

  it.each(all)("%s: %s", async (_guide, _heading, source) => void await prove(source), 60_000);
});

describe("links", () => {
  const pages = ["README.md", "CONTRIBUTING.md", "examples/README.md", "examples/plugins/README.md"].concat(
    readdirSync(join(ROOT, "examples/guides")).map((file) => `examples/guides/${file}`),
  );

  it.each(pages)("of %s lead to files and headings that are there", (page) => {
    const text = read(page);
    for (const [, target] of text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [file, anchor] = target!.split("#");
      const path = file === "" ? page : join(dirname(page), file!);
      expect(existsSync(join(ROOT, path)), `${target} of ${page}`).toBe(true);
      if (anchor === undefined) continue;
      const anchors = [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
        heading!.toLowerCase().replace(/[^\p{L}\d _-]/gu, "").replaceAll(" ", "-")
      );
      expect(anchors, `${target} of ${page}`).toContain(anchor);
    }
  });
});
