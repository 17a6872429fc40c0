// The values of a column per cell, as t-digests, for quantiles (assembly/scan/digests.ts). Quantiles of one column share them.
import type { QuantileAggregate } from "../../model/query/aggregate.ts";
import type { PartialRun } from "../../model/rows/run.ts";
import type { Kernel } from "../memory/kernel.ts";
import type { CellArray, CellArrays } from "./arrays.ts";
import { type CellRows, columnRun } from "./columns.ts";

/** Values wait in large buffers while all digests together have less than this share of the memory. */
const ROOMY_SHARE = 4;

/** Owned: call `release`. */
export class Quantiles {
  /** Address of the digest of each cell; 0: it has no values. */
  readonly digests: CellArray;
  private readonly ptr: number;

  constructor(
    private readonly kernel: Kernel,
    private readonly of: QuantileAggregate,
    arrays: CellArrays,
    bytesMax: number,
  ) {
    const { column, weight, size } = of;
    this.digests = arrays.add(8)!;
    this.ptr = kernel.call.digestsCreate(column.type, weight?.type ?? 0, size, Math.floor(bytesMax / ROOMY_SHARE)) >>> 0;
  }

  /** Equal for quantiles that share their digests. */
  static key({ column, weight, size }: QuantileAggregate): string {
    return `${column.id} ${weight?.id} ${size}`;
  }

  get memoryBytes(): number {
    return this.kernel.call.digestsBytes(this.ptr) >>> 0;
  }

  add(run: PartialRun, rows: CellRows): void {
    const { call } = this.kernel;
    const { column, weight } = this.of;
    const values = columnRun(run, column);
    const weights = weight === null ? null : columnRun(run, weight);
    // all are NULL
    if (values === undefined || weights === undefined) return;
    const { dataPtr, validityPtr } = values;
    const weighted = [weights?.dataPtr ?? 0, weights?.validityPtr ?? 0] as const;
    if (rows.kind === "spans") call.spansDigest(this.ptr, rows.ptr, rows.count, dataPtr, validityPtr, ...weighted, this.digests.ptr);
    else {
      const { cellsPtr, rowsPtr, first, count } = rows;
      call.rowsDigest(this.ptr, cellsPtr, rowsPtr, first, count, dataPtr, validityPtr, ...weighted, this.digests.ptr);
    }
  }

  /** Writes the quantile of all listed cells, also of cells without a value. */
  write(share: number, listPtr: number, count: number, targetPtr: number): void {
    this.kernel.call.groupsQuantile(this.ptr, this.digests.ptr, listPtr, count, share, targetPtr);
  }

  release(): void {
    this.kernel.call.digestsFree(this.ptr);
  }
}
