// Packages `influxdata/influxdb/schema` and `influxdata/influxdb/v1`: what a bucket holds.
import type { StreamNode, Tables } from "../../tables/stream.ts";
import { FluxTable, GroupKey, TableBuilder } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import { lacksOrganization, otherOrganization } from "../influxdb/bucket-arguments.ts";
import { remoteOf } from "../influxdb/remote.ts";
import { TableMerge } from "../merge-tables.ts";
import type { LibraryPackage, NativeBody, NativeCall } from "../native-call.ts";
import { operator, streamOf, type TableBody } from "../operator.ts";
import { BOUNDS, withCommonLabels } from "../plan/label-list.ts";
import { membersOf } from "../plan/read-members.ts";
import { reducedOr } from "../plan/reduced.ts";
import { described, tagList } from "../plan/series-list.ts";
import { storableFilter } from "../plan/storable-filter.ts";
import { distinctTable } from "../universe/distinct.ts";
import { PushedNode } from "../universe/pushed.ts";
import { rangeWithin, refused } from "../universe/sources.ts";
import { ALL_TIMES, indexBounds } from "./index-bounds.ts";

/** Lists cover 30 days unless the caller says otherwise. */
const SOURCE = `
option _from = from
_since = -30d
_until = now()
fieldsAsCols = (tables=<-) => tables |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
builtin _range : (<-tables: stream[{A with _time: time}], bucket: string, tag: string, predicate: (r: B) => bool, start: C, stop: D) => stream[{A with _time: time, _start: time, _stop: time}]
_rows = (bucket, tag, predicate, start, stop) =>
    _from(bucket: bucket) |> _range(bucket: bucket, tag: tag, predicate: predicate, start: start, stop: stop) |> filter(fn: predicate)
builtin _values : (<-tables: stream[A], tag: string, predicate: (r: A) => bool) => stream[B] where A: Record, B: Record
builtin _labels : (<-tables: stream[A], predicate: (r: A) => bool) => stream[B] where A: Record, B: Record
builtin _isOfSeries : (tag: string) => bool
tagValues = (bucket, tag, predicate=(r) => true, start=_since, stop=_until) => {
    rows = _rows(bucket: bucket, tag: tag, predicate: predicate, start: start, stop: stop)
    return if _isOfSeries(tag: tag) then rows |> _values(tag: tag, predicate: predicate) else rows |> keep(columns: [tag]) |> group() |> distinct(column: tag)
}
tagKeys = (bucket, predicate=(r) => true, start=_since, stop=_until) =>
    _rows(bucket: bucket, tag: "", predicate: predicate, start: start, stop: stop) |> _labels(predicate: predicate)
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

/** As recorded: of rows that are read to be tested, the values in their order, with a null of those without the tag. */
function chosen(input: StreamNode, tag: string): TableBody {
  return (tables, run) => {
    const all = () => distinctOf(tables, tag);
    const reduce = input instanceof PushedNode ? input.reduce : null;
    const one = { fn: "count", runs: null, ownTimes: false } as const;
    return reduce === null ? all() : reducedOr(run, reduce, one, (reduced) => distinctOf(reduced, tag), all);
  };
}

function* distinctOf(tables: Tables, tag: string): Tables {
  const [byTag, whole] = [new TableMerge(), new TableMerge()];
  for (const table of tables) {
    yield null;
    if (table === null) continue;
    const column = table.column(tag);
    const key = new GroupKey(table.key.columns.filter(({ label }) => label === tag));
    byTag.append(key, new FluxTable(key, column === undefined ? [] : [column], table.rowCount));
  }
  for (const table of byTag.tables()) if (table !== null) whole.append(GroupKey.NONE, table.with(table.columns, GroupKey.NONE));
  for (const table of whole.tables()) if (table !== null) yield distinctTable(table, tag);
}

/** Columns that are no tags. */
const OF_ROWS: readonly string[] = [...BOUNDS, "_time", "_value"];

/** Whether rows are read to be tested, as recorded: then there is no list if none is left. */
function isFilter(call: NativeCall): boolean {
  return !storableFilter(call.function("predicate")).isWhole;
}

function* longerThan(count: number, lists: Tables): Tables {
  for (const list of lists) if (list === null || list.rowCount > count) yield list;
}

/** As recorded: lists that no field decides come from the index of the bucket, which has a part for each shard, and one list of
 *  measurements for all of them. */
const indexRange: NativeBody = (call) => {
  const tag = call.string("tag");
  const read = membersOf(call.function("predicate"));
  const needsRows = read.has("_field") || read.has("_value") || OF_ROWS.includes(tag) || isFilter(call);
  const readsTags = [...read].some((label) => label !== "_measurement");
  if (needsRows || (tag === "_field" && readsTags)) return rangeWithin(call, (bounds) => bounds);
  if (tag === "_measurement" && read.size === 0) return rangeWithin(call, () => ALL_TIMES);
  const bucket = call.run.source.bucket({ name: call.string("bucket") });
  return rangeWithin(call, (bounds) => indexBounds(bounds, bucket?.retentionPeriodNs ?? 0n));
};

export const SCHEMA: LibraryPackage = {
  path: "influxdata/influxdb/schema",
  name: "schema",
  source: SOURCE,
  natives: {
    _range: indexRange,
    _values: operator((call) => {
      const tag = call.string("tag");
      if (isFilter(call)) return chosen(call.stream(), tag);
      return tagList(call.stream(), tag);
    }),
    _isOfSeries: (call) => !OF_ROWS.includes(call.string("tag")),
    _labels: operator((call) => {
      const [input, textsOf] = [call.stream(), ({ key }: FluxTable) => key.columns.map(({ label }) => label)];
      const list = described(input, { kind: "labels" }, { textsOf, first: BOUNDS });
      if (isFilter(call)) return (tables, run) => longerThan(BOUNDS.length, list(tables, run));
      const read = membersOf(call.function("predicate"));
      // series are matched by an index that does not know fields
      if (read.has("_field") || read.has("_value")) return list;
      return (tables, run) => withCommonLabels(list(tables, run), input, run);
    }),
  },
};

const MEMBERS = ["fieldsAsCols", "tagValues", "measurementTagValues", "tagKeys", "measurementTagKeys", "fieldKeys", "measurementFieldKeys"];

const databases: NativeBody = (call) => {
  if (lacksOrganization(call)) return refused(call, "reading from a remote host requires an organization to be set");
  const remote = remoteOf(call);
  if (remote !== null) return streamOf(call, [], (_, run) => remote.tables(run, 'import "influxdata/influxdb/v1"\nv1.databases()'));
  if (call.has("org") || call.has("orgID")) return refused(call, otherOrganization("buckets cannot list from"));
  return streamOf(call, [], (_, run) => {
    const known = run.source.databases?.() ?? [];
    const [first] = known;
    if (first === undefined) return [];
    const builder = new TableBuilder(new GroupKey([{ label: "organizationID", type: "string", value: first.bucket.organizationId }]));
    for (const { database, retentionPolicy, isDefault, bucket } of known) {
      builder.column("organizationID", "string").append(bucket.organizationId);
      builder.column("databaseName", "string").append(database);
      builder.column("retentionPolicy", "string").append(retentionPolicy);
      builder.column("retentionPeriod", "int").append(bucket.retentionPeriodNs);
      builder.column("default", "bool").append(isDefault);
      builder.column("bucketID", "string").append(bucket.id);
      builder.endRow();
    }
    return [builder.build()];
  });
};

export const V1: LibraryPackage = {
  path: "influxdata/influxdb/v1",
  name: "v1",
  source: `
import "influxdata/influxdb/schema"
builtin json : (?json: string, ?file: string) => stream[A] where A: Record
builtin databases : (?org: string, ?orgID: string, ?host: string, ?token: string) => stream[{organizationID: string, databaseName: string, retentionPolicy: string, retentionPeriod: int, default: bool, bucketID: string}]
${[...MEMBERS, "measurements"].map((name) => `${name} = schema.${name}`).join("\n")}
`,
  natives: {
    databases,
    // as recorded, also for text
    json: (call) => {
      if (call.has("json") === call.has("file")) throw new FluxError("must provide exactly one of the parameters json or file");
      const node = streamOf(call, [], () => []);
      node.onStart = () => {
        throw new FluxError("failed to initialize execute state: filesystem service uninitialized in dependencies");
      };
      return node;
    },
  },
};
