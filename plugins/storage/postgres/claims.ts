import {
  type AdvanceRequest,
  type AdvanceResult,
  type Damaged,
  MAX_ADVANCE,
  type Write,
} from "../../../src/contract/mod.ts";
import { columnText, fromColumnText } from "../sql/tables.ts";
import type { Database, Session } from "./database.ts";
import { isContention } from "./errors.ts";
import type { KnownDocuments, RowState } from "./known.ts";
import { isFound } from "./reading.ts";
import { claimFew } from "./few.ts";
import type { ClaimHead, DueRow, Statements } from "./statements.ts";
import { type Step, Stepped } from "./stepped.ts";
import { arrayText, readInstant } from "./values.ts";
import { park, planWrites, readied } from "./writes.ts";

/** Of each lane with something due, however many lanes have. */
const LEAST_PER_LANE = 16;

/** Milliseconds after which rows that somebody else was claiming are looked at again: its process may have died. */
export const RECHECK_MS = 100;

/** Documents that are decided on while those before them are being written: neither side waits long for the other. */
const PIECE = 250;

/** How often a claim that others were in the way of is tried at once. */
const ATTEMPTS = 5;

const LIMITS = { lockMs: 5_000 };
const DOING = "claiming what is due";

/** What {@linkcode Claims} work with. */
export interface ClaimsOptions {
  readonly database: Database;
  readonly statements: Statements;
  readonly known: KnownDocuments;
  readonly sender: string;
}

/** What was claimed, and how its rows are now. */
export interface Claimed<T> extends AdvanceResult<T> {
  readonly writes: readonly Write[];
  readonly moved: ReadonlyMap<string, RowState>;
  readonly sizes: ReadonlyMap<string, number>;
}

/**
 * Finds what is due and moves it. The little that comes due from time to time takes two statements (see
 * {@linkcode claimFew}); a backlog a transaction, with one that locks, passing over what others are claiming, and one that
 * writes.
 */
export class Claims {
  readonly #options: ClaimsOptions;
  /** Whether the last call left work behind, so that the next need not look before it claims. */
  #more = false;

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  /** See `Storage.advance`. */
  async advance<T>({ lanes, limit }: AdvanceRequest, step: Step<T>): Promise<AdvanceResult<T>> {
    const texts = [...new Set(lanes)].map(columnText);
    const few = this.#more ? undefined : await claimFew({ lanes: texts, limit }, step, this.#options);
    this.#more = false;
    const claimed = few ?? await this.#claim(texts, Math.min(limit, MAX_ADVANCE), step);
    const { writes, moved, sizes, ...result } = claimed;
    const { known } = this.#options;
    for (const { before, after } of writes) {
      known.wrote(before!.id, after, moved.get(before!.id), sizes.get(before!.id));
    }
    this.#more = result.more;
    return result;
  }

  /** The earliest `wakeAt` of lanes, by their column texts, and the time. */
  async earliest(lanes: readonly string[]): Promise<{ readonly now: number; readonly earliest: number | null }> {
    const { database, statements } = this.#options;
    const [row] = await database.run("looking for what is due", statements.earliest, { lanes: arrayText(lanes) });
    return { now: readInstant(row!.now)!, earliest: readInstant(row!.earliest) };
  }

  async #claim<T>(lanes: readonly string[], limit: number, step: Step<T>): Promise<Claimed<T>> {
    for (let attempt = 1;; attempt++) {
      try {
        return await this.#options.database.transaction(DOING, LIMITS, async (session) => {
          const { statements } = this.#options;
          const rows = await session.run(statements.claim, { lanes: arrayText(lanes), least: LEAST_PER_LANE, limit });
          return await this.#move(session, rows, { lanes, limit }, step);
        });
      } catch (error) {
        if (!isContention(error) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  async #move<T>(
    session: Session,
    rows: readonly (ClaimHead | DueRow)[],
    { lanes, limit }: Pick<AdvanceRequest, "lanes" | "limit">,
    step: Step<T>,
  ): Promise<Claimed<T>> {
    const { statements, sender } = this.#options;
    const head = rows.find((row) => !isFound(row)) as ClaimHead;
    const now = readInstant(head.now)!;
    const { found, leftAt } = shared(rows.filter(isFound), Number(head.share), limit);
    const stepped = new Stepped(now, step, lanes.includes(""));
    const places = new Map(found.map((row) => [row.id, row]));
    const moved = new Map<string, RowState>();
    let writing: Promise<void> = Promise.resolve();
    try {
      for (let i = 0; i < found.length; i += PIECE) {
        const writes = stepped.add(found.slice(i, i + PIECE));
        const send = readied(statements, planWrites(writes), places, { channel: null, sender });
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
      values: stepped.values,
      more: later <= now,
      nextWake: nextWake === Infinity ? null : nextWake,
      now,
      damaged,
      writes: stepped.writes,
      moved,
      sizes: stepped.sizes,
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
function shared(rows: readonly DueRow[], share: number, limit: number): { found: DueRow[]; leftAt: number } {
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
