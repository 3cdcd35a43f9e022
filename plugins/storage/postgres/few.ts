import type { AdvanceRequest, Write } from "../../../src/contract/mod.ts";
import { type Claimed, type ClaimsOptions, RECHECK_MS } from "./claims.ts";
import { isContention } from "./errors.ts";
import { isFound } from "./reading.ts";
import type { ClaimHead } from "./statements.ts";
import { type Step, Stepped } from "./stepped.ts";
import { arrayText, listText, readInstant, readList } from "./values.ts";
import { isMove, moveLists, readPlaces } from "./writes.ts";

/** Documents that are claimed without being locked first: where more are due, others may be claiming the same. */
const FEW = 50;

/** How long ago, in milliseconds, they may have been read: leases count from then. */
const FRESH_MS = 1_000;

/**
 * Claims what is due, if it is little, in two round trips: reads it without a lock, and moves what nobody has locked or
 * written since. Undefined if there is more, or if it takes more than that.
 */
export async function claimFew<T>(
  { lanes, limit }: Pick<AdvanceRequest, "lanes" | "limit">,
  step: Step<T>,
  options: ClaimsOptions,
): Promise<Claimed<T> | undefined> {
  const { database, statements } = options;
  const few = Math.min(limit, FEW);
  const wanted = { lanes: arrayText(lanes), least: few, limit: few };
  const rows = await database.run("looking for what is due", statements.look, wanted);
  const head = rows.find((row) => !isFound(row)) as ClaimHead;
  const found = rows.filter(isFound);
  if (found.length > few || found.some(({ lane }) => lane === "")) return undefined;
  const now = readInstant(head.now)!;
  const stepped = new Stepped(now, step, lanes.includes(""));
  const writes = stepped.add(found);
  if (stepped.unreadable.length > 0) return undefined;
  const moved = writes.length === 0 ? undefined : await move(writes, found, now, options);
  if (moved === "unfit") return undefined;
  const lost = new Set(writes.map(({ before }) => before!.id).filter((id) => moved?.written?.has(id) === false));
  const later = Math.min(readInstant(head.next) ?? Infinity, stepped.earliest);
  // What others were faster with is theirs to move, unless they die over it.
  const nextWake = lost.size > 0 ? Math.min(later, now + RECHECK_MS) : later;
  return {
    values: stepped.values.filter((_, index) => !lost.has(found[index]!.id)),
    more: later <= now,
    nextWake: nextWake === Infinity ? null : nextWake,
    now,
    damaged: [],
    writes: writes.filter(({ before }) => !lost.has(before!.id)),
    moved: moved?.places ?? new Map(),
    sizes: stepped.sizes,
  };
}

type Found = readonly { readonly id: string; readonly place: string; readonly version: string }[];

async function move(
  writes: readonly Write[],
  found: Found,
  now: number,
  { database, statements, sender }: ClaimsOptions,
) {
  const documents = writes.flatMap(({ before, after }) => after !== null && isMove(before!, after) ? [after] : []);
  if (documents.length < writes.length) return "unfit";
  const rows = new Map(found.map((row) => [row.id, row]));
  const version = listText(documents.map(({ id }) => rows.get(id)!.version));
  const values = { ...moveLists(documents, rows), version, until: now + FRESH_MS, channel: null, sender };
  try {
    const [row] = await database.run("claiming what is due", statements.progressFree, values);
    return { places: readPlaces(row!), written: row!.all ? undefined : new Set(readList(row!.written)) };
  } catch (error) {
    if (isContention(error)) return "unfit";
    throw error;
  }
}
