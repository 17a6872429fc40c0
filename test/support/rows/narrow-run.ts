// Runs whose integers wait in fewer bytes, as in the block cache.
import { NarrowColumn, narrownessOf } from "../../../src/kernel/codec/narrow-column.ts";
import type { Kernel } from "../../../src/kernel/memory/kernel.ts";
import type { Run } from "../../../src/model/rows/run.ts";
import type { Below } from "../prng.ts";
import type { Arena, TestRow } from "./rows.ts";

/** The run with each column of integers narrowed, if they fit fewer bytes. Reading such a column as a wide one is an error. */
export function narrowedRun(kernel: Kernel, arena: Arena, run: Run): Run {
  const columns = run.columns.map((column) => {
    const narrowness = narrownessOf(kernel, column, run.rowCount);
    if (narrowness === null) return column;
    return new NarrowColumn(kernel, column, run.rowCount, narrowness, arena).run(() => {
      throw new Error(`column ${column.columnId} was read as a wide one`);
    });
  });
  return { ...run, columns };
}

/** The rows with integers that fit 1, 2 or 4 bytes beside each other. */
export function withNearIntegers(below: Below, rows: readonly TestRow[]): TestRow[] {
  const range = [200, 60_000, 2_000_000_000][below(3)]!;
  const base = [0n, -100n, 2n ** 40n][below(3)]!;
  return rows.map((row) => {
    const fields = { ...row.fields };
    if (typeof fields["i"] === "bigint") fields["i"] = base + BigInt(below(range));
    if (typeof fields["u"] === "bigint") fields["u"] = 2n ** 63n + BigInt(below(range));
    return { ...row, fields };
  });
}
