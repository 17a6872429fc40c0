// Answers GetSqlInfo: properties of this server and its SQL, numbered by Flight SQL's enum SqlInfo.
import {
  Bool,
  type Data,
  DenseUnion,
  Field,
  Int32,
  Int64,
  List,
  Map_,
  makeData,
  type Schema,
  Struct,
  Uint32,
  Utf8,
  vectorFromArray,
} from "apache-arrow";
import { LIMITS } from "../../../model/limits.ts";
import { STATEMENT_LIMITS } from "../../../model/query/statement-limits.ts";
import { type AnswerTable, schemaOf } from "./answer-table.ts";
import { DATETIME_FUNCTIONS, KEYWORDS, NUMERIC_FUNCTIONS, STRING_FUNCTIONS, SYSTEM_FUNCTIONS } from "./sql-words.ts";

type Info = string | boolean | bigint | number | readonly string[] | ReadonlyMap<number, readonly number[]>;

/** enum SqlSupportedCaseSensitivity */
const LOWERCASE = 3;
const CASE_INSENSITIVE = 1;
const NULLS_SORTED_HIGH = 0;
const CORE_GRAMMAR = 0b10;
const ALL_OF_ANSI92 = 0b111;
const FULL_OUTER_JOINS = 2;
const ALL_SUBQUERIES = 0b1111;
const ALL_UNIONS = 0b11;
const ALL_GROUP_BY = 0b11;
/** Used where no specific limit exists: the maximum length of an Arrow string. */
const LENGTH_MAX = 2147483647n;

/** enum SqlSupportsConvert, for types that columns have. */
const CONVERT = {
  bigint: 0,
  decimal: 5,
  float: 6,
  integer: 7,
  real: 13,
  smallint: 14,
  timestamp: 16,
  tinyint: 17,
  varchar: 19,
  date: 4,
  bit: 2,
};
const NUMBERS = [CONVERT.bigint, CONVERT.decimal, CONVERT.float, CONVERT.integer, CONVERT.real, CONVERT.smallint, CONVERT.tinyint];
const CONVERSIONS: ReadonlyMap<number, readonly number[]> = new Map([
  ...NUMBERS.map((from): [number, number[]] => [from, [...NUMBERS, CONVERT.bit, CONVERT.varchar]]),
  [CONVERT.bit, [...NUMBERS, CONVERT.varchar]],
  [CONVERT.varchar, [...NUMBERS, CONVERT.bit, CONVERT.date, CONVERT.timestamp]],
  [CONVERT.date, [CONVERT.timestamp, CONVERT.varchar]],
  [CONVERT.timestamp, [CONVERT.date, CONVERT.bigint, CONVERT.varchar]],
]);

const INFO: ReadonlyMap<number, Info> = new Map<number, Info>([
  // the server
  [0, "InfluxDB IOx"], // clients match on this name
  [1, "2"],
  [2, "1.3"], // version of the Arrow format
  [3, true], // read only
  [4, true], // SQL
  [5, false], // Substrait
  [8, 0], // transactions: none
  [9, false], // CancelQuery
  [100, 0], // prepared statements have no timeout
  [101, 0],
  // the syntax
  [500, false], // CREATE and DROP of catalogs
  [501, false], // of schemas
  [502, false], // of tables
  [503, LOWERCASE],
  [504, '"'],
  [505, CASE_INSENSITIVE],
  [506, true], // all tables are selectable
  [507, NULLS_SORTED_HIGH],
  [508, KEYWORDS],
  [509, NUMERIC_FUNCTIONS],
  [510, STRING_FUNCTIONS],
  [511, SYSTEM_FUNCTIONS],
  [512, DATETIME_FUNCTIONS],
  [513, "\\"], // escapes % and _
  [514, ""], // extra characters of names
  [515, true], // column aliases
  [516, true], // NULL || 'a' is NULL
  [517, CONVERSIONS],
  [518, true], // table aliases
  [519, false], // that must differ from names of tables
  [520, true], // expressions in ORDER BY
  [521, true], // ORDER BY what is not selected
  [522, ALL_GROUP_BY],
  [523, true], // LIKE … ESCAPE
  [524, true], // columns that are never NULL: time
  [525, CORE_GRAMMAR],
  [526, ALL_OF_ANSI92],
  [527, false], // integrity enhancement facility
  [528, FULL_OUTER_JOINS],
  [529, "schema"],
  [530, "procedure"],
  [531, "catalog"],
  [532, true], // the catalog comes first in a full name
  [533, 0],
  [534, 0],
  [535, 0],
  [536, false], // SELECT FOR UPDATE
  [537, false], // stored procedures
  [538, ALL_SUBQUERIES],
  [539, true], // correlated ones
  [540, ALL_UNIONS],
  // maximum lengths of literals, names and rows, and maximum numbers of columns, where no specific limit exists
  ...Array.from({ length: 21 }, (_, i): [number, Info] => [541 + i, LENGTH_MAX]),
  [547, BigInt(LIMITS.answerColumnsMax)],
  [548, BigInt(LIMITS.columnsPerTableMax)],
  [556, true], // long values count towards a row's size
  [557, BigInt(STATEMENT_LIMITS.charsMax)],
  [560, BigInt(LIMITS.statementTablesMax)],
  [562, 0], // isolation of transactions: none
  [563, false],
  [564, 0],
  [565, false],
  [566, true],
  [567, 0], // kinds of result sets
  ...Array.from({ length: 4 }, (_, i): [number, Info] => [568 + i, 0]),
  [572, false], // batch updates
  [573, false], // savepoints
  [574, false], // named parameters of procedures
  [575, false],
  [576, false],
]);

// Kinds of values, as the union's type ids.
const KINDS = ["string_value", "bool_value", "bigint_value", "int32_bitmask", "string_list", "int32_to_int32_list_map"] as const;
const INT_LIST = new List(new Field("$data$", new Int32(), true));
const INT_MAP = new Map_<Int32, typeof INT_LIST>(
  new Field(
    "entries",
    new Struct<{ key: Int32; value: typeof INT_LIST }>([new Field("key", new Int32(), false), new Field("value", INT_LIST, true)]),
    false,
  ),
);
const TYPES = [new Utf8(), new Bool(), new Int64(), new Int32(), new List(new Field("string_data", new Utf8(), true)), INT_MAP] as const;
const VALUE = new DenseUnion(
  KINDS.map((_, id) => id),
  KINDS.map((name, id) => new Field(name, TYPES[id]!, true)),
);

export const SQL_INFO_SCHEMA: Schema = schemaOf({ info_name: new Uint32(), value: VALUE });

/** One row for each requested number that is known; all of them if none is requested. */
export function sqlInfo(asked: readonly number[]): AnswerTable {
  const wanted = new Set(asked);
  const rows = [...INFO].filter(([id]) => wanted.size === 0 || wanted.has(id)).sort(([a], [b]) => a - b);
  const values = KINDS.map((): Info[] => []);
  const places = rows.map(([, info]) => {
    const kind = kindOf(info);
    return { kind, offset: values[kind]!.push(info) - 1 };
  });
  const value = makeData({
    type: VALUE,
    length: rows.length,
    typeIds: Int8Array.from(places, ({ kind }) => kind),
    valueOffsets: Int32Array.from(places, ({ offset }) => offset),
    children: values.map((infos, kind) =>
      kind === MAP_KIND ? mapData(infos as ReadonlyMap<number, readonly number[]>[]) : dataOf(infos, kind),
    ),
  });
  const [names] = vectorFromArray(
    rows.map(([id]) => id),
    new Uint32(),
  ).data;
  return { schema: SQL_INFO_SCHEMA, rowCount: rows.length, columns: [names!, value] };
}

const MAP_KIND = 5;

function kindOf(info: Info): number {
  if (typeof info === "string") return 0;
  if (typeof info === "boolean") return 1;
  if (typeof info === "bigint") return 2;
  if (typeof info === "number") return 3;
  return info instanceof Map ? MAP_KIND : 4;
}

function dataOf(infos: readonly unknown[], kind: number): Data {
  return vectorFromArray(infos, TYPES[kind]!).data[0] ?? makeData({ type: TYPES[kind] as Utf8, length: 0 });
}

/** The library's builder represents maps as objects, whose keys are strings. */
function mapData(maps: readonly ReadonlyMap<number, readonly number[]>[]): Data {
  const entries = maps.flatMap((map) => [...map]);
  const ends = maps.map(({ size }) => size);
  const offsets = Int32Array.from([0, ...ends.map((_, i) => ends.slice(0, i + 1).reduce((sum, size) => sum + size, 0))]);
  const keys = dataFrom(
    entries.map(([key]) => key),
    new Int32(),
  );
  const lists = dataFrom(
    entries.map(([, list]) => [...list]),
    INT_LIST,
  );
  const child = makeData({ type: INT_MAP.children[0]!.type, length: entries.length, nullCount: 0, children: [keys, lists] });
  return makeData({ type: INT_MAP, length: maps.length, nullCount: 0, valueOffsets: offsets, child });
}

function dataFrom(values: readonly unknown[], type: Int32 | typeof INT_LIST): Data {
  return vectorFromArray(values, type as Int32).data[0] ?? makeData({ type: type as Int32, length: 0 });
}
