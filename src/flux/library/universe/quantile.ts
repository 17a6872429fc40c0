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
    return streamOf(call, [input], ([tables]) => aggregated(tables!, label, aggregate), { operation });
  }
  const body = (tables: Tables) =>
    eachTable(tables, (table) => {
      const column = table.column(label);
      if (column === undefined) throw missingColumn(label);
      const known = table.take(validRows(column));
      if (known.isEmpty) return nullRow(table);
      const ordered = sorted(known, [label], false);
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

interface Centroid {
  mean: number;
  weight: number;
}

/** Source: Dunning, Ertl, "Computing extremely accurate quantiles using t-digests" (2019), the merging form. */
class Digest {
  private centroids: Centroid[] = [];
  private waiting: Centroid[] = [];
  private total = 0;
  private least = Number.POSITIVE_INFINITY;
  private most = Number.NEGATIVE_INFINITY;

  constructor(private readonly compression: number) {}

  addAll(values: Float64Array): this {
    const waitingMax = 8 * Math.ceil(this.compression);
    for (const mean of values) {
      if (Number.isNaN(mean)) continue;
      this.waiting.push({ mean, weight: 1 });
      if (this.waiting.length > waitingMax) this.merge();
    }
    this.merge();
    return this;
  }

  private merge(): void {
    if (this.waiting.length === 0) return;
    const all = [...this.waiting, ...this.centroids].sort((a, b) => a.mean - b.mean);
    this.total += this.waiting.reduce((sum, { weight }) => sum + weight, 0);
    this.waiting = [];
    const merged: Centroid[] = [{ ...all[0]! }];
    let soFar = all[0]!.weight;
    let limit = this.total * this.scaleToQ(1);
    for (const each of all.slice(1)) {
      const projected = soFar + each.weight;
      const last = merged.at(-1)!;
      if (projected <= limit) {
        soFar = projected;
        last.weight += each.weight;
        last.mean += (each.weight * (each.mean - last.mean)) / last.weight;
        continue;
      }
      limit = this.total * this.scaleToQ(this.qToScale(soFar / this.total) + 1);
      soFar += each.weight;
      merged.push({ ...each });
    }
    this.centroids = merged;
    this.least = Math.min(this.least, merged[0]!.mean);
    this.most = Math.max(this.most, merged.at(-1)!.mean);
  }

  private scaleToQ(k: number): number {
    return (Math.sin((Math.min(k, this.compression) * Math.PI) / this.compression - Math.PI / 2) + 1) / 2;
  }

  private qToScale(q: number): number {
    return (this.compression * (Math.asin(2 * q - 1) + Math.PI / 2)) / Math.PI;
  }

  quantile(q: number): number {
    const { centroids } = this;
    if (centroids.length === 0) return Number.NaN;
    if (centroids.length === 1) return centroids[0]!.mean;
    const index = q * this.total;
    const first = centroids[0]!;
    if (index <= first.weight / 2) return this.least + ((2 * index) / first.weight) * (first.mean - this.least);
    let before = first.weight / 2;
    let weight = first.weight;
    for (let i = 1; i < centroids.length; i++) {
      const { mean, weight: own } = centroids[i]!;
      const middle = weight + own / 2;
      if (middle >= index) return weightedMean(centroids[i - 1]!.mean, middle - index, mean, index - before);
      before = middle;
      weight += own;
    }
    const last = centroids.at(-1)!;
    const behind = index - (this.total - last.weight / 2);
    return weightedMean(last.mean, last.weight / 2 - behind, this.most, behind);
  }
}

function weightedMean(a: number, aWeight: number, b: number, bWeight: number): number {
  if (aWeight + bWeight === 0) return a;
  const mean = (a * aWeight + b * bWeight) / (aWeight + bWeight);
  return Math.max(Math.min(a, b), Math.min(mean, Math.max(a, b)));
}
