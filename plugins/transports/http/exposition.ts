/**
 * Metrics in memory, and Prometheus' text format (version 0.0.4) of them.
 *
 * @module
 */

/** What {@linkcode Counter} and the others write; the format's own media type. */
export const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Values of labels, in the order of the metric's label names. */
export type LabelValues = readonly string[];

/** The name, help and labels of one metric. */
export interface MetricHead {
  /** As Prometheus allows it: `[a-zA-Z_:][a-zA-Z0-9_:]*`. */
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  /** Names of its labels. */
  readonly labels?: readonly string[];
}

/** Adds up. */
export class Counter {
  readonly #head: MetricHead;
  readonly #values = new Map<string, number>();

  constructor(head: MetricHead) {
    this.#head = head;
  }

  /** Adds to the series of these labels, which is 0 before. */
  add(labels: LabelValues, count: number = 1): void {
    const key = keyOf(this.#head, labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + count);
  }

  write(): string {
    return write(this.#head, "counter", [...this.#values].map(([key, value]) => sample(this.#head.name, key, value)));
  }
}

/** Counts observations into buckets of fixed upper bounds. */
export class Histogram {
  readonly #head: MetricHead;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, { readonly counts: Float64Array; sum: number; count: number }>();

  /** @param bounds Ascending, without the infinite one. */
  constructor(head: MetricHead, bounds: readonly number[]) {
    this.#head = head;
    this.#bounds = bounds;
  }

  observe(labels: LabelValues, value: number): void {
    const key = keyOf(this.#head, labels);
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { counts: new Float64Array(this.#bounds.length), sum: 0, count: 0 };
      this.#series.set(key, series);
    }
    series.sum += value;
    series.count++;
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    if (bucket >= 0) series.counts[bucket]!++;
  }

  write(): string {
    const { name } = this.#head;
    const lines = [...this.#series].flatMap(([key, { counts, sum, count }]) => {
      let below = 0;
      const buckets = this.#bounds.map((bound, i) => {
        below += counts[i]!;
        return sample(`${name}_bucket`, join(key, `le="${bound}"`), below);
      });
      return [
        ...buckets,
        sample(`${name}_bucket`, join(key, 'le="+Inf"'), count),
        sample(`${name}_sum`, key, sum),
        sample(`${name}_count`, key, count),
      ];
    });
    return write(this.#head, "histogram", lines);
  }
}

/** A metric that is read when it is written. */
export function writeGauge(head: MetricHead, values: Iterable<readonly [labels: LabelValues, value: number]>): string {
  const lines = [...values].map(([labels, value]) => sample(head.name, keyOf(head, labels), value));
  return write(head, "gauge", lines);
}

function write({ name, help }: MetricHead, type: string, lines: readonly string[]): string {
  const text = help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return `# HELP ${name} ${text}\n# TYPE ${name} ${type}\n${lines.map((line) => `${line}\n`).join("")}`;
}

function sample(name: string, key: string, value: number): string {
  return `${name}${key === "" ? "" : `{${key}}`} ${numberText(value)}`;
}

function numberText(value: number): string {
  return value === Infinity ? "+Inf" : value === -Infinity ? "-Inf" : String(value);
}

/** Labels as they are written between the braces. */
function keyOf({ labels: names = [] }: MetricHead, values: LabelValues): string {
  return names.map((name, i) => `${name}="${escape(values[i] ?? "")}"`).join();
}

function join(key: string, label: string): string {
  return key === "" ? label : `${key},${label}`;
}

function escape(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}
