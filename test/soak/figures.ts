/** What is looked at once in a while. */
export interface Sample {
  /** The heap in use after collecting garbage. */
  readonly heapBytes: number;
  readonly handles: number;
  /** The database's file and its log. */
  readonly fileBytes: number;
  /** The median lateness of the runs since the last sample. */
  readonly latenessMs: number;
  readonly live: number;
  readonly runs: number;
}

/** A quantity over the whole run. */
export interface Figure {
  readonly name: string;
  /** For people. */
  readonly text: string;
  readonly grew: boolean;
}

interface Quantity {
  readonly name: string;
  readonly of: (sample: Sample) => number;
  /** Growth over the judged part that is noise, as a share of the middle value and as an amount: whichever is more. */
  readonly share: number;
  readonly amount: number;
  readonly show: (value: number) => string;
}

const mib = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
const plain = (value: number) => value.toFixed(1);

const QUANTITIES: readonly Quantity[] = [
  { name: "heap", of: ({ heapBytes }) => heapBytes, share: 0.2, amount: 3 * 1024 * 1024, show: mib },
  { name: "handles", of: ({ handles }) => handles, share: 0.1, amount: 3, show: plain },
  { name: "file", of: ({ fileBytes }) => fileBytes, share: 0.25, amount: 2 * 1024 * 1024, show: mib },
  // A busy machine makes single samples late, so that only a trend far beyond any pause counts.
  { name: "lateness", of: ({ latenessMs }) => latenessMs, share: 1, amount: 1_000, show: (ms) => `${plain(ms)} ms` },
  { name: "live", of: ({ live }) => live, share: 0.5, amount: 50, show: plain },
];

/** Holds each quantity to staying as it is. */
export function judge(samples: readonly Sample[]): readonly Figure[] {
  return QUANTITIES.map(({ name, of, share, amount, show }) => {
    const values = samples.map(of);
    const middle = median(values);
    const growth = slope(values) * (values.length - 1);
    const grew = growth > Math.max(middle * share, amount);
    return { name, grew, text: `median ${show(middle)}, trend ${growth < 0 ? "" : "+"}${show(growth)} over the run` };
  });
}

/** The median of the slopes between all pairs (Theil and Sen's estimator): a third of the samples may be anything. */
export function slope(values: readonly number[]): number {
  return median(values.flatMap((a, i) => values.slice(i + 1).map((b, j) => (b - a) / (j + 1))));
}

/** The middle value; 0 of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  if (sorted.length === 0) return 0;
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}
