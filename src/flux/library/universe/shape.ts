// Columns and keys: `group`, `keep`, `drop`, `rename`, `duplicate`, `set`, `sort`, `columns`, `keys`, `keyValues`.
import { compareValues } from "../../interpret/operators.ts";
import { FluxColumn } from "../../tables/column.ts";
import { eachTable, type Tables } from "../../tables/stream.ts";
import { FluxTable, GroupKey, TableBuilder } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import { FluxRecord, isNull, kindOf, type Value } from "../../values/value.ts";
import { TableMerge } from "../merge-tables.ts";
import type { NativeBody, NativeCall } from "../native-call.ts";
import { operator, streamOf } from "../operator.ts";
import { PushedNode } from "./pushed.ts";

type KeepLabel = (label: string) => boolean;

export const group: NativeBody = (call) => {
  const mode = call.string("mode", "by");
  const columns = new Set(call.strings("columns", []));
  if (mode !== "by" && mode !== "except" && mode !== "") throw new FluxError(`invalid group mode: must be "by" or "except"`);
  const input = call.stream();
  const isBy = mode !== "except";
  const isPushed = input instanceof PushedNode && !input.state.isGrouped && !input.state.isWindowed && isBy;
  if (!isPushed)
    return streamOf(call, [input], ([tables]) =>
      groupTables(tables!, isBy ? (label) => columns.has(label) : (label) => !columns.has(label)),
    );
  // the storage keeps the bounds in the key
  const keep: KeepLabel = (label) => columns.has(label) || label === "_start" || label === "_stop";
  return new PushedNode("group", [input], call.site?.location ?? null, ([tables]) => groupTables(tables!, keep), {
    isGrouped: true,
    isWindowed: false,
  });
};

/** Rows by the values of the columns that `keep` wants. */
export function* groupTables(input: Tables, keep: KeepLabel): Tables {
  const merge = new TableMerge();
  for (const table of input) {
    yield null;
    if (table === null) continue;
    const inKey = table.columns.filter(({ label }) => keep(label));
    // rows of one table differ in key columns only where the old key does not hold them
    if (inKey.every(({ label }) => table.key.has(label))) {
      const columns = inKey.map(({ label }) => table.key.get(label)!);
      merge.append(new GroupKey(columns), table);
    } else splitRows(merge, table, inKey);
  }
  yield* merge.tables();
}

function splitRows(merge: TableMerge, table: FluxTable, inKey: readonly FluxColumn[]): void {
  const rowsOf = new Map<string, { readonly key: GroupKey; readonly rows: number[] }>();
  for (let row = 0; row < table.rowCount; row++) {
    const key = new GroupKey(inKey.map((column) => ({ label: column.label, type: column.type, value: column.get(row) })));
    let found = rowsOf.get(key.text);
    if (found === undefined) {
      found = { key, rows: [] };
      rowsOf.set(key.text, found);
    }
    found.rows.push(row);
  }
  for (const { key, rows } of rowsOf.values()) merge.append(key, table.take(Uint32Array.from(rows)));
}

/** Columns by a list or by a function of their label. */
function columnChoice(call: NativeCall, what: string): { readonly chosen: KeepLabel; readonly list: readonly string[] | null } {
  if (call.has("columns") === call.has("fn")) {
    throw new FluxError(
      call.has("fn")
        ? `${what} error: only one of the parameters 'columns' or 'fn' may be used`
        : `${what} error: neither column list nor predicate function provided`,
    );
  }
  if (call.has("columns")) {
    const list = call.strings("columns");
    const set = new Set(list);
    return { chosen: (label) => set.has(label), list };
  }
  const test = call.function("fn").prepare(["column"]);
  return { chosen: (label) => test(label) === true, list: null };
}

export const keep = operator((call) => {
  const { chosen } = columnChoice(call, "keep");
  return (input) => withColumns(input, chosen);
});

export const drop = operator((call) => {
  const { chosen } = columnChoice(call, "drop");
  return (input) => withColumns(input, (label) => !chosen(label));
});

/** Only the columns that `wanted` names; tables whose keys become equal are put together. */
export function* withColumns(input: Tables, wanted: KeepLabel): Tables {
  const merge = new TableMerge();
  const choices = new Map<string, boolean>();
  const choose = (label: string) => {
    let choice = choices.get(label);
    if (choice === undefined) {
      choice = wanted(label);
      choices.set(label, choice);
    }
    return choice;
  };
  for (const table of input) {
    yield null;
    if (table === null) continue;
    const columns = table.columns.filter(({ label }) => choose(label));
    merge.append(table.key.filter(choose), table.with(columns));
  }
  yield* merge.tables();
}

export const rename = operator((call) => {
  if (call.has("columns") === call.has("fn")) {
    throw new FluxError(
      call.has("fn")
        ? "rename error: both column list and map function provided"
        : "rename error: neither column list nor map function provided",
    );
  }
  const names = call.has("columns") ? call.record("columns") : null;
  const make = call.has("fn") ? call.function("fn").prepare(["column"]) : null;
  const renamed = (label: string): string => {
    const value = make === null ? (names!.get(label) ?? label) : make(label);
    if (typeof value !== "string") throw new FluxError("rename error: fn must return a string");
    return value;
  };
  return function* (input): Tables {
    const merge = new TableMerge();
    for (const table of input) {
      yield null;
      if (table === null) continue;
      for (const label of names?.labels() ?? []) {
        if (table.column(label) === undefined) throw new FluxError(`rename error: column "${label}" doesn't exist`);
      }
      merge.append(...renamedTable(table, renamed));
    }
    yield* merge.tables();
  };
});

function renamedTable(table: FluxTable, renamed: (label: string) => string): [GroupKey, FluxTable] {
  const columns = table.columns.map((column) => column.labelled(renamed(column.label)));
  const seen = new Set<string>();
  for (const { label } of columns) {
    if (seen.has(label)) throw new FluxError(`table builder already has column with label ${label}`);
    seen.add(label);
  }
  const key = new GroupKey(table.key.columns.map((column) => ({ ...column, label: renamed(column.label) })));
  return [key, table.with(columns)];
}

export const duplicate = operator((call) => {
  const column = call.string("column");
  const as = call.string("as");
  return function* (input): Tables {
    const merge = new TableMerge();
    for (const table of input) {
      yield null;
      if (table === null) continue;
      const source = table.column(column);
      if (source === undefined) throw new FluxError(`duplicate error: column "${column}" doesn't exist`);
      const made = table.set(source.labelled(as));
      const value = table.key.get(column);
      // a key column that is written over keeps its place in the key only with one value
      const key = table.key.has(as)
        ? value === undefined
          ? table.key.filter((label) => label !== as)
          : table.key.with({ ...value, label: as })
        : table.key;
      merge.append(key, made);
    }
    yield* merge.tables();
  };
});

export const set = operator((call) => {
  const values = FluxRecord.of({ [call.string("key")]: call.string("value") });
  return (input) => setColumns(input, values);
});

/** Columns with one value each, in place of those of their labels or at the end. */
export function* setColumns(input: Tables, values: FluxRecord): Tables {
  const merge = new TableMerge();
  for (const table of input) {
    yield null;
    if (table === null) continue;
    let made = table;
    let { key } = table;
    for (const [label, value] of values.entries()) {
      const type = kindOf(value) as FluxColumn["type"];
      made = made.set(FluxColumn.constant(label, type, value, table.rowCount));
      if (key.has(label)) key = key.with({ label, type, value });
    }
    merge.append(key, made);
  }
  yield* merge.tables();
}

export const sort = operator((call) => {
  const columns = call.strings("columns", ["_value"]);
  const isDescending = call.bool("desc", false);
  return (input) => eachTable(input, (table) => (table.isEmpty ? null : sorted(table, columns, isDescending)));
});

/** Nulls come first in both directions; rows that compare as equal keep their order. */
export function sorted(table: FluxTable, labels: readonly string[], isDescending: boolean): FluxTable {
  const columns = labels.flatMap((label) => (table.key.has(label) ? [] : (table.column(label) ?? [])));
  if (columns.length === 0) return table;
  const rows = Uint32Array.from({ length: table.rowCount }, (_, row) => row);
  const sign = isDescending ? -1 : 1;
  const order = Array.from(rows).sort((a, b) => {
    for (const column of columns) {
      const [aNull, bNull] = [column.isNull(a), column.isNull(b)];
      if (aNull || bNull) {
        if (aNull && bNull) continue;
        return aNull ? -1 : 1;
      }
      const compared = compareCells(column.get(a), column.get(b));
      if (compared !== 0 && !Number.isNaN(compared)) return sign * compared;
    }
    return a - b;
  });
  return table.take(Uint32Array.from(order));
}

export function compareCells(a: Value, b: Value): number {
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  return compareValues(a, b) ?? 0;
}

export const columns = operator((call) => {
  const column = call.string("column", "_value");
  return (input) =>
    eachTable(input, (table) =>
      labelTable(
        table.key,
        column,
        table.columns.map(({ label }) => label),
      ),
    );
});

export const keys = operator((call) => {
  const column = call.string("column", "_value");
  return (input) =>
    eachTable(input, (table) =>
      labelTable(
        table.key,
        column,
        table.key.columns.map(({ label }) => label),
      ),
    );
});

function labelTable(key: GroupKey, column: string, labels: readonly string[]): FluxTable {
  const builder = new TableBuilder(key);
  for (const { label, type } of key.columns) builder.column(label, type);
  builder.column(column, "string");
  for (const each of labels) {
    for (const { label, type, value } of key.columns) if (label !== column) builder.column(label, type).append(value);
    builder.column(column, "string").append(each);
    builder.endRow();
  }
  return builder.build();
}

export const keyValues = operator((call) => {
  const labels = call.strings("keyColumns");
  return (input) =>
    eachTable(input, (table) => {
      const sources = labels.map((label) => table.column(label));
      const first = sources[0];
      if (first === undefined) throw new FluxError(`no columns matched by keyColumns`);
      const builder = new TableBuilder(table.key);
      for (const { label, type } of table.key.columns) builder.column(label, type);
      const seen = new Set<string>();
      const add = (source: FluxColumn, value: Value) => {
        const text = JSON.stringify([source.label, String(isNull(value) ? null : value)]);
        if (seen.has(text)) return;
        seen.add(text);
        for (const { label, type, value: each } of table.key.columns) builder.column(label, type).append(each);
        builder.column("_key", "string").append(source.label);
        builder.column("_value", first.type).append(value);
        builder.endRow();
      };
      for (const source of sources) {
        if (source === undefined) continue;
        if (source.type !== first.type) throw new FluxError("keyColumns must all be of the same type");
        for (let row = 0; row < table.rowCount; row++) add(source, source.get(row));
      }
      return builder.build();
    });
});

export function emptyLike(table: FluxTable): FluxTable {
  return new FluxTable(
    table.key,
    table.columns.map((column) => column.slice(0, 0)),
    0,
  );
}
