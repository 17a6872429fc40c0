// Packages `influxdata/influxdb/schema` and `influxdata/influxdb/v1`: what a bucket holds.
import { compareTexts } from "../../interpret/operators.ts";
import { type FluxTable, GroupKey, TableBuilder } from "../../tables/table.ts";
import type { LibraryPackage } from "../native-call.ts";
import { operator, type TableBody } from "../operator.ts";

/** Lists cover 30 days unless the caller says otherwise. */
const SOURCE = `
option _from = from
_since = -30d
_until = now()
fieldsAsCols = (tables=<-) => tables |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
_rows = (bucket, predicate, start, stop) => _from(bucket: bucket) |> range(start: start, stop: stop) |> filter(fn: predicate)
builtin _values : (<-tables: stream[A], tag: string) => stream[{_value: string}] where A: Record
builtin _labels : (<-tables: stream[A]) => stream[{_value: string}] where A: Record
tagValues = (bucket, tag, predicate=(r) => true, start=_since, stop=_until) =>
    _rows(bucket: bucket, predicate: predicate, start: start, stop: stop) |> _values(tag: tag)
tagKeys = (bucket, predicate=(r) => true, start=_since, stop=_until) =>
    _rows(bucket: bucket, predicate: predicate, start: start, stop: stop) |> _labels()
fieldKeys = (bucket, predicate=(r) => true, start=_since, stop=_until) =>
    tagValues(bucket: bucket, tag: "_field", predicate: predicate, start: start, stop: stop)
measurements = (bucket, start=_since, stop=_until) => tagValues(bucket: bucket, tag: "_measurement", start: start, stop: stop)
measurementTagValues = (bucket, measurement, tag, start=_since, stop=_until) =>
    tagValues(bucket: bucket, tag: tag, predicate: (r) => r._measurement == measurement, start: start, stop: stop)
measurementTagKeys = (bucket, measurement, start=_since, stop=_until) =>
    tagKeys(bucket: bucket, predicate: (r) => r._measurement == measurement, start: start, stop: stop)
measurementFieldKeys = (bucket, measurement, start=_since, stop=_until) =>
    fieldKeys(bucket: bucket, predicate: (r) => r._measurement == measurement, start: start, stop: stop)
`;

function listed(values: readonly string[]): FluxTable {
  const builder = new TableBuilder(GroupKey.NONE);
  const column = builder.column("_value", "string");
  for (const value of values) column.append(value);
  builder.rowCount = values.length;
  return builder.build();
}

/** What `textsOf` gives for the tables, each once and in order; `first` come before the others. */
function listing(textsOf: (table: FluxTable) => Iterable<string>, first: readonly string[] = []): TableBody {
  return function* (input) {
    const found = new Set<string>();
    for (const table of input) {
      yield null;
      if (table !== null) for (const text of textsOf(table)) found.add(text);
    }
    const ordered = [...found].filter((text) => !first.includes(text)).sort(compareTexts);
    yield listed([...first, ...ordered]);
  };
}

function* textsOfColumn(table: FluxTable, label: string): Generator<string> {
  const column = table.column(label);
  // one value stands for all rows
  const rows = column?.mask === 0 ? Math.min(1, table.rowCount) : table.rowCount;
  for (let row = 0; row < rows; row++) {
    const value = column?.get(row);
    if (typeof value === "string") yield value;
  }
}

export const SCHEMA: LibraryPackage = {
  path: "influxdata/influxdb/schema",
  name: "schema",
  source: SOURCE,
  natives: {
    _values: operator((call) => {
      const tag = call.string("tag");
      return listing((table) => textsOfColumn(table, tag));
    }),
    _labels: operator(() => listing(({ key }) => key.columns.map(({ label }) => label), ["_start", "_stop"])),
  },
};

const MEMBERS = ["fieldsAsCols", "tagValues", "measurementTagValues", "tagKeys", "measurementTagKeys", "fieldKeys", "measurementFieldKeys"];

export const V1: LibraryPackage = {
  path: "influxdata/influxdb/v1",
  name: "v1",
  source: `
import "influxdata/influxdb/schema"
builtin json : (?json: string, ?file: string) => stream[A] where A: Record
builtin databases : (?org: string, ?orgID: string, ?host: string, ?token: string) => stream[{organizationID: string, databaseName: string, retentionPolicy: string, retentionPeriod: int, default: bool, bucketID: string}]
${[...MEMBERS, "measurements"].map((name) => `${name} = schema.${name}`).join("\n")}
`,
  natives: {},
};
