// Answers GetXdbcTypeInfo: the SQL types of columns, for JDBC and ODBC drivers.
import { Bool, Field, Int32, List, type Schema, Utf8 } from "apache-arrow";
import { type AnswerTable, answerTable, schemaOf } from "./answer-table.ts";

/** enum XdbcDataType */
const XDBC = { decimal: 3, integer: 4, float: 6, varchar: 12, timestamp: 93, interval: 10, bigint: -5, bit: -7, double: 8 } as const;
const NULLABLE = 1;
/** Searchable by every operator. */
const SEARCHABLE = 3;
const LENGTH_MAX = 2147483647;

const text = new Utf8();
const int = new Int32();
const flag = new Bool();
export const TYPE_INFO_SCHEMA: Schema = schemaOf({
  type_name: text,
  data_type: int,
  "column_size?": int,
  "literal_prefix?": text,
  "literal_suffix?": text,
  "create_params?": new List(new Field("item", text, false)),
  nullable: int,
  case_sensitive: flag,
  searchable: int,
  "unsigned_attribute?": flag,
  fixed_prec_scale: flag,
  "auto_increment?": flag,
  "local_type_name?": text,
  "minimum_scale?": int,
  "maximum_scale?": int,
  sql_data_type: int,
  "datetime_subcode?": int,
  "num_prec_radix?": int,
  "interval_precision?": int,
});

interface SqlType {
  readonly name: string;
  readonly id: number;
  /** Bits of a number, characters of other types; null where meaningless. */
  readonly size: number | null;
  readonly isNumber?: boolean;
  readonly isUnsigned?: boolean;
  readonly isQuoted?: boolean;
  readonly isCaseSensitive?: boolean;
  readonly parameters?: readonly string[];
  readonly subcode?: number;
}

/** Sorted by id and name, like the answer. */
const TYPES: readonly SqlType[] = [
  { name: "BOOLEAN", id: XDBC.bit, size: 1 },
  { name: "BIGINT", id: XDBC.bigint, size: 64, isNumber: true },
  { name: "BIGINT UNSIGNED", id: XDBC.bigint, size: 64, isNumber: true, isUnsigned: true },
  { name: "INTEGER", id: XDBC.integer, size: 32, isNumber: true },
  { name: "FLOAT", id: XDBC.float, size: 24, isNumber: true },
  { name: "DOUBLE", id: XDBC.double, size: 53, isNumber: true },
  { name: "INTERVAL", id: XDBC.interval, size: LENGTH_MAX, isQuoted: true, subcode: 0 },
  { name: "VARCHAR", id: XDBC.varchar, size: LENGTH_MAX, isQuoted: true, isCaseSensitive: true, parameters: ["length"] },
  { name: "TIMESTAMP", id: XDBC.timestamp, size: LENGTH_MAX, isQuoted: true },
];

/** All types, or those of one id. */
export function typeInfo(dataType: number | undefined): AnswerTable {
  return answerTable(TYPE_INFO_SCHEMA, TYPES.filter(({ id }) => dataType === undefined || id === dataType).map(rowOf));
}

function rowOf(type: SqlType): unknown[] {
  const { name, id, size, isNumber = false, isUnsigned = false, isQuoted = false, isCaseSensitive = false, parameters, subcode } = type;
  const quote = isQuoted ? "'" : null;
  const row = [name, id, size, quote, quote, parameters ?? null, NULLABLE, isCaseSensitive, SEARCHABLE, isNumber ? isUnsigned : null];
  return [...row, false, isNumber ? false : null, name, null, null, id, subcode ?? null, isNumber ? 2 : null, null];
}
