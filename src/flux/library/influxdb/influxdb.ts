// Package `influxdata/influxdb`: buckets and what reads them.

import { FluxColumn } from "../../tables/column.ts";
import { FluxTable, GroupKey, RowRecord, TableBuilder } from "../../tables/table.ts";
import type { LibraryPackage, NativeBody } from "../native-call.ts";
import { streamOf } from "../operator.ts";
import { bucketId, from, seriesTable, timeArgument } from "../universe/sources.ts";

/** Series, that is measurements with their tags: fields do not count. */
const cardinality: NativeBody = (call) => {
  const now = call.run.nowTime;
  const start = timeArgument(call.value("start"), now);
  const stop = call.has("stop") ? timeArgument(call.value("stop"), now) : now;
  const name = call.has("bucket") ? call.string("bucket") : null;
  const id = name === null ? call.string("bucketID") : null;
  const test = call.has("predicate") ? call.function("predicate").prepare(["r"]) : null;
  return streamOf(call, [], function* (_, run) {
    const found = new Set<string>();
    for (const series of run.source.read({ bucketId: bucketId(run, name, id), startNs: start.ns, stopNs: stop.ns })) {
      yield null;
      if (series === null || (test !== null && test(new RowRecord(seriesTable(series, start, stop))) !== true)) continue;
      found.add(JSON.stringify([series.measurement, series.tags]));
    }
    yield new FluxTable(GroupKey.NONE, [FluxColumn.constant("_value", "int", BigInt(found.size), 1)], 1);
  });
};

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
    cardinality,
    buckets: (call) =>
      streamOf(call, [], (_, run) => {
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
      }),
  },
};
