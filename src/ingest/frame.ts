// The payload of a log frame: the rows of one body, column by column, with the keys of series that the log segment has not contained
// before. FORMAT.md draws the bytes. Series ids are process-local numbers, meaningful only together with the keys of their segment.

import type { ColumnCodec } from "../kernel/codec/codec.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { KernelWriter } from "../kernel/memory/kernel-writer.ts";
import { Scratch } from "../kernel/memory/scratch.ts";
import { ParsedRows } from "../kernel/parse/parsed-rows.ts";
import { bitmapBytes } from "../kernel/scan/rows.ts";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import { ColumnType, TIME_COLUMN, VALUE_BYTES } from "../model/rows/column.ts";
import type { ColumnRun } from "../model/rows/run.ts";
import type { TriggerWriter } from "../model/write.ts";
import type { LiveTable } from "../storage/buffer/live-tables.ts";
import type { BufferBatch } from "../storage/buffer/table-buffer.ts";
import { FrameColumns } from "./frame-columns.ts";

const FRAME_FORMAT = 1;
/** With who wrote it in front. */
const WRITTEN_FRAME_FORMAT = 2;
const DEPTH_MAX = 255;
/** A frame of no rows: it takes a sequence. | format u8 | tables u32 | */
export const EMPTY_FRAME: Uint8Array = Uint8Array.of(FRAME_FORMAT, 0, 0, 0, 0);

/** Rows of a table to be encoded. */
export interface FrameTable {
  readonly live: LiveTable;
  readonly batch: BufferBatch;
}

/** Encodes bodies as payloads of log frames. A series key is written once per segment; `logged` confirms that the last payload was
 *  appended. */
export class FrameEncoder {
  private readonly writer: KernelWriter;
  private readonly columns: FrameColumns;
  private stamp = 0;
  private stampedSegment = -1;
  private isLogged = true;

  constructor(
    private readonly kernel: Kernel,
    private readonly codec: ColumnCodec,
  ) {
    this.writer = new KernelWriter(kernel);
    this.columns = new FrameColumns(kernel, codec, this.writer);
  }

  /** The payload for the rows of one body; `segment` is the log segment that will contain it. Borrowed until the next call; in shared
   *  memory. */
  encode(tables: readonly FrameTable[], segment: number, writer?: TriggerWriter): Uint8Array {
    // the last frame was not logged, so the segment lacks its keys: write all keys again
    if (segment !== this.stampedSegment || !this.isLogged) {
      this.stampedSegment = segment;
      this.stamp += 1;
    }
    const { writer: output } = this;
    this.isLogged = false;
    output.clear();
    output.writeU8(writer === undefined ? FRAME_FORMAT : WRITTEN_FRAME_FORMAT);
    if (writer !== undefined) {
      output.writeU32(writer.triggerId);
      output.writeU8(Math.min(DEPTH_MAX, writer.depth));
    }
    output.writeU32(tables.length);
    for (const table of tables) this.encodeTable(table);
    return output.bytes;
  }

  /** Confirms that the payload of the last `encode` was appended to the log. */
  logged(): void {
    this.isLogged = true;
  }

  private encodeTable({ live, batch }: FrameTable): void {
    const { writer, columns } = this;
    const { rowCount } = batch;
    writer.writeU64(live.databaseId);
    writer.writeU32(live.tableId);
    writer.writeU32(rowCount);
    this.encodeKeys(live, batch);
    if (batch instanceof ParsedRows) {
      const target = writer.reserve(this.codec.rowsBytesMax(batch));
      writer.advance(this.codec.encodeRows(batch, target));
      return;
    }
    columns.series(batch.seriesPtr, rowCount);
    columns.times(batch.timePtr, rowCount);
    writer.writeU32(batch.columns.length);
    for (const column of batch.columns) {
      writer.writeU32(column.columnId);
      writer.writeU8(column.type);
      columns.column(column, rowCount);
    }
  }

  private encodeKeys(live: LiveTable, batch: BufferBatch): void {
    const { writer, kernel } = this;
    const keys = live.dictionary.unseenKeys(batch.seriesPtr, batch.rowCount, this.stamp);
    try {
      writer.writeU32(keys.bytes);
      const target = writer.reserve(keys.bytes);
      kernel.u8.copyWithin(target, keys.ptr, keys.ptr + keys.bytes);
      writer.advance(keys.bytes);
    } finally {
      keys.release();
    }
  }
}

/** One table of a decoded frame. Pointers refer to the decoder's scratch memory: borrowed until the next frame. */
export interface DecodedTable {
  readonly databaseId: number;
  readonly tableId: number;
  readonly rowCount: number;
  /** Records | seriesId u32 | keyBytes u32 | key | of series that occur in the segment for the first time. */
  readonly keysPtr: number;
  readonly keysBytes: number;
  /** u32 per row: ids defined by the segment's keys. */
  readonly seriesPtr: number;
  readonly timePtr: number;
  readonly columns: readonly ColumnRun[];
}

/** Decodes payloads of log frames. Results are in kernel memory and valid until the next call. */
export class FrameDecoder {
  private readonly scratch: Scratch;

  constructor(
    private readonly kernel: Kernel,
    private readonly codec: ColumnCodec,
  ) {
    this.scratch = new Scratch(kernel);
  }

  /** Who wrote the frame that was decoded last; null: a client. */
  writer: TriggerWriter | null = null;

  /** Decodes the tables that `wants` selects, by default all.
   *  @throws TsdbError corrupt_file if the payload is not a frame: since its checksum was correct, a newer server or a bug wrote it */
  decode(payload: Uint8Array, wants: (databaseId: number, tableId: number) => boolean = () => true): DecodedTable[] {
    this.scratch.reset();
    const start = this.scratch.alloc(payload.byteLength);
    this.kernel.u8.set(payload, start);
    const reader = new FrameReader(payload, start);
    const format = reader.u8();
    if (format !== FRAME_FORMAT && format !== WRITTEN_FRAME_FORMAT) {
      reader.fail(`frame format ${format}, want ${FRAME_FORMAT} or ${WRITTEN_FRAME_FORMAT}`);
    }
    this.writer = format === FRAME_FORMAT ? null : { triggerId: reader.u32(), depth: reader.u8() };
    const tables: DecodedTable[] = [];
    for (let left = reader.u32(); left > 0; left--) {
      const table = this.decodeTable(reader, wants);
      if (table !== undefined) tables.push(table);
    }
    if (reader.left !== 0) reader.fail(`${reader.left} bytes behind the last table`);
    return tables;
  }

  release(): void {
    this.scratch.release();
  }

  /** Undefined: it is not wanted. */
  private decodeTable(reader: FrameReader, wants: (databaseId: number, tableId: number) => boolean): DecodedTable | undefined {
    const { codec, scratch } = this;
    const databaseId = reader.u64();
    const tableId = reader.u32();
    const rowCount = reader.u32();
    if (rowCount > LIMITS.bodyBytesMax) reader.fail(`${rowCount} rows`);
    if (!wants(databaseId, tableId)) {
      skipTable(reader);
      return undefined;
    }
    const keys = reader.block();
    const series = reader.block();
    const seriesPtr = scratch.alloc(rowCount * 4);
    codec.decodeU32({ ...series, rowCount }, seriesPtr);
    const time = this.decodeColumn(reader, TIME_COLUMN.id, ColumnType.time, rowCount);
    const columns: ColumnRun[] = [];
    for (let left = reader.u32(); left > 0; left--) {
      const columnId = reader.u32();
      const type = reader.u8();
      if (!isFieldType(type)) reader.fail(`column ${columnId} has type ${type}`);
      columns.push(this.decodeColumn(reader, columnId, type as ColumnType, rowCount));
    }
    return { databaseId, tableId, rowCount, keysPtr: keys.ptr, keysBytes: keys.bytes, seriesPtr, timePtr: time.dataPtr, columns };
  }

  private decodeColumn(reader: FrameReader, columnId: number, type: ColumnType, rowCount: number): ColumnRun {
    const { codec, scratch } = this;
    const source = { ...reader.block(), rowCount };
    const dataPtr = scratch.alloc(codec.presentCount(source) * VALUE_BYTES[type]);
    const validityPtr = scratch.alloc(bitmapBytes(rowCount));
    const textBytes = type === ColumnType.string ? codec.decodedTextBytes(source) : 0;
    const textPtr = textBytes === 0 ? 0 : scratch.alloc(textBytes);
    const { hasNulls } = codec.decodePacked(source, { type, dataPtr, validityPtr, textPtr, textBytes });
    return hasNulls ? { columnId, type, dataPtr, validityPtr, isPacked: true } : { columnId, type, dataPtr, validityPtr: 0 };
  }
}

/** Keys, series, times and columns. */
function skipTable(reader: FrameReader): void {
  for (let left = 3; left > 0; left--) reader.block();
  for (let left = reader.u32(); left > 0; left--) {
    reader.u32();
    reader.u8();
    reader.block();
  }
}

function isFieldType(type: number): boolean {
  return type >= ColumnType.float && type <= ColumnType.boolean;
}

/** Reads a payload whose bytes are also in kernel memory at `start`. */
class FrameReader {
  private at = 0;
  private readonly view: DataView;

  constructor(
    private readonly payload: Uint8Array,
    private readonly start: number,
  ) {
    this.view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  }

  get left(): number {
    return this.payload.byteLength - this.at;
  }

  u8(): number {
    return this.view.getUint8(this.take(1));
  }

  u32(): number {
    return this.view.getUint32(this.take(4), true);
  }

  u64(): number {
    const value = this.view.getBigUint64(this.take(8), true);
    if (value > Number.MAX_SAFE_INTEGER) this.fail(`id ${value}`);
    return Number(value);
  }

  /** | bytes u32 | bytes | as a pointer into kernel memory. */
  block(): { ptr: number; bytes: number } {
    const bytes = this.u32();
    return { ptr: this.start + this.take(bytes), bytes };
  }

  fail(what: string): never {
    throw new TsdbError("corrupt_file", `a frame of the log cannot be read at byte ${this.at}: ${what}`, { offset: this.at });
  }

  private take(bytes: number): number {
    if (bytes > this.left) this.fail(`${bytes} bytes wanted, ${this.left} left`);
    const at = this.at;
    this.at += bytes;
    return at;
  }
}
