// A table without rows, for questions that have no answer.
import { FluxColumn } from "../../tables/column.ts";
import { StreamNode } from "../../tables/stream.ts";
import { FluxTable, GroupKey } from "../../tables/table.ts";
import { Time } from "../../values/value.ts";
import type { NativeCall } from "../native-call.ts";

/** As recorded: the bounds are the zero time of the reference, which wraps around to 1754. */
const ZERO = new Time(-6795364578871345152n);

/** A stream of one table without rows. */
export function emptyTable({ site }: NativeCall): StreamNode {
  const key = new GroupKey(["_start", "_stop"].map((label) => ({ label, type: "time", value: ZERO })));
  const types = { _start: "time", _stop: "time", _time: "time", _value: "float" } as const;
  const columns = Object.entries(types).map(([label, type]) => FluxColumn.constant(label, type, type === "time" ? ZERO : 0, 0));
  return new StreamNode("emptyTable", [], site?.location ?? null, () => [new FluxTable(key, columns, 0)]);
}
