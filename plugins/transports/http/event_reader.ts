import type { Principal } from "../../../src/contract/mod.ts";
import { type EventFilter, isAbout } from "./event_filter.ts";
import { type EventRing, type GapReason, maySee, message } from "./event_ring.ts";
import { MAX_PIECE_BYTES, RETRY_MS } from "./limits.ts";

/**
 * One stream's place among the events. It holds none of them: what its reader has not taken yet stays in the ring, and
 * what leaves the ring meanwhile is told as a gap, so that a slow reader costs nothing.
 */
export class EventReader {
  readonly principal: Principal;
  /** When the stream ends, so that its reader authenticates anew. */
  readonly endsAt: number;
  /** When it was last given something, or was opened. */
  gaveAt: number;
  /** Whether the other end waits for more, and had everything when it began to. */
  isWaiting = false;
  /** Whether it stands in the line of those to be served. */
  isQueued = false;
  /** Whether a sign of life is due. */
  needsBeat = false;
  readonly #ring: EventRing;
  readonly #filter: EventFilter;
  #cursor: number;
  #gap: GapReason | undefined;
  #greeting: Uint8Array | undefined;

  /** @param lastId What the reader says that it had last. */
  constructor(
    ring: EventRing,
    principal: Principal,
    filter: EventFilter,
    lastId: string | undefined,
    times: { readonly now: number; readonly endsAt: number },
  ) {
    this.#ring = ring;
    this.principal = principal;
    this.#filter = filter;
    this.gaveAt = times.now;
    this.endsAt = times.endsAt;
    const last = lastId === undefined ? ring.next - 1 : ring.numberOf(lastId);
    if (typeof last === "string") this.#gap = last;
    this.#cursor = typeof last === "number" ? last + 1 : last === "overrun" ? ring.first : ring.next;
    this.#greeting = new TextEncoder().encode(`retry: ${RETRY_MS}\nid: ${ring.idOf(this.#cursor - 1)}\n\n`);
  }

  /** Nothing before this number is for it. */
  skipTo(number: number): void {
    this.#cursor = Math.max(this.#cursor, number);
  }

  /** What it is to be sent next, if anything. */
  take(): Uint8Array | undefined {
    const pieces: Uint8Array[] = [];
    if (this.#greeting !== undefined) pieces.push(this.#greeting);
    this.#greeting = undefined;
    if (this.#cursor < this.#ring.first) this.#gap ??= "overrun";
    this.skipTo(this.#ring.first);
    if (this.#gap !== undefined) pieces.push(this.#message("gap", { reason: this.#gap }));
    this.#gap = undefined;
    let size = 0;
    while (this.#cursor < this.#ring.next && size < MAX_PIECE_BYTES) {
      const event = this.#ring.at(this.#cursor++);
      if (!maySee(this.principal, event) || !isAbout(this.#filter, event)) continue;
      const bytes = event.bytes();
      size += bytes.length;
      pieces.push(bytes);
    }
    return pieces.length < 2 ? pieces[0] : joined(pieces);
  }

  /** A sign of life, which also moves the id that the reader would resume by. */
  beat(): Uint8Array {
    return this.#message();
  }

  #message(event?: string, data?: unknown): Uint8Array {
    const id = this.#ring.idOf(this.#cursor - 1);
    return message(event === undefined ? { id } : { id, event, data });
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
