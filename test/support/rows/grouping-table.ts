// A fake table that also aggregates, exactly as specified by model/query/aggregate.ts, without optimization.
import type { Kernel } from "../../../src/kernel/memory/kernel.ts";
import { type Aggregate, type AggregateRequest, aggregateColumns } from "../../../src/model/query/aggregate.ts";
import { isComputed } from "../../../src/model/query/field-expression.ts";
import type { FieldCondition, FieldPredicate, ScanRequest, TimeRange } from "../../../src/model/query/scan.ts";
import type { ScanCursor } from "../../../src/model/query/scan-table.ts";
import { ColumnType } from "../../../src/model/rows/column.ts";
import { type FakeRow, FakeTable } from "./fake-table.ts";
import { squaredDeviations } from "./naive-aggregate.ts";
import { evaluate } from "./naive-expression.ts";
import { Arena, type TestValue, writeColumn } from "./rows.ts";

/** Rows per chunk: few, so that most answers have several chunks. */
const CHUNK_ROWS = 64;

/** A table that can aggregate its rows. */
export class GroupingTable extends FakeTable {
  readonly selectsExactly = true;
  readonly aggregations: AggregateRequest[] = [];
  openGroups = 0;
  /** True: this request gets null. */
  refuses: (request: AggregateRequest) => boolean = () => false;

  constructor(
    private readonly kernel: Kernel,
    name: string,
    private readonly types: Readonly<Record<string, ColumnType>>,
    private readonly rows: readonly FakeRow[],
  ) {
    super(kernel, name, types, rows);
  }

  /** Obeys every hint exactly: rows that are not requested are not returned. */
  override open(request: ScanRequest): ScanCursor {
    const { range, tags, fields = [] } = request;
    const rows = request.newestOnly === true ? this.newest(range) : this.rows;
    const narrowed = new FakeTable(
      this.kernel,
      this.name,
      this.types,
      rows.filter((row) => this.passes(row, { range, tags, fields })),
    );
    narrowed.onChunk = this.onChunk;
    const cursor = narrowed.open(request);
    this.requests.push(request);
    this.openCursors++;
    const close = () => {
      cursor.close();
      narrowed.free();
      this.openCursors--;
    };
    return { next: () => cursor.next(), close };
  }

  /** The last row of each series within `range`. */
  private newest({ minNs, maxNs }: TimeRange): FakeRow[] {
    const tags = this.columns.filter(({ type }) => type === ColumnType.tag);
    const newest = new Map<string, FakeRow>();
    for (const row of this.rows) {
      const time = row["time"] as bigint;
      if (time < minNs || time > maxNs) continue;
      const key = JSON.stringify(tags.map(({ name }) => row[name] ?? null));
      const known = newest.get(key);
      if (known === undefined || (known["time"] as bigint) <= time) newest.set(key, row);
    }
    return [...newest.values()];
  }

  private passes(row: FakeRow, { range, tags, fields }: Pick<AggregateRequest, "range" | "tags" | "fields">): boolean {
    const valueAt = (id: number) => row[this.columns.find((column) => column.id === id)!.name] ?? null;
    const time = row["time"] as bigint;
    if (time < range.minNs || time > range.maxNs) return false;
    if (!tags.every(({ columnId, values }) => values.includes(valueAt(columnId) as string | null))) return false;
    return fields.every((predicate) =>
      predicate.operator === "true" ? evaluate(predicate.expression, valueAt) === true : satisfies(valueAt(predicate.columnId), predicate),
    );
  }

  aggregate(request: AggregateRequest): ScanCursor | null {
    this.aggregations.push(request);
    if (this.refuses(request)) return null;
    const groups = this.groups(request);
    if (groups === null) return null;
    const types = aggregateColumns(request);
    const arena = new Arena(this.kernel);
    this.openGroups++;
    let at = 0;
    return {
      next: () => {
        if (at >= groups.length) return null;
        const rows = groups.slice(at, at + CHUNK_ROWS);
        at += rows.length;
        const columns = types.map((type, i) => {
          const values = rows.map((row) => row[i]!);
          if (values.every((value) => value === null)) return { dataPtr: 0, validityPtr: 0 };
          return writeColumn(arena, { id: 0, name: "", type: type === ColumnType.tag ? ColumnType.string : type }, values);
        });
        return { rowCount: rows.length, columns };
      },
      close: () => {
        this.openGroups--;
        arena.free();
      },
    };
  }

  /** The rows with the aggregate's column, if that is computed. */
  private withComputed({ column }: Aggregate, rows: readonly FakeRow[]): readonly FakeRow[] {
    if (column === null || !isComputed(column)) return rows;
    const nameOf = (id: number) => this.columns.find((each) => each.id === id)!.name;
    return rows.map((row) => ({ ...row, [column.name]: evaluate(column.expression, (id) => row[nameOf(id)] ?? null) }));
  }

  /** Rows of values in arbitrary order; null if a sum overflows. */
  private groups(request: AggregateRequest): (TestValue | null)[][] | null {
    const { bins } = request;
    const passing = this.rows.filter((row) => this.passes(row, request));
    const groups = new Map<string, { key: (TestValue | null)[]; rows: FakeRow[] }>();
    for (const row of passing) {
      const time = row["time"] as bigint;
      const bin = bins === null ? [] : [time - mod(time - bins.originNs, bins.widthNs)];
      const key = [...bin, ...request.groupBy.map(({ name }) => row[name] ?? null)];
      const text = JSON.stringify(key.map((value) => (value === null ? null : String(value))));
      if (!groups.has(text)) groups.set(text, { key, rows: [] });
      groups.get(text)!.rows.push(row);
    }
    const out: (TestValue | null)[][] = [];
    for (const { key, rows } of groups.values()) {
      const values = request.aggregates.map((aggregate) => compute(aggregate, this.withComputed(aggregate, rows)));
      if (values.includes("overflow")) return null;
      out.push([...key, ...values]);
    }
    const { counted } = request;
    if (counted !== undefined) return [[BigInt(out.filter((key) => counted === "all" || !key.includes(null)).length)]];
    return out.reverse();
  }
}

function mod(a: bigint, b: bigint): bigint {
  return ((a % b) + b) % b;
}

/** NaN is greater than all other numbers. */
function compareValues(a: TestValue, b: TestValue): number {
  if (typeof a === "number" && typeof b === "number") {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    return a < b ? -1 : a > b ? 1 : 0;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

function satisfies(value: TestValue | null, predicate: Exclude<FieldPredicate, FieldCondition>): boolean {
  if (value === null) return false;
  if (predicate.operator === "in") return predicate.values.includes(value as string);
  const { operator, value: constant } = predicate;
  if (typeof value !== typeof constant) throw new Error(`a ${typeof value} is compared with a ${typeof constant}`);
  const order = compareValues(value, constant);
  return { "=": order === 0, "!=": order !== 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0 }[operator];
}

function compute({ fn, column }: Aggregate, rows: readonly FakeRow[]): TestValue | null {
  if (fn === "quantile") throw new Error("this table estimates no quantiles");
  if (column === null) return BigInt(rows.length);
  const present = rows.filter((row) => (row[column.name] ?? null) !== null);
  const values = present.map((row) => row[column.name]!);
  const byTime = [...present].sort((a, b) => compareValues(a["time"]!, b["time"]!));
  if (fn === "count") return BigInt(values.length);
  if (values.length === 0) return null;
  switch (fn) {
    case "sum":
    case "mean": {
      if (column.type === ColumnType.float) {
        const sum = (values as number[]).reduce((a, b) => a + b, 0);
        return fn === "sum" ? sum : sum / values.length;
      }
      const sum = (values as bigint[]).reduce((a, b) => a + b, 0n);
      if (fn === "mean") return Number(sum) / values.length;
      const fits = column.type === ColumnType.integer ? BigInt.asIntN(64, sum) === sum : BigInt.asUintN(64, sum) === sum;
      return fits ? sum : "overflow";
    }
    case "squares":
      return squaredDeviations(values.map(Number));
    case "min":
      return values.reduce((a, b) => (compareValues(a, b) <= 0 ? a : b));
    case "max":
      return values.reduce((a, b) => (compareValues(a, b) >= 0 ? a : b));
    case "minTime":
    case "maxTime": {
      const sign = fn === "minTime" ? 1 : -1;
      const best = values.reduce((a, b) => (sign * compareValues(a, b) <= 0 ? a : b));
      return byTime.find((row) => compareValues(row[column.name]!, best) === 0)!["time"]!;
    }
    case "first":
      return byTime[0]![column.name]!;
    case "last":
      return byTime.at(-1)![column.name]!;
    case "firstTime":
      return byTime[0]!["time"]!;
    case "lastTime":
      return byTime.at(-1)!["time"]!;
  }
}
