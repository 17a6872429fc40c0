// Package `experimental/polyline`: fewer points for a line of nearly the same shape (D. Douglas and T. Peucker, 1973).
import { FluxColumn } from "../../tables/column.ts";
import { eachTable } from "../../tables/stream.ts";
import { type FluxTable, TableBuilder } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import { Time } from "../../values/value.ts";
import { checkNew } from "../merge-tables.ts";
import type { LibraryPackage } from "../native-call.ts";
import { operator } from "../operator.ts";
import { numbersOf } from "../universe/averages.ts";

/** x is a time in nanoseconds. */
type Point = readonly [x: number, y: number];

function distanceToLine([x, y]: Point, [x0, y0]: Point, [x1, y1]: Point): number {
  const [a, b, c] = [y0 - y1, x1 - x0, x0 * y1 - x1 * y0];
  return Math.abs(a * x + b * y + c) / Math.sqrt(a * a + b * b);
}

interface Farthest {
  readonly index: number;
  readonly distance: number;
}

/** The point between the two that is farthest from their line. */
function farthest(points: readonly Point[], from: number, to: number): Farthest {
  let [index, distance] = [from, 0];
  for (let i = from + 1; i < to; i++) {
    const each = distanceToLine(points[i]!, points[from]!, points[to]!);
    if (each > distance) [index, distance] = [i, each];
  }
  return { index, distance };
}

/** Numbers of the points that stay: those that lie at least as far from the line as `toleranceOf` wants. */
function simplified(points: readonly Point[], toleranceOf: (from: Point, to: Point) => number): number[] {
  if (points.length <= 2) return points.map((_, i) => i);
  const kept = new Set([0, points.length - 1]);
  const open: (readonly [number, number])[] = [[0, points.length - 1]];
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    const [from, to] = item;
    if (to - from < 2) continue;
    const { index, distance } = farthest(points, from, to);
    if (distance < toleranceOf(points[from]!, points[to]!) || index === from) continue;
    kept.add(index);
    open.push([from, index], [index, to]);
  }
  return [...kept].sort((a, b) => a - b);
}

/** A tolerance from the error that digitizing a line makes (D. Prasad et al., 2012). */
function digitizingTolerance([x0, y0]: Point, [x1, y1]: Point): number {
  const length = Math.hypot(x1 - x0, y1 - y0);
  const angle = Math.atan(x1 === x0 ? 0 : (y1 - y0) / (x1 - x0));
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  const most = (Math.abs(sine) + Math.abs(cosine)) / length;
  const factor = (1 - most + most ** 2) / length;
  return length * Math.max(Math.atan(Math.abs(sine + cosine) * factor), Math.atan(Math.abs(sine - cosine) * factor));
}

/** The given share of the points, those first that change the line most. */
function retained(points: readonly Point[], percent: number): number[] {
  const count = Math.floor((percent / 100) * points.length);
  if (count < 1) {
    throw new FluxError("The number of points to retain is less than 1. Please consider increasing the retention rate");
  }
  const weights = new Float64Array(points.length);
  const open: (readonly [number, number])[] = [[0, points.length - 1]];
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    const { index, distance } = farthest(points, ...item);
    if (distance <= 0) continue;
    weights[index] = distance;
    open.push([item[0], index], [index, item[1]]);
  }
  weights[0] = weights[points.length - 1] = Number.POSITIVE_INFINITY;
  const least = weights.toSorted().at(-count)!;
  return points.flatMap((_, i) => (weights[i]! >= least ? [i] : []));
}

const rdp = operator((call) => {
  const [valueLabel, timeLabel] = [call.string("valColumn", "_value"), call.string("timeColumn", "_time")];
  const epsilon = call.has("epsilon") ? call.float("epsilon") : null;
  const retention = call.has("retention") ? call.float("retention") : null;
  if (epsilon !== null && !(epsilon > 0)) throw new FluxError("Epsilon values need to be greater than 0.0");
  if (retention !== null && !(retention > 0 && retention < 100)) {
    throw new FluxError("Retention percentage should be between 0.0 and 100.0");
  }
  const choose = (points: readonly Point[]): number[] => {
    if (epsilon !== null && retention !== null) throw new FluxError("Please provide either epsilon or retention rate and not both");
    if (retention !== null) return retained(points, retention);
    return simplified(points, epsilon === null ? digitizingTolerance : () => epsilon);
  };
  return (input) => eachTable(input, (table) => line(table, timeLabel, valueLabel, choose));
});

function line(table: FluxTable, timeLabel: string, valueLabel: string, choose: (points: readonly Point[]) => number[]): FluxTable {
  const [times, values] = [table.column(timeLabel), table.column(valueLabel)];
  if (times === undefined) throw new FluxError(`cannot find time column ${timeLabel}`);
  if (values === undefined) throw new FluxError(`cannot find column ${valueLabel}`);
  for (const label of ["_time", "_value"]) checkNew(label, table.key.columns);
  if (times.type !== "time") throw new FluxError(`time column ${timeLabel} must be of type time, got ${times.type}`);
  if (!["int", "uint", "float"].includes(values.type)) {
    throw new FluxError(`rdp can work only on numerical types, got ${values.type}`);
  }
  const numbers = numbersOf(values, "line");
  const rows = Array.from({ length: table.rowCount }, (_, row) => row).filter((row) => !times.isNull(row));
  const points = rows.map((row): Point => [Number((times.get(row) as Time).ns), numbers[row] ?? 0]);
  const builder = new TableBuilder(table.key);
  builder.column("_time", "time");
  builder.column("_value", "float");
  for (const at of points.length === 0 ? [] : choose(points)) {
    builder.column("_time", "time").append(new Time(BigInt(points[at]![0])));
    builder.column("_value", "float").append(points[at]![1]);
    builder.endRow();
  }
  const made = builder.build();
  const key = table.key.columns.map((column) => FluxColumn.constant(column.label, column.type, column.value, made.rowCount));
  return made.with([...key, ...made.columns]);
}

export const POLYLINE: LibraryPackage = {
  path: "experimental/polyline",
  name: "polyline",
  source:
    "builtin rdp : (<-tables: stream[A], ?valColumn: string, ?timeColumn: string, ?epsilon: float, ?retention: float) => stream[B] where A: Record, B: Record",
  natives: { rdp },
};
