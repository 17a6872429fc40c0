// `filter` and `map` of a table by loops over its columns, a part of the rows at a time. Null stands for a pause.
import { Closure } from "../interpret/closure.ts";
import { labelOf } from "../interpret/labels.ts";
import { valuesEqual } from "../interpret/operators.ts";
import type { Expression, Property } from "../parse/ast.ts";
import { FluxColumn } from "../tables/column.ts";
import { ColumnBuilder } from "../tables/column-builder.ts";
import { FluxTable, GroupKey, type KeyColumn } from "../tables/table.ts";
import type { FluxFunction } from "../values/value.ts";
import { columnOfLane, constantLane, type Lane, laneOf, NOT_COMPILED, NotCompiled } from "./lanes.ts";
import { type Names, type Operand, RowEvaluator } from "./row-evaluator.ts";

/** Rows of a part: its lanes fit into a processor's cache. */
const PART_ROWS = 8192;

/** Runs `compute`; null when the interpreter has to do it. */
export function* compiled<T>(compute: () => Generator<null, T>): Generator<null, T | null> {
  try {
    return yield* compute();
  } catch (error) {
    if (error instanceof NotCompiled) return null;
    throw error;
  }
}

/** Numbers of the rows for which the function is true. @throws NotCompiled */
export function* matchingRows(table: FluxTable, fn: FluxFunction): Generator<null, Uint32Array> {
  const rows = new Uint32Array(table.rowCount);
  let count = 0;
  for (const { lane, from, to } of partsOf(table, fn)) {
    if (lane.type !== "bool") throw NOT_COMPILED;
    const cells = lane.cells as Uint8Array;
    const { valid, mask } = lane;
    for (let i = 0; i < to - from; i++) {
      rows[count] = from + i;
      count += valid === null ? cells[i & mask]! : cells[i & mask]! & valid[i & mask]!;
    }
    yield null;
  }
  return rows.subarray(0, count);
}

function* partsOf(table: FluxTable, fn: FluxFunction): Generator<{ readonly lane: Lane; readonly from: number; readonly to: number }> {
  const evaluator = new RowEvaluator(false, true);
  for (let from = 0; from < table.rowCount; from += PART_ROWS) {
    const to = Math.min(table.rowCount, from + PART_ROWS);
    evaluator.moveTo(from, to);
    yield { lane: withRows(evaluator, fn, { r: table }, (body, names) => evaluator.lane(body, names)), from, to };
  }
}

function withRows<T>(
  evaluator: RowEvaluator,
  fn: FluxFunction,
  tables: Readonly<Record<string, FluxTable>>,
  use: (body: Expression, names: Names) => T,
): T {
  if (!(fn instanceof Closure)) throw NOT_COMPILED;
  const parameters = Object.entries(tables).map(([name, rows]) => [name, { rows }] as const);
  return evaluator.withBody(fn, new Map<string, Operand>(parameters), use);
}

/** The rows that the function makes: columns by label, under the key that is left. @throws NotCompiled */
export function* mappedTable(table: FluxTable, fn: FluxFunction, keepsOrder: boolean): Generator<null, FluxTable> {
  const columns = yield* madeColumns(fn, { r: table }, table.rowCount, keepsOrder);
  const kept: KeyColumn[] = [];
  for (const { label } of table.key.columns) {
    const column = columns.get(label);
    // a null without a type in place of a column is no longer the column of the key
    if (column === null) throw NOT_COMPILED;
    if (column === undefined) continue;
    if (!isConstant(column)) throw NOT_COMPILED;
    kept.push({ label, type: column.type, value: column.get(0) });
  }
  return tableOf(keepsOrder ? new GroupKey(kept) : new GroupKey(kept).inOrder(), columns, table.rowCount, keepsOrder);
}

/** The rows that the function makes of the rows of two tables, row by row, under their key. @throws NotCompiled */
export function* joinedTable(key: GroupKey, l: FluxTable, r: FluxTable, fn: FluxFunction): Generator<null, FluxTable> {
  const columns = yield* madeColumns(fn, { l, r }, l.rowCount);
  for (const { label, value } of key.columns) {
    const column = columns.get(label) ?? null;
    if (column === null || !isConstant(column) || !valuesEqual(column.get(0), value)) throw NOT_COMPILED;
  }
  return tableOf(key, columns, l.rowCount);
}

function tableOf(key: GroupKey, columns: ReadonlyMap<string, FluxColumn | null>, rowCount: number, keepsOrder = false): FluxTable {
  const made = [...columns.values()].filter((column) => column !== null);
  return new FluxTable(key, keepsOrder ? made : made.sort((a, b) => (a.label < b.label ? -1 : 1)), rowCount);
}

/** The columns of the record that the function makes, by label; null for one of nulls without a type. */
function* madeColumns(
  fn: FluxFunction,
  tables: Readonly<Record<string, FluxTable>>,
  rowCount: number,
  isOfColumns = false,
): Generator<null, Map<string, FluxColumn | null>> {
  const columns = new Map<string, FluxColumn | null>();
  const evaluator = new RowEvaluator(isOfColumns);
  const made = withRows(evaluator, fn, tables, (body, names) => {
    const { record, names: inner } = evaluator.recordOf(body, names);
    if (record.with !== undefined) {
      const base = evaluator.operand(record.with, inner);
      if (!("rows" in base)) throw NOT_COMPILED;
      for (const { label } of base.rows.columns) columns.set(label, evaluator.column(base.rows, label));
    }
    // the last one of a label counts
    return new Map(record.properties.map((property) => [labelOf(property.key), { property, names: inner }] as const));
  });
  for (const [label, { property, names }] of made) {
    const same = evaluator.sameColumn(property, names);
    columns.set(label, same?.labelled(label) ?? (yield* madeColumn(evaluator, label, property, names, rowCount)));
  }
  return columns;
}

function* madeColumn(
  evaluator: RowEvaluator,
  label: string,
  property: Property,
  names: Names,
  rowCount: number,
): Generator<null, FluxColumn | null> {
  const parts = new LaneColumn(label, rowCount);
  for (let from = 0; from < rowCount && !parts.isWhole; from += PART_ROWS) {
    evaluator.moveTo(from, Math.min(rowCount, from + PART_ROWS));
    const operand = evaluator.property(property, names);
    const lane = "cells" in operand ? operand : "value" in operand ? constantLane(operand.value) : null;
    if (lane === null) throw NOT_COMPILED;
    parts.add(lane, evaluator.rowCount);
    yield null;
  }
  return parts.build();
}

/** The lanes of all parts as one column. */
class LaneColumn {
  private builder: ColumnBuilder | null = null;
  /** Parts of a column of texts without nulls: put together at once, they are copied once. */
  private readonly texts: string[][] = [];
  private whole: Lane | null = null;
  private type: Lane["type"] | null = null;

  constructor(
    private readonly label: string,
    private readonly rowCount: number,
  ) {}

  /** A constant, or all rows at once: nothing can follow. */
  get isWhole(): boolean {
    return this.whole !== null;
  }

  add(lane: Lane, rowCount: number): void {
    if (this.type !== null && this.type !== lane.type) throw NOT_COMPILED;
    const isFirst = this.type === null;
    this.type = lane.type;
    if (isFirst && (rowCount === this.rowCount || lane.mask === 0)) {
      this.whole = lane;
      return;
    }
    if (lane.type === "invalid") throw NOT_COMPILED;
    if (lane.type === "string" && lane.valid === null && this.builder === null) {
      this.texts.push(lane.mask === 0 ? new Array<string>(rowCount).fill((lane.cells as string[])[0]!) : (lane.cells as string[]));
      return;
    }
    // a column either has nulls in its first part already, or none at all
    if (this.texts.length > 0) throw NOT_COMPILED;
    this.builder ??= new ColumnBuilder(this.label, lane.type, this.rowCount);
    this.builder.appendColumn(columnOfLane(this.label, lane, rowCount), 0, rowCount);
  }

  /** Null for nulls without a type. */
  build(): FluxColumn | null {
    if (this.type === "invalid") return null;
    if (this.whole !== null) return columnOfLane(this.label, this.whole, this.rowCount);
    if (this.builder !== null) return this.builder.build();
    const none: string[] = [];
    return new FluxColumn(this.label, "string", none.concat(...this.texts), null, this.rowCount);
  }
}

function isConstant(column: FluxColumn): boolean {
  if (column.mask === 0 || column.length === 1) return true;
  const { cells, valid } = laneOf(column, 0, column.length);
  for (let i = 1; i < column.length; i++) {
    if (valid !== null && valid[i] !== valid[0]) return false;
    if (cells[i] !== cells[0] && (valid === null || valid[i] === 1)) return false;
  }
  return true;
}
