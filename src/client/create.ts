import {
  type AnyTask,
  type Change,
  invalidOption,
  MAX_OPERATIONS,
  type Operation,
  type Principal,
  type ScheduleDefinition,
  type ScheduleDocument,
  SchedulerError,
  show,
} from "../contract/mod.ts";
import { sameJson } from "../contract/check_json.ts";
import { changed, createDocument, step, untouched } from "../machine/mod.ts";
import { authorityOf, runAsOf } from "./authority.ts";
import { authorizeUse, findTask, withoutTelling } from "./authorize.ts";
import { type Checked, definitionOf } from "./definition.ts";
import type { ClientHost, Done, Place } from "./host.ts";
import { guarded, refused } from "./operations.ts";
import { type CoreValues, parseOptions } from "./options.ts";
import { flatRequest, requestArray } from "./request.ts";
import { readInput, validateInput } from "./schema.ts";
import type { GivenTiming } from "./timing.ts";
import { Unique } from "./unique.ts";

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
  readonly definition: ScheduleDefinition;
  readonly operation: Operation<Done>;
}

/**
 * Checks a creation (I2). A promise only where the task has an `authorize`, its schema answers one, or it has to be looked
 * for, so that creating many costs no turn of the event loop for each.
 *
 * @throws {SchedulerError} everything that creation may throw, except for what only the store can tell.
 */
export function prepare(
  host: ClientHost,
  principal: Principal,
  request: CreationRequest,
): Creation | Promise<Creation> {
  const learning = host.learn(request.task, principal);
  return learning === undefined
    ? prepareKnown(host, principal, request)
    : learning.then(() => prepareKnown(host, principal, request));
}

function prepareKnown(
  host: ClientHost,
  principal: Principal,
  request: CreationRequest,
): Creation | Promise<Creation> {
  const where = `${request.prefix}task`;
  const task = findTask(host, principal, request.task, where);
  if (task.authorize !== undefined) {
    return withoutTelling(host, principal, task, where, () => prepareFound(host, principal, task, request));
  }
  return prepareFound(host, principal, task, request);
}

function prepareFound(
  host: ClientHost,
  principal: Principal,
  task: AnyTask,
  request: CreationRequest,
): Creation | Promise<Creation> {
  const checked = check(host, principal, task, request);
  const allowed = allow(host, checked);
  return allowed === undefined ? creationOf(host, checked) : allowed.then(() => creationOf(host, checked));
}

/**
 * Checks the creations of a list, in order.
 *
 * @throws {SchedulerError} As `prepare`, for the first that is wrong; `invalid_option` for no list, too long a one, or one
 *   that has a name or key twice: the one before it would be replaced, or not made.
 */
export async function prepareMany(
  host: ClientHost,
  principal: Principal,
  requests: unknown,
): Promise<readonly Creation[]> {
  const creations: Creation[] = [];
  const unique = new Unique("list");
  for (const [i, request] of requestArray(requests, "createMany", MAX_OPERATIONS).entries()) {
    const read = flatRequest(request, `createMany[${i}]`);
    const prepared = prepare(host, principal, read);
    const creation = prepared instanceof Promise ? await prepared : prepared;
    unique.add(read.prefix, creation);
    creations.push(creation);
  }
  return creations;
}

function check(host: ClientHost, principal: Principal, task: AnyTask, request: CreationRequest): Checked {
  const { prefix, timing } = request;
  const place = { kind: timing.kind, by: timing.by, prefix, besides: request.besides ?? [] };
  const { core: given, plugin } = parseOptions(host, request.options, place);
  const core = named(given, request);
  const authority = authorityOf(principal, core, prefix);
  const runAs = runAsOf(host, principal, authority, core, prefix);
  return { task, timing, core, plugin, authority, runAs, input: readInput(request.input, `${prefix}input`), prefix };
}

/** Asks the task's schema and its `authorize`. */
function allow(host: ClientHost, { authority, task, input, prefix }: Checked): void | Promise<void> {
  if (task.input === undefined && task.authorize === undefined) return undefined;
  const value = validateInput(task, input, `${prefix}input`);
  return value instanceof Promise
    ? value.then((awaited) => authorizeUse(host, authority, task, awaited, `${prefix}task`))
    : authorizeUse(host, authority, task, value, `${prefix}task`);
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

function creationOf(host: ClientHost, checked: Checked): Creation {
  const { persist, onConflict = "keep" } = checked.core;
  const definition = definitionOf(host, checked, host.now());
  const operation = creation(host, definition, onConflict);
  return { place: persist === false ? "local" : "stored", definition, operation };
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
export function replace(
  host: ClientHost,
  current: ScheduleDocument,
  wanted: ScheduleDefinition,
  now: number,
): Change<Done> {
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
