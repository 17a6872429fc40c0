// Package `influxdata/influxdb`: buckets and what reads them.

import type { Reduction, SourceSeries } from "../../interpret/flux-source.ts";
import { FluxColumn } from "../../tables/column.ts";
import { FluxTable, GroupKey, RowRecord, TableBuilder } from "../../tables/table.ts";
import { timeText } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import type { LibraryPackage, NativeBody } from "../native-call.ts";
import { streamOf } from "../operator.ts";
import { described, from, refused, SeriesTables, timeArgument } from "../universe/sources.ts";
import { type FilterParts, filterParts, wantedSeries } from "../universe/wanted-series.ts";
import { bucketId, checkOneOf, lacksOrganization, NEEDS_HOST, otherOrganization, startError } from "./bucket-arguments.ts";
import { remoteOf, stringLiteral } from "./remote.ts";
import { to, wideTo } from "./to.ts";

/** Series, that is measurements with their tags: fields do not count. */
const cardinality: NativeBody = (call) => {
  if (call.has("bucket") === call.has("bucketID")) throw new FluxError("must specify only one of bucket or bucketID");
  checkOneOf(call, "org", "orgID");
  const now = call.run.nowTime;
  const start = timeArgument(call.value("start"), now);
  const stop = call.has("stop") ? timeArgument(call.value("stop"), now) : now;
  const name = call.has("bucket") ? call.string("bucket") : null;
  const remote = remoteOf(call);
  if (remote !== null) {
    if (call.has("predicate")) throw new FluxError("cardinality of another host takes no predicate");
    const bucket = name === null ? `bucketID: ${stringLiteral(call.string("bucketID"))}` : `bucket: ${stringLiteral(name)}`;
    const script = `influxdb.cardinality(${bucket}, start: ${timeText(start.ns)}, stop: ${timeText(stop.ns)})`;
    return streamOf(call, [], (_, run) => remote.tables(run, `import "influxdata/influxdb"\n${script}`));
  }
  const id = name === null ? call.string("bucketID") : null;
  const predicate = call.has("predicate") ? call.function("predicate") : null;
  const test = predicate?.prepare(["r"]) ?? null;
  const parts = predicate === null ? NO_FILTER : filterParts(predicate);
  const namesOrganization = ["org", "orgID"].some((argument) => call.string(argument, "") !== "");
  const node = streamOf(call, [], function* (_, run) {
    const bucket = bucketId(run, name, id);
    const bounds = { startNs: start.ns, stopNs: stop.ns };
    if (run.pushesDown && parts?.isDecided === true && parts.values.length === 0) {
      const answer = yield* described(run, bucket, bounds, { kind: "count" }, predicate === null ? [] : [predicate]);
      if (answer !== null) {
        yield counted(answer.count);
        return;
      }
    }
    const found = new Set<string>();
    const tables = new SeriesTables(bounds);
    const wanted = predicate === null || !run.pushesDown ? null : wantedSeries([predicate]);
    const request = { bucketId: bucket, ...bounds, ...(wanted === null ? {} : { wanted }) };
    const { source, pushesDown } = run;
    let firstRows: readonly SourceSeries[] | null = null;
    if (pushesDown && source.reduced !== undefined) firstRows = yield* source.reduced({ ...request, reduction: FIRST_ROW, values: [] });
    for (const series of firstRows ?? source.read(request)) {
      yield null;
      if (series === null || (test !== null && test(new RowRecord(tables.table(series))) !== true)) continue;
      found.add(JSON.stringify([series.measurement, series.tags]));
    }
    yield counted(found.size);
  });
  node.onStart = (run) => {
    if (namesOrganization) throw startError(NEEDS_HOST);
    bucketId(run, name, id);
  };
  return node;
};

/** The row of each series that the predicate is asked about. */
const FIRST_ROW: Reduction = {
  ...{ fn: "first", runs: null, ownTimes: true, isPartial: false },
  ...{ oneTypeOf: null, latest: null, apart: null },
};

const NO_FILTER: FilterParts = { values: [], isDecided: true };

function counted(count: number): FluxTable {
  return new FluxTable(GroupKey.NONE, [FluxColumn.constant("_value", "int", BigInt(count), 1)], 1);
}

export const INFLUXDB: LibraryPackage = {
  path: "influxdata/influxdb",
  name: "influxdb",
  source: `
builtin cardinality : (?bucket: string, ?bucketID: string, ?org: string, ?orgID: string, ?host: string, ?token: string, start: A, ?stop: B, ?predicate: (r: {T with _measurement: string, _field: string, _value: S}) => bool) => stream[{_start: time, _stop: time, _value: int}] where A: Timeable, B: Timeable
builtin from : (?bucket: string, ?bucketID: string, ?org: string, ?orgID: string, ?host: string, ?token: string) => stream[{B with _measurement: string, _field: string, _time: time, _value: A}]
builtin to : (<-tables: stream[A], ?bucket: string, ?bucketID: string, ?org: string, ?orgID: string, ?host: string, ?token: string, ?timeColumn: string, ?measurementColumn: string, ?tagColumns: [string], ?fieldFn: (r: A) => B) => stream[A] where A: Record, B: Record
builtin buckets : (?org: string, ?orgID: string, ?host: string, ?token: string) => stream[{name: string, id: string, organizationID: string, retentionPolicy: string, retentionPeriod: int}]
builtin wideTo : (<-tables: stream[A], ?bucket: string, ?bucketID: string, ?org: string, ?orgID: string, ?host: string, ?token: string) => stream[A] where A: Record
`,
  natives: {
    from,
    to,
    wideTo,
    cardinality,
    buckets: (call) => {
      checkOneOf(call, "org", "orgID");
      if (lacksOrganization(call)) return refused(call, "listing buckets from a remote host requires an organization to be set");
      const remote = remoteOf(call);
      if (remote !== null) return streamOf(call, [], (_, run) => remote.tables(run, "buckets()"));
      if (call.has("org") || call.has("orgID")) return refused(call, otherOrganization("buckets cannot list from"));
      return streamOf(call, [], (_, run) => {
        const [bucket] = run.source.buckets();
        if (bucket === undefined) return [];
        const builder = new TableBuilder(new GroupKey([{ label: "organizationID", type: "string", value: bucket.organizationId }]));
        for (const { id, name, organizationId, retentionPeriodNs } of run.source.buckets()) {
          builder.column("name", "string").append(name);
          builder.column("id", "string").append(id);
          builder.column("organizationID", "string").append(organizationId);
          builder.column("retentionPolicy", "string").append("");
          builder.column("retentionPeriod", "int").append(retentionPeriodNs);
          builder.endRow();
        }
        return [builder.build()];
      });
    },
  },
};
