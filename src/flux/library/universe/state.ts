// States and hours: `stateTracking`, `hourSelection`.
import { FluxColumn } from "../../tables/column.ts";
import { ColumnBuilder } from "../../tables/column-builder.ts";
import { eachTable } from "../../tables/stream.ts";
import type { FluxTable, RowRecord } from "../../tables/table.ts";
import { DAY_NS, durationNs, floorDiv, SECOND_NS } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import { locationOf } from "../../values/location.ts";
import { Duration, type FluxFunction, isNull, kindOf, Time, type Value } from "../../values/value.ts";
import { rowTypes } from "../operand-types.ts";
import { operator } from "../operator.ts";
import { checkOperands, rowError, rowRecord } from "../row-errors.ts";

export const stateTracking = operator(
  (call) => {
    const fn = call.function("fn");
    const test = rowTest(fn);
    const countColumn = call.string("countColumn", "");
    const durationColumn = call.string("durationColumn", "");
    const unit = durationNs(call.duration("durationUnit", new Duration(0n, SECOND_NS)));
    if (unit <= 0n) throw new FluxError("state tracking duration unit must be greater than zero");
    const timeColumn = call.string("timeColumn", "_time");
    return (input) =>
      eachTable(input, (table) => {
        if (!table.isEmpty) checkOperands("state", fn, new Map([["r", rowTypes(table)]]));
        const times = table.column(timeColumn);
        if (times === undefined) throw new FluxError(`column ${JSON.stringify(timeColumn)} does not exist`);
        if (durationColumn !== "" && !table.isEmpty) checkTimes(times, timeColumn);
        const counts = new ColumnBuilder(countColumn, "int", table.rowCount);
        const durations = new ColumnBuilder(durationColumn, "int", table.rowCount);
        const row = rowRecord(table, fn);
        let count = 0n;
        let since: bigint | null = null;
        // as recorded: before the first row is 1970
        let before = 0n;
        for (row.row = 0; row.row < table.rowCount; row.row++) {
          const passes = test(row);
          const now = times.get(row.row);
          const ns = now instanceof Time ? now.ns : 0n;
          if (durationColumn !== "" && ns < before) throw new FluxError("got an out-of-order timestamp");
          before = ns;
          if (!passes) {
            count = 0n;
            since = null;
            counts.append(-1n);
            durations.append(-1n);
            continue;
          }
          counts.append(++count);
          since ??= ns;
          durations.append((ns - since) / unit);
        }
        const counted = countColumn === "" ? table : withColumn(table, counts.build());
        return durationColumn === "" ? counted : withColumn(counted, durations.build());
      });
  },
  "tables",
  { flow: "rows" },
);

/** The table with one more column. As recorded: a label that is there already is there twice, with the values that it had. */
function withColumn(table: FluxTable, made: FluxColumn): FluxTable {
  const { label } = made;
  const found = table.column(label);
  if (found === undefined) return table.set(made);
  if (found.type !== "int" && found.type !== "time") throw new FluxError(`column ${JSON.stringify(label)} exists with type ${found.type}`);
  return table.with([...table.columns, new FluxColumn(label, "int", found.cells, found.valid, found.length, found.mask)]);
}

/** @returns whether a row passes. A null does not. */
function rowTest(fn: FluxFunction): (row: RowRecord) => boolean {
  const test = fn.prepare(["r"]);
  return (row) => {
    let result: Value;
    try {
      result = test(row);
    } catch (error) {
      throw rowError("state", fn, error);
    }
    if (typeof result !== "boolean" && !isNull(result)) throw new FluxError(`type conflict: bool != ${kindOf(result)}`);
    return result === true;
  };
}

function checkTimes(times: FluxColumn, label: string): void {
  if (times.type !== "time") throw new FluxError(`column ${JSON.stringify(label)} is not of type time`);
  for (let row = 0; row < times.length; row++) if (times.isNull(row)) throw new FluxError("got a null timestamp");
}

export const hourSelection = operator((call) => {
  const [start, stop] = [call.bigint("start"), call.bigint("stop")];
  const location = locationOf(call.record("location", call.run.location));
  const timeColumn = call.string("timeColumn", "_time");
  return (input) =>
    eachTable(input, (table) => {
      const times = table.column(timeColumn);
      if (times === undefined) throw new FluxError("invalid time column");
      if (start < 0n || start > 23n) throw new FluxError("start must be between 0 and 23");
      if (stop < 0n || stop > 23n) throw new FluxError("stop must be between 0 and 23");
      const rows: number[] = [];
      for (let row = 0; row < table.rowCount; row++) {
        const time = times.get(row);
        if (!(time instanceof Time)) continue;
        const local = location.toLocal(time.ns);
        const hour = (local - floorDiv(local, DAY_NS) * DAY_NS) / (3600n * SECOND_NS);
        const isWithin = start <= stop ? hour >= start && hour <= stop : hour >= start || hour <= stop;
        if (isWithin) rows.push(row);
      }
      return table.take(Uint32Array.from(rows));
    });
});
