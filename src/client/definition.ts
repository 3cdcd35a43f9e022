import {
  type AnyTask,
  DEFAULT_HISTORY,
  type Json,
  type JsonObject,
  type Principal,
  type ScheduleDefinition,
  type ScheduleKind,
} from "../contract/mod.ts";
import { DEFAULT_MAX_LOST } from "../machine/mod.ts";
import type { ClientHost } from "./host.ts";
import { type CoreValues, NO_OPTIONS, wholeDuration } from "./options.ts";
import { type GivenTiming, specOf } from "./timing.ts";

/** A creation whose every part was checked. */
export interface Checked {
  readonly task: AnyTask;
  readonly timing: GivenTiming;
  readonly core: Readonly<CoreValues>;
  readonly plugin: ReadonlyMap<string, Json | undefined>;
  readonly authority: Principal;
  readonly runAs: string | undefined;
  readonly input: Json | undefined;
  /** The path of the object that held all this, ending in a dot; empty for a call's own arguments. */
  readonly prefix: string;
}

/** A definition that is being put together. */
export type Draft = { -readonly [Key in keyof ScheduleDefinition]: ScheduleDefinition[Key] };

/** What options start from: the scheduler's defaults and the task's own, worked out once for each task and kind. */
interface Base {
  readonly options: JsonObject;
  readonly adaptive: boolean;
  readonly timeout: number | undefined;
}

/** Tasks that are kept in the store come and go, so that none is kept by this. */
const bases = new WeakMap<ClientHost, WeakMap<AnyTask, Partial<Record<ScheduleKind, Base>>>>();

/**
 * What is stored of a creation.
 *
 * @throws {SchedulerError} for a time that cannot be.
 */
export function definitionOf(host: ClientHost, checked: Checked, now: number): ScheduleDefinition {
  const { task, timing, core, authority, runAs, input, prefix } = checked;
  const base = baseOf(host, task, timing.kind);
  const definition: Draft = {
    task: task.name,
    spec: specOf(host, { timing, core, prefix }, now),
    options: optionsOf(base.options, checked.plugin),
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
  return definition;
}

function baseOf(host: ClientHost, task: AnyTask, kind: ScheduleKind): Base {
  let ofHost = bases.get(host);
  if (ofHost === undefined) bases.set(host, ofHost = new WeakMap());
  let ofTask = ofHost.get(task);
  if (ofTask === undefined) ofHost.set(task, ofTask = {});
  return ofTask[kind] ??= makeBase(host, task, kind);
}

function makeBase(host: ClientHost, task: AnyTask, kind: ScheduleKind): Base {
  const options: Record<string, Json> = {};
  const set = (key: string, value: unknown, where: string) => {
    const parser = host.parsers.get(key);
    if (value === undefined || parser === undefined) return;
    const stored = parser.parse(value, { where, kind, tickMs: host.env.tickMs });
    if (stored === undefined) delete options[key];
    else options[key] = stored;
  };
  for (const [key, value] of Object.entries(host.defaults)) set(key, value, `defaults.${key}`);
  set("retry", task.retry, `task ${task.name}: retry`);
  const timeout = task.timeout === undefined ? undefined : wholeDuration(task.timeout, `task ${task.name}: timeout`);
  return { options, adaptive: isAdaptive(kind), timeout };
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

function setOrClear<Key extends "tags" | "onLost" | "maxLost">(
  definition: Draft,
  key: Key,
  value: Draft[Key] | undefined,
): void {
  if (value === undefined) delete definition[key];
  else definition[key] = value as Draft[Key];
}
