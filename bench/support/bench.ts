// Definition of a benchmark: a smoke and a real size, with results measured side by side in one run.

/** `smoke` takes a second and runs in the tests, which keeps benchmarks working; `real` gives the published numbers. */
export type Size = "smoke" | "real";

export interface Answer {
  /** The quantity, with the data it was measured on. */
  readonly what: string;
  /** The number that has a goal: a ratio, or an absolute number with its unit. */
  readonly value: number;
  readonly unit: "×" | "bytes/value" | "ms" | "µs" | "rows/s" | "answers/s" | "MB/s";
  readonly goal?: { readonly atLeast: number } | { readonly atMost: number };
  /** The measured numbers behind a ratio, for information only: they depend on the machine. */
  readonly detail: string;
}

/** Options of the command line besides the size; each benchmark uses those it supports. */
export interface BenchOptions {
  /** Number of rows. */
  readonly rows?: number | undefined;
  /** Only cases whose name contains this. */
  readonly only?: string | undefined;
  /** Only data in this state: `flushed` or `compacted`. */
  readonly state?: string | undefined;
  /** False: this server only. */
  readonly peers?: boolean | undefined;
}

export interface Bench {
  readonly name: string;
  /** Measures and returns answers; `say` receives progress and omissions. @throws Error if a checked answer is wrong */
  run(size: Size, say: (line: string) => void, options?: BenchOptions): Promise<Answer[]>;
}

/** The middle value; the mean of both of an even number. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) throw new Error("median of nothing");
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Time budget of one contestant: beyond it, its further rounds are skipped. */
const PATIENCE_MS = 30_000;

/** Runs every contestant once per round, in reversed order each round, because the order affects results. A very slow contestant skips
 *  later rounds. Returns the median of each, in the given order. */
export async function alternate(
  rounds: number,
  contestants: readonly (() => Promise<number>)[],
  patienceMs = PATIENCE_MS,
): Promise<number[]> {
  const results = contestants.map(() => ({ values: [] as number[], tookMs: 0 }));
  for (let round = 0; round < rounds; round++) {
    const order = contestants.map((_, i) => i);
    if (round % 2 === 1) order.reverse();
    for (const i of order) {
      const result = results[i]!;
      if (round > 0 && result.tookMs >= patienceMs) continue;
      const startedMs = performance.now();
      result.values.push(await contestants[i]!());
      result.tookMs += performance.now() - startedMs;
    }
  }
  return results.map(({ values }) => median(values));
}

/** 1234567 → "1.23 M", 12345 → "12.3 k". */
export function short(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toPrecision(3)} M`;
  if (value >= 1e4) return `${(value / 1e3).toPrecision(3)} k`;
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** True if the value meets its goal; undefined without one. */
export function meetsGoal({ value, goal }: Answer): boolean | undefined {
  if (goal === undefined) return undefined;
  return "atLeast" in goal ? value >= goal.atLeast : value <= goal.atMost;
}

/** A table of fixed-width columns, readable in a terminal and as Markdown. */
export function formatTable(answers: readonly Answer[]): string {
  const rows = answers.map((answer) => {
    const { what, value, unit, goal, detail } = answer;
    const wanted = goal === undefined ? "" : "atLeast" in goal ? `≥ ${short(goal.atLeast)}` : `≤ ${short(goal.atMost)}`;
    const met = meetsGoal(answer);
    return [what, `${short(value)} ${unit}`, wanted, met === undefined ? "" : met ? "yes" : "NO", detail];
  });
  const table = [["question", "result", "goal", "met", "measured"], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  return [line(table[0]!), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...table.slice(1).map(line)].join("\n");
}
