// A snapshot of a table built from batches of plain rows in log order: some in files with small pages, some in memory.
import type { Kernel } from "../../../src/kernel/memory/kernel.ts";
import { ALL_TIME } from "../../../src/model/query/scan.ts";
import type { ColumnDef } from "../../../src/model/rows/column.ts";
import type { RowFacts, Run } from "../../../src/model/rows/run.ts";
import { union } from "../../../src/model/rows/time-ranges.ts";
import type { Tombstone } from "../../../src/model/rows/tombstone.ts";
import type { BlockSnapshot, TableSnapshot } from "../../../src/scan/snapshot.ts";
import { encodePt } from "../../../src/storage/pt/writer.ts";
import { Arena, canonicalKey, type TestRow, writeDictionary, writeRun } from "./rows.ts";

/** Batches that are flushed together, or that are in memory, each as a segment; the batches' sequences increase from 1 over all parts. */
export interface TablePart {
  readonly kind: "file" | "memory";
  readonly batches: readonly (readonly TestRow[])[];
}

export interface SnapshotOptions {
  readonly columns: readonly ColumnDef[];
  readonly pageRowsMax?: number;
  readonly tombstones?: readonly Tombstone[];
  readonly retentionMinNs?: bigint;
  /** The id of the first file; they increase. */
  readonly firstFileId?: number;
  readonly generation?: number;
}

let lastSegment = 0;

/** A snapshot of one table, built from runs and files. */
export class TestSnapshot {
  readonly table: TableSnapshot;
  /** The bytes of the files, in order. */
  readonly files: Uint8Array[] = [];
  private readonly arena: Arena;

  constructor(kernel: Kernel, parts: readonly TablePart[], options: SnapshotOptions) {
    const { columns, pageRowsMax, tombstones = [], retentionMinNs = ALL_TIME.minNs, firstFileId = 1, generation = 0 } = options;
    this.arena = new Arena(kernel);
    const lastNs = new Map<string, bigint>();
    let runs: Run[] = [];
    const memoryRows: TestRow[][] = [];
    const blocks: BlockSnapshot[] = [];
    let sequence = 0;
    for (const { kind, batches } of parts) {
      const written = batches.map((rows) => {
        sequence += 1;
        return writeRun(this.arena, columns, rows, { seqMin: sequence, ...factsOf(rows, columns, lastNs) });
      });
      if (kind === "memory") {
        runs.push(...written.filter(({ rowCount }) => rowCount > 0));
        memoryRows.push(...batches.filter((rows) => rows.length > 0).map((rows) => [...rows]));
        continue;
      }
      const tables = [{ databaseId: 1, tableId: 1, columns, runs: written }];
      const { bytes, directory } = encodePt(kernel, tables, pageRowsMax === undefined ? {} : { pageRowsMax });
      const fileId = firstFileId + this.files.push(bytes) - 1;
      blocks.push(
        ...directory.blocks.map(({ rowCount, minTimeNs, maxTimeNs, seqMin, seqMax, unique, overlaps }, blockIndex) => {
          const place = { fileId, generation, format: "pt" as const, source: { kind: "bytes" as const, bytes }, blockIndex };
          return { ...place, rowCount, minTimeNs, maxTimeNs, seqMin, seqMax, unique, ...(overlaps === undefined ? {} : { overlaps }) };
        }),
      );
    }
    // segments of one table share their dictionary
    const { dictionary, series } = writeDictionary(this.arena, columns, memoryRows.flat());
    let row = 0;
    runs = runs.map((run) => {
      row += run.rowCount;
      return { ...run, segment: ++lastSegment, dictionary, seriesPtr: this.arena.u32(series.slice(row - run.rowCount, row)) };
    });
    this.table = { table: { id: 1, databaseId: 1, name: "cpu", columns }, retentionMinNs, tombstones, runs, blocks };
  }

  /** Frees the rows in memory. */
  free(): void {
    this.arena.free();
  }
}

/** Rows not newer than all previous rows of their series, in this batch and earlier ones, are possible duplicates. Updates last times. */
function factsOf(rows: readonly TestRow[], columns: readonly ColumnDef[], lastNs: Map<string, bigint>): RowFacts {
  const doubted: bigint[] = [];
  for (const { tags, timeNs } of rows) {
    const key = Buffer.from(canonicalKey(columns, tags)).toString("latin1");
    const last = lastNs.get(key);
    if (last === undefined || timeNs > last) lastNs.set(key, timeNs);
    else doubted.push(timeNs);
  }
  if (doubted.length === 0) return { unique: true, ascending: true };
  const times = doubted.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  // each time, if there are few
  const overlaps =
    times.length > 4 ? [{ minNs: times[0]!, maxNs: times.at(-1)! }] : union(times.map((time) => ({ minNs: time, maxNs: time })));
  return { unique: false, overlaps };
}
