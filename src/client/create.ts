import {
  type AnyTask,
  DEFAULT_HISTORY,
  invalidOption,
  type Json,
  type JsonObject,
  MAX_NAME_LENGTH,
  type Operation,
  parseDuration,
  type Principal,
  type ScheduleDefinition,
  type ScheduleDocument,
  type ScheduleKind,
  SchedulerError,
  show,
} from "../contract/mod.ts";
import { createDocument, DEFAULT_MAX_LOST, step } from "../machine/mod.ts";
import { authorizeUse, findTask } from "./authorize.ts";
import { sameJson } from "./check_json.ts";
import type { ClientHost, Done, Place } from "./host.ts";
import { changed, guarded, refused, untouched } from "./operations.ts";
import { type CoreValues, NO_OPTIONS, parseOptions } from "./options.ts";
import { isSystem } from "./principal.ts";
import { readInput, validateInput } from "./schema.ts";
import { type GivenTiming, specOf } from "./timing.ts";

/** One creation as the caller gave it. */
export interface CreationRequest {
  readonly task: unknown;
  readonly timing: GivenTiming;
  readonly input: unknown;
  readonly options: unknown;
  /** The name that stands outside the options. */
  readonly name?: string;
  /** The path of the object that holds all this, ending in a dot; empty for a call's own arguments. */
  readonly prefix: string;
  /** Keys of the options' object that are no options. */
  readonly besides?: readonly string[];
}

/** A creation that was checked: where it goes, and what decides it there. */
export interface Creation {
  readonly place: Place;
  readonly operation: Operation<Done>;
}

/** What options start from: the scheduler's defaults and the task's own, worked out once for each task and kind. */
interface Base {
  readonly options: JsonObject;
  readonly adaptive: boolean;
  readonly timeout: number | undefined;
}

type Draft = { -readonly [Key in keyof ScheduleDefinition]: ScheduleDefinition[Key] };

const bases = new WeakMap<ClientHost, Map<AnyTask, Partial<Record<ScheduleKind, Base>>>>();

/**
 * Checks a creation (I2). A promise only where a schema or `authorize` of the task answers one, so that creating many
 * costs no turn of the event loop for each.
 *
 * @throws {SchedulerError} everything that creation may throw, except for what only the store can tell.
 */
export function prepare(
  host: ClientHost,
  principal: Principal,
  request: CreationRequest,
): Creation | Promise<Creation> {
  const { prefix } = request;
  const task = findTask(host, principal, request.task, `${prefix}task`);
  const place = { kind: request.timing.kind, prefix, besides: request.besides ?? [] };
  const parsed = parseOptions(host, request.options, place);
  const core = named(parsed.core, request);
  const authority = authorityOf(principal, core, prefix);
  const runAs = runAsOf(host, principal, authority, core, prefix);
  const input = readInput(request.input, `${prefix}input`);
  const finish = (): Creation => {
    const now = host.now();
    const base = baseOf(host, task, request.timing.kind);
    const definition: Draft = {
      task: task.name,
      spec: specOf(host, { timing: request.timing, core, prefix }, now),
      options: optionsOf(base.options, parsed.plugin),
      owner: authority.id,
      authority,
      adaptive: core.adaptive ?? base.adaptive,
      retention: core.retention ?? host.retentionMs,
      history: core.history ?? DEFAULT_HISTORY,
      createdAt: now,
    };
    if (input !== undefined) definition.input = input;
    if (runAs !== undefined) definition.runAs = runAs;
    const timeout = core.timeout ?? base.timeout;
    if (timeout !== undefined && timeout > 0) definition.timeout = timeout;
    if (core !== NO_OPTIONS.core) describe(definition, core);
    return {
      place: core.persist === false ? "local" : "stored",
      operation: creation(host, definition, core.onConflict ?? "keep"),
    };
  };
  const allowed = allow(host, authority, task, input, prefix);
  return allowed === undefined ? finish() : allowed.then(finish);
}

/** Asks the task's schema and its `authorize`. */
function allow(
  host: ClientHost,
  principal: Principal,
  task: AnyTask,
  input: Json | undefined,
  prefix: string,
): void | Promise<void> {
  if (task.input === undefined && task.authorize === undefined) return undefined;
  const value = validateInput(task, input, `${prefix}input`);
  return value instanceof Promise
    ? value.then((awaited) => authorizeUse(host, principal, task, awaited, `${prefix}task`))
    : authorizeUse(host, principal, task, value, `${prefix}task`);
}

/** Joins the name that stands before the options, and holds names and keys apart. */
function named(core: Readonly<CoreValues>, { name, prefix }: CreationRequest): Readonly<CoreValues> {
  if (name !== undefined && core.name !== undefined) {
    throw invalidOption(`${prefix}name`, core.name, "no further name; it stands before the expression");
  }
  const joined = name === undefined ? core : { ...core, name };
  if (joined.name !== undefined && joined.key !== undefined) {
    throw invalidOption(`${prefix}key`, joined.key, "either a name or a key, not both");
  }
  if (joined.onConflict !== undefined && joined.key === undefined) {
    throw invalidOption(`${prefix}onConflict`, joined.onConflict, "a key to go with it");
  }
  return joined;
}

/** Whom the schedule belongs to and its runs are made under (P3). */
function authorityOf(principal: Principal, { owner }: Readonly<CoreValues>, prefix: string): Principal {
  if (owner === undefined || owner === principal.id) return principal;
  if (!isSystem(principal)) {
    throw new SchedulerError("permission_denied", `${prefix}owner: only the system creates for somebody else`, {
      details: { where: `${prefix}owner`, given: owner },
    });
  }
  return { id: owner };
}

function runAsOf(
  host: ClientHost,
  principal: Principal,
  authority: Principal,
  { runAs }: Readonly<CoreValues>,
  prefix: string,
): string | undefined {
  if (runAs === undefined || runAs === authority.id) return undefined;
  checkRunAs(host, principal, runAs, prefix);
  return runAs;
}

/**
 * Whether a principal may have runs act for somebody else (P3).
 *
 * @throws {SchedulerError} `permission_denied` when it may not.
 */
export function checkRunAs(host: ClientHost, principal: Principal, runAs: string, prefix: string): void {
  // Compared with true: a promise, from a function that should be synchronous, allows nothing.
  if (runAs === principal.id || principal.admin === true || host.canRunAs(principal, runAs) === true) return;
  throw new SchedulerError(
    "permission_denied",
    `${prefix}runAs.id: ${show(principal.id)} may not act for ${show(runAs)}`,
    {
      details: { where: `${prefix}runAs.id`, given: runAs, limit: MAX_NAME_LENGTH },
    },
  );
}

function baseOf(host: ClientHost, task: AnyTask, kind: ScheduleKind): Base {
  let ofHost = bases.get(host);
  if (ofHost === undefined) bases.set(host, ofHost = new Map());
  let ofTask = ofHost.get(task);
  if (ofTask === undefined) ofHost.set(task, ofTask = {});
  return ofTask[kind] ??= makeBase(host, task, kind);
}

function makeBase(host: ClientHost, task: AnyTask, kind: ScheduleKind): Base {
  const given: Record<string, unknown> = { ...host.defaults };
  delete given.timezone;
  if (task.retry !== undefined) given.retry = task.retry;
  const options: Record<string, Json> = {};
  for (const [key, value] of Object.entries(given)) {
    const where = `defaults.${key}`;
    const stored = value === undefined
      ? undefined
      : host.parsers.get(key)?.parse(value, { where, kind, tickMs: host.env.tickMs });
    if (stored !== undefined) options[key] = stored;
  }
  return {
    options,
    adaptive: isAdaptive(kind),
    timeout: task.timeout === undefined ? undefined : parseDuration(task.timeout, "timeout"),
  };
}

/** Whether `again` counts unless the schedule says otherwise (A1). */
export function isAdaptive(kind: ScheduleKind): boolean {
  return kind === "at";
}

/** Option values laid over others; a value that is the default takes its key away. */
export function optionsOf(base: JsonObject, given: ReadonlyMap<string, Json | undefined>): JsonObject {
  if (given.size === 0) return base;
  const options: Record<string, Json> = { ...base };
  for (const [key, value] of given) {
    if (value === undefined) delete options[key];
    else options[key] = value;
  }
  return options;
}

/** Sets what options say of a schedule, the same at creation and in an update. */
export function describe(definition: Draft, core: Readonly<CoreValues>): void {
  if (core.name !== undefined) definition.name = core.name;
  if (core.key !== undefined) definition.key = core.key;
  if (core.group !== undefined) definition.group = core.group;
  if (core.target !== undefined) definition.target = core.target;
  if (core.state !== undefined) definition.state = core.state;
  if (core.tags !== undefined) setOrClear(definition, "tags", core.tags.length > 0 ? core.tags : undefined);
  if (core.onLost !== undefined) setOrClear(definition, "onLost", core.onLost === "fault" ? "fault" : undefined);
  if (core.maxLost !== undefined) {
    setOrClear(definition, "maxLost", core.maxLost === DEFAULT_MAX_LOST ? undefined : core.maxLost);
  }
}

function setOrClear<Key extends "tags" | "onLost" | "maxLost" | "timeout">(
  definition: Draft,
  key: Key,
  value: Draft[Key] | undefined,
): void {
  if (value === undefined) delete definition[key];
  else definition[key] = value as Draft[Key];
}

/** What decides a creation inside the store: new, or the schedule that its name or key finds. */
function creation(
  host: ClientHost,
  definition: ScheduleDefinition,
  onConflict: "keep" | "replace" | "error",
): Operation<Done> {
  const { owner, name, key } = definition;
  const id = host.newId();
  const create = (now: number) => changed(undefined, createDocument(id, definition, now, host.env));
  if (name !== undefined) {
    return {
      select: { owner, name },
      decide: guarded((current, now) => current === undefined ? create(now) : replace(host, current, definition, now)),
    };
  }
  if (key === undefined) return { select: null, decide: guarded((_, now) => create(now)) };
  return {
    select: { owner, key },
    decide: guarded((current, now) => {
      if (current === undefined) return create(now);
      if (onConflict === "keep") return untouched(current);
      return onConflict === "replace"
        ? replace(host, current, definition, now)
        : refused(current, keyInUse(key, current.id));
    }),
  };
}

function keyInUse(key: string, id: string): SchedulerError {
  return new SchedulerError("conflict", `key: ${show(key)} names a live schedule already`, { details: { key, id } });
}

/** Puts a definition in the place of another one, unless nothing differs (N2). */
export function replace(host: ClientHost, current: ScheduleDocument, wanted: ScheduleDefinition, now: number) {
  const definition = { ...wanted, spec: keepAnchor(current, wanted), createdAt: current.definition.createdAt };
  if (current.parked === undefined && sameJson(definition, current.definition)) return untouched(current);
  return changed(current, step(current, { type: "updated", definition }, now, host.env));
}

/** An interval that is asked for again as it is keeps its phase. */
function keepAnchor(
  { definition: { spec: old } }: ScheduleDocument,
  { spec }: ScheduleDefinition,
): ScheduleDefinition["spec"] {
  const same = spec.kind === "every" && old.kind === "every" && spec.every === old.every &&
    spec.startAt === old.startAt;
  return same ? { ...spec, anchor: old.anchor } : spec;
}
