// Reads a file of Parquet in a thread of its own, piece by piece. The file may be hostile: the library is WebAssembly with a limited
// memory, and what it gives is checked again.
import { ParquetFile, type RecordBatch } from "parquet-wasm/esm";
import { loadLimitedLibrary } from "../../encode/parquet/library.ts";
import { near, TsdbError } from "../../model/errors.ts";
import type { ColumnPlan } from "../column-plan.ts";
import type { FileColumn, FileFacts } from "../file-facts.ts";
import type { RowPiece, RowPlace } from "../piece.ts";
import { type ArrowArray, ArrowStructs } from "./arrow-structs.ts";
import { pieceOf, timesOf, ValueFault } from "./convert.ts";
import { boundsOf, readFileFooter } from "./file-footer.ts";
import { PIECE_BYTES_MAX, PieceFull, PieceRoom } from "./piece-room.ts";

/** The library's memory: a row group as it is in the file, and the values of a piece. */
const MEMORY_BYTES_MAX = 1 << 30;
/** Of a row group in the file, compressed. */
const GROUP_BYTES_MAX = 256 << 20;
const GROUPS_MAX = 100_000;
const COLUMNS_MAX = 10_000;
const ROWS_MAX = 1_000_000_000;
/** Rows of a piece: fewer of wide rows. What a dictionary has once, a piece has in each row: a file does not tell how wide those are, so
 *  it is read again in smaller pieces when the memory was not enough. */
export const PIECE_ROWS = [16_384, 256, 8] as const;
const [PIECE_ROWS_MAX, PIECE_ROWS_MIN] = PIECE_ROWS;
/** The library makes pieces of a row group ahead of their reader: where memory was not enough, it is asked for so many at a time. */
const PIECES_AT_A_TIME = 16;
const PIECE_BYTES = 8 << 20;
const FIRST: RowPlace = { group: 0, row: 0 };
const UNREADABLE = `it cannot be read: it is damaged, or needs more than ${MEMORY_BYTES_MAX} bytes of memory at once`;

/** One file. The thread's only one. */
export class ParquetSource {
  private constructor(
    private readonly file: ParquetFile,
    private readonly structs: ArrowStructs,
    readonly facts: FileFacts,
    private readonly rowsPerPiece: readonly number[],
    /** Nothing is made ahead. */
    private readonly isCareful: boolean,
  ) {}

  /** @param pieceRowsMax one of `PIECE_ROWS` @throws TsdbError bad_request */
  static async open(path: string, pieceRowsMax: number = PIECE_ROWS_MAX): Promise<ParquetSource> {
    const structs = new ArrowStructs(await loadLimitedLibrary(MEMORY_BYTES_MAX));
    try {
      const bounds = boundsOf(readFileFooter(path));
      const file = await ParquetFile.fromFile(Bun.file(path));
      const groups = groupsOf(file);
      const schema = file.schema().intoFFI();
      const columns = structs.columns(schema.addr());
      schema.free();
      if (columns.length > COLUMNS_MAX) throw new Error(`it has ${columns.length} columns; at most ${COLUMNS_MAX} are read`);
      const rowCount = groups.reduce((sum, { rows }) => sum + rows, 0);
      if (rowCount === 0) throw new Error("it has no rows");
      if (rowCount > ROWS_MAX) throw new Error(`it has ${rowCount} rows; at most ${ROWS_MAX} are imported at once`);
      const rowsPerPiece = groups.map(({ rows, bytes }) => {
        const fitting = Math.floor(PIECE_BYTES / Math.max(1, bytes / Math.max(1, rows)));
        return Math.min(pieceRowsMax, Math.max(PIECE_ROWS_MIN, fitting));
      });
      const facts = { rowCount, groups: groups.map(({ rows }) => rows), columns, bounds };
      return new ParquetSource(file, structs, facts, rowsPerPiece, pieceRowsMax < PIECE_ROWS_MAX);
    } catch (error) {
      throw new TsdbError("bad_request", `this is no Parquet file that can be imported: ${reasonOf(error)}`);
    }
  }

  /** Columns that are read, as the library gives them: in the file's order. */
  namesIn({ time, columns }: ColumnPlan): string[] {
    const wanted = new Set([time.name, ...columns.map(({ source }) => source.name)]);
    return this.facts.columns.flatMap(({ name }) => (wanted.has(name) ? [name] : []));
  }

  /** All rows from one on. @param onGroup called before a row group is read @throws TsdbError bad_request naming row group and column;
   *  WebAssembly.RuntimeError: the library is unusable afterwards */
  async *pieces({ time, columns }: ColumnPlan, onGroup: (group: number) => void, from: RowPlace = FIRST): AsyncGenerator<RowPiece> {
    const wanted = new Set(this.namesIn({ time, columns }));
    const read = this.facts.columns.filter(({ name }) => wanted.has(name));
    for (const [group, rows] of this.facts.groups.entries()) {
      if (group < from.group) continue;
      onGroup(group);
      let row = group === from.group ? from.row : 0;
      if (row > 0 && row === rows) continue;
      for await (const batch of this.batches({ group, row }, read)) {
        try {
          yield* this.piecesOf(batch, read, { time, columns }, { group, row });
        } finally {
          batch.release();
        }
        row += batch.length;
      }
      if (row !== rows) throw faulty(group, null, `it has ${row} rows, and says ${rows}`);
    }
  }

  /** The rows in as few pieces as have room for them. */
  private *piecesOf(batch: Rows, read: readonly FileColumn[], plan: ColumnPlan, at: RowPlace): Generator<RowPiece> {
    const piece = this.piece(batch, read, plan, at);
    if (piece !== null) {
      yield piece;
      return;
    }
    const count = batch.length >> 1;
    if (count === 0) throw faulty(at.group, null, `row ${at.row}: it has more than ${PIECE_BYTES_MAX} bytes`);
    yield* this.piecesOf(rowsOf(batch, 0, count), read, plan, at);
    yield* this.piecesOf(rowsOf(batch, count, batch.length - count), read, plan, { group: at.group, row: at.row + count });
  }

  /** Null: it would be too large. */
  private piece(batch: Rows, read: readonly FileColumn[], { time, columns }: ColumnPlan, at: RowPlace): RowPiece | null {
    const { bytes } = this.structs;
    const room = new PieceRoom();
    const arrayOf = ({ name }: FileColumn) => batch.arrays[read.findIndex((each) => each.name === name)]!;
    const converted = <T>(source: FileColumn, convert: () => T): T => {
      try {
        return convert();
      } catch (error) {
        if (error instanceof ValueFault) throw faulty(at.group, source, `row ${at.row + error.row}: ${error.message}`);
        if (error instanceof RangeError || error instanceof TypeError) throw faulty(at.group, source, error.message);
        throw error;
      }
    };
    try {
      return {
        rowCount: batch.length,
        times: converted(time, () => timesOf(bytes, arrayOf(time), time)),
        columns: columns.map((column) => converted(column.source, () => pieceOf(bytes, arrayOf(column.source), column, room))),
      };
    } catch (error) {
      if (error instanceof PieceFull) return null;
      throw error;
    }
  }

  private async *batches(from: RowPlace, read: readonly FileColumn[]): AsyncGenerator<Batch> {
    try {
      yield* this.batchesOf(from, read);
    } catch (error) {
      if (error instanceof TsdbError || error instanceof WebAssembly.RuntimeError) throw error;
      throw faulty(from.group, await this.brokenColumn(from.group, read), reasonOf(error));
    }
  }

  private async *batchesOf({ group, row }: RowPlace, read: readonly FileColumn[]): AsyncGenerator<Batch> {
    const batchSize = this.rowsPerPiece[group]!;
    const options = { rowGroups: [group], batchSize, columns: read.map(({ name }) => name) };
    const limit = this.isCareful ? batchSize * PIECES_AT_A_TIME : undefined;
    for (let at = row, end = at; ; at = end) {
      const bounds = { offset: at, ...(limit === undefined ? {} : { limit }) };
      const stream = (await this.file.stream({ ...options, ...bounds })) as ReadableStream<RecordBatch>;
      for await (const record of stream) {
        const data = record.intoFFI();
        const arrays = this.structs.arrays(data.arrayAddr());
        const lengths = new Set(arrays.map(({ length }) => length));
        if (arrays.length !== read.length || lengths.size !== 1) throw new RangeError("its columns have different numbers of rows");
        end += arrays[0]!.length;
        yield { length: arrays[0]!.length, arrays, release: () => data.free() };
      }
      if (limit === undefined || end < at + limit) return;
    }
  }

  /** Reads a column alone, and nothing of it stays. @throws what the library throws */
  async readColumn(group: number, name: string): Promise<void> {
    const column = this.facts.columns.find((each) => each.name === name)!;
    for await (const batch of this.batchesOf({ group, row: 0 }, [column])) batch.release();
  }

  /** The first column that cannot be read alone; null: each can. */
  private async brokenColumn(group: number, read: readonly FileColumn[]): Promise<FileColumn | null> {
    for (const column of read) {
      try {
        await this.readColumn(group, column.name);
      } catch {
        return column;
      }
    }
    return null;
  }
}

interface Rows {
  readonly length: number;
  /** In the order of the columns that are read. */
  readonly arrays: readonly ArrowArray[];
}

interface Batch extends Rows {
  release(): void;
}

function rowsOf({ arrays }: Rows, from: number, length: number): Rows {
  return { length, arrays: arrays.map((array) => ({ ...array, offset: array.offset + from, length })) };
}

function groupsOf(file: ParquetFile): { readonly rows: number; readonly bytes: number }[] {
  const metadata = file.metadata();
  const count = metadata.numRowGroups();
  if (count > GROUPS_MAX) throw new Error(`it has ${count} row groups; at most ${GROUPS_MAX} are read`);
  return Array.from({ length: count }, (_, i) => {
    const group = metadata.rowGroup(i);
    const [rows, bytes, stored] = [group.numRows(), group.totalByteSize(), group.compressedSize()];
    group.free();
    if (![rows, bytes, stored].every((value) => Number.isSafeInteger(value) && value >= 0)) throw new Error(`row group ${i} has no size`);
    if (stored > GROUP_BYTES_MAX) throw new Error(`row group ${i} has ${stored} bytes; at most ${GROUP_BYTES_MAX} are read at once`);
    return { rows, bytes };
  });
}

function faulty(group: number, column: { readonly name: string } | null, reason: string): TsdbError {
  const where = column === null ? `row group ${group}` : `row group ${group}, column "${near(column.name)}"`;
  return new TsdbError("bad_request", `${where}: ${reason}`);
}

/** The error for a row group, or a column of it, that has made the library unusable. */
export function trapped(group: number, column: string | null): TsdbError {
  return faulty(group, column === null ? null : { name: column }, UNREADABLE);
}

/** The library throws texts and errors; after a trap, whatever it was asked for last is what it could not do. */
function reasonOf(error: unknown): string {
  if (error instanceof WebAssembly.RuntimeError) return UNREADABLE;
  return near(error instanceof Error ? error.message : String(error), 200);
}
