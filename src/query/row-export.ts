// The rows of a table within a range of time as a Parquet file, for exports: as a query shows them, read without a language.
import { RowFile } from "../export/parquet/row-file.ts";
import { Blocks } from "../kernel/memory/blocks.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { RowSelection, type SelectedRun } from "../kernel/scan/row-selection.ts";
import { LIMITS } from "../model/limits.ts";
import type { TimeRange } from "../model/query/scan.ts";
import type { ScanRecord } from "../model/query/scan-record.ts";
import { type ColumnDef, ColumnType } from "../model/rows/column.ts";
import { type Run, wholeRun } from "../model/rows/run.ts";
import { compareTexts } from "../model/rows/text-order.ts";
import type { Turns } from "../model/turns.ts";
import type { TableSnapshot } from "../scan/snapshot.ts";
import { type KnownOfTable, TableReader } from "../scan/table-reader.ts";
import { takeRows } from "../scan/taken-rows.ts";
import type { BlockCache } from "../storage/block-cache/block-cache.ts";
import type { StatementClock } from "./statement-clock.ts";

export interface RowExportParts extends KnownOfTable {
  readonly kernel: Kernel;
  readonly cache: BlockCache;
  readonly turns: Turns;
}

/** A file that is made while it is read. */
export class RowExport {
  readonly contentType = "application/vnd.apache.parquet";
  private readonly reader: TableReader;
  private file: RowFile | null = null;

  /** The snapshot must outlive it. */
  constructor(
    private readonly parts: RowExportParts,
    private readonly snapshot: TableSnapshot,
    { minNs, maxNs }: TimeRange,
  ) {
    const { retentionMinNs } = snapshot;
    this.reader = new TableReader({ ...parts, limits: LIMITS }, snapshot, {
      range: { minNs: minNs < retentionMinNs ? retentionMinNs : minNs, maxNs },
      ...{ tags: [], texts: [], fields: fieldsOf(snapshot), series: true, time: true, keepsText: false, newestOnly: false, bySeries: true },
      isOnePass: true,
    });
  }

  get rowCount(): number {
    return this.file?.rowCount ?? 0;
  }

  get record(): ScanRecord {
    return this.reader.tally.record;
  }

  /** Once. The clock runs while a part is made. @throws TsdbError as `bytes` */
  async *answer(clock: StatementClock): AsyncGenerator<Uint8Array> {
    for await (const part of this.bytes()) {
      clock.pause();
      yield part;
      clock.resume();
    }
    clock.pause();
  }

  /** @throws TsdbError corrupt_file, io, overloaded, cancelled */
  private async *bytes(): AsyncGenerator<Uint8Array> {
    const { kernel, turns } = this.parts;
    const { name, columns } = this.snapshot.table;
    const ordered = columns.toSorted((a, b) => compareTexts(a.name, b.name));
    const file = await RowFile.create(kernel, name, ordered, turns);
    this.file = file;
    yield* file.begin();
    for (const piece of this.reader.all()) {
      const rows = this.rowsOf(piece);
      if (rows === null) continue;
      try {
        yield* file.add(rows.run);
      } finally {
        rows.release();
      }
      const pause = turns.pause();
      if (pause !== null) await pause;
    }
    yield* file.end();
  }

  /** Call it when nothing is read any more. */
  close(): void {
    this.file?.release();
    this.reader.release();
  }

  /** The selected rows of a run; null: there are none. */
  private rowsOf(piece: SelectedRun): { readonly run: Run; release(): void } | null {
    const { kernel } = this.parts;
    const run = wholeRun(piece.run);
    const selection = RowSelection.open(kernel, piece);
    if (selection === "none") return null;
    if (selection === "all") return { run, release: () => {} };
    const scratch = new Blocks(kernel);
    try {
      const rowsPtr = scratch.alloc(run.rowCount * 4);
      const count = selection.next(rowsPtr, run.rowCount);
      if (count === 0) return null;
      const taken = this.reader.withRoom(() => takeRows(kernel, run, { rowsPtr, count }));
      return { run: taken, release: () => taken.release() };
    } finally {
      selection.release();
      scratch.release();
    }
  }
}

function fieldsOf({ table }: TableSnapshot): ColumnDef[] {
  return table.columns.filter(({ type }) => type !== ColumnType.time && type !== ColumnType.tag);
}
