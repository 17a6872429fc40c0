// Counters whose values are read when they are scraped, from what counts them already.
import Counter from "prom-client/lib/counter.js";
import type Registry from "prom-client/lib/registry.js";

type Labels = Readonly<Record<string, string>>;

/** Registers a counter. `read` gives the count of each set of labels. */
export function registerCounter(
  registry: Registry,
  { name, help, labelNames = [] }: { readonly name: string; readonly help: string; readonly labelNames?: readonly string[] },
  read: () => Iterable<readonly [labels: Labels, count: number]>,
): void {
  new Counter({
    ...{ name, help, labelNames: [...labelNames], registers: [registry] },
    collect() {
      this.reset();
      for (const [labels, count] of read()) this.inc(labels, count);
    },
  });
}
