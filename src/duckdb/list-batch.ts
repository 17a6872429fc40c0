// Answers a request of DuckDB with many chunks of a scan. A chunk of DuckDB's has 2,048 rows at most, and each request costs two changes of
// threads, far more than its rows: so a row of the answer holds lists, with the values of one chunk of the scan, which DuckDB unnests.
import type duckdbTypes from "@duckdb/node-bindings";
import { LIMITS } from "../model/limits.ts";
import type { ScanChunk } from "../model/query/scan-table.ts";
import { duckdb } from "./binding.ts";
import { PARALLEL_ROWS_MIN } from "./parallel-scans.ts";

/** With fewer, which one thread reads, requests for chunks cost less than lists do: 200,000 rows take 2.6 ms, in lists 3.8. */
export const LISTED_ROWS_MIN = PARALLEL_ROWS_MIN;

/** More save nothing: 10 M rows in lists of 2,048 take 40, 36 and 36 ms with 16, 64 and 128 of them. */
const LISTS_MAX = 64;
/** Approximate size of the lists of an answer. */
const BYTES_MAX = 4 << 20;
/** Rows of a bitmap's word: where a list begins in the values of all lists. */
const WORD_ROWS = 64;
const ENTRY_WORDS = 2;
const ENTRY_BYTES = 16;

/** An output vector of DuckDB, and the column of the scan's chunks that fills it. */
export interface ScanOutput {
  readonly vector: number;
  readonly column: number;
  readonly widthBytes: number;
}

/** The bitmap of a chunk whose rows are all NULL. */
export const ALL_NULL = new ArrayBuffer(LIMITS.vectorRows / 8);

/** How many lists the answers of a scan have: few at first, as a statement may need no more. */
export class ListCount {
  private readonly max: number;
  private next = 1;

  constructor(outputs: readonly ScanOutput[]) {
    const rowBytes = outputs.reduce((sum, { widthBytes }) => sum + widthBytes, 0);
    this.max = Math.min(LISTS_MAX, Math.max(1, Math.floor(BYTES_MAX / (LIMITS.vectorRows * rowBytes))));
  }

  /** Of the next answer. */
  take(): number {
    const count = this.next;
    this.next = Math.min(2 * count, this.max);
    return count;
  }
}

/** One answer: a chunk of DuckDB whose columns are lists. */
export class ListBatch {
  count = 0;
  /** Where the next list begins. */
  private rows = 0;
  private readonly entries: BigUint64Array;
  private readonly lists: readonly {
    readonly list: duckdbTypes.Vector;
    readonly values: duckdbTypes.Vector;
    readonly output: ScanOutput;
  }[];

  /** @param memory what the chunks' pointers refer to @param countMax number of lists */
  constructor(
    private readonly memory: WebAssembly.Memory,
    private readonly chunk: duckdbTypes.DataChunk,
    outputs: readonly ScanOutput[],
    readonly countMax: number,
  ) {
    this.entries = new BigUint64Array(ENTRY_WORDS * countMax);
    this.lists = outputs.map((output) => {
      const list = duckdb.data_chunk_get_vector(chunk, output.vector);
      duckdb.list_vector_reserve(list, countMax * LIMITS.vectorRows);
      return { list, values: duckdb.list_vector_get_child(list), output };
    });
  }

  /** Copies the rows of a chunk, which is not needed afterwards. */
  add({ rowCount, columns }: ScanChunk): void {
    const { rows } = this;
    // the memory may have grown; the binding takes shared memory for an ArrayBuffer
    const memory = this.memory.buffer as ArrayBuffer;
    const bitmapBytes = Math.ceil(rowCount / WORD_ROWS) * 8;
    for (const { values, output } of this.lists) {
      const { dataPtr, validityPtr } = columns[output.column]!;
      if (dataPtr !== 0) duckdb.copy_data_to_vector(values, rows * output.widthBytes, memory, dataPtr, rowCount * output.widthBytes);
      if (dataPtr !== 0 && validityPtr === 0) continue;
      duckdb.vector_ensure_validity_writable(values);
      const [from, at] = dataPtr === 0 ? [ALL_NULL, 0] : [memory, validityPtr];
      duckdb.copy_data_to_vector_validity(values, rows / 8, from, at, bitmapBytes);
    }
    this.entries[ENTRY_WORDS * this.count] = BigInt(rows);
    this.entries[ENTRY_WORDS * this.count + 1] = BigInt(rowCount);
    this.rows = rows + Math.ceil(rowCount / WORD_ROWS) * WORD_ROWS;
    this.count++;
  }

  finish(): void {
    for (const { list } of this.lists) {
      duckdb.list_vector_set_size(list, this.rows);
      duckdb.copy_data_to_vector(list, 0, this.entries.buffer as ArrayBuffer, 0, this.count * ENTRY_BYTES);
    }
    duckdb.data_chunk_set_size(this.chunk, this.count);
  }
}
