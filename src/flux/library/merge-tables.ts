// Rows of several tables put together by their keys.

import { FluxColumn } from "../tables/column.ts";
import { ColumnBuilder } from "../tables/column-builder.ts";
import { inKeyOrder } from "../tables/key-order.ts";
import type { TableOrder, Tables } from "../tables/stream.ts";
import { FluxTable, type GroupKey, TableBuilder } from "../tables/table.ts";
import type { FluxColumnType } from "../values/column-type.ts";
import { FluxError } from "../values/flux-error.ts";

/** A table cannot have two columns of one label. @throws FluxError: the columns (of a key or a table) have the new label already */
export function checkNew(label: string, columns: readonly { readonly label: string }[]): void {
  if (columns.some((column) => column.label === label)) {
    throw new FluxError(`table builder already has column with label ${label}`);
  }
}

/** Tables by key. Columns of one label have to be of one type. */
export class TableMerge {
  /** The only table of its key stays as it is. */
  private readonly parts = new Map<string, TableBuilder | FluxTable>();
  /** Numbers of keys when a table of the input ended. */
  private readonly ends: number[] = [];
  /** Of the present table of the input. */
  number = 0;
  /** What has rows of it that are no piece yet. */
  private readonly begun = new Set<TableBuilder>();

  constructor(private readonly collides: typeof collision = collision) {}

  builder(key: GroupKey): TableBuilder {
    const made = this.found(key);
    this.begun.add(made);
    return made;
  }

  private found(key: GroupKey): TableBuilder {
    const found = this.parts.get(key.text);
    if (found instanceof TableBuilder) return found;
    const made = new TableBuilder(key);
    this.parts.set(key.text, made);
    if (found !== undefined) this.appendRows(made, found);
    return made;
  }

  append(key: GroupKey, table: FluxTable): void {
    this.appendNumbered(key, table.numbered(this.number));
  }

  /** @param table with numbers of its pieces */
  appendNumbered(key: GroupKey, table: FluxTable): void {
    if (this.parts.has(key.text)) this.appendRows(this.found(key), table);
    else this.parts.set(key.text, table.with(table.columns, key));
  }

  /** The next rows are those of another table. */
  endTable(): void {
    if (this.parts.size > (this.ends.at(-1) ?? 0)) this.ends.push(this.parts.size);
    this.endPieces();
    this.begun.clear();
    this.number++;
  }

  /** The next rows are those of another piece of the table. */
  endPieces(): void {
    for (const builder of this.begun) builder.endPiece(this.number);
  }

  private appendRows(builder: TableBuilder, table: FluxTable): void {
    // what was merged before stays whole
    for (const { label, type } of table.columns) {
      const target = builder.find(label);
      if (target !== undefined && target.type !== type) throw this.collides(label, target.type, type);
    }
    for (const column of table.columns) builder.column(column.label, column.type).appendColumn(column, 0, table.rowCount);
    const { pieceEnds, pieceNumbers, rowCount } = table;
    for (const [i, number] of pieceNumbers.entries()) builder.endPiece(number, builder.rowCount + (pieceEnds[i] ?? rowCount));
    builder.rowCount += rowCount;
    builder.fill();
  }

  *tables(order: TableOrder = "keys"): Tables {
    const parts = [...this.parts.values()];
    const ordered = order === "keys" ? inKeyOrder(parts) : order === "arrival" ? parts : this.byFirstRows(parts);
    for (const part of ordered) {
      const table = part instanceof TableBuilder ? part.build() : part;
      yield order === "first rows" ? table : table.withoutNumbers();
    }
  }

  /** Keys that are new in one table are in their own order. */
  private byFirstRows<T extends { readonly key: GroupKey }>(parts: readonly T[]): readonly T[] {
    const ordered: T[] = [];
    for (const end of [...this.ends, parts.length]) {
      for (const part of inKeyOrder(parts.slice(ordered.length, end))) ordered.push(part);
    }
    return ordered;
  }

  /** What was merged of a key, which is as new then. */
  protected taken(key: GroupKey): FluxTable {
    const part = this.parts.get(key.text)!;
    this.parts.delete(key.text);
    return part instanceof TableBuilder ? part.build() : part;
  }
}

/** The same with a further table of the key for rows whose columns are of other types. */
export class PieceMerge extends TableMerge {
  private readonly ended = new Map<string, FluxTable[]>();

  override appendNumbered(key: GroupKey, table: FluxTable): void {
    try {
      super.appendNumbered(key, table);
    } catch (error) {
      if (!(error instanceof CollisionError)) throw error;
      const ended = this.ended.get(key.text) ?? [];
      this.ended.set(key.text, ended);
      ended.push(this.taken(key));
      super.appendNumbered(key, table);
    }
  }

  override *tables(order?: TableOrder): Tables {
    for (const table of super.tables(order)) {
      yield* this.ended.get(table!.key.text) ?? [];
      yield table;
    }
  }
}

/** Columns of one label and of two types. */
export class CollisionError extends FluxError {}

/** The error for a column whose types differ between tables. */
export function collision(label: string, first: string, second: string): CollisionError {
  return new CollisionError(`schema collision detected: column "${label}" is both of type ${second} and ${first}`);
}

/** One table for each group key, with the rows of all tables that have it. */
export function* mergeTables(tables: readonly FluxTable[]): Tables {
  const merge = new TableMerge();
  for (const table of tables) {
    merge.append(table.key, table);
    yield null;
  }
  yield* merge.tables();
}

/** Whether the columns have one order, and the same types. */
export function haveEqualColumns(a: FluxTable, b: FluxTable): boolean {
  return a.columns.length === b.columns.length && a.columns.every(({ label, type }, i) => isColumn(b.columns[i]!, label, type));
}

function isColumn(column: FluxColumn, label: string, type: FluxColumnType): boolean {
  return column.label === label && column.type === type;
}

/** The rows of tables with equal columns, one table behind the other, under the key of the first. */
export function* inOneTable(tables: readonly FluxTable[]): Generator<null, FluxTable, void> {
  const [first] = tables;
  if (tables.length === 1) return first!;
  const rowCount = tables.reduce((sum, table) => sum + table.rowCount, 0);
  const columns: FluxColumn[] = [];
  for (const [i, column] of first!.columns.entries()) {
    const parts = tables.map((table) => table.columns[i]!);
    columns.push(parts.every((part) => isSameConstant(part, column)) ? constantOf(column, rowCount) : yield* joinedColumn(parts, rowCount));
  }
  return new FluxTable(first!.key, columns, rowCount);
}

function isSameConstant(a: FluxColumn, b: FluxColumn): boolean {
  return a.mask === 0 && b.mask === 0 && a.valid === null && b.valid === null && Object.is(a.cells[0], b.cells[0]);
}

function constantOf({ label, type, cells, valid }: FluxColumn, length: number): FluxColumn {
  return new FluxColumn(label, type, cells, valid, length, 0);
}

function* joinedColumn(parts: readonly FluxColumn[], rowCount: number): Generator<null, FluxColumn, void> {
  const builder = new ColumnBuilder(parts[0]!.label, parts[0]!.type, rowCount);
  for (const part of parts) {
    builder.appendColumn(part, 0, part.length);
    yield null;
  }
  return builder.build();
}
