import {
  DEFAULT_PAGE,
  type DocumentQuery,
  type Instant,
  invalidOption,
  MAX_PAGE,
  parseInstant,
  plainOptions,
  type Principal,
  type ScheduleDocument,
  SchedulerError,
  wholeNumber,
} from "../contract/mod.ts";
import type { ClientHost, Place } from "./host.ts";
import { checkText, readId } from "./text.ts";

const TEXTS = ["owner", "target", "task", "name", "group", "tag"] as const;
const KEYS = [...TEXTS, "dueBefore", "limit", "cursor"] as const;

/**
 * Reads a list's filter as what the stores are asked for (V3, P2).
 *
 * @throws {SchedulerError} `unknown_option`, `invalid_option`, `invalid_time`; `permission_denied` for another's list.
 */
export function listQuery(principal: Principal, filter: unknown): DocumentQuery {
  const given = filter === undefined ? {} : plainOptions(filter, KEYS, "list");
  const query: { -readonly [Key in keyof DocumentQuery]: DocumentQuery[Key] } = {
    limit: given.limit === undefined ? DEFAULT_PAGE : wholeNumber(given.limit, 1, MAX_PAGE, "list.limit"),
  };
  for (const key of TEXTS) if (given[key] !== undefined) query[key] = checkText(given[key], `list.${key}`);
  if (given.dueBefore !== undefined) query.dueBefore = parseInstant(given.dueBefore as Instant, "list.dueBefore");
  if (given.cursor !== undefined) query.after = readCursor(given.cursor);
  if (principal.admin === true) return query;
  if (query.owner !== undefined && query.owner !== principal.id) {
    throw new SchedulerError("permission_denied", "list.owner: only an admin lists what belongs to somebody else", {
      details: { where: "list.owner", given: query.owner },
    });
  }
  return { ...query, owner: principal.id };
}

/** A page's cursor is the id of the last of its schedules. */
function readCursor(cursor: unknown): string {
  const id = typeof cursor === "string" ? readId(cursor) : undefined;
  if (id === undefined) throw invalidOption("list.cursor", cursor, "the cursor that came with a page of a list");
  return id;
}

/** One page of documents, and where the next one begins if there is one. */
export interface DocumentPage {
  readonly documents: readonly ScheduleDocument[];
  readonly cursor?: string;
}

const PLACES: readonly Place[] = ["stored", "local"];

/** One page of the stores, merged in order of id: ids are ULIDs, so one order holds across stores and time. */
export async function findPage(
  host: ClientHost,
  query: DocumentQuery,
  places: readonly Place[] = PLACES,
): Promise<DocumentPage> {
  // One more than asked for tells whether another page follows; only the largest page has no room for it.
  const found = await findIn(host, places, { ...query, limit: Math.min(query.limit + 1, MAX_PAGE) });
  const documents = found.slice(0, query.limit);
  const last = documents.at(-1);
  if (last === undefined || documents.length < query.limit) return { documents };
  const isMore = found.length > query.limit ||
    (query.limit === MAX_PAGE && (await findIn(host, places, { ...query, limit: 1, after: last.id })).length > 0);
  return isMore ? { documents, cursor: last.id } : { documents };
}

async function findIn(
  host: ClientHost,
  places: readonly Place[],
  query: DocumentQuery,
): Promise<readonly ScheduleDocument[]> {
  const parts = await Promise.all(places.map((place) => host.find(place, query)));
  return parts.flat().sort((a, b) => a.id < b.id ? -1 : 1);
}

/** Every document that a query finds, page by page; stable while others come and go. */
export async function* findPages(
  host: ClientHost,
  query: DocumentQuery,
  places: readonly Place[] = PLACES,
): AsyncGenerator<readonly ScheduleDocument[]> {
  let after = query.after;
  do {
    const page = await findPage(host, after === undefined ? query : { ...query, after }, places);
    if (page.documents.length > 0) yield page.documents;
    after = page.cursor;
  } while (after !== undefined);
}
