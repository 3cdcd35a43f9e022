import type { AdvanceRequest, ScheduleDocument, Write } from "../../../src/contract/mod.ts";
import { type Claimed, type ClaimsOptions, LEAST_PER_LANE, PIECE, RECHECK_MS, shared } from "./claims.ts";
import { isContention } from "./errors.ts";
import type { RowState } from "./known.ts";
import { isFound } from "./reading.ts";
import type { ClaimHead, DueRow } from "./statements.ts";
import { type Step, Stepped } from "./stepped.ts";
import { arrayText, instantText, listText, readInstant, readList } from "./values.ts";
import { isMove, moveLists, readPlaces } from "./writes.ts";

/** How long ago, in milliseconds, documents may have been read when they are written: leases count from then. */
const FRESH_MS = 5_000;

/** What was claimed, and how much was found, so that a claim that others were in the way of can be told. */
export interface FreeClaim<T> extends Claimed<T> {
  readonly found: number;
  /** Documents that somebody else has locked or written since they were read. */
  readonly lost: number;
  /** Something is left that takes a transaction: a document that cannot be read, or whose definition changes. */
  readonly unfinished: boolean;
}

/**
 * Claims what is due without a transaction around it: reads it without a lock, and moves what nobody has locked or
 * written since. Undefined if more is due than is asked for at the most.
 */
export async function claimFreely<T>(
  { lanes, limit, most }: Pick<AdvanceRequest, "lanes" | "limit"> & { readonly most: number },
  step: Step<T>,
  options: ClaimsOptions,
): Promise<FreeClaim<T> | undefined> {
  const { database, statements, floor } = options;
  const few = Math.min(limit, most);
  const look = floor.look(lanes);
  const after = instantText(look.after);
  const wanted = { lanes: arrayText(lanes), after, least: Math.min(few, LEAST_PER_LANE), limit: few };
  const rows = await database.run("looking for what is due", statements.look, wanted);
  const head = rows.find((row) => !isFound(row)) as ClaimHead;
  const { found, leftAt } = shared(rows.filter(isFound), Number(head.share), few);
  if (few < limit && leftAt < Infinity) return undefined;
  const now = readInstant(head.now)!;
  const stepped = new Stepped(now, step, lanes.includes(""));
  const won = await moveAll(stepped, found, now, options);
  const isWon = ({ before, after }: Write) => after === null ? won.removed.has(before!.id) : won.moved.has(before!.id);
  const lost = new Set(stepped.writes.filter((write) => !isWon(write)).map(({ before }) => before!.id));
  const later = Math.min(readInstant(head.next) ?? Infinity, stepped.earliest, leftAt);
  // What others were faster with is theirs to move, unless they die over it.
  const nextWake = lost.size > 0 ? Math.min(later, now + RECHECK_MS) : later;
  const unfinished = stepped.unreadable.length > 0 || won.unfit;
  if (lost.size === 0 && later > now && !unfinished) look.done(now);
  return {
    values: stepped.values.filter((_, index) => !lost.has(stepped.ids[index]!)),
    more: later <= now,
    nextWake: nextWake === Infinity ? null : nextWake,
    now,
    damaged: [],
    writes: stepped.writes.filter(isWon),
    moved: won.places,
    sizes: stepped.sizes,
    found: found.length,
    lost: lost.size,
    unfinished,
  };
}

interface Won {
  readonly moved: Set<string>;
  readonly removed: Set<string>;
  readonly places: Map<string, RowState>;
  /** Something takes a transaction. */
  unfit: boolean;
}

/** Decides on pieces of what was found, each while those before it are being written. */
async function moveAll<T>(
  stepped: Stepped<T>,
  found: readonly DueRow[],
  now: number,
  options: ClaimsOptions,
): Promise<Won> {
  const won: Won = { moved: new Set(), removed: new Set(), places: new Map(), unfit: false };
  const rows = new Map(found.map((row) => [row.id, row]));
  let writing: Promise<void> = Promise.resolve();
  try {
    for (let i = 0; i < found.length; i += PIECE) {
      const send = readied(stepped.add(found.slice(i, i + PIECE)), rows, now, options);
      await writing;
      writing = send(won);
    }
  } finally {
    await writing;
  }
  return won;
}

type Rows = ReadonlyMap<string, DueRow>;

/** Readies a piece; what it answers sends it and notes what was won. */
function readied(writes: readonly Write[], rows: Rows, now: number, { database, statements, sender }: ClaimsOptions) {
  const moves = writes.flatMap(({ before, after }) => after !== null && isMove(before!, after) ? [after] : []);
  const removals = writes.flatMap(({ before, after }) => after === null ? [before!] : []);
  const until = now + FRESH_MS;
  const versions = (documents: readonly ScheduleDocument[]) =>
    listText(documents.map(({ id }) => rows.get(id)!.version));
  const lists = { ...moveLists(moves, rows), version: versions(moves), until, channel: null, sender };
  return async (won: Won): Promise<void> => {
    won.unfit ||= moves.length + removals.length < writes.length;
    try {
      if (removals.length > 0) {
        const gone = {
          id: listText(removals.map(({ id }) => id)),
          places: listText(removals.map(({ id }) => rows.get(id)!.place)),
          version: versions(removals),
        };
        const [row] = await database.run("removing what is over", statements.removeFree, gone);
        for (const id of readList(row!.removed)) won.removed.add(id);
      }
      if (moves.length === 0) return;
      const [row] = await database.run("claiming what is due", statements.progressFree, lists);
      for (const id of row!.all ? moves.map(({ id }) => id) : readList(row!.written)) won.moved.add(id);
      readPlaces(row!).forEach((place, id) => won.places.set(id, place));
    } catch (error) {
      if (!isContention(error)) throw error;
      won.unfit = true;
    }
  };
}
