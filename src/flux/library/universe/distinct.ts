// `distinct`: the values of a column, each once.
import type { ScriptRun } from "../../interpret/script-run.ts";
import { FluxColumn } from "../../tables/column.ts";
import { eachTable, type Tables } from "../../tables/stream.ts";
import { FluxTable } from "../../tables/table.ts";
import { checkNew } from "../merge-tables.ts";
import { asInput, operator } from "../operator.ts";
import { labelList, listedRows, ordered, textsOf } from "../plan/label-list.ts";
import { RowsOperation } from "../plan/operations.ts";
import { reducedOr } from "../plan/reduced.ts";
import { tagList } from "../plan/series-list.ts";
import { WindowRows } from "../windows/window-rows.ts";
import { rowsOfKey } from "./aggregates.ts";
import { PushedNode } from "./pushed.ts";
import { firstRows, uniqueRows } from "./selectors.ts";

export const distinct = operator(
  (call) => {
    const label = call.string("column", "_value");
    const source = call.stream();
    return (input, run) => {
      const rows = label === "_value" ? listedRows(source) : null;
      if (rows !== null) return labelList(input, rows, run);
      const all = () => eachTable(input, (table) => distinctTable(table, label));
      // a series has one value of any other column, so one of its rows tells
      if (label === "_value" || label === "_time" || !(source instanceof PushedNode)) return all();
      return distinctOfSeries(source, label, run, all);
    };
  },
  "tables",
  (call) => {
    const label = call.string("column", "_value");
    return { operation: new RowsOperation((rows) => distinctRows(rows, label)) };
  },
);

/** What the source says of the values, or what one row of each series has. */
function* distinctOfSeries(source: PushedNode, label: string, run: ScriptRun, all: () => Tables): Tables {
  const { describe, reduce, isOneTable } = source;
  const question = { kind: "values", tag: label, withAbsent: false } as const;
  // what the index lists is a table even if it is empty, and the tag's absence is no value
  const { listedTag } = source;
  const isListed = listedTag?.tag === label;
  if (isListed && source.testsFields) return yield* tagList(listedTag.series, label)(opened(listedTag.series, run), run);
  const answer = isOneTable && describe !== null && run.pushesDown ? yield* asInput(describe(run, question, [])) : null;
  // without texts there may be rows without the tag, or none
  if (answer !== null && (isListed || answer.texts.size > 0)) yield ordered(answer.texts);
  else {
    const ofRows = isListed ? () => listOf(all()) : all;
    if (reduce === null) return yield* ofRows();
    const reduction = { fn: "first", runs: null, ownTimes: false } as const;
    const distinctOf = (tables: Tables) => eachTable(tables, (table) => distinctTable(table, label));
    yield* reducedOr(run, reduce, reduction, isListed ? (tables) => listOf(distinctOf(tables)) : distinctOf, ofRows);
  }
}

/** Opened when it is read. */
function* opened(source: PushedNode, run: ScriptRun): Tables {
  yield* source.open(run);
}

/** The texts among distinct values in one table, even if there are none. */
function* listOf(tables: Tables): Tables {
  yield ordered(yield* textsOf(tables));
}

function* distinctRows(rows: WindowRows, label: string): Generator<null, WindowRows | null, void> {
  // windows without rows have the key's value, too
  if (rows.table.key.has(label)) return null;
  const found = yield* uniqueRows(rows, label);
  if (found === null || found.table.key.has("_value")) return null;
  return new WindowRows(withValues(found.table, found.column(label)!), null, found.ends, found.times);
}

/** The values of the column, each once; one empty text without the column. */
export function distinctTable(table: FluxTable, label: string): FluxTable {
  checkNew("_value", table.key.columns);
  // all rows have the key's value, and an empty table has it, too
  const ofKey = table.key.columns.find((each) => each.label === label);
  if (ofKey !== undefined) return rowsOfKey(table, FluxColumn.constant("_value", ofKey.type, ofKey.value, 1));
  const column = table.column(label);
  if (column === undefined) return rowsOfKey(table, FluxColumn.constant("_value", "string", "", 1));
  return withValues(table, column.take(Uint32Array.from(firstRows(column, 0, column.length))));
}

/** The columns of the key, and the values. */
function withValues(table: FluxTable, column: FluxColumn): FluxTable {
  const values = column.labelled("_value");
  const keys = table.key.columns.map(({ label: each, type, value }) => FluxColumn.constant(each, type, value, values.length));
  return new FluxTable(table.key, [...keys, values], values.length);
}
