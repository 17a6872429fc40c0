// DESCRIBE of a query: the columns of its result with the vendor's type names.
import type { ResultBatch, ResultField, TimeUnit } from "../../model/query/result-batch.ts";
import { COLUMN_TYPE_LABEL, ColumnType } from "../../model/rows/column.ts";
import type { OutputColumn } from "../bind/scope.ts";
import { DICTIONARY, NULL_TYPE } from "../bind/type-notes.ts";
import { textBatch } from "./text-batch.ts";

export const DESCRIBE_FIELDS: readonly ResultField[] = ["column_name", "data_type", "is_nullable"].map(
  (name): ResultField => ({ name, type: { kind: "utf8" } }),
);

/** @param outputs the rewriter's knowledge, in the order of `fields`; null if it does not know the columns */
export function describedColumns(fields: readonly ResultField[], outputs: readonly OutputColumn[] | null): ResultBatch {
  return textBatch(
    fields.map((field, i) => {
      const output = outputs?.[i];
      const hasNoNulls = field.hasNoNulls === true || output?.isPresent === true;
      return [field.name, output?.arrow ?? typeName(field), hasNoNulls ? "NO" : "YES"];
    }),
  );
}

const UNITS: Readonly<Record<TimeUnit, string>> = { s: "s", ms: "ms", us: "µs", ns: "ns" };

function typeName({ type, columnKind, isDictionary }: ResultField): string {
  switch (type.kind) {
    case "null":
      return NULL_TYPE;
    case "bool":
      return "Boolean";
    case "int":
      return `${type.signed ? "Int" : "UInt"}${type.bits}`;
    case "hugeint":
      return "Int64";
    case "float":
      return `Float${type.bits}`;
    case "decimal":
      return `Decimal128(${type.precision}, ${type.scale})`;
    case "utf8":
      return (isDictionary ?? columnKind === COLUMN_TYPE_LABEL[ColumnType.tag]) ? DICTIONARY : "Utf8";
    case "dictionary":
      return DICTIONARY;
    case "binary":
      return "Binary";
    case "timestamp":
      return `Timestamp(${UNITS[type.unit]}${type.zone === null ? "" : `, "${type.zone}"`})`;
    case "date":
      return "Date32";
    case "time":
      return `Time64(${UNITS[type.unit]})`;
    case "duration":
      return `Duration(${UNITS[type.unit]})`;
    case "interval":
      return "Interval(MonthDayNano)";
    case "list":
      return `List(${typeName(type.child)})`;
    case "struct":
      return `Struct(${type.children.map((child) => `"${child.name}": ${typeName(child)}`).join(", ")})`;
    case "map":
      return `Map("entries": non-null Struct("key": non-null ${typeName(type.key)}, "value": ${typeName(type.value)}), unsorted)`;
  }
}
