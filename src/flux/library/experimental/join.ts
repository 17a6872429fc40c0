// `experimental.join`: rows of equal keys and times, put together by a function.
import { valuesEqual } from "../../interpret/operators.ts";
import { gathered, type Tables } from "../../tables/stream.ts";
import { type FluxTable, RowRecord } from "../../tables/table.ts";
import { FluxError, UnplacedError } from "../../values/flux-error.ts";
import { FluxRecord, Time, type Value } from "../../values/value.ts";
import { TableMerge } from "../merge-tables.ts";
import type { NativeBody } from "../native-call.ts";
import { streamOf } from "../operator.ts";
import { RowLayout } from "../row-appender.ts";
import { ofTwoParents } from "../universe/join.ts";

/** Rows of a table by their time, in order; rows without a time take no part. */
function byTime(table: FluxTable): { readonly ns: bigint; readonly row: number }[] {
  const times = table.column("_time");
  if (times?.type !== "time") throw new FluxError("no _time column found");
  return Array.from({ length: table.rowCount }, (_, row) => ({ time: times.get(row), row })).flatMap(({ time, row }) =>
    time instanceof Time ? [{ ns: time.ns, row }] : [],
  );
}

function append(merge: TableMerge, left: FluxTable, right: FluxTable, make: (left: Value, right: Value) => Value): void {
  const [a, b] = [byTime(left), byTime(right)];
  const [l, r] = [new RowRecord(left), new RowRecord(right)];
  const rows = new RowLayout(merge.builder(left.key));
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i]!.ns < b[j]!.ns) i++;
    else if (a[i]!.ns > b[j]!.ns) j++;
    else {
      l.row = a[i]!.row;
      for (let k = j; k < b.length && b[k]!.ns === a[i]!.ns; k++) {
        r.row = b[k]!.row;
        const made = make(l, r);
        if (!(made instanceof FluxRecord)) throw new FluxError("join: fn must return a record");
        for (const { label, value } of left.key.columns) {
          const found = made.get(label);
          if (found === undefined || !valuesEqual(found, value)) throw new UnplacedError("argument 'fn' may not modify group key");
        }
        rows.append(made);
      }
      i++;
    }
  }
}

export const join: NativeBody = (call) => {
  const inputs = [call.stream("left"), call.stream("right")];
  const make = call.function("fn").prepare(["left", "right"]);
  const node = streamOf(call, inputs, function* ([left, right]): Tables {
    const lefts = yield* gathered(left!);
    const rights = new Map((yield* gathered(right!)).map((table) => [table.key.text, table]));
    const merge = new TableMerge();
    for (const table of lefts) {
      yield null;
      const other = rights.get(table.key.text);
      if (other !== undefined && table.rowCount > 0 && other.rowCount > 0) append(merge, table, other, make);
    }
    yield* merge.tables();
  });
  return ofTwoParents(node);
};
