import {
  type AnyTask,
  invalidOption,
  isPlainObject,
  type Json,
  type Operation,
  type Principal,
  type ScheduleDefinition,
  type ScheduleDocument,
  SchedulerError,
} from "../contract/mod.ts";
import { untouched } from "../machine/mod.ts";
import { authorizeRun } from "./authorize.ts";
import { checkRunAs } from "./authority.ts";
import { replace } from "./create.ts";
import { describe, isAdaptive, optionsOf } from "./definition.ts";
import { readChange } from "./change_options.ts";
import type { ClientHost, Done, Place } from "./host.ts";
import { guarded, isGone, isLive, refused } from "./operations.ts";
import { type ParsedOptions, parseOptions } from "./options.ts";
import { mayManage, notFound, notYours } from "./principal.ts";
import { unlessRevised } from "./revision.ts";
import { readInput, validateInput } from "./schema.ts";
import type { Scope } from "./scope.ts";
import { readId } from "./text.ts";
import { type GivenTiming, specOf, TIMING_KEYS, timingIn } from "./timing.ts";

const FIXED = ["task", "name", "key", "onConflict", "owner", "persist"] as const;

interface Patch {
  readonly timing: GivenTiming | undefined;
  readonly parsed: ParsedOptions;
  /** Absent when the input stays. */
  readonly input?: Json;
}

/**
 * Makes an update wherever the schedule is, and says where that was.
 *
 * @throws {SchedulerError} As `updateOperation`; `conflict` where the schedule's revision is not the expected one.
 */
export async function applyUpdate(
  host: ClientHost,
  principal: Principal,
  scope: Scope,
  id: string,
  request: unknown,
  options: unknown,
): Promise<{ readonly place: Place; readonly done: Done }> {
  const known = readId(id);
  if (known === undefined) throw notFound(id);
  const change = readChange(options, "update");
  const found = await scope.find(known);
  const operation = await updateOperation(host, principal, known, found?.document, request, scope.own === known);
  const { place } = found!;
  return { place, done: await scope.one({ place, operation: unlessRevised(operation, change) }) };
}

/**
 * Checks an update against the schedule as it was seen, and makes what decides it inside the store.
 *
 * @param isOwn Whether a run asks for it of its own schedule. Its settlement comes first, and a run cannot know whether
 *   that was the last: what is over then has no use for a change, unless it was to give it another time.
 * @throws {SchedulerError} `not_found`, `permission_denied`, `conflict` for a retired one, and as creation does.
 */
async function updateOperation(
  host: ClientHost,
  principal: Principal,
  id: string,
  seen: ScheduleDocument | undefined,
  request: unknown,
  isOwn: boolean,
): Promise<Operation<Done>> {
  const current = changeable(principal, id, seen);
  if (current instanceof SchedulerError) throw current;
  const patch = await readPatch(host, principal, current, request);
  const { task, spec } = current.definition;
  return {
    select: { id },
    decide: guarded((found, now) => {
      const document = changeable(principal, id, found);
      if (document instanceof SchedulerError) {
        return isOwn && isOver(found) && patch.timing === undefined ? untouched(found) : refused(found, document);
      }
      const { definition } = document;
      if (definition.task !== task || definition.spec.kind !== spec.kind) return refused(found, overtaken(id));
      return replace(host, document, patched(host, definition, patch, now), now);
    }),
  };
}

function changeable(
  principal: Principal,
  id: string,
  document: ScheduleDocument | undefined,
): ScheduleDocument | SchedulerError {
  if (document === undefined || isGone(document)) return notFound(id);
  if (!mayManage(principal, document)) return notYours(id);
  if (isLive(document)) return document;
  const { reason } = document.progress.retired!;
  return new SchedulerError("conflict", `schedule ${id}: it has retired (${reason}); expected a live one`, {
    details: { id, reason },
  });
}

/** Whether a schedule has retired by itself and its record is kept. */
function isOver(document: ScheduleDocument | undefined): boolean {
  return document !== undefined && !isLive(document) && !isGone(document);
}

function overtaken(id: string): SchedulerError {
  return new SchedulerError(
    "conflict",
    `schedule ${id}: its task or kind was changed meanwhile; expected the one that the update was checked for`,
    {
      details: { id },
      retryable: true,
    },
  );
}

async function readPatch(
  host: ClientHost,
  principal: Principal,
  document: ScheduleDocument,
  request: unknown,
): Promise<Patch> {
  if (!isPlainObject(request)) throw invalidOption("update", request, "an object of what changes");
  for (const key of FIXED) {
    if (request[key] !== undefined) throw invalidOption(key, request[key], "none: it cannot change later");
  }
  const { definition } = document;
  const timing = timingIn(request, "");
  const kind = timing?.kind ?? definition.spec.kind;
  const besides = [...TIMING_KEYS, "input"];
  const parsed = parseOptions(host, request, { kind, by: timing?.by ?? kind, prefix: "", besides, fixed: FIXED });
  const { runAs } = parsed.core;
  if (runAs !== undefined && runAs !== definition.authority.id) checkRunAs(host, principal, runAs, "");
  if (request.input === undefined) return { timing, parsed };
  const input = readInput(request.input)!;
  const task = host.tasks.get(definition.task);
  if (task !== undefined) await allow(definition.authority, task, input);
  return { timing, parsed, input };
}

async function allow(authority: Principal, task: AnyTask, input: Json): Promise<void> {
  await authorizeRun(task, authority, await validateInput(task, input));
}

function patched(host: ClientHost, before: ScheduleDefinition, patch: Patch, now: number): ScheduleDefinition {
  const { timing, parsed: { core, plugin }, input } = patch;
  const spec = specOf(host, { timing, core, prefix: "" }, now, before.spec);
  const isOtherKind = spec.kind !== before.spec.kind;
  const after = {
    ...before,
    spec,
    options: optionsOf(before.options, plugin),
    adaptive: core.adaptive ?? (isOtherKind ? isAdaptive(spec.kind) : before.adaptive),
    retention: core.retention ?? before.retention,
    history: core.history ?? before.history,
  };
  if (input !== undefined) after.input = input;
  describe(after, core);
  if (core.timeout !== undefined) {
    if (core.timeout > 0) after.timeout = core.timeout;
    else delete after.timeout;
  }
  if (core.runAs !== undefined) {
    if (core.runAs === before.authority.id) delete after.runAs;
    else after.runAs = core.runAs;
  }
  return after;
}
