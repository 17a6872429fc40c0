// A histogram whose observe() is an array increment: prom-client's own hashes labels on each call, 1.3 µs, which matters at 50,000 requests
// a second. It registers as a metric and prints the same text.
import type { Metric, Registry } from "prom-client";

/** The buckets for one set of labels. */
export class Buckets {
  readonly counts: Float64Array;
  sum: number;

  /** @param start what was observed before, by default nothing */
  constructor(
    readonly labels: Readonly<Record<string, string>>,
    readonly bounds: readonly number[],
    start?: Pick<Buckets, "counts" | "sum">,
  ) {
    this.counts = start?.counts.slice() ?? new Float64Array(bounds.length + 1);
    this.sum = start?.sum ?? 0;
  }

  observe(value: number): void {
    let index = 0;
    while (index < this.bounds.length && value > this.bounds[index]!) index++;
    this.counts[index]!++;
    this.sum += value;
  }
}

interface Sample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** Registers a histogram family over `all`, which may grow. */
export function registerHistogram(registry: Registry, family: { name: string; help: string }, all: () => Iterable<Buckets>): void {
  const { name, help } = family;
  const get = async () => ({ name, help, type: "histogram", values: [...all()].flatMap((each) => samples(name, each)), aggregator: "sum" });
  // The registry uses only a metric's name and get().
  registry.registerMetric({ name, help, get } as unknown as Metric);
}

/** Registers a summary family without quantiles. */
export function registerSummary(
  registry: Registry,
  { name, help }: { name: string; help: string },
  read: () => { readonly sum: number; readonly count: number },
): void {
  const get = async () => {
    const { sum, count } = read();
    const values = [
      { metricName: `${name}_sum`, labels: {}, value: sum },
      { metricName: `${name}_count`, labels: {}, value: count },
    ];
    return { name, help, type: "summary", values, aggregator: "sum" };
  };
  registry.registerMetric({ name, help, get } as unknown as Metric);
}

function samples(name: string, { labels, bounds, counts, sum }: Buckets): Sample[] {
  let below = 0;
  const buckets = [...bounds, "+Inf"].map((le, index) => {
    below += counts[index]!;
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below };
  });
  return [...buckets, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: below }];
}
