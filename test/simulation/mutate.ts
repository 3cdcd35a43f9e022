/**
 * Makes each mutant and tells by which seed it is caught: `npm run mutants` searches seeds 0 to 1999 for each and prints
 * the table; with `--known` the seed that is known to catch it is tried first, and few others.
 */
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Mutant, MUTANTS } from "./mutants.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PARTS = ["mod.ts", "src", "plugins", "test/simulation", "test/support", "package.json", "deno.json", ".ci"];

/** Seeds within which each has to be caught, and those tried after the one that is known. */
const MOST_SEEDS = 2_000;
const FEW_SEEDS = 400;
const { values } = parseArgs({
  options: {
    known: { type: "boolean", default: false },
    /** Only mutants whose name has this in it. */
    only: { type: "string", default: "" },
  },
});

/** A mutant that plays one seed for so long hangs, which is as good as caught. */
const HANGS_MS = 180_000;

/** How a mutant was caught. */
interface Catch {
  readonly seed: number;
  readonly rules: readonly string[];
  readonly what: string;
}

const mutants = MUTANTS.filter(({ name }) => name.includes(values.only));
const waiting = [...mutants];
const caught = new Map<Mutant, Catch | undefined>();
await Promise.all(Array.from({ length: availableParallelism() }, async () => {
  const tree = copySources();
  try {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      caught.set(next, await tryMutant(tree, next));
      console.error(line(next));
    }
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}));
console.log(["mutant", "file", "store", "caught by seed", "rules"].join(" | "));
for (const mutant of mutants) console.log(line(mutant));
const escaped = mutants.filter((mutant) => caught.get(mutant) === undefined);
console.log(`${mutants.length - escaped.length} of ${mutants.length} mutants caught`);
if (escaped.length > 0) process.exitCode = 1;

function line(mutant: Mutant): string {
  const found = caught.get(mutant);
  const { name, file, store = "memory" } = mutant;
  return [name, file, store, found?.seed ?? "NOT CAUGHT", found?.rules.join(", ") ?? ""].join(" | ");
}

/** A copy of the sources for one mutant after another: what Node has compiled of the other files is found again. */
function copySources(): string {
  const tree = mkdtempSync(join(tmpdir(), "ostinato-mutant-"));
  for (const part of PARTS) cpSync(join(ROOT, part), join(tree, part), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"));
  return tree;
}

/** Plays seeds on mutated sources until a rule is broken, and leaves them as they were. */
async function tryMutant(tree: string, mutant: Mutant): Promise<Catch | undefined> {
  const path = join(tree, mutant.file);
  const whole = readFileSync(path, "utf8");
  writeFileSync(path, mutated(whole, mutant));
  try {
    if (!values.known) return await search(tree, mutant, 0, MOST_SEEDS);
    return await search(tree, mutant, mutant.seed, 1) ?? await search(tree, mutant, 0, FEW_SEEDS);
  } finally {
    writeFileSync(path, whole);
  }
}

function mutated(source: string, { name, file, line, becomes }: Mutant): string {
  const parts = source.split(line);
  if (parts.length !== 2) {
    throw new Error(`mutant "${name}": its line stands ${parts.length - 1} times in ${file}; expected once:\n${line}`);
  }
  return parts.join(becomes);
}

function search(tree: string, { store = "memory" }: Mutant, from: number, seeds: number): Promise<Catch | undefined> {
  const part = [from, 1, from + seeds].join("/");
  const script = [join(tree, "test/simulation/main.ts"), "--part", part, "--first", "--store", store];
  const flags = "Deno" in globalThis ? ["run", "-A", "--quiet"] : ["--disable-warning=ExperimentalWarning"];
  const child = spawn(process.execPath, [...flags, ...script], { cwd: tree, stdio: ["ignore", "pipe", "pipe"] });
  let [hangs, playing] = [false, from];
  const hang = () => {
    hangs = true;
    child.kill();
  };
  let timer = setTimeout(hang, HANGS_MS);
  let [found, errors] = [undefined as Catch | undefined, ""];
  child.stderr.on("data", (chunk) => errors += chunk);
  createInterface({ input: child.stdout }).on("line", (text) => {
    const said = JSON.parse(text) as Catch;
    if (said.rules.length > 0) found = said;
    playing = said.seed + 1;
    clearTimeout(timer);
    timer = setTimeout(hang, HANGS_MS);
  });
  return new Promise((resolve, reject) => {
    child.on("close", (code) => {
      clearTimeout(timer);
      if (hangs) resolve({ seed: playing, rules: ["hangs"], what: "it does not come to an end" });
      else if (code === 0) resolve(found);
      else reject(new Error(`a mutant's process ended with ${code}: ${errors}`));
    });
  });
}
