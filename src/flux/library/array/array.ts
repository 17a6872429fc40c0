// Package `array`: lists, and tables from lists of records.
import { ITEM_BYTES } from "../../interpret/run-limits.ts";
import { FluxColumn } from "../../tables/column.ts";
import type { FluxTable } from "../../tables/table.ts";
import { GroupKey, TableBuilder } from "../../tables/table.ts";
import { COLUMN_TYPES, type FluxColumnType } from "../../values/column-type.ts";
import { FluxError, UnplacedError } from "../../values/flux-error.ts";
import { FluxArray, FluxRecord, kindOf, type Value } from "../../values/value.ts";
import type { LibraryPackage, NativeCall } from "../native-call.ts";
import { streamOf } from "../operator.ts";
import { rowError } from "../row-errors.ts";
import { typeText } from "../universe/conversions.ts";

/** One table without a key; columns come in the order of the first record. */
function tableOfRecords(rows: readonly Value[]): FluxTable {
  const builder = new TableBuilder(GroupKey.NONE);
  const first = rows[0];
  if (!(first instanceof FluxRecord)) throw new FluxError("rows must be records");
  const labels = [...first.labels()];
  for (const label of labels) builder.column(label, columnType(first.get(label)!));
  for (const row of rows) {
    if (!(row instanceof FluxRecord)) throw new FluxError("rows must be records");
    for (const column of builder.columns) {
      const value = row.get(column.label);
      if (value !== undefined) column.append(value);
    }
    builder.endRow();
  }
  return builder.build();
}

function columnType(value: Value): FluxColumnType {
  const kind = kindOf(value);
  if ((COLUMN_TYPES as readonly string[]).includes(kind)) return kind as FluxColumnType;
  throw new UnplacedError(`cannot represent the type ${typeText(value)} as column data`);
}

export const ARRAY: LibraryPackage = {
  path: "array",
  name: "array",
  source: `
builtin from : (<-rows: [A]) => stream[A] where A: Record
builtin concat : (<-arr: [A], v: [A]) => [A]
builtin map : (<-arr: [A], fn: (x: A) => B) => [B]
builtin filter : (<-arr: [A], fn: (x: A) => bool) => [A]
`,
  natives: {
    from: (call) => {
      const { items } = call.array("rows");
      if (items.length === 0) throw new FluxError("rows must be non-empty");
      const table = tableOfRecords(items);
      return streamOf(call, [], () => [table]);
    },
    concat: (call) => {
      const [first, second] = [call.array("arr"), call.array("v")];
      call.run.use.charge((first.items.length + second.items.length) * ITEM_BYTES);
      return new FluxArray([...first.items, ...second.items], first.like ?? second.like);
    },
    map: (call) => {
      const list = call.array("arr");
      // as recorded: what is made of a list without items has the type of its items
      return new FluxArray(list.items.map(itemFunction(call)), list.like);
    },
    filter: (call) => {
      const list = call.array("arr");
      const test = itemFunction(call);
      return new FluxArray(
        list.items.filter((item) => test(item) === true),
        list.like,
      );
    },
  },
};

/** The argument `fn`. @throws FluxError: what is wrong with its types is worded as for rows */
function itemFunction(call: NativeCall): (item: Value) => Value {
  const fn = call.function("fn");
  const make = fn.prepare(["x"], "values");
  return (item) => {
    try {
      return make(item);
    } catch (error) {
      throw rowError("item", fn, error);
    }
  };
}

/** The columns of a group key, with the same value in all rows. */
export function constantColumns(key: GroupKey, length: number): FluxColumn[] {
  return key.columns.map(({ label, type, value }) => FluxColumn.constant(label, type, value, length));
}
