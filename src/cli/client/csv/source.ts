// What the options and the server say of the columns of a CSV file.
import { TsdbError } from "../../../model/errors.ts";
import { type Api, Refused } from "../api.ts";
import type { Input } from "../options.ts";
import { CSV_TYPES, type CsvLines, type CsvType, csvLines } from "./lines.ts";

/** By what SQL calls a column's type. */
const BY_SQL_TYPE: Readonly<Record<string, CsvType>> = {
  "Dictionary(Int32, Utf8)": "tag",
  ...{ Int64: "i64", UInt64: "u64", Float64: "f64", Boolean: "bool", Utf8: "string" },
};

/** What `--columns` says. @throws TsdbError config */
export function columnTypes(input: Input): Map<string, CsvType> {
  const types = new Map<string, CsvType>();
  for (const each of input.option("columns")?.split(",") ?? []) {
    const at = each.lastIndexOf("=");
    const type = CSV_TYPES.find((known) => known === each.slice(at + 1));
    if (at < 1 || type === undefined) {
      throw new TsdbError("config", `--columns: "${each}" is not NAME=TYPE with a type of ${CSV_TYPES.join(", ")}`);
    }
    types.set(each.slice(0, at), type);
  }
  return types;
}

/** The file as lines for the table that `--table` names. @throws TsdbError config */
export async function readCsv(api: Api, input: Input, stream: AsyncIterable<Uint8Array>): Promise<CsvLines> {
  const [database, table, wanted] = [input.required("database"), input.required("table"), columnTypes(input)];
  return csvLines(stream, { table, wanted, known: await knownColumns(api, database, table) });
}

/** None if the table does not exist, or the token may not read. @throws Refused, TsdbError */
async function knownColumns(api: Api, database: string, table: string): Promise<Map<string, CsvType>> {
  const q =
    "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'iox' AND table_name = $table AND column_name <> 'time'";
  try {
    const body = { db: database, q, format: "json", params: { table } };
    const rows = (await (await api.call("POST", "/api/v3/query_sql", { body })).json()) as Record<string, string>[];
    return new Map(
      rows.flatMap(({ column_name: name, data_type: type }) => {
        const known = BY_SQL_TYPE[type!];
        return known === undefined ? [] : [[name!, known] as const];
      }),
    );
  } catch (error) {
    if (error instanceof Refused && [400, 403, 404].includes(error.status)) return new Map();
    throw error;
  }
}
