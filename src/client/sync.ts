import {
  type DocumentQuery,
  invalidOption,
  isPlainObject,
  MAX_OPERATIONS,
  MAX_PAGE,
  plainOptions,
  type Principal,
  type ScheduleDocument,
  show,
} from "../contract/mod.ts";
import { untouched } from "../machine/mod.ts";
import { type Creation, type CreationRequest, prepare } from "./create.ts";
import type { ClientHost, Done, Place } from "./host.ts";
import { findPages } from "./list.ts";
import { eventOperation, isLive } from "./operations.ts";
import { flatRequest, requestArray } from "./request.ts";
import { applyAll, type PlacedOperation } from "./scope.ts";
import { checkText } from "./text.ts";
import { Unique } from "./unique.ts";

/**
 * Registers a declared set and stops the members of its group that are no longer declared, in one step (N4). Members are
 * looked for among the schedules of the principal and of the owners that the set names.
 *
 * @returns What the declared ones came to, in order.
 */
export async function syncGroup(
  host: ClientHost,
  principal: Principal,
  requests: unknown,
  options: unknown,
): Promise<readonly Done[]> {
  const group = checkText(plainOptions(options, ["group"], "sync").group, "sync.group");
  const declared = requestArray(requests, "sync", MAX_OPERATIONS).map((one, i) =>
    declaration(one, group, `sync[${i}]`)
  );
  const members = new Members(principal);
  const creations: Creation[] = [];
  for (const request of declared) {
    const creation = await prepare(host, principal, request);
    members.add(request, creation);
    creations.push(creation);
  }
  const stops = await obsolete(host, principal, group, members);
  return (await applyAll(host, [...creations, ...stops])).slice(0, creations.length);
}

function declaration(request: unknown, group: string, where: string): CreationRequest {
  if (isPlainObject(request)) {
    if (request.group !== undefined && request.group !== group) {
      throw invalidOption(`${where}.group`, request.group, `${show(group)}, the group of the set`);
    }
    if (request.name === undefined) {
      throw invalidOption(`${where}.name`, undefined, "a name, by which it is found again");
    }
  }
  const read = flatRequest(request, where);
  return { ...read, options: { ...read.options as object, group } };
}

/** Who is declared, and where: a member that moved from one store to the other leaves the first. */
class Members {
  readonly owners = new Set<string>();
  readonly #declared = new Unique("set");

  constructor(principal: Principal) {
    this.owners.add(principal.id);
  }

  add({ prefix }: CreationRequest, creation: Creation): void {
    this.#declared.add(prefix, creation);
    this.owners.add(creation.definition.owner);
  }

  has(place: Place, document: ScheduleDocument): boolean {
    return this.#declared.hasName(place, document);
  }
}

async function obsolete(
  host: ClientHost,
  principal: Principal,
  group: string,
  members: Members,
): Promise<readonly PlacedOperation[]> {
  const stops: PlacedOperation[] = [];
  for (const owner of members.owners) {
    const query: DocumentQuery = { owner, group, limit: MAX_PAGE };
    for (const place of ["stored", "local"] as const) {
      for await (const document of documents(host, place, query)) {
        if (!members.has(place, document)) {
          stops.push({ place, operation: stopMember(host, principal, document.id, group) });
        }
      }
    }
  }
  return stops;
}

/** Stops a schedule that is still a member when the set is committed. */
function stopMember(host: ClientHost, principal: Principal, id: string, group: string): PlacedOperation["operation"] {
  const stop = eventOperation(host, principal, id, { type: "stopped", abortRunning: false });
  return {
    select: stop.select,
    decide(current, now) {
      const isMember = current !== undefined && isLive(current) && current.definition.group === group;
      return isMember ? stop.decide(current, now) : untouched(current);
    },
  };
}

async function* documents(host: ClientHost, place: Place, query: DocumentQuery): AsyncGenerator<ScheduleDocument> {
  for await (const page of findPages(host, query, [place])) yield* page;
}
