// Functions that end a table when the last row of the stream has come: most refuse a second table of one key, as text may have them, and
// all give theirs in the order of keys.
import type { Tables } from "../tables/stream.ts";
import type { GroupKey } from "../tables/table.ts";
import { FluxError } from "../values/flux-error.ts";
import { fullTimeText, stringOf } from "../values/text.ts";
import { isNull, Time } from "../values/value.ts";
import type { NativeCall } from "./native-call.ts";

const AGGREGATES = ["count", "mean", "skew", "spread", "stddev", "sum"];
const SELECTORS = ["first", "last", "max", "min", "sample", "elapsed"];
/** Those that speak of themselves. */
const NAMED = [
  "columns",
  "covariance",
  "difference",
  "distinct",
  "histogram",
  "histogramQuantile",
  "holtWinters",
  "keys",
  "mode",
  "range",
  "tail",
];

/** Of `reduce`, which finds out by itself. */
export const REDUCED = "reduce";

/** What the error speaks of, by the names of functions. */
const SUBJECTS: ReadonlyMap<string, string> = new Map([
  ...AGGREGATES.map((name) => [name, "aggregate "] as const),
  ...SELECTORS.map((name) => [name, ""] as const),
  ...[...NAMED, "unique"].map((name) => [name, `${name} `] as const),
  [REDUCED, REDUCED],
  ["duration", ""],
  ["exponentialMovingAverage", "moving average "],
  ["relativeStrengthIndex", "moving average "],
  ["chandeMomentumOscillator", "chande momentum oscillator "],
  ["kaufmansAMA", "KAMA "],
  ["tripleExponentialDerivative", "triple exponential derivative "],
]);

/** What the function's error speaks of; null: it takes tables of equal keys. */
export function subjectOfRepeats(call: NativeCall): string | null {
  if (call.native === "quantile") return call.optional("method") === "exact_selector" ? "" : "aggregate ";
  return SUBJECTS.get(call.native) ?? null;
}

/** Those that end their tables with the stream too, and merge rows of one key. */
const MERGING: ReadonlySet<string> = new Set(["hourSelection", "_hourSelection", "integral", "pivot"]);

/** Whether the reference gives the tables of the function when the last row has come: in the order of their keys. */
export function endsTables({ native }: NativeCall): boolean {
  return SUBJECTS.has(native) || MERGING.has(native) || native === "quantile";
}

/** The tables up to the first whose key was there before. @throws FluxError for that one */
export function* eachOnce(tables: Tables, subject: string): Tables {
  const seen = new Set<string>();
  for (const table of tables) {
    if (table !== null) {
      const { key } = table;
      if (seen.has(key.text)) throw repeatedKey(subject, key);
      seen.add(key.text);
    }
    yield table;
  }
}

/** A second table of a key. */
export function repeatedKey(subject: string, key: GroupKey): FluxError {
  return new FluxError(`${subject}found duplicate table with key: ${keyText(key)}`);
}

function keyText(key: GroupKey): string {
  const cells = key.sorted.map(({ label, value }) => {
    if (isNull(value)) return `${label}=<nil>`;
    return `${label}=${value instanceof Time ? fullTimeText(value.ns) : stringOf(value)}`;
  });
  return `{${cells.join(",")}}`;
}
