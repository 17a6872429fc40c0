// Recorded requests as a server answers them: rows from JSON, types and marks from the Parquet answer, texts as they came.
import { type DataType, type Field, type Schema, tableFromIPC } from "apache-arrow";
import { readSchema } from "parquet-wasm/esm";
import { loadParquetLibrary } from "../../src/encode/parquet/library.ts";
import { DATABASE, exactJson, parseExact, type RecordedAnswer, type RecordedVector } from "./vectors.ts";

export interface Played {
  readonly status: number;
  readonly answer: RecordedAnswer;
}

export const SQL_PATH = "/api/v3/query_sql";
export const TSDBQL_PATH = "/api/v3/query_influxql";

/** @param path of the language */
export async function playStatement(url: string, path: string, vector: RecordedVector): Promise<Played> {
  const { q, params, format, db } = vector.request;
  const ask = (as: string | undefined) => {
    const body = { ...(db === null ? {} : { db: db ?? DATABASE }), q, ...(params === undefined ? {} : { params }), format: as };
    return fetch(url + path, { method: "POST", body: exactJson(body) });
  };
  if (vector.text) {
    const response = await ask(format ?? "json");
    const text = await textOf(response);
    if (text === null || response.status !== 200) return failed(response.status, text);
    return { status: 200, answer: { type: response.headers.get("content-type") ?? "", text } };
  }
  // the default form has values by place: columns of one name are two
  const hasPlaces = path === SQL_PATH;
  const response = await ask(hasPlaces ? undefined : "json");
  const text = await textOf(response);
  if (text === null || response.status !== 200) return failed(response.status, text);
  const { types, parquet } = vector.answer;
  if (hasPlaces && (types === undefined || types === null || parquet !== undefined)) return { status: 200, answer: seedRows(text) };
  const file = await ask("parquet");
  const bytes = new Uint8Array(await file.arrayBuffer());
  const schema = file.status === 200 ? await schemaOf(bytes) : null;
  const typed = schema === null ? { parquet: file.status } : typesOf(schema.fields);
  const columns = schema?.fields.map(({ name }) => name) ?? [];
  return { status: 200, answer: { columns, ...(hasPlaces ? seedRows(text) : objectRows(text, columns)), ...typed } };
}

/** Null: the connection was cut. */
function textOf(response: Response): Promise<string | null> {
  return response.text().catch(() => null);
}

function failed(status: number, text: string | null): Played {
  if (text === null) return { status, answer: { cut: true } };
  const error = /^\{"error":/.test(text) ? (JSON.parse(text) as { error: string }).error : text;
  return { status, answer: { error } };
}

interface Rows {
  readonly columns?: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

function seedRows(text: string): Rows {
  const { results } = parseExact(text) as { results: { series: { columns: string[]; values: unknown[][] }[] }[] };
  const [series] = results[0]!.series;
  return series === undefined ? { rows: [] } : { columns: series.columns, rows: series.values };
}

function objectRows(text: string, names: readonly string[]): Rows {
  const rows = parseExact(text) as Record<string, unknown>[];
  return { rows: rows.map((row) => names.map((name) => row[name] ?? null)) };
}

async function schemaOf(file: Uint8Array): Promise<Schema> {
  await loadParquetLibrary();
  return tableFromIPC(readSchema(file).intoIPCStream()).schema;
}

function typesOf(fields: readonly Field[]) {
  const marks = fields.flatMap(({ name, metadata }) => {
    const mark = metadata.get("iox::column::type") ?? metadata.get("iox::column_type");
    return mark === undefined ? [] : [[name, mark] as const];
  });
  return { types: fields.map(({ type }) => typeText(type)), marks: Object.fromEntries(marks) };
}

/** What types of several kinds have. */
interface TypeFields {
  readonly isSigned: boolean;
  readonly bitWidth: number;
  readonly precision: number;
  readonly scale: number;
  readonly unit: number;
  readonly timezone?: string | null;
  readonly dictionary: DataType;
  readonly indices: DataType;
  readonly isOrdered: boolean;
  readonly listSize: number;
}

const TIME_UNITS = ["s", "ms", "us", "ns"];

/** In the words of the vectors, but one for each of several widths of offsets. */
function typeText(dataType: DataType): string {
  const type = dataType as DataType & TypeFields;
  const inner = (fields: readonly Field[]) => fields.map((field) => typeText(field.type));
  switch (type.typeId) {
    case 1:
      return "null";
    case 2:
      return `${type.isSigned ? "int" : "uint"}${type.bitWidth}`;
    case 3:
      return ["halffloat", "float", "double"][type.precision]!;
    case 4:
    case 19:
    case 23:
      return "binary";
    case 5:
    case 20:
    case 24:
      return "string";
    case 6:
      return "bool";
    case 7:
      return `decimal128(${type.precision}, ${type.scale})`;
    case 8:
      return type.unit === 0 ? "date32[day]" : "date64[ms]";
    case 9:
      return `time${type.bitWidth}[${TIME_UNITS[type.unit]}]`;
    case 10:
      return `timestamp[${TIME_UNITS[type.unit]}${type.timezone ? `, tz=${type.timezone}` : ""}]`;
    case 11:
      return "month_day_nano_interval";
    case 18:
      return `duration[${TIME_UNITS[type.unit]}]`;
    case -1:
      return `dictionary<values=${typeText(type.dictionary)}, indices=${typeText(type.indices)}, ordered=${Number(type.isOrdered)}>`;
    case 12:
      return `list<item: ${inner(type.children)[0]}>`;
    case 16:
      return `fixed_size_list<item: ${inner(type.children)[0]}>[${type.listSize}]`;
    case 13:
      return `struct<${type.children.map((field: Field) => `${field.name}: ${typeText(field.type)}`).join(", ")}>`;
    case 17:
      return `map<${inner(type.children[0]!.type.children).join(", ")}>`;
    default:
      return `type ${type.typeId}`;
  }
}
