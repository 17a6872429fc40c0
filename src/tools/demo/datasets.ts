// Converts the tables of the npm package vega-datasets that have a time column to points. Its files are read from node_modules.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Table, type Timestamp, tableFromIPC } from "apache-arrow";
import { readParquet } from "parquet-wasm/esm";
import { loadParquetLibrary } from "../../encode/parquet/library.ts";
import { assert } from "../../model/assert.ts";
import { parseCsv } from "./csv.ts";
import { type FieldType, lineOf } from "./line.ts";
import { parseDate } from "./time.ts";

type Cell = string | number | boolean | null;
type Row = Readonly<Record<string, Cell>>;

/** How the columns of a file are used; they keep their names. */
export interface Dataset {
  readonly table: string;
  readonly file: string;
  readonly time: string;
  readonly tags: readonly string[];
  readonly fields: Readonly<Record<string, FieldType>>;
}

const WEATHER = { precipitation: "float", temp_max: "float", temp_min: "float", wind: "float" } as const;
const PRICES = { open: "float", high: "float", low: "float", close: "float" } as const;
const BIRD_TAGS = ["Aircraft Airline Operator", "Origin State", "Phase of flight", "Wildlife Size", "Wildlife Species", "Time of day"];

export const DATASETS: readonly Dataset[] = [
  { table: "weather", file: "weather.csv", time: "date", tags: ["location", "weather"], fields: WEATHER },
  { table: "seattle_weather", file: "seattle-weather.csv", time: "date", tags: ["weather"], fields: WEATHER },
  {
    table: "seattle_hourly",
    file: "seattle-weather-hourly-normals.csv",
    time: "date",
    tags: [],
    fields: { pressure: "float", temperature: "float", wind: "float" },
  },
  { table: "sp500", file: "sp500.csv", time: "date", tags: [], fields: { price: "float" } },
  { table: "sp500_daily", file: "sp500-2000.csv", time: "date", tags: [], fields: { ...PRICES, adjclose: "float", volume: "integer" } },
  { table: "stocks", file: "stocks.csv", time: "date", tags: ["symbol"], fields: { price: "float" } },
  { table: "ohlc", file: "ohlc.json", time: "date", tags: ["signal"], fields: { ...PRICES, ret: "float" } },
  {
    table: "us_employment",
    file: "us-employment.csv",
    time: "month",
    tags: [],
    fields: {
      ...{ nonfarm: "float", private: "float", goods_producing: "float", service_providing: "float", construction: "float" },
      ...{ manufacturing: "float", retail_trade: "float", information: "float", government: "float", nonfarm_change: "float" },
    },
  },
  {
    table: "unemployment",
    file: "unemployment-across-industries.json",
    time: "date",
    tags: ["series"],
    fields: { count: "integer", rate: "float" },
  },
  { table: "co2", file: "co2-concentration.csv", time: "Date", tags: [], fields: { CO2: "float", "adjusted CO2": "float" } },
  { table: "global_temp", file: "global-temp.csv", time: "year", tags: [], fields: { temp: "float" } },
  { table: "disasters", file: "disasters.csv", time: "Year", tags: ["Entity"], fields: { Deaths: "integer" } },
  { table: "electricity", file: "iowa-electricity.csv", time: "year", tags: ["source"], fields: { net_generation: "integer" } },
  { table: "github", file: "github.csv", time: "time", tags: [], fields: { count: "integer" } },
  {
    table: "gapminder",
    file: "gapminder.json",
    time: "year",
    tags: ["country"],
    fields: { pop: "integer", life_expect: "float", fertility: "float" },
  },
  {
    table: "birdstrikes",
    file: "birdstrikes.csv",
    time: "Flight Date",
    tags: ["Airport Name", "Aircraft Make Model", "Effect Amount of damage", ...BIRD_TAGS],
    fields: { "Cost Other": "integer", "Cost Repair": "integer", "Cost Total $": "integer", "Speed IAS in knots": "float" },
  },
  {
    table: "flights",
    file: "flights-20k.json",
    time: "date",
    tags: ["origin", "destination"],
    fields: { delay: "integer", distance: "integer" },
  },
];

/** Three million flights: the same columns as `flights`. */
export const ALL_FLIGHTS: Dataset = {
  table: "flights",
  file: "flights-3m.parquet",
  time: "date",
  tags: ["origin", "destination"],
  fields: { delay: "integer", distance: "integer" },
};

const FOLDER = join(fileURLToPath(import.meta.resolve("vega-datasets")), "../../data");

/** The rows of a file as line protocol, in pieces; rows without time or fields are omitted. */
export async function* linesOf(dataset: Dataset): AsyncGenerator<string[]> {
  const path = join(FOLDER, dataset.file);
  if (dataset.file.endsWith(".parquet")) {
    yield* parquetLines(dataset, path);
    return;
  }
  const text = await Bun.file(path).text();
  const rows: readonly Row[] = dataset.file.endsWith(".csv") ? parseCsv(text) : (JSON.parse(text) as Row[]);
  yield rowsToLines(dataset, rows);
}

/** Pure: rows by column name -> lines. */
export function rowsToLines(dataset: Dataset, rows: readonly Row[]): string[] {
  return rows.flatMap((row) => {
    const timeNs = parseDate(String(row[dataset.time] ?? ""));
    if (timeNs === null) return [];
    const tags = Object.fromEntries(dataset.tags.map((name) => [name, row[name] == null ? null : String(row[name])]));
    const fields = Object.fromEntries(Object.entries(dataset.fields).map(([name, type]) => [name, { type, value: row[name] ?? null }]));
    return lineOf({ table: dataset.table, tags, fields, timeNs }) ?? [];
  });
}

const PARQUET_ROWS = 100_000;
/** By Arrow's TimeUnit: seconds, milliseconds, microseconds, nanoseconds. */
const UNIT_NS = [1_000_000_000n, 1_000_000n, 1_000n, 1n] as const;

async function* parquetLines(dataset: Dataset, path: string): AsyncGenerator<string[]> {
  await loadParquetLibrary();
  const file = new Uint8Array(await Bun.file(path).arrayBuffer());
  for (let offset = 0; ; offset += PARQUET_ROWS) {
    const table = tableFromIPC(readParquet(file, { offset, limit: PARQUET_ROWS, batchSize: PARQUET_ROWS }).intoIPCStream());
    if (table.numRows === 0) return;
    yield tableToLines(dataset, table);
  }
}

/** Column by column, because creating an object for each of three million rows would take most of the time. */
function tableToLines(dataset: Dataset, table: Table): string[] {
  const column = (name: string) => {
    const vector = table.getChild(name);
    assert(vector !== null, `${dataset.file} has a column ${name}`);
    return vector;
  };
  const times = column(dataset.time).data.flatMap((data) => [...(data.values as BigInt64Array)]);
  const unitNs = UNIT_NS[(column(dataset.time).type as Timestamp).unit];
  const tags = dataset.tags.map((name) => [name, column(name).toJSON() as (string | null)[]] as const);
  const fields = Object.entries(dataset.fields).map(([name, type]) => [name, type, column(name).toJSON() as (bigint | null)[]] as const);
  return times.flatMap((time, row) => {
    const point = {
      table: dataset.table,
      tags: Object.fromEntries(tags.map(([name, values]) => [name, values[row]!])),
      fields: Object.fromEntries(fields.map(([name, type, values]) => [name, { type, value: values[row]! }])),
      timeNs: time * unitNs,
    };
    return lineOf(point) ?? [];
  });
}
