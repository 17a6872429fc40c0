// Scans one run: returns its rows in chunks of at most one DuckDB vector, projected and filtered. Without a filter, chunks point into the
// run; otherwise the selected rows are gathered into scratch memory.
import { assert } from "../../model/assert.ts";
import { LIMITS } from "../../model/limits.ts";
import type { ScanRequest } from "../../model/query/scan.ts";
import type { ScanChunk, ScanColumn, ScanCursor, ScanSeries } from "../../model/query/scan-table.ts";
import { type ColumnDef, ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun, PartialRun, TagColumnView } from "../../model/rows/run.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import { assertDense } from "./dense-run.ts";
import { RowSelection, type SelectedRun } from "./row-selection.ts";
import { bitmapBytes, gatherBitmap, gatherColumn } from "./rows.ts";

const CHUNK_ROWS = LIMITS.vectorRows;
/** Fewer rows side by side are copied: where they are would have to be written first, if all of their page wait narrowed. */
const CONTIGUOUS_MIN = 256;
const NULL_COLUMN: ScanColumn = { dataPtr: 0, validityPtr: 0 };
const EMPTY: ScanCursor = { next: () => null, close: () => {} };

/** Rows [first, first + count), or the rows listed at rowsPtr if it is not 0. */
interface ChunkRows {
  readonly first: number;
  readonly rowsPtr: number;
  readonly count: number;
}

/** Reads one column of a chunk. */
type ColumnReader = (rows: ChunkRows) => ScanColumn;

/** Reads the series of a chunk's rows. */
type SeriesReader = (rows: ChunkRows) => ScanSeries;

/** The columns and rows wanted from the selected rows. */
export type CursorRequest = Pick<ScanRequest, "columns" | "fields" | "newestOnly" | "withSeries">;

/** Opens a cursor over the selected rows that satisfy the request's field predicates; with `newestOnly` and no field predicates, only
 *  over the newest of each series. A column that the run lacks is NULL; predicates may use columns that are not projected. The run and
 *  the selection criteria must outlive the cursor. @throws TsdbError overloaded */
export function openRunCursor(kernel: Kernel, selected: SelectedRun, request: CursorRequest): ScanCursor {
  const blocks = new Blocks(kernel);
  const owned: { release(): void }[] = [blocks];
  const close = () => {
    for (const each of owned) each.release();
  };
  try {
    const rows = openRows(kernel, selected, request, { blocks, owned });
    if (rows === null) {
      close();
      return EMPTY;
    }
    const readers = request.columns.map((column) => columnReader(kernel, selected.run, column, blocks));
    const series = request.withSeries === true ? seriesReader(kernel, selected.run, blocks) : null;
    return new RunCursor(rows, readers, series, close);
  } catch (error) {
    close();
    throw error;
  }
}

/** Returns the rows of the next chunk; count 0 at the end. */
type RowSource = () => ChunkRows;

/** Returns null if no row is selected. Memory of the source is added to `owned`. */
function openRows(
  kernel: Kernel,
  selected: SelectedRun,
  { fields = [], newestOnly = false }: CursorRequest,
  { blocks, owned }: { blocks: Blocks; owned: { release(): void }[] },
): RowSource | null {
  if (newestOnly && fields.length === 0) {
    const selection = RowSelection.openBySeries(kernel, selected);
    if (selection === "none") return null;
    owned.push(selection);
    return listedRows(kernel, selection.newest());
  }
  const selection = RowSelection.open(kernel, selected, fields);
  if (selection === "none") return null;
  if (selection === "all") return allRows(selected.run.rowCount);
  owned.push(selection);
  const rowsPtr = blocks.alloc(CHUNK_ROWS * 4);
  return () => chunkOf(kernel, rowsPtr, selection.next(rowsPtr, CHUNK_ROWS));
}

function allRows(rowCount: number): RowSource {
  let next = 0;
  return () => {
    const first = next;
    const count = Math.min(CHUNK_ROWS, rowCount - first);
    next += count;
    return { first, rowsPtr: 0, count };
  };
}

function listedRows(kernel: Kernel, list: { rowsPtr: number; count: number }): RowSource {
  let done = 0;
  return () => {
    const rowsPtr = list.rowsPtr + done * 4;
    const count = Math.min(CHUNK_ROWS, list.count - done);
    done += count;
    return chunkOf(kernel, rowsPtr, count);
  };
}

/** The rows of an ascending list; many contiguous ones need no list. */
function chunkOf({ u32 }: Kernel, rowsPtr: number, count: number): ChunkRows {
  if (count === 0) return { first: 0, rowsPtr: 0, count };
  const first = u32[rowsPtr / 4]!;
  const isContiguous = count >= CONTIGUOUS_MIN && u32[rowsPtr / 4 + count - 1]! - first === count - 1;
  return { first, rowsPtr: isContiguous ? 0 : rowsPtr, count };
}

class RunCursor implements ScanCursor {
  private closed = false;

  constructor(
    private readonly rows: RowSource,
    private readonly readers: readonly ColumnReader[],
    private readonly series: SeriesReader | null,
    private readonly release: () => void,
  ) {}

  next(): ScanChunk | null {
    assert(!this.closed, "a closed cursor was asked for rows");
    const rows = this.rows();
    if (rows.count === 0) return null;
    const columns = this.readers.map((read) => read(rows));
    return this.series === null ? { rowCount: rows.count, columns } : { rowCount: rows.count, columns, series: this.series(rows) };
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.release();
  }
}

function columnReader(kernel: Kernel, run: PartialRun, { id, type }: ColumnDef, blocks: Blocks): ColumnReader {
  if (type === ColumnType.tag) {
    const { dictionary } = run;
    assert(dictionary !== undefined, "tags are read by series");
    const tag = dictionary.tags.find(({ columnId }) => columnId === id);
    return tag === undefined ? () => NULL_COLUMN : tagReader(kernel, run, tag, blocks);
  }
  if (type === ColumnType.time) return valueReader(kernel, timeColumn(run, id), blocks);
  const column = run.columns.find(({ columnId }) => columnId === id);
  assert(column === undefined || column.type === type, `column ${id} has type ${column?.type} in a run, ${type} in the table`);
  return column === undefined ? () => NULL_COLUMN : valueReader(kernel, column, blocks);
}

/** The times of a run, which are not read yet. */
function timeColumn(run: PartialRun, columnId: number): ColumnRun {
  return {
    ...{ columnId, type: ColumnType.time, validityPtr: 0, ...(run.gatherTimes === undefined ? {} : { gather: run.gatherTimes }) },
    get dataPtr() {
      const { timePtr } = run;
      assert(timePtr !== undefined, "times are projected");
      return timePtr;
    },
  };
}

function seriesReader(kernel: Kernel, run: PartialRun, blocks: Blocks): SeriesReader {
  const { dictionary } = run;
  assert(dictionary !== undefined, "series were asked for");
  let scratch = 0;
  return (rows) => {
    const { first, rowsPtr, count } = rows;
    if (rowsPtr === 0) return { idsPtr: seriesOf(run) + first * 4, dictionary };
    if (scratch === 0) scratch = blocks.alloc(CHUNK_ROWS * 4);
    if (run.gatherSeries === undefined) kernel.call.gather4(seriesOf(run), rowsPtr, count, scratch);
    else run.gatherSeries(rowsPtr, count, scratch);
    return { idsPtr: scratch, dictionary };
  };
}

function seriesOf({ seriesPtr }: PartialRun): number {
  assert(seriesPtr !== undefined, "tags are read by series");
  return seriesPtr;
}

function valueReader(kernel: Kernel, column: ColumnRun, blocks: Blocks): ColumnReader {
  assertDense(column);
  const { type, validityPtr, gather } = column;
  const width = VALUE_BYTES[type];
  // scratch is allocated for the first chunk that needs it
  let dataScratch = 0;
  let validityScratch = 0;
  return ({ first, rowsPtr, count }) => {
    if (validityPtr !== 0 && validityScratch === 0 && (rowsPtr !== 0 || first % 64 !== 0)) {
      validityScratch = blocks.alloc(bitmapBytes(CHUNK_ROWS));
    }
    if (rowsPtr === 0) {
      const data = column.dataPtr + first * width;
      if (validityPtr === 0) return { dataPtr: data, validityPtr: 0 };
      if (first % 64 === 0) return { dataPtr: data, validityPtr: validityPtr + first / 8 };
      kernel.call.fillBytes(validityScratch, 0, bitmapBytes(count));
      kernel.call.copyBits(validityPtr, first, validityScratch, 0, count);
      return { dataPtr: data, validityPtr: validityScratch };
    }
    if (dataScratch === 0) dataScratch = blocks.alloc(CHUNK_ROWS * width);
    if (gather !== undefined) gather(rowsPtr, count, dataScratch);
    else gatherColumn(kernel, type, { sourcePtr: column.dataPtr, rowsPtr, count, targetPtr: dataScratch });
    if (validityPtr === 0) return { dataPtr: dataScratch, validityPtr: 0 };
    gatherBitmap(kernel, { sourcePtr: validityPtr, rowsPtr, count, targetPtr: validityScratch });
    return { dataPtr: dataScratch, validityPtr: validityScratch };
  };
}

function tagReader(kernel: Kernel, run: PartialRun, { codesPtr, valuesPtr }: TagColumnView, blocks: Blocks): ColumnReader {
  const views = blocks.alloc(CHUNK_ROWS * VALUE_BYTES[ColumnType.tag]);
  const validity = blocks.alloc(bitmapBytes(CHUNK_ROWS));
  const seriesScratch = run.gatherSeries === undefined ? 0 : blocks.alloc(CHUNK_ROWS * 4);
  return ({ first, rowsPtr, count }) => {
    const isListed = rowsPtr !== 0 && run.gatherSeries !== undefined;
    if (isListed) run.gatherSeries(rowsPtr, count, seriesScratch);
    const present = isListed
      ? kernel.call.gatherTags(seriesScratch, 0, 0, count, codesPtr, valuesPtr, views, validity)
      : kernel.call.gatherTags(seriesOf(run), first, rowsPtr, count, codesPtr, valuesPtr, views, validity);
    if (present === 0) return NULL_COLUMN;
    return { dataPtr: views, validityPtr: present === count ? 0 : validity };
  };
}
