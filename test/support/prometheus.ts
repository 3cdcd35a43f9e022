/** Prometheus' text format, read by somebody else's parser, a port of the one of Prometheus' Python client. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly metrics: readonly {
    readonly value?: string;
    readonly labels?: Readonly<Record<string, string>>;
  }[];
}

// By a name that the compiler does not follow: the package has no types.
const library: string = "parse-prometheus-text-format";
const { default: parse } = await import(library) as { readonly default: (text: string) => MetricFamily[] };

/**
 * Every metric by name; throws where the text is none. Of histograms the parser keeps one series only, so their buckets,
 * sums and counts are given to it as metrics of their own.
 */
export function parseMetrics(text: string): ReadonlyMap<string, MetricFamily> {
  const families = new Map<string, MetricFamily>();
  for (const family of parse(text.replace(/^# HELP .*\n# TYPE \w+ histogram\n/gm, ""))) {
    const { metrics = [] } = families.get(family.name) ?? {};
    families.set(family.name, { ...family, metrics: [...metrics, ...family.metrics] });
  }
  return families;
}

/** A metric's values by their labels' values, joined. */
export function valuesOf(text: string, name: string): Readonly<Record<string, number>> {
  const { metrics = [] } = parseMetrics(text).get(name) ?? {};
  return Object.fromEntries(metrics.map(({ labels = {}, value }) => [Object.values(labels).join(), Number(value)]));
}
