// Describes what a scan reads, for EXPLAIN.
import type { AggregateRequest } from "../../model/query/aggregate.ts";
import { expressionText } from "../../model/query/field-expression.ts";
import { ALL_TIME, type FieldPredicate, type TagPredicate, type TimeRange } from "../../model/query/scan.ts";
import type { ColumnDef } from "../../model/rows/column.ts";
import { DAY_NS, HOUR_NS, MINUTE_NS, SECOND_NS } from "../../model/time/time-units.ts";
import type { SeriesQuery } from "../plan/series-query.ts";

export interface ScanConditions {
  readonly range: TimeRange;
  readonly tags: readonly TagPredicate[];
  readonly fields: readonly FieldPredicate[];
}

/** Maximum values of a condition shown, and characters of one. */
const VALUES_MAX = 5;
const VALUE_CHARS_MAX = 60;

/** The conditions that the scan applies, one text each. `defs`: the table's columns. */
export function conditionTexts({ range, tags, fields }: ScanConditions, defs: readonly ColumnDef[]): string[] {
  const nameOf = (id: number) => defs.find((column) => column.id === id)?.name ?? "?";
  return [
    ...rangeTexts(range),
    ...tags.map(({ columnId, values }) => `${nameOf(columnId)} ${textValues(values)}`),
    ...fields.map((field) => {
      if (field.operator === "true") return expressionText(field.expression, nameOf);
      const condition = field.operator === "in" ? textValues(field.values) : `${field.operator} ${field.value}`;
      return `${nameOf(field.columnId)} ${condition}`;
    }),
  ];
}

/** Conditions that are decided once for each combination of tags. */
export function seriesTexts(query: SeriesQuery | null): string[] {
  return query === null ? [] : [`series by ${query.tags.map(({ name }) => name).join(", ")}`];
}

/** The aggregation that the scan computes. */
export function groupTexts({ bins, groupBy, values: ofFields = [], aggregates, counted }: AggregateRequest): string[] {
  if (counted !== undefined)
    return [`their number by ${groupBy.map(({ name }) => name).join(", ")}${counted === "present" ? ", without NULL" : ""}`];
  const keys = [...(bins === null ? [] : [`bins of ${durationText(bins.widthNs)}`]), ...[...groupBy, ...ofFields].map(({ name }) => name)];
  const values = aggregates.map(({ fn, column }) => `${fn}(${column?.name ?? "*"})`);
  return [...(keys.length === 0 ? [] : [`by ${keys.join(", ")}`]), values.join(", ")];
}

function rangeTexts({ minNs, maxNs }: TimeRange): string[] {
  if (minNs > maxNs) return ["nothing, because no time is in the range"];
  const from = minNs === ALL_TIME.minNs ? [] : [`time >= ${timeText(minNs)}`];
  const to = maxNs === ALL_TIME.maxNs ? [] : [`time <= ${timeText(maxNs)}`];
  return [...from, ...to];
}

function textValues(values: readonly (string | null)[]): string {
  const shown = values.slice(0, VALUES_MAX).map((value) => (value === null ? "NULL" : `'${cut(value)}'`));
  const more = values.length > VALUES_MAX ? [`and ${values.length - VALUES_MAX} more`] : [];
  return values.length === 1 && values[0] !== null ? `= ${shown[0]}` : `in (${[...shown, ...more].join(", ")})`;
}

function cut(text: string): string {
  return text.length <= VALUE_CHARS_MAX ? text : `${text.slice(0, VALUE_CHARS_MAX)}…`;
}

/** RFC 3339 with as many digits as needed. */
function timeText(ns: bigint): string {
  const seconds = ns / SECOND_NS - (ns % SECOND_NS < 0n ? 1n : 0n);
  const fraction = String(ns - seconds * SECOND_NS)
    .padStart(9, "0")
    .replace(/0+$/, "");
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}${fraction === "" ? "" : `.${fraction}`}Z`;
}

const UNITS: readonly (readonly [ns: bigint, name: string])[] = [
  [DAY_NS, "d"],
  [HOUR_NS, "h"],
  [MINUTE_NS, "min"],
  [SECOND_NS, "s"],
  [1_000_000n, "ms"],
  [1000n, "us"],
];

function durationText(ns: bigint): string {
  const [unit, name] = UNITS.find(([unitNs]) => ns % unitNs === 0n) ?? [1n, "ns"];
  return `${ns / unit} ${name}`;
}
