// A table of a snapshot as the engine sees it: the buffer segments and file blocks that can hold wanted rows, duplicates merged where there
// can be any, handed on chunk by chunk. Runs in the query worker.
import { closeSync, openSync, readSync } from "node:fs";
import type { Kernel } from "../kernel/kernel.ts";
import { mergeRuns, type OwnedRun } from "../kernel/run-merge.ts";
import { openRunCursor } from "../kernel/scan.ts";
import { planMerges } from "../kernel/scan-plan.ts";
import { type ColumnDef, ColumnType } from "../model/column.ts";
import { TsdbError } from "../model/errors.ts";
import type { Run } from "../model/run.ts";
import { ALL_TIME, type ScanChunk, type ScanCursor, type ScanRequest, type ScanTable, type TimeRange } from "../model/scan.ts";
import { type ByteSource, type DecodedRun, PtReader } from "../store/pt-file.ts";
import type { BlockSnapshot, ObjectSource, TableSnapshot } from "./snapshot.ts";

/** A part of the table in log order: rows in memory, or a block that is read when its turn comes. */
type Part = { readonly run: Run } | { readonly block: BlockSnapshot };

export class TableScan implements ScanTable {
  readonly name: string;
  readonly columns: readonly ColumnDef[];
  readonly rowCountMax: number;
  private readonly readers = new Map<number, PtReader>();
  private readonly sources: FileSource[] = [];
  private readonly cursors = new Set<ScanCursor>();

  constructor(
    private readonly kernel: Kernel,
    private readonly snapshot: TableSnapshot,
  ) {
    this.name = snapshot.table.name;
    this.columns = snapshot.table.columns;
    this.rowCountMax = sum(snapshot.runs.map((run) => run.rowCount)) + sum(snapshot.blocks.map((block) => block.rowCount));
  }

  open(request: ScanRequest): ScanCursor {
    const { minNs, maxNs } = request.range;
    const overlaps = (rows: { minTimeNs: bigint; maxTimeNs: bigint }) => rows.minTimeNs <= maxNs && rows.maxTimeNs >= minNs;
    const parts: Part[] = [
      ...this.snapshot.blocks.filter(overlaps).map((block) => ({ block })),
      ...this.snapshot.runs.filter(overlaps).map((run) => ({ run })),
    ];
    // rows outside the range are left out of a merge, so overlaps outside it do not count
    const plan = planMerges(parts.map((part) => summary(part, request.range)));
    const cursor = new TableCursor([
      ...plan.alone.map((index) => () => this.openAlone(parts[index]!, request)),
      ...plan.groups.map(
        (group) => () =>
          this.openMerged(
            group.map((index) => parts[index]!),
            request,
          ),
      ),
    ]);
    this.cursors.add(cursor);
    return cursor;
  }

  /** Frees everything the scans hold. */
  close(): void {
    for (const cursor of this.cursors) cursor.close();
    for (const source of this.sources) source.close();
    this.cursors.clear();
    this.readers.clear();
    this.sources.length = 0;
  }

  /** A part that shares no series and time with another is read in place. */
  private openAlone(part: Part, request: ScanRequest): ScanCursor | null {
    if ("run" in part) return openRunCursor(this.kernel, part.run, request);
    const run = this.decode(part.block, request);
    return run === null ? null : ownedCursor(run, () => openRunCursor(this.kernel, run, request));
  }

  /** Parts that may hold the same series and time are merged when their turn comes. The result points into the text of its inputs. */
  private openMerged(parts: readonly Part[], request: ScanRequest): ScanCursor | null {
    const owned: OwnedRun[] = [];
    const release = () => {
      for (const run of owned.splice(0)) run.release();
    };
    try {
      const runs: Run[] = [];
      for (const part of parts) {
        if ("run" in part) runs.push(part.run);
        else {
          const run = this.decode(part.block, request);
          if (run === null) continue;
          owned.push(run);
          runs.push(run);
        }
      }
      if (runs.length === 0) return null;
      const { columns, range, tags } = request;
      const merged = mergeRuns(this.kernel, runs, columns, { range, tags });
      owned.push(merged);
      const cursor = openRunCursor(this.kernel, merged, { columns, range: ALL_TIME, tags: [] });
      const close = () => {
        cursor.close();
        release();
      };
      return { next: () => cursor.next(), close };
    } catch (error) {
      release();
      throw error;
    }
  }

  private decode(block: BlockSnapshot, request: ScanRequest): DecodedRun | null {
    let reader = this.readers.get(block.fileId);
    if (reader === undefined) {
      reader = new PtReader(this.kernel, this.source(block.source));
      this.readers.set(block.fileId, reader);
    }
    const columnIds = request.columns.filter(({ type }) => type !== ColumnType.tag && type !== ColumnType.time).map(({ id }) => id);
    return reader.decodeBlock(block.blockIndex, { columnIds, range: request.range, tags: request.tags });
  }

  private source(source: ObjectSource): ByteSource {
    if (source.kind === "bytes") return memorySource(source.bytes);
    const file = new FileSource(source.path);
    this.sources.push(file);
    return file;
  }
}

function summary(part: Part, { minNs, maxNs }: TimeRange) {
  const { minTimeNs, maxTimeNs, unique } = "run" in part ? part.run : part.block;
  const sorted = "run" in part ? part.run.sorted : true;
  return { minTimeNs: minTimeNs < minNs ? minNs : minTimeNs, maxTimeNs: maxTimeNs > maxNs ? maxNs : maxTimeNs, unique, sorted };
}

/** The cursor over a run that is freed with it. */
function ownedCursor(run: OwnedRun, open: () => ScanCursor): ScanCursor {
  try {
    const cursor = open();
    const close = () => {
      cursor.close();
      run.release();
    };
    return { next: () => cursor.next(), close };
  } catch (error) {
    run.release();
    throw error;
  }
}

/** Goes through groups one after the other; each is opened when its turn comes and freed before the next. */
class TableCursor implements ScanCursor {
  private current: ScanCursor | null = null;
  private at = 0;

  constructor(private readonly groups: readonly (() => ScanCursor | null)[]) {}

  next(): ScanChunk | null {
    for (;;) {
      const chunk = this.current?.next() ?? null;
      if (chunk !== null) return chunk;
      this.current?.close();
      this.current = null;
      const open = this.groups[this.at];
      if (open === undefined) return null;
      this.at += 1;
      this.current = open();
    }
  }

  close(): void {
    this.current?.close();
    this.current = null;
    this.at = this.groups.length;
  }
}

/** A local file, opened at the first read. */
class FileSource implements ByteSource {
  private descriptor: number | undefined;
  private size_: number | undefined;

  constructor(readonly name: string) {}

  get size(): number {
    this.size_ ??= Bun.file(this.name).size;
    return this.size_;
  }

  read(offset: number, byteCount: number): Uint8Array {
    const bytes = new Uint8Array(byteCount);
    try {
      this.descriptor ??= openSync(this.name, "r");
      let at = 0;
      while (at < byteCount) {
        const count = readSync(this.descriptor, bytes, at, byteCount - at, offset + at);
        if (count === 0) break;
        at += count;
      }
      return at === byteCount ? bytes : bytes.subarray(0, at);
    } catch (cause) {
      throw new TsdbError("io", `cannot read ${this.name}: ${(cause as Error).message}`, { file: this.name, offset }, { cause });
    }
  }

  close(): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor);
    this.descriptor = undefined;
  }
}

function memorySource(bytes: Uint8Array): ByteSource {
  return { name: "memory", size: bytes.byteLength, read: (offset, byteCount) => bytes.subarray(offset, offset + byteCount) };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
