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
/** Bucket 0 holds everything up to 1 ms; the last one begins at about 300 days. */
const LAST_BUCKET = 250;
/** Characters of the text, all of them ASCII; the document's other fields share the 1 KiB. */
const MAX_TEXT = 1_000;

type Buckets = [bucket: number, count: number][];

function bucketOf(durationMs: number): number {
  return durationMs <= 1 ? 0 : Math.min(LAST_BUCKET, Math.ceil(Math.log(durationMs) / LOG_GAMMA - 1e-9));
}

/** Text: `bucket:count`, both in base 36, separated by commas, in order of bucket. */
function read(sketch: string | undefined): Buckets {
  if (sketch === undefined || sketch === "") return [];
  return sketch.split(",").map((pair) => {
    const colon = pair.indexOf(":");
    return [parseInt(pair.slice(0, colon), 36), parseInt(pair.slice(colon + 1), 36)];
  });
}

function write(buckets: Buckets): string {
  const text = buckets.map(([bucket, count]) => `${bucket.toString(36)}:${count.toString(36)}`).join(",");
  if (text.length <= MAX_TEXT) return text;
  const [lowest, second, ...rest] = buckets;
  return write([[second![0], second![1] + lowest![1]], ...rest]);
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
    if (rank <= 0) return bucket === 0 ? 1 : (2 * GAMMA ** bucket) / (GAMMA + 1);
  }
  return undefined;
}
