// `experimental.diff`: the rows of two streams beside each other, marked where they differ (longest common subsequence).
import { FluxColumn } from "../../tables/column.ts";
import { ColumnBuilder } from "../../tables/column-builder.ts";
import { gathered, type Tables } from "../../tables/stream.ts";
import { FluxTable, type GroupKey } from "../../tables/table.ts";
import { FluxError, UnplacedError } from "../../values/flux-error.ts";
import { isNull, Null, Time, UInt, type Value } from "../../values/value.ts";
import type { NativeBody } from "../native-call.ts";
import { streamOf } from "../operator.ts";

const EPSILON = 1e-6;
/** Cells of the table of common lengths. */
const PAIRS_MAX = 25_000_000;

/** A column of either side. */
interface Side {
  readonly label: string;
  readonly type: FluxColumn["type"];
  readonly want: FluxColumn | undefined;
  readonly got: FluxColumn | undefined;
}

function sidesOf(key: GroupKey, want: FluxTable | undefined, got: FluxTable | undefined): Side[] {
  if (key.has("_diff")) throw new FluxError("group key cannot contain _diff column");
  const labels = [...(want?.columns ?? []), ...(got?.columns ?? [])].map(({ label }) => label);
  return [...new Set(labels)]
    .filter((label) => label !== "_diff" && !key.has(label))
    .map((label) => {
      const [a, b] = [want?.column(label), got?.column(label)];
      if (a !== undefined && b !== undefined && a.type !== b.type) {
        throw new FluxError(`column "${label}" has different types ${a.type} != ${b.type}`);
      }
      return { label, type: (a ?? b)!.type, want: a, got: b };
    });
}

function isSame(a: Value, b: Value): boolean {
  if (isNull(a) || isNull(b)) return isNull(a) && isNull(b);
  if (typeof a === "number" && typeof b === "number") return (Number.isNaN(a) && Number.isNaN(b)) || Math.abs(a - b) <= EPSILON || a === b;
  if (a instanceof Time && b instanceof Time) return a.ns === b.ns;
  if (a instanceof UInt && b instanceof UInt) return a.value === b.value;
  return a === b;
}

/** "" for a row of both sides, "-" for a row of `want` only, "+" for a row of `got` only. */
interface DiffRow {
  readonly mark: "" | "-" | "+";
  readonly row: number;
}

function traced(equal: (i: number, j: number) => boolean, wantCount: number, gotCount: number): DiffRow[] {
  if ((wantCount + 1) * (gotCount + 1) > PAIRS_MAX) throw new FluxError("the tables are too large to be compared");
  const width = wantCount + 1;
  const lengths = new Uint32Array(width * (gotCount + 1));
  const matches = new Uint8Array(lengths.length);
  for (let j = 1; j <= gotCount; j++) {
    for (let i = 1; i <= wantCount; i++) {
      const at = j * width + i;
      if (equal(i - 1, j - 1)) {
        matches[at] = 1;
        lengths[at] = lengths[at - width - 1]! + 1;
      } else lengths[at] = Math.max(lengths[at - width]!, lengths[at - 1]!);
    }
  }
  const rows: DiffRow[] = [];
  for (let [i, j] = [wantCount, gotCount]; i > 0 || j > 0; ) {
    const at = j * width + i;
    if (i > 0 && j > 0 && matches[at] === 1) {
      rows.push({ mark: "", row: --i });
      j--;
    } else if (i > 0 && (j === 0 || lengths[at - 1]! > lengths[at - width]!)) rows.push({ mark: "-", row: --i });
    else rows.push({ mark: "+", row: --j });
  }
  return rows.reverse();
}

/** The rows in which two tables differ; null if there are none. */
export function difference(key: GroupKey, want: FluxTable | undefined, got: FluxTable | undefined): FluxTable | null {
  const sides = sidesOf(key, want, got);
  const [wantCount, gotCount] = [want?.rowCount ?? 0, got?.rowCount ?? 0];
  const cell = (column: FluxColumn | undefined, row: number): Value => column?.get(row) ?? Null.of("invalid");
  const equal = (i: number, j: number) => sides.every((side) => isSame(cell(side.want, i), cell(side.got, j)));
  if (wantCount === gotCount && Array.from({ length: wantCount }, (_, i) => i).every((i) => equal(i, i))) return null;
  const rows = traced(equal, wantCount, gotCount);
  const marks = new ColumnBuilder("_diff", "string", rows.length);
  for (const { mark } of rows) marks.append(mark);
  const keyColumns = key.columns.map(({ label, type, value }) => FluxColumn.constant(label, type, value, rows.length));
  const columns = sides.map((side) => {
    const builder = new ColumnBuilder(side.label, side.type, rows.length);
    for (const { mark, row } of rows) builder.append(cell(mark === "+" ? side.got : side.want, row));
    return builder.build();
  });
  return new FluxTable(key, [marks.build(), ...keyColumns, ...columns], rows.length);
}

export const diff: NativeBody = (call) => {
  const inputs = [call.stream("got"), call.stream("want")];
  if (inputs[0] === inputs[1]) throw new UnplacedError("diff should have exactly 2 parents");
  return streamOf(call, inputs, function* ([got, want]): Tables {
    const gots = new Map((yield* gathered(got!)).map((table) => [table.key.text, table]));
    for (const table of yield* gathered(want!)) {
      const made = difference(table.key, table, gots.get(table.key.text));
      gots.delete(table.key.text);
      yield made;
    }
    for (const table of gots.values()) yield difference(table.key, undefined, table);
  });
};
