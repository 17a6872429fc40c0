// `quantile`: estimated with a t-digest, or exact.
import { FluxColumn } from "../../tables/column.ts";
import { eachTable, missingColumn, type Tables } from "../../tables/stream.ts";
import { FluxTable } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import { Null } from "../../values/value.ts";
import type { NativeBody } from "../native-call.ts";
import { streamOf } from "../operator.ts";
import { AggregateOperation, RowsOperation } from "../plan/operations.ts";
import { sorted } from "../sort.ts";
import { sortedRows } from "../windows/sorted-rows.ts";
import { type Aggregate, chosenRows, filledRows, isOfWindow, type WindowRows } from "../windows/window-rows.ts";
import { aggregated, floatsOf } from "./aggregates.ts";
import { wantColumn } from "./pushed.ts";

const COMPRESSION = 1000;

export const quantile: NativeBody = (call) => {
  const q = call.float("q");
  const method = call.string("method", "estimate_tdigest");
  const named = call.string("column", "_value");
  // as recorded: rows are selected by their value, whatever column is named
  const label = method === "exact_selector" ? "_value" : named;
  const compression = call.float("compression", 0);
  if (q < 0 || q > 1) throw new FluxError("quantile must be between 0 and 1");
  if (compression > 0 && method !== "estimate_tdigest")
    throw new FluxError("compression parameter is only valid for method estimate_tdigest");
  if (!["estimate_tdigest", "exact_mean", "exact_selector"].includes(method)) {
    throw new FluxError(`unknown method ${method}`);
  }
  const input = call.stream();
  if (method !== "exact_selector") {
    const aggregate = method === "exact_mean" ? exactMean(q) : estimate(q, compression || COMPRESSION);
    const operation = new AggregateOperation(aggregate, label);
    const body = ([tables]: readonly Tables[]) => {
      wantColumn(input, label);
      return aggregated(tables!, label, aggregate);
    };
    return streamOf(call, [input], body, { operation });
  }
  const body = (tables: Tables) =>
    eachTable(tables, (table) => {
      const column = table.column(label);
      if (column === undefined) throw missingColumn(label);
      const known = table.take(validRows(column));
      if (known.isEmpty) return nullRow(table);
      const ordered = sorted(known.inOnePiece(), [label], false);
      const at = Math.max(0, Math.ceil(q * ordered.rowCount) - 1);
      return ordered.slice(at, at + 1);
    });
  return streamOf(call, [input], ([tables]) => body(tables!), { operation: new RowsOperation((rows) => selectedRows(rows, label, q)) });
};

/** The row of the quantile in each window; one of nulls where there is no value. */
function* selectedRows(rows: WindowRows, label: string, q: number): Generator<null, WindowRows | null, void> {
  const ordered = isOfWindow(label) ? null : yield* sortedRows(rows, [label], false);
  const column = ordered?.column(label);
  if (ordered === null || column === undefined) return null;
  const chosen = yield* chosenRows(ordered, (from, to, places) => {
    // nulls come first
    let first = from;
    while (first < to && column.isNull(first)) first++;
    if (first < to) places.add(first + Math.max(0, Math.ceil(q * (to - first)) - 1));
  });
  return filledRows(chosen);
}

function exactMean(q: number): Aggregate {
  return {
    name: "quantile",
    typeOf: (type) => (type === "float" ? "float" : null),
    compute: (column) => {
      const values = floatsOf(column);
      return values.length === 0 ? Null.of("float") : exactQuantile(values.sort(), q);
    },
  };
}

function estimate(q: number, compression: number): Aggregate {
  return {
    name: "quantile",
    typeOf: (type) => (type === "int" || type === "uint" || type === "float" ? "float" : null),
    compute: (column) => {
      const values = floatsOf(column);
      return values.length === 0 ? Null.of("float") : new Digest(compression).addAll(values).quantile(q);
    },
  };
}

/** As recorded: without a value to select there is a row of what the key has. */
function nullRow(table: FluxTable): FluxTable {
  const cells = table.columns.map(({ label, type }) => FluxColumn.constant(label, type, table.key.get(label)?.value ?? Null.of(type), 1));
  return new FluxTable(table.key, cells, 1);
}

function validRows(column: FluxColumn): Uint32Array {
  return Uint32Array.from({ length: column.length }, (_, row) => row).filter((row) => !column.isNull(row));
}

/** The q-quantile (0 to 1) of ascending values, interpolated between the two nearest ones. */
function exactQuantile(values: Float64Array, q: number): number {
  const at = q * (values.length - 1);
  const [low, high] = [Math.floor(at), Math.ceil(at)];
  if (low === high) return values[low] ?? Number.NaN;
  return values[low]! * (high - at) + values[high]! * (at - low);
}

/** Source: Dunning, Ertl, "Computing extremely accurate quantiles using t-digests" (2019), the merging form. */
class Digest {
  /** Of the centroids, ascending. */
  private means = new Float64Array(0);
  private weights = new Float64Array(0);
  private total = 0;
  private least = Number.POSITIVE_INFINITY;
  private most = Number.NEGATIVE_INFINITY;

  constructor(private readonly compression: number) {}

  addAll(values: Float64Array): this {
    const room = 8 * Math.ceil(this.compression) + 1;
    const waiting = new Float64Array(Math.min(values.length, room >= 1 ? room : 1));
    let count = 0;
    for (let i = 0; i < values.length; i++) {
      const value = values[i]!;
      if (Number.isNaN(value)) continue;
      waiting[count++] = value;
      if (count < waiting.length) continue;
      this.merge(waiting);
      count = 0;
    }
    this.merge(waiting.subarray(0, count));
    return this;
  }

  /** Adds values of weight 1, which it sorts. */
  private merge(values: Float64Array): void {
    if (values.length === 0) return;
    values.sort();
    const known = this.means.length;
    const size = values.length + known;
    const [means, weights] = [new Float64Array(size), new Float64Array(size)];
    this.total += values.length;
    let value = 0;
    let centroid = 0;
    let last = -1;
    let soFar = 0;
    let limit = 0;
    for (let i = 0; i < size; i++) {
      // of equal ones a value comes first
      const isValue = value < values.length && (centroid === known || values[value]! <= this.means[centroid]!);
      const mean = isValue ? values[value]! : this.means[centroid]!;
      const weight = isValue ? 1 : this.weights[centroid]!;
      if (isValue) value++;
      else centroid++;
      if (last >= 0 && soFar + weight <= limit) {
        const before = means[last]!;
        weights[last]! += weight;
        means[last] = before + (weight * (mean - before)) / weights[last]!;
      } else {
        limit = this.total * this.scaleToQ(last < 0 ? 1 : this.qToScale(soFar / this.total) + 1);
        last++;
        means[last] = mean;
        weights[last] = weight;
      }
      soFar += weight;
    }
    this.means = means.slice(0, last + 1);
    this.weights = weights.slice(0, last + 1);
    this.least = Math.min(this.least, means[0]!);
    this.most = Math.max(this.most, means[last]!);
  }

  private scaleToQ(k: number): number {
    return (Math.sin((Math.min(k, this.compression) * Math.PI) / this.compression - Math.PI / 2) + 1) / 2;
  }

  private qToScale(q: number): number {
    return (this.compression * (Math.asin(2 * q - 1) + Math.PI / 2)) / Math.PI;
  }

  quantile(q: number): number {
    const { means, weights } = this;
    const last = means.length - 1;
    if (last < 0) return Number.NaN;
    if (last === 0) return means[0]!;
    const index = q * this.total;
    const firstHalf = weights[0]! / 2;
    if (index <= firstHalf) return this.least + ((2 * index) / weights[0]!) * (means[0]! - this.least);
    let before = firstHalf;
    let weight = weights[0]!;
    for (let i = 1; i <= last; i++) {
      const middle = weight + weights[i]! / 2;
      if (middle >= index) return weightedMean(means[i - 1]!, middle - index, means[i]!, index - before);
      before = middle;
      weight += weights[i]!;
    }
    const behind = index - (this.total - weights[last]! / 2);
    return weightedMean(means[last]!, weights[last]! / 2 - behind, this.most, behind);
  }
}

function weightedMean(a: number, aWeight: number, b: number, bWeight: number): number {
  if (aWeight + bWeight === 0) return a;
  const mean = (a * aWeight + b * bWeight) / (aWeight + bWeight);
  return Math.max(Math.min(a, b), Math.min(mean, Math.max(a, b)));
}
