/**
 * Installs a packed tarball into an empty project, as a user would, and tries what the package promises there:
 * `node test/package/try_tarball.ts <tarball>`. Part of the gate; not a test, because it installs from a registry.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const STRICT = { strict: true, noEmit: true, skipLibCheck: false, lib: ["esnext", "dom"], types: [] };
const RESOLUTIONS = {
  nodenext: { ...STRICT, module: "nodenext" },
  bundler: { ...STRICT, module: "esnext", moduleResolution: "bundler" },
};

const tarball = resolve(process.argv[2] ?? "");
const project = mkdtempSync(join(tmpdir(), "tarball-"));
try {
  checkContents();
  const subpaths = install();
  checkTypes(subpaths);
  await checkImports(subpaths);
} finally {
  rmSync(project, { recursive: true, force: true });
}

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { cwd: project, encoding: "utf8", timeout: 120_000 });
}

/** The tarball holds the built sources, the manifest and the texts, nothing else. */
function checkContents(): void {
  const files = run("tar", "-tzf", tarball).trim().split("\n").map((file) => file.replace(/^package\//, ""));
  const texts = ["package.json", "README.md", "LICENSE", "CHANGELOG.md"];
  for (const text of texts) assert.ok(files.includes(text), `the tarball lacks ${text}`);
  for (const file of files.filter((name) => !texts.includes(name))) {
    const source = /^dist\/((?:mod|src\/.+|plugins\/.+?))(?:\.d\.ts|\.js)$/.exec(file)?.[1];
    assert.ok(source !== undefined && existsSync(join(ROOT, `${source}.ts`)), `the tarball should not hold ${file}`);
  }
}

function install(): string[] {
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }));
  run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", tarball);
  const manifest = JSON.parse(
    readFileSync(join(project, "node_modules/@ostinato/scheduler/package.json"), "utf8"),
  ) as { readonly name: string; readonly exports: Readonly<Record<string, unknown>> };
  return Object.keys(manifest.exports).map((subpath) => manifest.name + subpath.slice(1));
}

/** Types hold for whoever type-checks libraries too and has installed no types of his own. */
function checkTypes(subpaths: readonly string[]): void {
  const source = subpaths.map((subpath, i) => `import * as m${i} from "${subpath}";\nexport { m${i} };\n`).join("");
  writeFileSync(join(project, "consumer.ts"), source);
  for (const [name, compilerOptions] of Object.entries(RESOLUTIONS)) {
    writeFileSync(join(project, `${name}.json`), JSON.stringify({ compilerOptions, files: ["consumer.ts"] }));
    try {
      run(join(ROOT, "node_modules/.bin/tsc"), "-p", `${name}.json`);
    } catch (error) {
      throw new Error(`types under ${name}:\n${(error as { readonly stdout: string }).stdout}`, { cause: error });
    }
  }
}

/** Every subpath exports what its source does, on both runtimes, and importing it leaves nothing running. */
async function checkImports(subpaths: readonly string[]): Promise<void> {
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
  const runtimes = [["node"], ["deno", "run", "-A", "--node-modules-dir=manual"]];
  for (const [command, ...args] of runtimes as [string, ...string[]][]) {
    assert.deepEqual(JSON.parse(run(command, ...args, "imports.js")), expected, `exports under ${command}`);
  }
}
