// Rows by the values of columns, from tables with any keys.
import { RowNumbers } from "../tables/row-numbers.ts";
import type { TableOrder, Tables } from "../tables/stream.ts";
import { FluxTable, GroupKey } from "../tables/table.ts";
import { PiecesError } from "../values/flux-error.ts";
import { rowsAsTheyCame } from "./arrival.ts";
import { CollisionError, haveEqualColumns, inOneTable, TableMerge } from "./merge-tables.ts";
import { inputErrorOf } from "./operator.ts";

/** Which columns stay, or are in the key. */
export type KeepLabel = (label: string) => boolean;

/** Rows by the values of the columns that `keep` wants. */
export function* groupTables(input: Tables, keep: KeepLabel, order?: TableOrder, merge: TableMerge = new TableMerge()): Tables {
  try {
    yield* groupRows(input, keep, merge);
  } catch (error) {
    const cause = inputErrorOf(error) ?? error;
    throw cause instanceof CollisionError || cause instanceof PiecesError ? new PiecesError(cause.message) : error;
  }
  yield* merge.tables(order);
}

function* groupRows(input: Tables, keep: KeepLabel, merge: TableMerge): Tables {
  /** Tables with equal columns, whose rows are split together: there may be as many groups as rows, and each table may have all of them.
   *  Null: there were others, and each table is split when it comes. */
  let waiting: FluxTable[] | null = [];
  for (const table of rowsAsTheyCame(input)) {
    yield null;
    if (table === null) continue;
    const inKey = table.columns.filter(({ label }) => keep(label));
    // rows of one table differ in key columns only where the old key does not hold them
    const isWhole = inKey.every(({ label }) => table.key.has(label));
    if (waiting !== null && (isWhole || (waiting.length > 0 && !haveEqualColumns(waiting[0]!, table)))) {
      yield* splitRows(merge, waiting, keep);
      waiting = null;
    }
    if (isWhole) {
      const columns = inKey.map(({ label }) => table.key.get(label)!);
      merge.append(new GroupKey(columns), table);
      merge.endTable();
    } else if (waiting === null) yield* splitRows(merge, [table], keep);
    else waiting.push(table);
  }
  if (waiting !== null) yield* splitRows(merge, waiting, keep);
}

/** Rows, and tables, between two pauses. */
const PART_ROWS = 65_536;
const PART_TABLES = 1024;

function* splitRows(merge: TableMerge, tables: readonly FluxTable[], keep: KeepLabel): Generator<null, void, void> {
  if (tables.length === 0) return;
  const table = yield* inOneTable(tables);
  const inKey = table.columns.filter(({ label }) => keep(label));
  const { rowCount } = table;
  const numbers = new RowNumbers(inKey.length);
  const groups = new Uint32Array(rowCount);
  for (let from = 0; from < rowCount; from += PART_ROWS) {
    groups.set(numbers.add(inKey, from, Math.min(rowCount, from + PART_ROWS)), from);
    yield null;
  }
  const ends = new Uint32Array(numbers.count);
  for (const group of groups) ends[group]!++;
  for (let group = 1; group < ends.length; group++) ends[group]! += ends[group - 1]!;
  // from the last row back, so that rows of one group keep their order
  const rows = new Uint32Array(rowCount);
  const starts = ends.slice();
  for (let row = rowCount - 1; row >= 0; row--) rows[--starts[groups[row]!]!] = row;
  const tableEnds: number[] = [];
  for (const { rowCount: count } of tables) tableEnds.push((tableEnds.at(-1) ?? 0) + count);
  const base = merge.number;
  let first = 0;
  for (let group = 0; group < ends.length; group++) {
    const taken = rows.subarray(starts[group], ends[group]);
    for (; taken[0]! >= tableEnds[first]!; first++) merge.endTable();
    const key = new GroupKey(inKey.map((column) => ({ label: column.label, type: column.type, value: column.get(taken[0]!) })));
    // what a group has of each table is a piece
    const [pieceEnds, numbers]: [number[], number[]] = [[], []];
    for (let [from, at] = [0, first]; from < taken.length; at++) {
      const begin = from;
      while (from < taken.length && taken[from]! < tableEnds[at]!) from++;
      if (from === begin) continue;
      pieceEnds.push(from);
      numbers.push(base + at);
    }
    const rowsOf = table.take(taken);
    if (numbers.length === 1) merge.appendNumbered(key, rowsOf.numbered(numbers[0]!));
    else merge.appendNumbered(key, new FluxTable(key, rowsOf.columns, taken.length, pieceEnds, numbers));
    if (group % PART_TABLES === PART_TABLES - 1) yield null;
  }
  merge.number = base + tables.length - 1;
  merge.endTable();
}
