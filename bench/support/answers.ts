// Answers of two servers to one query, normalized and compared value by value. The order of rows is not compared.
import type { TsbsStatement } from "../data/tsbs-queries.ts";

type Value = string | number | boolean | null;
/** Rows by time in ms and host, each with its present values by column name. */
export type Answer = ReadonlyMap<string, ReadonlyMap<string, Value>>;

/** Reads `format=json` of the v3 SQL endpoint: an array of row objects. */
export function answerOfSql(text: string, { timeColumn }: TsbsStatement): Answer {
  const answer = new Map<string, ReadonlyMap<string, Value>>();
  for (const row of JSON.parse(text) as Record<string, Value>[]) {
    const values = new Map(Object.entries(row).filter(([name, value]) => name !== timeColumn && value !== null));
    add(answer, milliseconds(row[timeColumn]), values);
  }
  return answer;
}

interface InfluxSeries {
  readonly tags?: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly values: readonly (readonly Value[])[];
}

/** Reads `/query` of InfluxDB 1: series with columns and values. Time bins without values are rows of nulls there and are omitted. */
export function answerOfInflux(text: string, { valueColumns }: TsbsStatement): Answer {
  const parsed = JSON.parse(text) as { results: { series?: InfluxSeries[]; partial?: boolean; error?: string }[] };
  const [result] = parsed.results;
  if (result === undefined || result.error !== undefined || result.partial) throw new Error(`influxd: ${text.slice(0, 500)}`);
  const answer = new Map<string, ReadonlyMap<string, Value>>();
  for (const { tags = {}, columns, values } of result.series ?? []) {
    const names = valueColumns === undefined ? columns : ["time", ...valueColumns];
    for (const row of values) {
      const found = new Map<string, Value>();
      row.forEach((value, i) => {
        if (names[i] !== "time" && value !== null) found.set(names[i]!, value);
      });
      if (found.size === 0) continue;
      for (const [name, value] of Object.entries(tags)) found.set(name, value);
      add(answer, milliseconds(row[columns.indexOf("time")]), found);
    }
  }
  return answer;
}

function add(answer: Map<string, ReadonlyMap<string, Value>>, timeMs: number, values: ReadonlyMap<string, Value>): void {
  const key = `${timeMs} ${values.get("hostname") ?? ""}`;
  if (answer.has(key)) throw new Error(`two rows of ${key}`);
  answer.set(key, values);
}

/** UTC, with or without a zone. */
function milliseconds(time: Value | undefined): number {
  const found = Date.parse(typeof time === "string" && !time.endsWith("Z") ? `${time}Z` : String(time));
  if (Number.isNaN(found)) throw new Error(`not a time: ${time}`);
  return found;
}

/** The first difference in words, or undefined. Numbers may differ by a relative 1e-9. */
export function difference(ours: Answer, theirs: Answer): string | undefined {
  if (ours.size !== theirs.size) return `${ours.size} rows instead of ${theirs.size}`;
  for (const [key, expected] of theirs) {
    const found = ours.get(key);
    if (found === undefined) return `no row of ${key}`;
    for (const name of new Set([...expected.keys(), ...found.keys()])) {
      const [a, b] = [found.get(name), expected.get(name)];
      const same = typeof a === "number" && typeof b === "number" ? Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b)) : a === b;
      if (!same) return `${name} of ${key} is ${a} instead of ${b}`;
    }
  }
  return undefined;
}
