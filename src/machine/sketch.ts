/**
 * A sketch of a schedule's run durations, for their 99th percentile over its lifetime in at most 1 KiB (V2).
 *
 * Durations fall into buckets whose bounds grow by {@linkcode GAMMA}; the middle of a bucket, `2γ^i / (γ + 1)`, is
 * within `(γ - 1) / (γ + 1)` = 4.76 % of every value in it. Source: Masson, Rim, Lee, "DDSketch: a fast and
 * fully-mergeable quantile sketch with relative-error guarantees", VLDB 2019, with its collapsing of the lowest buckets.
 *
 * @module
 */

/** Ratio of a bucket's bounds. */
const GAMMA = 1.1;
const LOG_GAMMA = Math.log(GAMMA);
/** Bucket 0 holds runs that took no time; bucket 1 ends at what the engine measures at the least, a microsecond. */
const LEAST_MS = 0.001;
/** That of the longest duration there is, the calendar's length. */
const LAST_BUCKET = 422;
/** Characters of the text, all of them ASCII; the document's other fields share the 1 KiB. */
const MAX_TEXT = 1_000;

/** Digits in base 32: one from the second row ends a number, those before it are from the first. */
const LEADING = "ABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%*+";
const LAST = "0123456789abcdefghijklmnopqrstuv";
const BASE = LAST.length;

/** Buckets with their counts, in order. */
type Buckets = [bucket: number, count: number][];

function bucketOf(durationMs: number): number {
  if (durationMs < LEAST_MS) return 0;
  return Math.min(LAST_BUCKET, 1 + Math.ceil(Math.log(durationMs / LEAST_MS) / LOG_GAMMA - 1e-9));
}

function middleOf(bucket: number): number {
  return bucket === 0 ? 0 : LEAST_MS * 2 * GAMMA ** (bucket - 1) / (GAMMA + 1);
}

/**
 * Text: stretches separated by commas, each the number of its first bucket in base 36, a colon, and the counts of its
 * buckets one after another. With every bucket in use that leaves three digits for each: ten million runs.
 */
function read(sketch: string | undefined): Buckets {
  const buckets: Buckets = [];
  if (sketch === undefined || sketch === "") return buckets;
  for (const stretch of sketch.split(",")) {
    const colon = stretch.indexOf(":");
    let bucket = parseInt(stretch.slice(0, colon), 36);
    let count = 0;
    for (let i = colon + 1; i < stretch.length; i++) {
      const digit = LAST.indexOf(stretch[i]!);
      count = count * BASE + (digit < 0 ? LEADING.indexOf(stretch[i]!) : digit);
      if (digit < 0) continue;
      if (count > 0) buckets.push([bucket, count]);
      bucket++;
      count = 0;
    }
  }
  return buckets;
}

/** An empty bucket costs a digit, a new stretch up to four. */
const LONGEST_GAP = 3;

function write(buckets: Buckets): string {
  let text = "";
  let following = -Infinity;
  for (const [bucket, count] of buckets) {
    const gap = bucket - following;
    if (gap > LONGEST_GAP) text += `${text === "" ? "" : ","}${bucket.toString(36)}:`;
    else text += LAST[0]!.repeat(gap);
    text += digits(count);
    following = bucket + 1;
  }
  if (text.length <= MAX_TEXT) return text;
  const [lowest, second, ...rest] = buckets;
  return write([[second![0], second![1] + lowest![1]], ...rest]);
}

function digits(count: number): string {
  let text = LAST[count % BASE]!;
  for (let left = Math.floor(count / BASE); left > 0; left = Math.floor(left / BASE)) {
    text = LEADING[left % BASE]! + text;
  }
  return text;
}

/** The sketch with one more duration. */
export function addDuration(sketch: string | undefined, durationMs: number): string {
  const bucket = bucketOf(durationMs);
  const buckets = read(sketch);
  let at = 0;
  while (at < buckets.length && buckets[at]![0] < bucket) at++;
  if (buckets[at]?.[0] === bucket) buckets[at]![1]++;
  else buckets.splice(at, 0, [bucket, 1]);
  return write(buckets);
}

/** The 99th percentile, in milliseconds, within 5 %; `undefined` without any duration. */
export function p99(sketch: string | undefined): number | undefined {
  const buckets = read(sketch);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return undefined;
  let rank = Math.ceil(total * 0.99);
  for (const [bucket, count] of buckets) {
    rank -= count;
    if (rank <= 0) return middleOf(bucket);
  }
  return undefined;
}
