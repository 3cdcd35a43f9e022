import {
  checkJson,
  checkTimezone,
  invalidOption,
  isPlainObject,
  type Json,
  MAX_HISTORY,
  MAX_LOST,
  MAX_STATE_BYTES,
  MAX_TAGS,
  oneOf,
  parseDuration,
  parseInstant,
  plainOptions,
  type ScheduleKind,
  type StoredDst,
  unknownOption,
  wholeNumber,
} from "../contract/mod.ts";
import type { ClientHost } from "./host.ts";
import { checkText } from "./text.ts";

/** The options that the core owns, checked; durations in milliseconds. What was not given is absent. */
export interface CoreValues {
  name?: string;
  key?: string;
  onConflict?: "keep" | "replace" | "error";
  group?: string;
  target?: string;
  tags?: readonly string[];
  owner?: string;
  runAs?: string;
  state?: Json;
  persist?: boolean;
  adaptive?: boolean;
  timeout?: number;
  onLost?: "rerun" | "fault";
  maxLost?: number;
  retention?: number;
  history?: number;
  startAt?: number;
  endAt?: number;
  maxRuns?: number;
  timezone?: string;
  dst?: StoredDst;
}

/** All options of one call, checked. */
export interface ParsedOptions {
  readonly core: Readonly<CoreValues>;
  /** By key, what the plugins' parsers answered; `undefined` for a value that is the default. */
  readonly plugin: ReadonlyMap<string, Json | undefined>;
}

interface CoreOption<Key extends keyof CoreValues> {
  parse(value: unknown, where: string): CoreValues[Key];
  /** The kinds that take it, where not all do. */
  readonly kinds?: readonly ScheduleKind[];
}

const CONFLICT = ["keep", "replace", "error"] as const;
const ON_LOST = ["rerun", "fault"] as const;
const RECURRING: readonly ScheduleKind[] = ["every", "cron"];

const CORE: { readonly [Key in keyof Required<CoreValues>]: CoreOption<Key> } = {
  name: { parse: checkText },
  key: { parse: checkText },
  onConflict: { parse: (value, where) => oneOf(value, CONFLICT, where) },
  group: { parse: checkText },
  target: { parse: checkText },
  tags: { parse: parseTags },
  owner: { parse: checkText },
  runAs: { parse: (value, where) => checkText(plainOptions(value, ["id"], where).id, `${where}.id`) },
  state: { parse: parseState },
  persist: { parse: parseBoolean },
  adaptive: { parse: parseBoolean },
  timeout: { parse: wholeDuration },
  onLost: { parse: (value, where) => oneOf(value, ON_LOST, where) },
  maxLost: { parse: (value, where) => wholeNumber(value, 1, MAX_LOST, where) },
  retention: { parse: wholeDuration },
  history: { parse: (value, where) => wholeNumber(value, 0, MAX_HISTORY, where) },
  startAt: { parse: (value, where) => parseInstant(value as number, where), kinds: RECURRING },
  endAt: { parse: (value, where) => parseInstant(value as number, where), kinds: RECURRING },
  maxRuns: { parse: (value, where) => wholeNumber(value, 1, Number.MAX_SAFE_INTEGER, where), kinds: RECURRING },
  timezone: { parse: (value, where) => checkTimezone(value as string, where), kinds: RECURRING },
  dst: { parse: parseDst, kinds: ["cron"] },
};
const CORE_KEYS = Object.keys(CORE) as readonly (keyof CoreValues)[];

/** Whether the core itself owns an option key. */
export function isCoreOption(key: string): boolean {
  return Object.hasOwn(CORE, key);
}

/** No options at all. */
export const NO_OPTIONS: ParsedOptions = { core: {}, plugin: new Map() };

/** Where options stand. */
export interface OptionsPlace {
  readonly kind: ScheduleKind;
  /** What the caller named its time by, for messages. Default: the kind. */
  readonly by?: string;
  /** The path of the object that holds them, ending in a dot; empty for a call's own options. */
  readonly prefix: string;
  /** Keys of the same object that are no options. */
  readonly besides?: readonly string[];
  /** Keys that are not taken here, so that no message may suggest them. */
  readonly fixed?: readonly string[];
}

/**
 * Reads the options of a call. A key whose value is `undefined` counts as left out.
 *
 * @throws {SchedulerError} `unknown_option` for a key that nobody owns, and what the key's owner throws.
 */
export function parseOptions(host: ClientHost, given: unknown, place: OptionsPlace): ParsedOptions {
  if (given === undefined) return NO_OPTIONS;
  if (!isPlainObject(given)) throw invalidOption(`${place.prefix}options`, given, "an object of options");
  const core: Record<string, unknown> = {};
  const plugin = new Map<string, Json | undefined>();
  for (const key of Object.keys(given)) {
    const value = given[key];
    const where = place.prefix + key;
    if (isCoreOption(key)) {
      if (value !== undefined) core[key] = parseCore(key as keyof CoreValues, value, where, place);
      continue;
    }
    const parser = host.parsers.get(key);
    if (parser !== undefined) {
      const asked = { where, kind: place.kind, tickMs: host.env.tickMs };
      if (value !== undefined) plugin.set(key, parser.parse(value, asked));
    } else if (place.besides?.includes(key) !== true && place.fixed?.includes(key) !== true) {
      throw unknownOption(key, knownKeys(host, place), place.prefix);
    }
  }
  return { core: core as CoreValues, plugin };
}

/** What may stand in a place, where it is said. */
function knownKeys(host: ClientHost, { besides = [], fixed = [] }: OptionsPlace): readonly string[] {
  return [...CORE_KEYS, ...host.parsers.keys(), ...besides].filter((key) => !fixed.includes(key));
}

function parseCore(key: keyof CoreValues, value: unknown, where: string, { kind, by = kind }: OptionsPlace): unknown {
  const { parse, kinds } = CORE[key];
  if (kinds?.includes(kind) === false) {
    throw invalidOption(where, value, `it with ${kinds.join(" or ")} only, not with ${by}`);
  }
  return parse(value, where);
}

/** A duration in whole milliseconds, rounded up, so that what was asked for has passed. */
export function wholeDuration(value: unknown, where: string): number {
  return Math.ceil(parseDuration(value as number, where));
}

function parseBoolean(value: unknown, where: string): boolean {
  if (typeof value === "boolean") return value;
  throw invalidOption(where, value, "true or false");
}

function parseTags(value: unknown, where: string): readonly string[] {
  if (!Array.isArray(value) || value.length > MAX_TAGS) {
    throw invalidOption(where, value, `an array of at most ${MAX_TAGS} words`);
  }
  return [...new Set(Array.from(value, (tag, i) => checkText(tag, `${where}[${i}]`)))];
}

function parseState(value: unknown, where: string): Json {
  return checkJson(value, { where, maxBytes: MAX_STATE_BYTES, invalid: "invalid_option", tooLarge: "state_too_large" });
}

/** Keeps what is not the default. */
function parseDst(value: unknown, where: string): StoredDst {
  const given = plainOptions(value, ["gap", "fold"], where);
  const gap = given.gap === undefined ? "fire" : oneOf(given.gap, ["fire", "skip"], `${where}.gap`);
  const fold = given.fold === undefined ? "first" : oneOf(given.fold, ["first", "both"], `${where}.fold`);
  return { ...(gap === "fire" ? {} : { gap }), ...(fold === "first" ? {} : { fold }) };
}
