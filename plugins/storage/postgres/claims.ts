import {
  type AdvanceRequest,
  type AdvanceResult,
  type Clock,
  type Damaged,
  MAX_ADVANCE,
  type Write,
} from "../../../src/contract/mod.ts";
import { columnText, fromColumnText } from "../sql/tables.ts";
import { type Database, insist, type Session } from "./database.ts";
import type { DatabaseClock } from "./database_clock.ts";
import type { DueFloor } from "./due_floor.ts";
import { isContention } from "./errors.ts";
import type { KnownDocuments, RowState } from "./known.ts";
import { isFound } from "./reading.ts";
import { claimFreely, type FreeClaim } from "./free_claims.ts";
import type { ClaimHead, DueRow, Statements } from "./statements.ts";
import { type Step, Stepped } from "./stepped.ts";
import { arrayText, instantText, readInstant } from "./values.ts";
import { park, planWrites, readied } from "./writes.ts";

/** Of each lane with something due, however many lanes have. */
export const LEAST_PER_LANE = 16;

/** Milliseconds after which rows that somebody else was claiming are looked at again: its process may have died. */
export const RECHECK_MS = 100;

/** Documents that are decided on while those before them are being written: neither side waits long for the other. */
export const PIECE = 500;

/** What is claimed without a transaction although others are in the way: little enough to be tried in vain. */
const FEW = 50;

/** Claims by transactions before what is due is claimed without one again. */
const LOCKED_CLAIMS = 20;

const LIMITS = { lockMs: 5_000 };
const DOING = "claiming what is due";

/** What {@linkcode Claims} work with. */
export interface ClaimsOptions {
  readonly database: Database;
  readonly statements: Statements;
  readonly known: KnownDocuments;
  readonly sender: string;
  /** Told what the database answers. */
  readonly time: DatabaseClock;
  readonly floor: DueFloor;
  readonly clock: Clock;
}

/** Documents that were claimed together, and how their rows are now. */
export interface PieceOf<T> {
  readonly values: readonly T[];
  /** The time that decided. */
  readonly now: number;
  readonly writes: readonly Write[];
  readonly moved: ReadonlyMap<string, RowState>;
  readonly sizes: ReadonlyMap<string, number>;
}

/** What became of a claim, but for what it has handed over. */
type Claimed = Omit<AdvanceResult<never>, "values">;

/**
 * Finds what is due and moves it. As long as nobody else is after the same, that takes two statements (see
 * {@linkcode claimFreely}); where several work at one backlog, a transaction with a statement that locks, passing over what
 * others are claiming, and one that writes.
 */
export class Claims {
  readonly #options: ClaimsOptions;
  /** Whether the last call left work behind, so that the next need not look before it claims. */
  #more = false;
  /** Whether anything was moved here. */
  #haveMoved = false;
  /** How many claims go through transactions, because others were in the way of one that did not. */
  #locking = 0;

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  /** Whether anything was moved here, which others may not look after. */
  get haveMoved(): boolean {
    return this.#haveMoved;
  }

  /** See `Storage.advance`. */
  async advance<T>(
    { lanes, limit }: AdvanceRequest,
    step: Step<T>,
    moved?: (values: readonly T[], now: number) => void,
  ): Promise<AdvanceResult<T>> {
    const texts = [...new Set(lanes)].map(columnText);
    const bounded = Math.min(limit, MAX_ADVANCE);
    const values: T[] = [];
    const { known, time } = this.#options;
    const take = (piece: PieceOf<T>) => {
      this.#haveMoved ||= piece.writes.length > 0;
      for (const { before, after } of piece.writes) {
        known.wrote(before!.id, after, piece.moved.get(before!.id), piece.sizes.get(before!.id));
      }
      if (moved === undefined) values.push(...piece.values);
      else if (piece.values.length > 0) moved(piece.values, piece.now);
    };
    const free = await this.#freely(texts, bounded, step, take);
    const claimed = free?.unfinished === false ? free : await this.#finish(texts, bounded, step, take, free);
    const { more, nextWake, now, damaged } = claimed;
    time.answered(now);
    this.#more = more;
    return { values, more, nextWake, now, damaged };
  }

  async #freely<T>(
    lanes: readonly string[],
    limit: number,
    step: Step<T>,
    take: (piece: PieceOf<T>) => void,
  ): Promise<FreeClaim | undefined> {
    const isCrowded = this.#locking > 0;
    if (isCrowded) this.#locking--;
    if (isCrowded && this.#more) return undefined;
    const claim = await claimFreely({ lanes, limit, most: isCrowded ? FEW : limit }, step, this.#options, take);
    if (claim !== undefined && claim.lost > 0 && claim.found > FEW) this.#locking = LOCKED_CLAIMS;
    return claim;
  }

  /** The earliest `wakeAt` of lanes, by their column texts, and the time. */
  async earliest(lanes: readonly string[]): Promise<{ readonly now: number; readonly earliest: number | null }> {
    const { database, statements } = this.#options;
    const [row] = await database.run("looking for what is due", statements.earliest, { lanes: arrayText(lanes) });
    return { now: readInstant(row!.now)!, earliest: readInstant(row!.earliest) };
  }

  /** Claims in a transaction what is left; what was claimed without one is not lost by a failure now. */
  async #finish<T>(
    lanes: readonly string[],
    limit: number,
    step: Step<T>,
    take: (piece: PieceOf<T>) => void,
    free: FreeClaim | undefined,
  ): Promise<Claimed> {
    try {
      const { piece, ...claimed } = await this.#claim(lanes, limit, step);
      take(piece);
      return claimed;
    } catch (error) {
      if (free === undefined || free.won === 0) throw error;
      // Whatever it is, the next claim meets it again.
      return { ...free, more: true };
    }
  }

  #claim<T>(
    lanes: readonly string[],
    limit: number,
    step: Step<T>,
  ): Promise<Claimed & { readonly piece: PieceOf<T> }> {
    const { database, statements } = this.#options;
    const claimed = async (session: Session) => {
      const rows = await session.run(statements.claim, {
        lanes: arrayText(lanes),
        after: instantText(-Infinity),
        least: LEAST_PER_LANE,
        limit,
      });
      return await this.#move(session, rows, { lanes, limit }, step);
    };
    return insist(() => database.transaction(DOING, LIMITS, claimed), isContention);
  }

  async #move<T>(
    session: Session,
    rows: readonly (ClaimHead | DueRow)[],
    { lanes, limit }: Pick<AdvanceRequest, "lanes" | "limit">,
    step: Step<T>,
  ): Promise<Claimed & { readonly piece: PieceOf<T> }> {
    const { statements, sender } = this.#options;
    const head = rows.find((row) => !isFound(row)) as ClaimHead;
    const now = readInstant(head.now)!;
    const { found, leftAt } = shared(rows.filter(isFound), Number(head.share), limit);
    const stepped = new Stepped(now, step, lanes.includes(""));
    const places = new Map(found.map((row) => [row.id, row]));
    const values: T[] = [];
    const writes: Write[] = [];
    const moved = new Map<string, RowState>();
    let writing: Promise<void> = Promise.resolve();
    try {
      for (let i = 0; i < found.length; i += PIECE) {
        const piece = stepped.add(found.slice(i, i + PIECE));
        values.push(...piece.values);
        writes.push(...piece.writes);
        const send = readied(statements, planWrites(piece.writes), places, { channel: null, sender });
        await writing;
        writing = send(session).then((rows) => rows.forEach((row, id) => moved.set(id, row)));
      }
    } finally {
      await writing;
    }
    const damaged = await this.#park(session, stepped.unreadable);
    const later = Math.min(readInstant(head.next) ?? Infinity, stepped.earliest, leftAt);
    // Found to be due, and locked by others: they will be moved, unless whoever has them dies.
    const nextWake = found.length === 0 ? Math.min(later, now + RECHECK_MS) : later;
    return {
      more: later <= now,
      nextWake: nextWake === Infinity ? null : nextWake,
      now,
      damaged,
      piece: { values, now, writes, moved, sizes: stepped.sizes },
    };
  }

  async #park(session: Session, unreadable: readonly (readonly [string, string])[]): Promise<readonly Damaged[]> {
    if (unreadable.length === 0) return [];
    const { statements } = this.#options;
    await park(session, statements, unreadable);
    const reasons = new Map(unreadable);
    const rows = await session.run(statements.whole, { ids: arrayText([...reasons.keys()]) });
    return rows.map(({ id, task }) => ({ id, task: fromColumnText(task), error: reasons.get(id)! }));
  }
}

/** Each lane's share of what is due, and the earliest of what is left over. */
export function shared(rows: readonly DueRow[], share: number, limit: number): { found: DueRow[]; leftAt: number } {
  const found: DueRow[] = [];
  const taken = new Map<string, number>();
  let leftAt = Infinity;
  for (const row of rows) {
    const count = taken.get(row.lane) ?? 0;
    taken.set(row.lane, count + 1);
    if (count < share && found.length < limit) found.push(row);
    else leftAt = Math.min(leftAt, readInstant(row.wake)!);
  }
  return { found, leftAt };
}
