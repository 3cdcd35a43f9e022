/**
 * The rules of the source tree as functions of a path and its text, so that the test can prove that they catch what
 * they should before it applies them to the real files.
 */
import { dirname, join, normalize } from "node:path/posix";
import { type ESTree, parseSync, Visitor } from "vite";

/** What a place in the tree may import: other places, single files, and libraries. */
interface Allowance {
  readonly places: readonly string[];
  readonly libraries: readonly string[];
}

const DECIDES = ["contract", "calendar", "machine"];
const CONTRACT = "src/contract/mod.ts";

/** `contract ← calendar, machine ← engine, client ← scheduler ← mod`; a plugin sees the contract and itself. */
const ALLOWED: Readonly<Record<string, Allowance>> = {
  contract: { places: [], libraries: [] },
  calendar: { places: ["contract"], libraries: ["cron-parser"] },
  machine: { places: ["contract", "calendar"], libraries: [] },
  engine: { places: DECIDES, libraries: [] },
  client: { places: DECIDES, libraries: [] },
  system: { places: ["contract"], libraries: ["@std/ulid", "node:"] },
  testing: {
    places: [...DECIDES, "engine", "client", "scheduler", "plugins/storage/memory/mod.ts"],
    libraries: [],
  },
  scheduler: {
    places: [...DECIDES, "engine", "client", "system", "plugins/policies/mod.ts", "plugins/storage/memory/mod.ts"],
    libraries: [],
  },
  mod: { places: [...DECIDES, "engine", "client", "scheduler"], libraries: [] },
  "plugins/policies": { places: [CONTRACT], libraries: [] },
  "plugins/storage/memory": { places: [CONTRACT], libraries: [] },
  // For stores that live in a file: sqlite and kv.
  "plugins/storage/file": { places: [CONTRACT], libraries: ["node:"] },
  "plugins/storage/sql": { places: [CONTRACT], libraries: ["kysely"] },
  "plugins/storage/sqlite": {
    places: [CONTRACT, "plugins/storage/sql", "plugins/storage/file"],
    libraries: ["kysely", "node:"],
  },
  "plugins/storage/postgres": { places: [CONTRACT, "plugins/storage/sql"], libraries: ["kysely", "pg"] },
  "plugins/storage/kv": { places: [CONTRACT, "plugins/storage/file"], libraries: ["@deno/kv", "node:"] },
  "plugins/transports/in_process": { places: [CONTRACT], libraries: [] },
  "plugins/transports/http": { places: [CONTRACT], libraries: ["hono", "@hono/zod-openapi", "ipaddr.js", "node:"] },
};

/** The place a file belongs to, or undefined for a file that the layout does not know. */
export function placeOf(path: string): string | undefined {
  const place = /^src\/(\w+)\//.exec(path)?.[1] ?? /^src\/(scheduler|system)\.ts$/.exec(path)?.[1] ??
    /^plugins\/(?:policies|storage\/\w+|transports\/\w+)(?=\/)/.exec(path)?.[0] ??
    /^(mod)\.ts$/.exec(path)?.[1];
  return place !== undefined && Object.hasOwn(ALLOWED, place) ? place : undefined;
}

/** Every module specifier that a source names: static, dynamic, re-exported, in types. */
export function importsOf(source: string): string[] {
  const found: string[] = [];
  const add = (node: { readonly source: unknown }) => {
    const specifier = node.source as { readonly value?: unknown } | null;
    if (specifier !== null) found.push(typeof specifier.value === "string" ? specifier.value : "(computed)");
  };
  new Visitor({
    ImportDeclaration: add,
    ExportNamedDeclaration: add,
    ExportAllDeclaration: add,
    ImportExpression: add,
    TSImportType: add,
  }).visit(parse(source));
  return found;
}

/** What is wrong with a file's imports, one sentence each; empty when nothing is. */
export function importFaults(path: string, source: string): string[] {
  const place = placeOf(path);
  if (place === undefined) return [`${path} belongs to no place of the layout`];
  return importsOf(source).flatMap((specifier) => {
    const fault = specifier.startsWith(".") ? relativeFault(path, place, specifier) : libraryFault(place, specifier);
    return fault === undefined ? [] : [`${path} imports ${specifier}: ${fault}`];
  });
}

function relativeFault(path: string, place: string, specifier: string): string | undefined {
  if (!specifier.endsWith(".ts")) return "relative imports carry the extension .ts";
  const target = normalize(join(dirname(path), specifier));
  const targetPlace = placeOf(target);
  if (targetPlace === undefined) return `${target} belongs to no place of the layout`;
  const { places } = ALLOWED[place] as Allowance;
  if (targetPlace === place || places.includes(targetPlace) || places.includes(target)) return undefined;
  return `${place} may import ${places.join(", ") || "nothing"} and itself`;
}

function libraryFault(place: string, specifier: string): string | undefined {
  const { libraries } = ALLOWED[place] as Allowance;
  const declared = libraries.some((library) =>
    library.endsWith(":") ? specifier.startsWith(library) : specifier === library || specifier.startsWith(`${library}/`)
  );
  return declared ? undefined : `${place} may use ${libraries.join(", ") || "no library"}`;
}

const CLOCKS = ["performance", "Temporal"];
const TIMERS = [
  "setTimeout",
  "setInterval",
  "setImmediate",
  "clearTimeout",
  "clearInterval",
  "clearImmediate",
  "requestAnimationFrame",
  "MessageChannel",
  "BroadcastChannel",
];
const RANDOMNESS = ["crypto"];
const RUNTIME = ["Deno", "process", "Buffer", "global", "globalThis", "require", "navigator", "eval", "Function"];
const WORLD = new Set([...CLOCKS, ...TIMERS, ...RANDOMNESS, ...RUNTIME]);
const MEMBERS = new Set(["Date.now", "Math.random", "AbortSignal.timeout"]);

/** Methods that answer in the machine's own zone or language (K3). */
const LOCAL =
  /^(?:[gs]et(?:FullYear|Month|Date|Day|Hours|Minutes|Seconds|Milliseconds|TimezoneOffset|Year)|toLocale\w*String|toTimeString|toDateString)$/;

/** The manual clock lets promises and real I/O settle by whole turns of the event loop, which wait for no time. */
const MAY_TURN: Readonly<Record<string, readonly string[]>> = {
  testing: ["setImmediate", "setTimeout(…, 0)", "globalThis"],
};

/** A driver's time is an argument or the store's own; what else it takes from the world is its library's business. */
const CLOCK_USES = [...CLOCKS, "Date.now", "Date()", "new Date()"];

/**
 * What a file takes from the world though it should be handed it: clocks, timers, randomness, the runtime and the
 * machine's zone. In src/ only src/system.ts may; a driver may not read a clock; transports are not asked.
 */
export function worldFaults(path: string, source: string): string[] {
  const place = placeOf(path) ?? "";
  if (place === "system" || place.startsWith("plugins/transports/")) return [];
  const allowed = MAY_TURN[place] ?? [];
  const faults = worldUses(source).filter((use) =>
    place.startsWith("plugins/storage/") ? CLOCK_USES.includes(use) : !allowed.includes(use)
  );
  return faults.map((use) => `${path} uses ${use}`);
}

/** The names of clocks, timers, random sources and runtimes that a source refers to. */
export function worldUses(source: string): string[] {
  const uses = new Set<string>();
  const names = new Set<unknown>();
  new Visitor({
    MemberExpression(node) {
      if (!node.computed) names.add(node.property);
      const name = node.property.type === "Identifier" ? node.property.name : "";
      const owner = node.object.type === "Identifier" ? node.object.name : "";
      if (MEMBERS.has(`${owner}.${name}`)) uses.add(`${owner}.${name}`);
      if (LOCAL.test(name)) uses.add(name);
    },
    NewExpression(node) {
      if (isDate(node.callee) && node.arguments.length === 0) uses.add("new Date()");
      if (isDate(node.callee) && node.arguments.length > 1) uses.add("new Date(year, month, …)");
    },
    CallExpression(node) {
      if (isDate(node.callee)) uses.add("Date()");
      if (isTurn(node)) {
        names.add(node.callee);
        uses.add("setTimeout(…, 0)");
      }
    },
    Property(node) {
      if (!node.computed && !node.shorthand) names.add(node.key);
    },
    PropertyDefinition: (node) => void names.add(node.key),
    MethodDefinition: (node) => void names.add(node.key),
    TSPropertySignature: (node) => void names.add(node.key),
    TSMethodSignature: (node) => void names.add(node.key),
    TSQualifiedName: (node) => void names.add(node.left).add(node.right),
    TSTypeReference: (node) => void names.add(node.typeName),
    TSTypeQuery: (node) => void names.add(node.exprName),
    Identifier(node) {
      if (WORLD.has(node.name) && !names.has(node)) uses.add(node.name);
    },
  }).visit(parse(source));
  return [...uses];
}

/** Where a source declares with `using`, which Node 22 does not parse; what is released there uses `finally`. */
export function usingFaults(path: string, source: string): string[] {
  const faults: string[] = [];
  new Visitor({
    VariableDeclaration({ kind, start }) {
      const line = source.slice(0, start).split("\n").length;
      if (kind.endsWith("using")) faults.push(`${path}:${line} declares with ${kind}`);
    },
  }).visit(parse(source));
  return faults;
}

function isDate(callee: ESTree.Node): boolean {
  return callee.type === "Identifier" && callee.name === "Date";
}

function isTurn({ callee, arguments: [, delay] }: ESTree.CallExpression): boolean {
  return callee.type === "Identifier" && callee.name === "setTimeout" && delay?.type === "Literal" && delay.value === 0;
}

function parse(source: string) {
  const { program, errors } = parseSync("source.ts", source);
  if (errors[0] !== undefined) throw new SyntaxError(errors[0].message);
  return program;
}
