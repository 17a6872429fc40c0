// One table function for every table of every statement: `__scan(handle)`, and two for scans that several threads read. A handle identifies
// what the statement reads; DuckDB requests the columns it needs and then chunk after chunk, which are copied from the kernel's memory into
// its vectors.
import type duckdbTypes from "@duckdb/node-bindings";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import { loopWatch } from "../model/loop-watch.ts";
import type { KeptChunk, ScanChunk } from "../model/query/scan-table.ts";
import { ColumnType, VALUE_BYTES } from "../model/rows/column.ts";
import { DuckType, duckdb } from "./binding.ts";
import type { Connection } from "./connection.ts";
import { ALL_NULL, ListBatch, ListCount, type ScanOutput } from "./list-batch.ts";

export const SCAN_FUNCTION = "__scan";
/** The same with an object for each thread, which costs a call into JavaScript per thread. */
const THREADS_SCAN_FUNCTION = "__scan_by_threads";
/** The same with a list in place of each value, which holds the values of a chunk of the scan: a request of DuckDB is answered with many
 *  chunks instead of one. */
const LISTS_SCAN_FUNCTION = "__scan_by_lists";

export interface ScanColumnSource {
  /** Name as DuckDB sees it. */
  readonly name: string;
  readonly type: ColumnType;
}

export interface ChunkCursor {
  /** The next rows, borrowed until the next call; null at the end. */
  next(): ScanChunk | null;
  close(): void;
}

/** The data behind a handle. */
export interface ScanSource {
  readonly columns: readonly ScanColumnSource[];
  readonly rowCountMax: number;
  /** How many threads may request chunks at a time; each gets other rows. Absent: one. */
  readonly threadsMax?: number;
  /** Indexes of the columns that a statement may use, if DuckDB is given lists of their values. Absent or null: values of any column. */
  readonly listed?: readonly number[] | null;
  /** With several threads, or lists: the chunk (null: the end) with texts that stay until the next call for the same thread that does not
   *  add to them. `columnIndexes` are those of its cursor. @throws TsdbError overloaded */
  keepTexts?(thread: object, chunk: ScanChunk | null, columnIndexes: readonly number[], adds: boolean): KeptChunk | null;
  /** Opens a cursor over the columns at `columnIndexes`, in that order; empty for count(*). */
  open(columnIndexes: readonly number[]): ChunkCursor;
  /** Receives exceptions of `open` and `next`, because DuckDB keeps only their text. */
  failed(error: unknown): void;
}

const DUCK_TYPE: Readonly<Record<ColumnType, number>> = {
  [ColumnType.time]: DuckType.TIMESTAMP_NS,
  [ColumnType.tag]: DuckType.VARCHAR,
  [ColumnType.float]: DuckType.DOUBLE,
  [ColumnType.integer]: DuckType.BIGINT,
  [ColumnType.unsigned]: DuckType.UBIGINT,
  [ColumnType.string]: DuckType.VARCHAR,
  [ColumnType.boolean]: DuckType.BOOLEAN,
};

/** How long lists are collected: the thread has other statements too. */
const LISTS_MS = 2;

const STATEMENT_ENDED = "the statement has ended";

interface ScanState {
  readonly label: number | null;
  readonly source: ScanSource;
  /** Per projected column that is not virtual. */
  readonly outputs: readonly ScanOutput[];
  /** Null: values instead of lists. */
  readonly listCount: ListCount | null;
  cursor: ChunkCursor | null;
  opened: boolean;
  readonly columnIndexes: readonly number[];
}

/** A scan as bound in DuckDB's plan. It outlives its statement if the plan is cached (connection.ts). */
interface BoundScan {
  readonly handle: number;
  readonly shape: string;
}

/** The property that a cached plan depends on: the columns of a scan. */
export function shapeOfScan({ columns }: Pick<ScanSource, "columns">): string {
  return columns.map(({ name, type }) => `${type}${name}`).join("\0");
}

/** What reads a source in a FROM clause. */
export function scanCall({
  handle,
  threadsMax = 1,
  listed = null,
  columns,
}: Pick<ScanSource, "columns" | "threadsMax" | "listed"> & { readonly handle: number }): string {
  if (listed === null) return `"${threadsMax > 1 ? THREADS_SCAN_FUNCTION : SCAN_FUNCTION}"(${handle})`;
  const values = listed.map((index) => {
    const name = `"${columns[index]!.name.replaceAll('"', '""')}"`;
    return `unnest(${name}) AS ${name}`;
  });
  return `(SELECT ${values.join(", ")} FROM "${LISTS_SCAN_FUNCTION}"(${handle}))`;
}

/** Sources by handle, for all statements of one database. */
export class ScanRegistry {
  /** Null: no thread may start reading any more, but some may still be reading. */
  private readonly sources = new Map<number, ScanSource | null>();
  /** The statement of each source (LoopWatch.label). */
  private readonly labels = new Map<number, number | null>();
  private isClosed = false;

  /** @param memory the memory that the chunks' pointers refer to */
  constructor(private readonly memory: WebAssembly.Memory) {}

  /** Assigns the lowest free handle: consecutive statements get the same handles, hence the same SQL text. */
  add(source: ScanSource): number {
    let handle = 1;
    while (this.sources.has(handle)) handle++;
    this.sources.set(handle, source);
    this.labels.set(handle, loopWatch.label);
    return handle;
  }

  /** Ends all reads, before the thread ends. */
  close(): void {
    this.isClosed = true;
  }

  /** Call after `close`, when no thread is in a scan: sources left by terminated statements would keep DuckDB's results alive, these
   *  DuckDB, and DuckDB this object. */
  clear(): void {
    this.sources.clear();
    this.labels.clear();
  }

  /** The source cannot be found any more. */
  remove(handle: number): void {
    this.sources.set(handle, null);
  }

  /** The handle may be reused: no thread of its statement is left. */
  release(handle: number): void {
    this.sources.delete(handle);
    this.labels.delete(handle);
  }

  /** Registers the functions for the whole database. */
  install(connection: Connection): void {
    for (const name of [SCAN_FUNCTION, THREADS_SCAN_FUNCTION, LISTS_SCAN_FUNCTION]) this.installAs(name, connection);
  }

  private installAs(name: string, connection: Connection): void {
    const fn = duckdb.create_table_function();
    duckdb.table_function_set_name(fn, name);
    duckdb.table_function_add_parameter(fn, duckdb.create_logical_type(DuckType.BIGINT));
    duckdb.table_function_supports_projection_pushdown(fn, true);
    const hasLists = name === LISTS_SCAN_FUNCTION;
    duckdb.table_function_set_bind(fn, (info) => this.bind(info, hasLists));
    duckdb.table_function_set_init(fn, (info) => this.init(info, hasLists));
    if (name !== SCAN_FUNCTION) duckdb.table_function_set_local_init(fn, (info) => duckdb.init_set_init_data(info, {}));
    duckdb.table_function_set_function(fn, (info, output) => this.fill(info, output));
    duckdb.register_table_function(connection.handle, fn);
  }

  private bind(info: duckdbTypes.TableFunctionBindInfo, hasLists: boolean): void {
    const handle = Number(duckdb.get_int64(duckdb.bind_get_parameter(info, 0)));
    const source = this.isClosed ? null : this.sources.get(handle);
    if (source === undefined || source === null) {
      duckdb.bind_set_error(info, STATEMENT_ENDED);
      return;
    }
    for (const column of source.columns) {
      const type = duckdb.create_logical_type(DUCK_TYPE[column.type]);
      duckdb.bind_add_result_column(info, column.name, hasLists ? duckdb.create_list_type(type) : type);
    }
    // of lists too, as DuckDB takes unnested rows for as many: it plans joins by it
    duckdb.bind_set_cardinality(info, source.rowCountMax, false);
    duckdb.bind_set_bind_data(info, { handle, shape: shapeOfScan(source) } satisfies BoundScan);
  }

  private init(info: duckdbTypes.TableFunctionInitInfo, hasLists: boolean): void {
    const bound = duckdb.init_get_bind_data(info) as BoundScan;
    const source = this.isClosed ? null : this.sources.get(bound.handle);
    if (source === undefined || source === null || shapeOfScan(source) !== bound.shape) {
      duckdb.init_set_error(info, STATEMENT_ENDED);
      return;
    }
    const outputs: ScanState["outputs"][number][] = [];
    const columnIndexes: number[] = [];
    for (let vector = 0; vector < duckdb.init_get_column_count(info); vector++) {
      const index = duckdb.init_get_column_index(info, vector);
      const column = source.columns[index];
      if (column === undefined) continue; // a virtual column: only the number of rows is wanted
      outputs.push({ vector, column: columnIndexes.length, widthBytes: VALUE_BYTES[column.type] });
      columnIndexes.push(index);
    }
    const label = this.labels.get(bound.handle) ?? null;
    const listCount = hasLists ? new ListCount(outputs) : null;
    const state: ScanState = { label, source, outputs, listCount, cursor: null, opened: false, columnIndexes };
    duckdb.init_set_init_data(info, state);
    // Chunks come from one JavaScript thread: it fills one while DuckDB's threads process others.
    duckdb.init_set_max_threads(info, source.threadsMax ?? 1);
  }

  private fill(info: duckdbTypes.TableFunctionInfo, output: duckdbTypes.DataChunk): void {
    if (this.isClosed) {
      duckdb.function_set_error(info, STATEMENT_ENDED);
      return;
    }
    const state = duckdb.function_get_init_data(info) as ScanState;
    try {
      const { source, listCount } = state;
      const isShared = listCount !== null || (source.threadsMax ?? 1) > 1;
      const thread = isShared ? duckdb.function_get_local_init_data(info)! : null;
      if (listCount !== null) this.copyLists(state, thread!, output, listCount.take());
      else {
        const chunk = this.read(state, thread, false);
        if (chunk === null) duckdb.data_chunk_set_size(output, 0);
        else this.copy(chunk, state, output);
      }
    } catch (error) {
      state.source.failed(error);
      duckdb.function_set_error(info, error instanceof Error ? error.message : String(error));
    }
  }

  /** The next rows. Only our own code is watched: terminating a call into the binding would crash the process. @throws TsdbError */
  private read(state: ScanState, thread: object | null, adds: boolean): (ScanChunk & Partial<KeptChunk>) | null {
    let chunk: ScanChunk | null = null;
    const work = () => {
      if (!state.opened) {
        state.opened = true;
        state.cursor = state.source.open(state.columnIndexes);
      }
      chunk = state.cursor?.next() ?? null;
      if (thread !== null) chunk = state.source.keepTexts!(thread, chunk, state.columnIndexes, adds);
      if (chunk !== null) return;
      state.cursor?.close();
      state.cursor = null;
    };
    if (!loopWatch.run("scan", work, state.label)) throw new TsdbError("cancelled", STATEMENT_ENDED);
    return chunk;
  }

  private copyLists(state: ScanState, thread: object, output: duckdbTypes.DataChunk, countMax: number): void {
    const batch = new ListBatch(this.memory, output, state.outputs, countMax);
    const endMs = performance.now() + LISTS_MS;
    let textBytes = 0;
    // at least one, however late it is: an answer without rows says that there are no more
    do {
      const chunk = this.read(state, thread, batch.count > 0);
      if (chunk === null) break;
      batch.add(chunk);
      textBytes += chunk.textBytes ?? 0;
    } while (batch.count < countMax && textBytes < LIMITS.chunkTextBytesMax && performance.now() < endMs);
    batch.finish();
  }

  private copy(chunk: ScanChunk, state: ScanState, output: duckdbTypes.DataChunk): void {
    // The binding only needs bytes to copy from; shared memory works like an ArrayBuffer.
    const memory = this.memory.buffer as ArrayBuffer;
    const rowCount = chunk.rowCount;
    const validityBytes = Math.ceil(rowCount / 64) * 8;
    for (const { vector: index, column, widthBytes } of state.outputs) {
      const vector = duckdb.data_chunk_get_vector(output, index);
      const { dataPtr, validityPtr } = chunk.columns[column]!;
      if (dataPtr === 0) {
        duckdb.vector_ensure_validity_writable(vector);
        duckdb.copy_data_to_vector_validity(vector, 0, ALL_NULL, 0, validityBytes);
        continue;
      }
      duckdb.copy_data_to_vector(vector, 0, memory, dataPtr, rowCount * widthBytes);
      if (validityPtr !== 0) {
        duckdb.vector_ensure_validity_writable(vector);
        duckdb.copy_data_to_vector_validity(vector, 0, memory, validityPtr, validityBytes);
      }
    }
    duckdb.data_chunk_set_size(output, rowCount);
  }
}
