// Packages `influxdata/influxdb/schema` and `influxdata/influxdb/v1`: what a bucket holds.
import type { LibraryPackage } from "../native-call.ts";

/** Lists cover 30 days unless the caller says otherwise. */
const SOURCE = `
option _from = from
_since = -30d
_until = now()
fieldsAsCols = (tables=<-) => tables |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
_rows = (bucket, predicate, start, stop) => _from(bucket: bucket) |> range(start: start, stop: stop) |> filter(fn: predicate)
tagValues = (bucket, tag, predicate=(r) => true, start=_since, stop=_until) =>
    _rows(bucket: bucket, predicate: predicate, start: start, stop: stop) |> keep(columns: [tag]) |> group() |> distinct(column: tag)
tagKeys = (bucket, predicate=(r) => true, start=_since, stop=_until) =>
    _rows(bucket: bucket, predicate: predicate, start: start, stop: stop) |> keys() |> keep(columns: ["_value"]) |> distinct()
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

export const SCHEMA: LibraryPackage = { path: "influxdata/influxdb/schema", name: "schema", source: SOURCE, natives: {} };

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
