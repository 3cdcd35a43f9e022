/** A 32-bit hash of text (FNV-1a, then mixed): where a stream of random numbers begins. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

/** Crockford's base 32, as ULIDs are written in. */
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/**
 * A stream of random numbers that a label decides. Streams of different labels are independent, so that a scenario with
 * one part less leaves the others as they are: what makes shrinking work.
 */
export class Random {
  readonly #label: string;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(label: string) {
    this.#label = label;
    this.#a = hash(`${label}/a`);
    this.#b = hash(`${label}/b`);
    this.#c = hash(`${label}/c`);
    for (let i = 0; i < 12; i++) this.next();
  }

  /** An independent stream; the same label gives the same one, whatever was drawn here before. */
  fork(label: string | number): Random {
    return new Random(`${this.#label}/${label}`);
  }

  /** Uniform in [0, 1): sfc32. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum | 0;
    return (sum >>> 0) / 2 ** 32;
  }

  /** A whole number in [low, high]. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** A whole number in [low, high], each order of magnitude as likely as any other; `low` is at least 1. */
  scale(low: number, high: number): number {
    return Math.round(low * (high / low) ** this.next());
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)]!;
  }

  /** One of several values, each with its weight. */
  weighted<T>(choices: readonly (readonly [weight: number, value: T])[]): T {
    let left = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of choices) {
      left -= weight;
      if (left < 0) return value;
    }
    return choices.at(-1)![1];
  }

  /** A ULID of an instant. */
  ulid(ms: number): string {
    let time = "";
    for (let rest = ms, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) time = DIGITS[rest % 32] + time;
    let tail = "";
    for (let i = 0; i < 16; i++) tail += DIGITS[Math.floor(this.next() * 32)];
    return time + tail;
  }
}
