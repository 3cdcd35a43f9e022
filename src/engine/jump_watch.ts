import { type Clock, NOTICED_JUMP_MS } from "../contract/mod.ts";

/** Notices that the wall clock has jumped ahead, so that leases it seems to have ended are believed once more (T8). */
export class JumpWatch {
  readonly #clock: Clock;
  readonly #leaseMs: number;
  #lead: number;
  #jumpedBy = 0;
  #untilMono = -Infinity;

  constructor(clock: Clock, leaseMs: number) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#lead = clock.now() - clock.monotonic();
  }

  /** How much longer the leases of others are to be believed, in milliseconds. */
  patienceMs(): number {
    const mono = this.#clock.monotonic();
    const lead = this.#clock.now() - mono;
    const jumped = lead - this.#lead;
    this.#lead = lead;
    if (jumped > NOTICED_JUMP_MS) {
      this.#jumpedBy = jumped + (mono < this.#untilMono ? this.#jumpedBy : 0);
      this.#untilMono = mono + this.#leaseMs;
    }
    return mono < this.#untilMono ? this.#jumpedBy : 0;
  }
}
