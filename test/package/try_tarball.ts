/**
 * Installs a packed tarball into an empty project, as a user would, and tries what the package promises there:
 * `node test/package/try_tarball.ts <tarball>`. Part of the gate; not a test, because it installs from a registry: the
 * package, and the Node versions that it is tried on.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const STRICT = { strict: true, noEmit: true, skipLibCheck: false, target: "es2022", types: [] };
const RESOLUTIONS = {
  nodenext: { module: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
  preserve: { module: "preserve", moduleResolution: "bundler" },
};
/** The least that a program may know of its world, and the most. */
const LIBRARIES = [["es2022"], ["esnext", "dom"]];
/** What needs the types of the web, since it is about requests and responses. */
const OF_THE_WEB = ["@ostinato/scheduler/http"];
/** The versions of Node that are tried: the oldest that is supported, and those after it. */
const NODES = [22, 24, 26];
/** The oldest TypeScript that is supported, which is tried beside the repository's own. */
const OLDEST_TYPESCRIPT = "5.7";

const tarball = resolve(process.argv[2] ?? "");
const work = mkdtempSync(join(tmpdir(), "tarball-"));
const project = mkProject("empty");
const tsc = join(ROOT, "node_modules/.bin/tsc");
try {
  checkContents();
  const subpaths = install();
  const oldestTsc = installOldestTsc();
  checkTypes(subpaths, oldestTsc);
  const runtimes = installRuntimes();
  await checkImports(subpaths, runtimes);
  await checkPrograms(runtimes, oldestTsc);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** A runtime: its name, and what runs a file with it. */
type Runtime = readonly [name: string, command: string, ...flags: string[]];

function mkProject(name: string): string {
  const directory = mkdtempSync(join(work, `${name}-`));
  writeFileSync(join(directory, "package.json"), JSON.stringify({ name, private: true, type: "module" }));
  return directory;
}

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { cwd: project, encoding: "utf8", timeout: 120_000 });
}

/** The tarball holds what is built of each source, the manifest and the texts, and nothing else. */
function checkContents(): void {
  const files = run("tar", "-tzf", tarball).trim().split("\n").map((file) => file.replace(/^package\//, ""));
  const sources = ["mod.ts", ...sourcesIn("src"), ...sourcesIn("plugins")];
  const built = sources.flatMap((file) => [".js", ".d.ts"].map((end) => `dist/${file.replace(/\.ts$/, end)}`));
  const texts = ["package.json", "README.md", "LICENSE", "CHANGELOG.md"];
  assert.deepEqual(files.toSorted(), [...texts, ...built].toSorted(), "the tarball's contents");
}

function sourcesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((file) => `${folder}/${file.replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith(".ts"));
}

function install(): string[] {
  npmInstall(project, tarball);
  const manifest = JSON.parse(
    readFileSync(join(project, "node_modules/@ostinato/scheduler/package.json"), "utf8"),
  ) as { readonly name: string; readonly exports: Readonly<Record<string, unknown>> };
  return Object.keys(manifest.exports).map((subpath) => manifest.name + subpath.slice(1));
}

function npmInstall(directory: string, ...packages: string[]): void {
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", ["install", ...quiet, ...packages], { cwd: directory, encoding: "utf8", timeout: 240_000 });
}

/** The oldest TypeScript that the README names, apart from the project. */
function installOldestTsc(): string {
  const directory = mkProject("compiler");
  npmInstall(directory, `typescript@${OLDEST_TYPESCRIPT}`);
  const command = join(directory, "node_modules/.bin/tsc");
  assert.ok(run(command, "--version").startsWith(`Version ${OLDEST_TYPESCRIPT}.`), "the oldest TypeScript");
  return command;
}

/** Types hold for whoever type-checks libraries too, has installed no types of his own, and knows no DOM. */
function checkTypes(subpaths: readonly string[], oldestTsc: string): void {
  for (const lib of LIBRARIES) {
    const known = subpaths.filter((subpath) => lib.includes("dom") || !OF_THE_WEB.includes(subpath));
    const together = consumer("consumer", known);
    for (const [name, resolution] of Object.entries(RESOLUTIONS)) {
      compile(tsc, `${name}-${lib.join("-")}`, { ...STRICT, ...resolution, lib }, together);
    }
    compile(oldestTsc, `oldest-${lib.join("-")}`, { ...STRICT, ...RESOLUTIONS.nodenext, lib }, together);
    // Each by itself as well: together, what one of them brings of the world's types would do for the others.
    for (const [i, subpath] of known.entries()) {
      const options = { ...STRICT, ...RESOLUTIONS.preserve, lib };
      const name = `${subpath} ${lib.join("-")}`.replaceAll(/[@/]/g, "-");
      compile(tsc, name, options, consumer(`consumer_${i}`, [subpath]));
    }
  }
}

function consumer(name: string, subpaths: readonly string[]): string {
  const source = subpaths.map((subpath, i) => `import * as m${i} from "${subpath}";\nexport { m${i} };\n`).join("");
  writeFileSync(join(project, `${name}.ts`), source);
  return `${name}.ts`;
}

function compile(compiler: string, name: string, compilerOptions: object, ...files: string[]): void {
  writeFileSync(join(project, `${name}.json`), JSON.stringify({ compilerOptions, files }));
  try {
    run(compiler, "-p", `${name}.json`);
  } catch (error) {
    throw new Error(`types of ${files.join(", ")} under ${name}:\n${(error as { readonly stdout: string }).stdout}`, {
      cause: error,
    });
  }
}

/** Each version of Node, by the package of that name, and the Deno that runs the gate. */
function installRuntimes(): readonly Runtime[] {
  const directory = mkProject("runtimes");
  const names = NODES.map((major) => `node${major}`);
  const allowScripts = Object.fromEntries(names.map((name) => [name, true]));
  writeFileSync(join(directory, "package.json"), JSON.stringify({ private: true, allowScripts }));
  npmInstall(directory, ...NODES.map((major) => `node${major}@npm:node@${major}`));
  const nodes = NODES.map((major): Runtime => {
    const command = join(directory, `node_modules/node${major}/bin/node`);
    assert.match(run(command, "--version"), new RegExp(`^v${major}\\.`));
    return [`Node ${major}`, command];
  });
  return [...nodes, ["Deno", "deno", "run", "-A", "--node-modules-dir=manual"]];
}

/** Every subpath exports what its source does, on every runtime, and importing it leaves nothing running. */
async function checkImports(subpaths: readonly string[], runtimes: readonly Runtime[]): Promise<void> {
  const sources = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  const expected = await Promise.all(
    Object.values(sources.exports).map(async (source) => Object.keys(await import(join(ROOT, source))).sort()),
  );
  writeFileSync(
    join(project, "imports.js"),
    `const names = [];
     for (const subpath of ${JSON.stringify(subpaths)}) names.push(Object.keys(await import(subpath)).sort());
     console.log(JSON.stringify(names));`,
  );
  for (const [name, command, ...flags] of runtimes) {
    assert.deepEqual(JSON.parse(run(command, ...flags, "imports.js")), expected, `exports under ${name}`);
  }
}

/** The README's programs, as they are written there, type-check, run and end; the first of them on every runtime. */
async function checkPrograms(runtimes: readonly Runtime[], oldestTsc: string): Promise<void> {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const programs = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, program]) => program!);
  const files = programs.map((program, i) => {
    writeFileSync(join(project, `program_${i}.ts`), program);
    return `program_${i}.ts`;
  });
  // What they import besides is for their user to install, with its types, which are not ours to check.
  npmInstall(project, "better-sqlite3@13", "kysely", "zod", "@types/node@24", "@types/better-sqlite3");
  for (const [name, resolution] of Object.entries(RESOLUTIONS)) {
    const options = { ...STRICT, ...resolution, types: ["node"], skipLibCheck: true };
    compile(tsc, `first-${name}`, { ...options, lib: ["es2022"] }, files[0]!);
    for (const compiler of [tsc, oldestTsc]) {
      compile(compiler, `readme-${name}`, { ...options, lib: ["es2022", "dom"] }, ...files);
    }
  }
  run("deno", "check", "--quiet", "--node-modules-dir=manual", ...files);
  for (const runtime of runtimes) assert.equal((await runProgram(runtime, files[0]!)).split("\n")[0], "hello world");
  for (const file of files.slice(1)) for (const runtime of runtimes.slice(-2)) await runProgram(runtime, file);
}

/** Runs a program of the README to its end, which it has to be told if it waits for SIGTERM; answers what it said. */
async function runProgram([name, command, ...flags]: Runtime, file: string): Promise<string> {
  for (const left of readdirSync(project)) if (/\.db/.test(left)) rmSync(join(project, left));
  const waits = readFileSync(join(project, file), "utf8").includes("SIGTERM");
  const env = { ...process.env, NODE_NO_WARNINGS: "1" };
  const child = spawn(command, [...flags, file], { cwd: project, env, stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (waits && out === "") process.kill(child.pid!, "SIGTERM");
    out += text;
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  const [code, signal] = await once(child, "close");
  clearTimeout(timer);
  assert.deepEqual([code, signal], [0, null], `${file} under ${name}:\n${out}`);
  return out;
}
