import type { AdvanceRequest, AdvanceResult, ScheduleDocument, Write } from "../../../src/contract/mod.ts";
import { type ClaimsOptions, LEAST_PER_LANE, PIECE, type PieceOf, RECHECK_MS, shared } from "./claims.ts";
import { isContention } from "./errors.ts";
import type { RowState } from "./known.ts";
import { isFound } from "./reading.ts";
import type { ClaimHead, DueRow } from "./statements.ts";
import { type Step, Stepped, type SteppedPiece } from "./stepped.ts";
import { arrayText, fullListText, instantText, readInstant, readList } from "./values.ts";
import { isMove, moveLists, readMoved, versionList } from "./writes.ts";

/** How long ago, in milliseconds, documents may have been read when they are written: leases count from then. */
const FRESH_MS = 5_000;

/** What became of a claim, and how much was found, so that one that others were in the way of can be told. */
export interface FreeClaim extends Omit<AdvanceResult<never>, "values"> {
  readonly found: number;
  readonly won: number;
  /** Documents that somebody else has locked or written since they were read. */
  readonly lost: number;
  /** Something is left that takes a transaction: a document that cannot be read, or whose definition changes. */
  readonly unfinished: boolean;
}

/**
 * Claims what is due without a transaction around it: reads it without a lock, and moves what nobody has locked or
 * written since, handing over piece by piece. Undefined if more is due than is asked for at the most.
 */
export async function claimFreely<T>(
  { lanes, limit, most }: Pick<AdvanceRequest, "lanes" | "limit"> & { readonly most: number },
  step: Step<T>,
  options: ClaimsOptions,
  take: (piece: PieceOf<T>) => void,
): Promise<FreeClaim | undefined> {
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
  const tally: Tally = { won: 0, lost: 0, unfit: false };
  await moveAll(stepped, found, now, options, tally, take);
  const later = Math.min(readInstant(head.next) ?? Infinity, stepped.earliest, leftAt);
  // What others were faster with is theirs to move, unless they die over it.
  const nextWake = tally.lost > 0 ? Math.min(later, now + RECHECK_MS) : later;
  const unfinished = stepped.unreadable.length > 0 || tally.unfit;
  if (tally.lost === 0 && later > now && !unfinished) look.done(now);
  return {
    more: later <= now,
    nextWake: nextWake === Infinity ? null : nextWake,
    now,
    damaged: [],
    found: found.length,
    won: tally.won,
    lost: tally.lost,
    unfinished,
  };
}

interface Tally {
  won: number;
  lost: number;
  /** Something takes a transaction. */
  unfit: boolean;
}

/** Decides on pieces of what was found, each while the one before it is being written. */
async function moveAll<T>(
  stepped: Stepped<T>,
  found: readonly DueRow[],
  now: number,
  options: ClaimsOptions,
  tally: Tally,
  take: (piece: PieceOf<T>) => void,
): Promise<void> {
  const rows = new Map(found.map((row) => [row.id, row]));
  let writing = Promise.resolve();
  try {
    for (let i = 0; i < found.length; i += PIECE) {
      const piece = stepped.add(found.slice(i, i + PIECE));
      // One after another: two at once meet at the ends of the table and of its indexes.
      await writing;
      writing = send(piece.writes, rows, now, options).then((won) =>
        take({ ...wonOf(piece, won, tally), now, sizes: stepped.sizes })
      );
      // Its failure is met in its turn.
      writing.catch(() => {});
      // So that it is on its way, and those before it are handed over, while the next one is decided on.
      if (i + PIECE < found.length) await new Promise<void>((resolve) => options.clock.defer(resolve));
    }
  } finally {
    await Promise.allSettled([writing]);
  }
  await writing;
}

interface Won {
  /** The ids of what is not ours. */
  readonly lost: ReadonlySet<string>;
  readonly places: ReadonlyMap<string, RowState>;
  /** Something takes a transaction. */
  readonly unfit: boolean;
}

/** What of a piece is ours. */
function wonOf<T>(
  { values, ids, writes }: SteppedPiece<T>,
  { lost, places, unfit }: Won,
  tally: Tally,
): Pick<PieceOf<T>, "values" | "writes" | "moved"> {
  tally.unfit ||= unfit;
  tally.won += writes.length - lost.size;
  tally.lost += lost.size;
  if (lost.size === 0) return { values, writes, moved: places };
  const ours = writes.filter(({ before }) => !lost.has(before!.id));
  return { values: values.filter((_, index) => !lost.has(ids[index]!)), writes: ours, moved: places };
}

/** Sends a piece and tells what was won. */
async function send(
  writes: readonly Write[],
  rows: ReadonlyMap<string, DueRow>,
  now: number,
  { database, statements, sender }: ClaimsOptions,
): Promise<Won> {
  const moves: ScheduleDocument[] = [];
  const removals: ScheduleDocument[] = [];
  for (const { before, after } of writes) {
    if (after === null) removals.push(before!);
    else if (isMove(before!, after)) moves.push(after);
  }
  const won = new Set<string>();
  let places: ReadonlyMap<string, RowState> = new Map();
  let unfit = moves.length + removals.length < writes.length;
  try {
    if (removals.length > 0) {
      const gone = {
        id: fullListText(removals.map(({ id }) => id)),
        places: fullListText(removals.map(({ id }) => rows.get(id)!.place)),
        version: fullListText(removals.map(({ id }) => rows.get(id)!.version)),
      };
      const [row] = await database.run("removing what is over", statements.removeFree, gone);
      for (const id of readList(row!.removed)) won.add(id);
    }
    if (moves.length > 0) {
      const lists = { ...moveLists(moves, rows), version: versionList(moves, rows), until: now + FRESH_MS };
      const values = { ...lists, channel: null, sender };
      const [row] = await database.run("claiming what is due", statements.progressFree, values);
      const written = readMoved(row!, moves);
      places = written.rows;
      if (written.documents.length === writes.length) return { lost: new Set(), places, unfit };
      for (const { id } of written.documents) won.add(id);
    }
  } catch (error) {
    if (!isContention(error)) throw error;
    unfit = true;
  }
  const lost = new Set<string>();
  for (const { before } of writes) if (!won.has(before!.id)) lost.add(before!.id);
  return { lost, places, unfit };
}
