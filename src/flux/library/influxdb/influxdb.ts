// Package `influxdata/influxdb`: buckets and what reads them.
import { GroupKey, TableBuilder } from "../../tables/table.ts";
import type { LibraryPackage } from "../native-call.ts";
import { streamOf } from "../operator.ts";
import { from } from "../universe/sources.ts";

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
    buckets: (call) =>
      streamOf(call, [], (_, run) => {
        const builder = new TableBuilder(GroupKey.NONE);
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
