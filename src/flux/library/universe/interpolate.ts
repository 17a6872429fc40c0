// Package `interpolate`: rows between rows.

import type { ScriptRun } from "../../interpret/script-run.ts";
import { FluxColumn } from "../../tables/column.ts";
import { ColumnBuilder } from "../../tables/column-builder.ts";
import { eachTable } from "../../tables/stream.ts";
import { FluxTable } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import { locationOf } from "../../values/location.ts";
import { Duration, isNull, Time } from "../../values/value.ts";
import type { LibraryPackage } from "../native-call.ts";
import { operator } from "../operator.ts";
import { Windows } from "./window-bounds.ts";

/** New rows between two looks at the limits. */
const CHECK_ROWS = 1024;

/** Rows at the starts of the windows between two rows, on the line between their values. */
function interpolated(table: FluxTable, windows: Windows, { use }: ScriptRun): FluxTable {
  for (const { label } of table.columns) {
    if (label === "_time" || label === "_value" || table.key.has(label)) continue;
    throw new FluxError(`interpolate.linear requires column "${label}" to be in group key`);
  }
  const [times, values] = [table.column("_time"), table.column("_value")];
  if (times === undefined) throw new FluxError("_time column does not exist");
  if (values === undefined) throw new FluxError("_value column does not exist");
  if (values.type !== "float") throw new FluxError(`cannot interpolate ${values.type} values; expected float values`);
  const [newTimes, newValues] = [new ColumnBuilder("_time", "time"), new ColumnBuilder("_value", "float")];
  let before: { readonly ns: bigint; readonly value: number } | null = null;
  for (let row = 0; row < table.rowCount; row++) {
    const time = times.get(row);
    const value = values.get(row);
    if (isNull(time)) throw new FluxError("null _time found during linear interpolation");
    if (isNull(value)) throw new FluxError("null _value found during linear interpolation");
    const now = { ns: (time as Time).ns, value: value as number };
    if (before !== null) {
      for (const { startNs } of windows.overlapping(before.ns, now.ns)) {
        if (startNs <= before.ns) continue;
        if (newTimes.length % CHECK_ROWS === 0) {
          use.checkCells(2 * newTimes.length);
          use.check();
        }
        newTimes.append(new Time(startNs));
        newValues.append(before.value + ((now.value - before.value) * Number(startNs - before.ns)) / Number(now.ns - before.ns));
      }
    }
    newTimes.append(time);
    newValues.append(value);
    before = now;
  }
  const made = new Map([newTimes.build(), newValues.build()].map((column) => [column.label, column]));
  const columns = table.columns.map(
    ({ label, type }) => made.get(label) ?? FluxColumn.constant(label, type, table.key.get(label)!.value, newTimes.length),
  );
  return new FluxTable(table.key, columns, newTimes.length);
}

export const INTERPOLATE: LibraryPackage = {
  path: "interpolate",
  name: "interpolate",
  source:
    "builtin linear : (<-tables: stream[{T with _time: time, _value: float}], every: duration) => stream[{T with _time: time, _value: float}]",
  natives: {
    linear: operator((call) => {
      const every = call.duration("every");
      const windows = new Windows(every, every, new Duration(0n, 0n), locationOf(call.run.location));
      return (input, run) => eachTable(input, (table) => interpolated(table, windows, run));
    }),
  },
};
