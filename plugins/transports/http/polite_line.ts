import { MIN_REST_MS, REST_FACTOR, STREAMS_AT_ONCE } from "./limits.ts";

/**
 * Serves a line a few at a time and rests in between, longer after more work, so that however long the line is, the
 * thread belongs to others for most of the time. One timer, and none while there is nothing to do.
 */
export class PoliteLine<Member> {
  readonly #arrivals: () => Iterable<Member>;
  readonly #serve: (member: Member) => void;
  #line: Member[] = [];
  #at = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param arrivals Asked before each go for who else is to be served. */
  constructor(arrivals: () => Iterable<Member>, serve: (member: Member) => void) {
    this.#arrivals = arrivals;
    this.#serve = serve;
  }

  /** There is something to serve: now, or after the rest that is on. */
  call(): void {
    this.#timer ??= setTimeout(() => this.#go(), 0);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#line = [];
  }

  #go(): void {
    const began = performance.now();
    for (const member of this.#arrivals()) this.#line.push(member);
    const end = Math.min(this.#line.length, this.#at + STREAMS_AT_ONCE);
    while (this.#at < end) this.#serve(this.#line[this.#at++]!);
    if (end === 0) return void (this.#timer = undefined);
    if (this.#at === this.#line.length) [this.#line, this.#at] = [[], 0];
    // What was given is written to sockets only after this turn, which is most of the work.
    this.#timer = setTimeout(() => {
      const restMs = Math.max(MIN_REST_MS, REST_FACTOR * (performance.now() - began));
      this.#timer = setTimeout(() => this.#go(), restMs);
    }, 0);
  }
}
