// The schema of an InfluxQL answer over Flight: clients create points from its rows by the columns' kinds, and series by its group key.

import type { ResultField, ResultSchema, ResultType } from "../../model/query/result-batch.ts";
import { COLUMN_TYPE_LABEL, ColumnType } from "../../model/rows/column.ts";
import { MEASUREMENT_COLUMN, type PieceRows } from "./piece-rows.ts";

const GROUP_KEY = "iox::influxql::group_key::metadata";
/** Position of the first column. */
const MEASUREMENT_AT = 0;
const TIME_AT = 1;

/** Every column has a kind; measurement and time are never NULL. */
export function flightSchema({ schema, groupKeys }: Pick<PieceRows, "schema" | "groupKeys">): ResultSchema {
  const columns = groupKeys.map(({ name: key, kind, isSelected }) => ({
    tag_key: key,
    // if two columns have this name, the group's is a tag, or the first
    column_index: schema.fields.findIndex(({ name, columnKind }) => name === key && columnKind === kind),
    is_projected: isSelected,
  }));
  const groupKey = JSON.stringify({ measurement_column_index: MEASUREMENT_AT, tag_key_columns: columns });
  return { ...schema, fields: schema.fields.map(fieldAt), metadata: new Map([[GROUP_KEY, groupKey]]) };
}

function fieldAt(field: ResultField, at: number): ResultField {
  if (at === MEASUREMENT_AT && field.name === MEASUREMENT_COLUMN) return { ...field, columnKind: label(ColumnType.tag), hasNoNulls: true };
  if (at === TIME_AT && field.type.kind === "timestamp") return { ...field, columnKind: label(ColumnType.time), hasNoNulls: true };
  const type = columnTypeOf(field.type);
  return type === null || field.columnKind !== undefined ? field : { ...field, columnKind: label(type) };
}

const label = (type: ColumnType) => COLUMN_TYPE_LABEL[type];

/** Null: a column without values, of unknown type. */
function columnTypeOf(type: ResultType): ColumnType | null {
  switch (type.kind) {
    case "int":
      return type.signed ? ColumnType.integer : ColumnType.unsigned;
    case "float":
      return ColumnType.float;
    case "bool":
      return ColumnType.boolean;
    case "timestamp":
      return ColumnType.time;
    case "null":
      return null;
    default:
      return ColumnType.string;
  }
}
