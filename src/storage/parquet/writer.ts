// Merged rows as a Parquet file of one block, written as they come. Any reader sees an ordinary file: row groups with statistics, tags as
// dictionaries with bloom filters. Between the last row group and the footer lies what our own scans go by (FORMAT.md): the dictionary
// section and the directory of a .pt file, whose chunks are this file's pages.

import type { ColumnCodec } from "../../kernel/codec/codec.ts";
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { bitmapBytes } from "../../kernel/scan/rows.ts";
import { LIMITS } from "../../model/limits.ts";
import { type ColumnDef, ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun, TagColumnView } from "../../model/rows/run.ts";
import { VERSION } from "../../model/version.ts";
import type { FileOutput } from "../block/file-output.ts";
import type { MergedColumn, MergedGroup, MergedSeries, MergeSink } from "../block/merge-sink.ts";
import { ColumnEmitter } from "../pt/column-emitter.ts";
import { encodeDirectory, PT_VERSION_GROUPED, type PtExtent, type PtGroupedBlock } from "../pt/format.ts";
import { type BlockIdentity, MergedBlock } from "../pt/merged-block.ts";
import { encodeBloomFilter } from "./bloom.ts";
import { ChunkWriter, type WrittenChunk } from "./chunk.ts";
import { PageWriter } from "./pages.ts";
import { arrowSchema, PARQUET_MAGIC, type ParquetColumn, writeSchema } from "./schema.ts";
import { chunkMetadata, textOf, textRange } from "./statistics.ts";
import { ThriftWriter } from "./thrift-writer.ts";

const CREATED_BY = `tsdb version ${VERSION}`;
const FOOTER_VERSION = 2;
/** RowGroup.ordinal is an i16. */
const ORDINAL_MAX = 32_767;

/** Pages of the current group that are one row group. */
interface RowGroup {
  readonly firstRow: number;
  readonly rowCount: number;
  readonly pageRows: readonly number[];
  /** ColumnChunk of the footer, by place in the schema. */
  readonly chunks: Uint8Array[];
  bytes: number;
  plainBytes: number;
  offset: number;
}

/** Writes one file. Used once. */
export class ParquetSink implements MergeSink {
  readonly groupRows = LIMITS.rowGroupRows;
  /** After `end`. */
  block: PtGroupedBlock | null = null;
  private readonly emitter: ColumnEmitter;
  private readonly chunkWriter: ChunkWriter;
  private readonly thrift = new ThriftWriter();
  private schema: readonly ParquetColumn[] = [];
  private merged: MergedBlock | null = null;
  private current: RowGroup[] = [];
  private readonly rowGroups: Uint8Array[] = [];

  constructor(
    private readonly kernel: Kernel,
    codec: ColumnCodec,
    private readonly output: FileOutput,
    private readonly identity: BlockIdentity,
    /** The table's, for their names. */
    private readonly table: readonly ColumnDef[],
  ) {
    this.emitter = new ColumnEmitter(kernel, codec, output);
    this.chunkWriter = new ChunkWriter(kernel, new PageWriter(kernel, output));
    output.append(PARQUET_MAGIC);
  }

  begin(columns: readonly MergedColumn[], series: MergedSeries): void {
    const tags = series.tags.map(({ columnId }) => ({ columnId, type: ColumnType.tag }));
    const [time, ...fields] = columns;
    this.schema = [time!, ...tags, ...fields].map(({ columnId, type }) => {
      const name = this.table.find(({ id }) => id === columnId)?.name ?? `column_${columnId}`;
      return { columnId, type, name };
    });
    this.merged = new MergedBlock(this.kernel, this.identity, columns, series);
  }

  async beginGroup(group: MergedGroup, pace: () => Promise<void>): Promise<void> {
    this.current = rowGroupsOf(group.pageRows);
    const groups = this.current.map(({ pageRows }) => pageRows.length);
    this.merged!.addPages(group, groups);
    for (const tag of this.merged!.series.tags) {
      for (const rows of this.current) {
        this.writeTag(tag, rows, group);
        await pace();
      }
    }
  }

  writeColumn({ columnId, type, dataPtr, validityPtr }: ColumnRun): void {
    for (const rows of this.current) {
      const { firstRow, pageRows } = rows;
      const data = { dataPtr: dataPtr + firstRow * VALUE_BYTES[type], validityPtr: validityPtr === 0 ? 0 : validityPtr + firstRow / 8 };
      const chunk = this.chunkWriter.write({ columnId, type, ...data }, pageRows);
      this.addChunk(rows, columnId, chunk, null);
      this.merged!.column(columnId).addGroup(chunk.dictionary, chunk.pages);
    }
  }

  endGroup(): void {
    for (const { chunks, rowCount, bytes, plainBytes, offset } of this.current) {
      this.thrift.encodedList(1, chunks).i64(2, plainBytes).i64(3, rowCount).i64(5, offset).i64(6, bytes);
      if (this.rowGroups.length <= ORDINAL_MAX) this.thrift.i16(7, this.rowGroups.length);
      this.rowGroups.push(this.thrift.end());
    }
    this.current = [];
  }

  end(rowCountsPtr: number): void {
    this.block = this.merged!.end(this.emitter, rowCountsPtr);
  }

  /** The rest of the file, after `end`. */
  async finish(): Promise<void> {
    this.output.append(encodeDirectory({ blocks: [this.block!] }, this.output.bytes, PT_VERSION_GROUPED));
    const { thrift, schema } = this;
    const arrow = await arrowSchema(schema);
    thrift.i32(1, FOOTER_VERSION);
    writeSchema(thrift, 2, schema);
    const footer = thrift
      .i64(3, this.block!.rowCount)
      .encodedList(4, this.rowGroups)
      .structList(5, [{ key: "ARROW:schema", value: arrow }], (pair, { key, value }) => pair.binary(1, key).binary(2, value))
      .binary(6, CREATED_BY)
      .structList(7, schema, (order) => order.struct(1, () => {}))
      .end();
    this.output.append(footer);
    const tail = new Uint8Array(8);
    new DataView(tail.buffer).setUint32(0, footer.length, true);
    tail.set(PARQUET_MAGIC, 4);
    this.output.append(tail);
  }

  release(): void {
    this.emitter.release();
  }

  private writeTag(tag: TagColumnView, rows: RowGroup, { seriesPtr, firstSeries }: MergedGroup): void {
    const { kernel } = this;
    const { call } = kernel;
    const { firstRow, rowCount, pageRows } = rows;
    const memory = new Blocks(kernel);
    try {
      const codes = memory.alloc(rowCount * 4);
      const map = memory.allocZeroed(tag.valueCount * 4);
      const used = memory.alloc(tag.valueCount * 4);
      call.parquetTagCodes(seriesPtr + firstRow * 4, rowCount, tag.codesPtr + firstSeries * 4, codes, map);
      const valueCount = call.parquetNumberTags(map, tag.valueCount, used) >>> 0;
      const views = memory.alloc(Math.max(1, valueCount) * VALUE_BYTES[ColumnType.tag]);
      call.gather16(tag.valuesPtr, used, valueCount, views);
      const numbersPtr = memory.alloc(rowCount * 4);
      let row = 0;
      let first = 0;
      const pages = pageRows.map((count) => {
        const bitmapPtr = memory.alloc(bitmapBytes(count));
        const present = call.parquetTagNumbers(codes + row * 4, count, map, numbersPtr + first * 4, bitmapPtr) >>> 0;
        const page = { rowCount: count, levels: { kind: "optional", present, bitmapPtr } as const, first, count: present };
        row += count;
        first += present;
        return page;
      });
      const bytes = valueCount * 4 + call.parquetTextBytes(views, valueCount);
      const ptr = memory.alloc(Math.max(1, bytes));
      call.parquetPlainText(views, valueCount, ptr);
      const written = this.chunkWriter.writeNumbers({ valueCount, ptr, bytes, numbersPtr }, pages);
      const range = valueCount === 0 ? null : textRange(textOf(kernel, views, 0), textOf(kernel, views, valueCount - 1));
      const chunk = { ...written, valueCount: rowCount, statistics: { nullCount: rowCount - first, range } };
      this.addChunk(rows, tag.columnId, chunk, this.writeBloom(views, valueCount));
    } finally {
      memory.release();
    }
  }

  private writeBloom(views: number, valueCount: number): PtExtent {
    const offset = this.output.bytes;
    this.output.append(encodeBloomFilter(this.kernel, views, valueCount));
    return { offset, bytes: this.output.bytes - offset, crc: 0 };
  }

  private addChunk(rows: RowGroup, columnId: number, chunk: WrittenChunk, bloom: PtExtent | null): void {
    const place = this.schema.findIndex((column) => column.columnId === columnId);
    rows.chunks[place] = chunkMetadata(this.thrift, this.schema[place]!, chunk, bloom);
    for (const page of chunk.dictionary === null ? chunk.pages : [chunk.dictionary, ...chunk.pages]) {
      rows.bytes += page.bytes;
      rows.plainBytes += page.plainBytes;
      rows.offset = Math.min(rows.offset, page.offset);
    }
  }
}

function rowGroupsOf(pageRows: readonly number[]): RowGroup[] {
  const groups: { firstRow: number; rowCount: number; pageRows: number[] }[] = [];
  let row = 0;
  for (const rows of pageRows) {
    const last = groups.at(-1);
    if (last === undefined || last.rowCount + rows > LIMITS.rowGroupRows) groups.push({ firstRow: row, rowCount: rows, pageRows: [rows] });
    else {
      last.pageRows.push(rows);
      last.rowCount += rows;
    }
    row += rows;
  }
  return groups.map((group) => ({ ...group, chunks: [], bytes: 0, plainBytes: 0, offset: Number.MAX_SAFE_INTEGER }));
}
