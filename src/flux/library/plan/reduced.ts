// Operators over rows that the source has reduced: the same answers as over all rows.
import type { ReduceFunction, Reduction } from "../../interpret/flux-source.ts";
import type { ScriptRun } from "../../interpret/script-run.ts";
import type { FluxColumn } from "../../tables/column.ts";
import type { Tables } from "../../tables/stream.ts";
import type { FluxTable } from "../../tables/table.ts";
import { Null, UInt, type Value } from "../../values/value.ts";
import { asInput } from "../operator.ts";
import type { ReduceWish, StorageReduce } from "../universe/pushed.ts";
import { COUNTS } from "../universe/sources.ts";

const FUNCTIONS: readonly string[] = ["count", "sum", "mean", "min", "max", "first", "last"] satisfies ReduceFunction[];

/** True for functions that a source can compute. */
export function isReduceFunction(name: string): name is ReduceFunction {
  return FUNCTIONS.includes(name);
}

type Reduced = Pick<Reduction, "fn" | "runs" | "ownTimes"> &
  Partial<Pick<Reduction, "latest">> &
  Partial<Pick<ReduceWish, "columns" | "shown">>;

/** Rows that the source reduces; null when it cannot. */
export function* reducedRows(
  run: ScriptRun,
  reduce: StorageReduce,
  { columns = null, shown = null, ...reduction }: Reduced,
): ReturnType<StorageReduce> {
  const whole = { latest: null, isPartial: false, oneTypeOf: null, apart: null };
  const wish = { reduction: { ...whole, ...reduction }, columns, shown, filters: [], values: [] };
  return run.pushesDown ? yield* asInput(reduce(run, wish)) : null;
}

/** What `use` makes of reduced rows, or `otherwise` when the source cannot reduce them. */
export function* reducedOr(
  run: ScriptRun,
  reduce: StorageReduce,
  wanted: Reduced,
  use: (tables: readonly FluxTable[]) => Tables | null,
  otherwise: () => Tables,
): Tables {
  const tables = yield* reducedRows(run, reduce, wanted);
  yield* (tables === null ? null : use(tables)) ?? otherwise();
}

/** One value of the rows [from, to) that `rows` numbers, which the source has reduced from more. */
export function combinedValue(fn: ReduceFunction, table: FluxTable, column: FluxColumn, rows: ArrayLike<number>): Value {
  if (fn === "mean") {
    const counts = table.column(COUNTS);
    return counts === undefined ? column.get(rows[0]!) : partialMean(column, counts, rows);
  }
  const cells = column.cells as unknown as (number | bigint)[];
  let sum = cells[rows[0]! & column.mask]!;
  for (let i = 1; i < rows.length; i++) {
    const cell = cells[rows[i]! & column.mask]!;
    sum = typeof sum === "number" ? sum + (cell as number) : sum + (cell as bigint);
  }
  if (typeof sum === "number") return sum;
  return column.type === "uint" ? new UInt(BigInt.asUintN(64, sum)) : BigInt.asIntN(64, sum);
}

function partialMean(column: FluxColumn, counts: FluxColumn, rows: ArrayLike<number>): Value {
  const [cells, weights] = [column.cells as Float64Array, counts.cells as BigInt64Array];
  let sum = 0;
  let count = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    sum += Number(cells[row & column.mask]);
    count += Number(weights[row & counts.mask]);
  }
  return count === 0 ? Null.of("float") : sum / count;
}
