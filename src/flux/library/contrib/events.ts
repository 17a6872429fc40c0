// Package `contrib/tomhollingworth/events`: how long each event lasts.
import { ColumnBuilder } from "../../tables/column-builder.ts";
import { eachTable } from "../../tables/stream.ts";
import { durationNs, SECOND_NS } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import { Duration, Time } from "../../values/value.ts";
import { checkNew } from "../merge-tables.ts";
import type { LibraryPackage } from "../native-call.ts";
import { operator } from "../operator.ts";
import { NO_UNITS } from "../universe/sequence.ts";

const duration = operator((call) => {
  const unit = Number(durationNs(call.duration("unit", new Duration(0n, SECOND_NS))));
  const [timeLabel, stopLabel] = [call.string("timeColumn", "_time"), call.string("stopColumn", "_stop")];
  const label = call.string("columnName", "duration");
  const given = call.has("stop") ? call.time("stop").ns : null;
  return (input) =>
    eachTable(input, (table) => {
      const times = table.column(timeLabel);
      if (times === undefined) throw new FluxError(`column "${timeLabel}" does not exist`);
      const stops = table.column(stopLabel);
      if (given === null && stops === undefined) throw new FluxError(`column "${stopLabel}" does not exist`);
      if (times.type !== "time") throw new FluxError(`time column "${timeLabel}" must be of type time, got ${times.type}`);
      if (given === null && stops!.type !== "time") {
        throw new FluxError(`stop column "${stopLabel}" must be of type time, got ${stops!.type}`);
      }
      checkNew(label, table.columns);
      const at = (row: number): bigint => (times.get(row) instanceof Time ? (times.get(row) as Time).ns : 0n);
      const lastStop = table.rowCount === 0 ? undefined : stops?.get(table.rowCount - 1);
      const stop = given ?? (lastStop instanceof Time ? lastStop.ns : 0n);
      const builder = new ColumnBuilder(label, "int", table.rowCount);
      for (let row = 0; row < table.rowCount; row++) {
        const end = row + 1 < table.rowCount ? at(row + 1) : stop;
        const units = Number(end - at(row)) / unit;
        builder.append(Number.isFinite(units) ? BigInt(Math.trunc(units)) : NO_UNITS);
      }
      return table.set(builder.build());
    });
});

export const EVENTS: LibraryPackage = {
  path: "contrib/tomhollingworth/events",
  name: "events",
  source:
    "builtin duration : (<-tables: stream[A], ?unit: duration, ?timeColumn: string, ?columnName: string, ?stopColumn: string, ?stop: time) => stream[B] where A: Record, B: Record",
  natives: { duration },
};
