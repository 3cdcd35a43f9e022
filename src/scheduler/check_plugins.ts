import { isReservedKey } from "../client/mod.ts";
import {
  type AnyPlugin,
  CONTRACT,
  EVENT_NAMES,
  isPlainObject,
  nearestName,
  type OptionParser,
  type Plugin,
  type Policy,
  show,
  type Storage,
} from "../contract/mod.ts";
import { heldParser } from "./held_plugins.ts";

type Report = (problem: string) => void;

const KEYS = keysOf<Plugin>({
  name: true,
  contract: true,
  options: true,
  policy: true,
  listeners: true,
  wrapRun: true,
  tasks: true,
  needs: true,
});

const DECISIONS = keysOf<Policy>({
  grace: true,
  missed: true,
  overlap: true,
  shift: true,
  span: true,
  admit: true,
  settled: true,
});

/** The plugins of a configuration, by what they stand under. */
export interface GivenPlugins {
  readonly plugins: readonly AnyPlugin[];
  readonly policies: readonly AnyPlugin[];
}

/** Tells what is wrong with plugins by themselves, among each other, and over the store; answers those that are any. */
export function checkPlugins(report: Report, given: GivenPlugins, storage: Storage): GivenPlugins {
  const arePlugins = (where: keyof GivenPlugins) =>
    given[where].filter((one, i) => isPlugin(report, `${where}[${i}]`, one));
  const found = { plugins: arePlugins("plugins"), policies: arePlugins("policies") };
  checkEach(report, [...found.plugins, ...found.policies], storage);
  return found;
}

function isPlugin(report: Report, where: string, given: unknown): boolean {
  if (typeof given === "function") report(`${where}: a function; did you forget to call it?`);
  else if (typeof (given as AnyPlugin | undefined)?.name === "string" && (given as AnyPlugin).name !== "") return true;
  else report(`${where}: ${show(given)} given; expected a plugin with a name`);
  return false;
}

function checkEach(report: Report, plugins: readonly AnyPlugin[], storage: Storage): void {
  const names = new Set<string>();
  for (const plugin of plugins) {
    const { name } = plugin;
    if (names.has(name)) report(`plugins: two plugins are named ${show(name)}`);
    names.add(name);
    const tell: Report = (problem) => report(`plugin ${name}: ${problem}`);
    if (plugin.contract !== CONTRACT) {
      tell(`written for contract ${show(plugin.contract)}; this version speaks ${CONTRACT}`);
    }
    for (const key of Object.keys(plugin)) if (!KEYS.includes(key)) tell(`${key}: unknown key${hint(key, KEYS)}`);
    checkFunctions(tell, "policy", plugin.policy, DECISIONS);
    checkFunctions(tell, "listeners", plugin.listeners, EVENT_NAMES);
    if (plugin.wrapRun !== undefined && typeof plugin.wrapRun !== "function") {
      tell(`wrapRun: ${show(plugin.wrapRun)} given; expected a function`);
    }
    checkTasks(tell, plugin.tasks);
    checkNeeds(tell, plugin.needs, storage);
  }
}

/** An object whose known members are functions. */
function checkFunctions(tell: Report, where: string, given: object | undefined, known: readonly string[]): void {
  if (given === undefined) return;
  if (typeof given !== "object" || given === null) return tell(`${where}: ${show(given)} given; expected an object`);
  for (const [key, value] of Object.entries(given)) {
    if (!known.includes(key)) tell(`${where}.${key}: there is none of that name${hint(key, known)}`);
    else if (value !== undefined && typeof value !== "function") {
      tell(`${where}.${key}: ${show(value)} given; expected a function`);
    }
  }
}

function checkTasks(tell: Report, given: Plugin["tasks"]): void {
  if (given === undefined) return;
  if (typeof given?.taskOf !== "function") tell(`tasks: ${show(given)} given; expected records and taskOf`);
  else if (typeof given.records?.run !== "function") {
    tell(`tasks.records: ${show(given.records)} given; expected what defineTask answers`);
  } else if (given.records.internal !== true) {
    tell(`tasks.records: the task ${show(given.records.name)} is not internal, so anybody could write records`);
  }
}

function checkNeeds(tell: Report, needs: Plugin["needs"], storage: Storage | null): void {
  if (needs === undefined) return;
  if (!Array.isArray(needs)) return tell(`needs: ${show(needs)} given; expected an array of what a store supports`);
  for (const ability of needs) {
    if (storage?.supports?.[ability as keyof Storage["supports"]] !== true) {
      tell(`needs a store that supports ${show(ability)}; ${show(storage?.name)} does not`);
    }
  }
}

/**
 * The parser of every option key that a plugin owns. The policies come first, so that who takes a key of theirs is told.
 *
 * @param trusted Plugins whose parsers need not be held to the contract.
 */
export function checkOptions(
  report: Report,
  { plugins, policies }: GivenPlugins,
  trusted: readonly AnyPlugin[],
): ReadonlyMap<string, OptionParser> {
  const parsers = new Map<string, OptionParser>();
  const owners = new Map<string, string>();
  for (const plugin of [...policies, ...plugins]) {
    const options: unknown = plugin.options ?? {};
    if (!isPlainObject(options)) {
      report(`plugin ${plugin.name}: options: ${show(options)} given; expected an object of parsers`);
      continue;
    }
    for (const [key, parser] of Object.entries(options) as [string, OptionParser][]) {
      const owner = isReservedKey(key) ? "the scheduler itself" : owners.get(key);
      if (owner !== undefined) report(`plugin ${plugin.name}: option ${show(key)} already belongs to ${owner}`);
      owners.set(key, `plugin ${plugin.name}`);
      if (typeof parser?.parse !== "function") report(`plugin ${plugin.name}: option ${show(key)} has no parser`);
      else parsers.set(key, trusted.includes(plugin) ? parser : heldParser(plugin, parser));
    }
  }
  return parsers;
}

/** The keys of a type, held complete by the compiler. */
function keysOf<Type>(keys: { readonly [Key in keyof Required<Type>]: true }): readonly string[] {
  return Object.keys(keys);
}

/** What was meant by an unknown key, or what could be. */
export function hint(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known);
  return nearest === undefined ? `; expected one of ${known.join(", ")}` : `; did you mean ${show(nearest)}?`;
}
