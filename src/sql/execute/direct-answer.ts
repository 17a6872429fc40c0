// The result batches of a direct scan: read from the scan, and sorted here if needed.

import type { ChunkCursor, ScanSource } from "../../duckdb/table-function.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { LIMITS } from "../../model/limits.ts";
import { type ResultBatch, type ResultColumn, type ResultField, type ResultType, rowsOfBatch } from "../../model/query/result-batch.ts";
import type { ScanChunk } from "../../model/query/scan-table.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { joinColumns } from "../../model/rows/joined-column.ts";
import { takeRows } from "../../model/rows/take-rows.ts";
import type { Steps } from "../../model/steps.ts";
import { cutChunks } from "./bounded-chunks.ts";
import { ChunkColumn, RESULT_TYPE, readChunkColumn, readChunkRows } from "./chunk-reader.ts";
import type { DirectScan, PlannedScan } from "./direct-scan.ts";
import type { StatementScan } from "./duck-table.ts";
import { RowOrder } from "./order/row-order.ts";
import { TopRows } from "./order/top-rows.ts";

/** Above this number DuckDB sorts faster, and within its memory limit. */
const SORTED_ROWS_MAX = 100_000;
const SORTED_BYTES_MAX = 32 << 20;

/** Cells of the first batch. */
const FIRST_CELLS = 16 << 10;

/** `rows`: in order; null: all, in their stored order. */
interface SortedRows {
  readonly columns: readonly ResultColumn[];
  readonly rows: Uint32Array | null;
  readonly rowCount: number;
}

type Plan = DirectScan<PlannedScan & ScanSource & Pick<StatementScan, "newestInOrder" | "openBounded">>;

/** The answer of one direct scan. Owned: call `close`. */
export class DirectAnswer {
  readonly fields: readonly ResultField[];
  private readonly columnTypes: readonly ColumnType[];
  private readonly types: readonly ResultType[];
  private cursor: ChunkCursor | null = null;
  private sorted: SortedRows | null = null;
  /** The cursor's rows are those of the answer. */
  private isInOrder = false;
  /** Approximate rows per batch. */
  private readonly rowsMax: number;
  /** Rows of the first batch, which leaves while the next one is encoded. */
  private readonly firstRows: number;
  /** Rows still to skip, and then to return. */
  private skip: number;
  private left: number;

  constructor(
    private readonly kernel: Kernel,
    private readonly plan: Plan,
  ) {
    this.columnTypes = plan.columnIndexes.map((index) => plan.scan.columns[index]!.type);
    this.types = this.columnTypes.map((type) => RESULT_TYPE[type]);
    this.fields = plan.outputs.map((output) => {
      return { name: output.name, type: "column" in output ? this.types[output.column]! : RESULT_TYPE[ColumnType.integer] };
    });
    this.rowsMax = rowsOfBatch(plan.outputs.length);
    this.firstRows = rowsOfBatch(plan.outputs.length, FIRST_CELLS);
    this.skip = plan.offset;
    this.left = plan.limit;
  }

  /** Opens the scan, and reads it if its rows must be sorted. Returns false if there are too many. */
  *start(): Steps<boolean> {
    const { distinctOn, keys, offset, limit } = this.plan;
    if (distinctOn === null && TopRows.fits(this.columnTypes, keys, offset + limit)) return yield* this.readFirst(offset + limit);
    this.cursor = (yield* this.newestInOrder()) ?? this.plan.scan.open(this.plan.columnIndexes);
    if (keys.length === 0 || this.isInOrder) {
      this.cursor = cutChunks(this.cursor, this.columnTypes, this.firstRows, this.rowsMax);
      return true;
    }
    const parts: { columns: ResultColumn[]; rowCount: number }[] = [];
    let rows = 0;
    let bytes = 0;
    for (let chunk = this.cursor.next(); chunk !== null; chunk = this.cursor.next()) {
      yield;
      const columns = this.read(chunk);
      parts.push({ columns, rowCount: chunk.rowCount });
      rows += chunk.rowCount;
      for (const { values, data } of columns) bytes += values.byteLength + (data?.length ?? 0);
      if (rows > SORTED_ROWS_MAX || bytes > SORTED_BYTES_MAX) {
        this.close();
        return false;
      }
    }
    this.close();
    this.sorted = yield* this.sort(parts, rows);
    return true;
  }

  /** Reads the first `count` rows. Returns false if they cannot be told while they are read. */
  private *readFirst(count: number): Steps<boolean> {
    const { kernel, plan } = this;
    const { scan, columnIndexes } = plan;
    const keys = plan.keys.slice(0, 2);
    const top = new TopRows(this.columnTypes, this.types, plan.keys, count, LIMITS.vectorRows);
    const bounded = scan.openBounded?.(columnIndexes, { ...keys[0]!, columnIndex: columnIndexes[keys[0]!.column]! }) ?? null;
    this.cursor = bounded?.cursor ?? scan.open(columnIndexes);
    for (let chunk = this.cursor.next(); chunk !== null; chunk = this.cursor.next()) {
      yield;
      const { rowCount, columns } = chunk;
      const read = (rows: Uint32Array) => this.columnTypes.map((type, i) => readChunkRows(kernel, type, columns[i]!, rows));
      const isFine = yield* top.add(kernel, { rowCount, keys: keys.map(({ column }) => columns[column]!), read });
      if (bounded !== null) bounded.bound.bound = top.bound;
      if (isFine) continue;
      this.close();
      return false;
    }
    this.close();
    const { columns, rowCount } = yield* top.rows();
    this.sorted = { columns, rows: null, rowCount };
    return true;
  }

  /** The rows of DISTINCT ON tags, newest first, in order; null if they must be sorted. */
  private *newestInOrder(): Steps<ChunkCursor | null> {
    const { keys, distinctOn, columnIndexes, scan } = this.plan;
    if (distinctOn === null || scan.newestInOrder === undefined) return null;
    const [time, ...others] = keys.slice(new Set(distinctOn).size);
    const tags = keys.slice(0, new Set(distinctOn).size);
    const isNewestFirst = time?.isDescending === true && this.columnTypes[time.column] === ColumnType.time && others.length === 0;
    if (!isNewestFirst || new Set(distinctOn).symmetricDifference(new Set(tags.map(({ column }) => column))).size > 0) return null;
    const orders = tags.map(({ column, ...order }) => ({ ...order, columnIndex: columnIndexes[column]! }));
    const cursor = yield* scan.newestInOrder(columnIndexes, orders);
    this.isInOrder = cursor !== null;
    return cursor;
  }

  next(): ResultBatch | null {
    for (;;) {
      if (this.left === 0) {
        this.close();
        return null;
      }
      const batch = this.sorted === null ? this.nextChunk() : this.nextSorted();
      if (batch === null || batch.rowCount > 0) return batch;
    }
  }

  close(): void {
    this.cursor?.close();
    this.cursor = null;
  }

  private read(chunk: ScanChunk): ResultColumn[] {
    return this.columnTypes.map((type, i) => readChunkColumn(this.kernel, type, chunk.columns[i]!, chunk.rowCount));
  }

  /** Valid until the next chunk. */
  private borrow(chunk: ScanChunk): ResultColumn[] {
    return this.columnTypes.map((type, i) => new ChunkColumn(this.kernel, type, chunk.columns[i]!, chunk.rowCount));
  }

  private nextChunk(): ResultBatch | null {
    const chunk = this.cursor?.next() ?? null;
    if (chunk === null) return null;
    const { rowCount } = chunk;
    const first = Math.min(this.skip, rowCount);
    const count = Math.min(rowCount - first, this.left);
    this.skip -= first;
    this.left -= count;
    if (count === 0) return { rowCount: 0, columns: [] };
    if (count === rowCount) return { rowCount, columns: this.outputs(this.borrow(chunk), rowCount) };
    return this.take(
      this.read(chunk),
      Uint32Array.from({ length: count }, (_, i) => first + i),
    );
  }

  private *sort(parts: readonly { columns: ResultColumn[]; rowCount: number }[], rowCount: number): Steps<SortedRows> {
    if (rowCount === 0) return { columns: [], rows: null, rowCount };
    const columns = this.types.map((type, i) =>
      joinColumns(
        type,
        parts.map((part) => ({ column: part.columns[i]!, rowCount: part.rowCount })),
      ),
    );
    yield;
    const order = new RowOrder(columns, this.types, rowCount, this.plan.keys);
    const sorted = yield* order.sorted();
    const { distinctOn } = this.plan;
    if (distinctOn === null) return { columns, rows: sorted, rowCount };
    const rows = order.firstOfEach(sorted ?? Uint32Array.from({ length: rowCount }, (_, row) => row), distinctOn);
    return { columns, rows, rowCount: rows.length };
  }

  private nextSorted(): ResultBatch | null {
    const { columns, rows, rowCount } = this.sorted!;
    const first = this.skip;
    const count = Math.min(rowCount - first, this.left, LIMITS.vectorRows, this.rowsMax);
    if (count <= 0) return null;
    this.skip += count;
    this.left -= count;
    if (rows === null && count === rowCount) return { rowCount, columns: this.outputs(columns, rowCount) };
    return this.take(columns, rows?.subarray(first, first + count) ?? Uint32Array.from({ length: count }, (_, i) => first + i));
  }

  private take(columns: readonly ResultColumn[], rows: Uint32Array): ResultBatch {
    const taken = columns.map((column, i) => takeRows(column, this.types[i]!, rows));
    return { rowCount: rows.length, columns: this.outputs(taken, rows.length) };
  }

  private outputs(columns: readonly ResultColumn[], rowCount: number): ResultColumn[] {
    return this.plan.outputs.map((output) => {
      if ("column" in output) return columns[output.column]!;
      return { validity: null, values: new BigInt64Array(rowCount).fill(output.constant) };
    });
  }
}
