// Older servers stored closed days as Parquet files of one block each. This module reads the rows of such a file with DuckDB and writes
// them to a .pt file. The Parquet file contains a .pt dictionary section and directory before its footer (pt/FORMAT.md), so series and
// pages are known.
import { dirname } from "node:path";
import { Database } from "../../duckdb/database.ts";
import type { ResultStream } from "../../duckdb/result-stream.ts";
import { ColumnCodec } from "../../kernel/codec/codec.ts";
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { bitmapBytes } from "../../kernel/scan/rows.ts";
import { assert } from "../../model/assert.ts";
import type { ResultBatch, ResultColumn } from "../../model/query/result-batch.ts";
import { ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun } from "../../model/rows/run.ts";
import { type ObjectSource, openByteSource } from "../block/byte-source.ts";
import type { BlockPage, BlockSeries } from "../block/data-block.ts";
import { FileOutput } from "../block/file-output.ts";
import type { BlockMeta } from "../manifest/manifest.ts";
import { corrupt, encodeDirectory, encodeHeader, PT_VERSION_GROUPED, type PtDirectoryReader } from "../pt/format.ts";
import { MergedBlockWriter, type MergedColumn } from "../pt/merge-writer.ts";
import { PtReader } from "../pt/reader.ts";

/** "PAR1", at the start and the end of a file. */
const MAGIC_BYTES = 4;
/** Footer length u32, and the magic. */
const TAIL_BYTES = 8;
/** Pages written together: as many as an older server's row group had. */
const GROUP_PAGES = 8;
const DUCKDB_BYTES = 512 << 20;

/** Reads the .pt directory of a Parquet file. */
class ParquetReader extends PtReader {
  /** Verifies the checksums of our directory: DuckDB would not detect altered values. @throws TsdbError corrupt_file, io */
  checkPages(): void {
    const { columns, pages } = this.stored(0);
    for (const column of columns) {
      for (let page = 0; page < pages.length; page++) {
        this.read(column.chunk(page));
        const dictionary = column.dictionary?.(page) ?? null;
        if (dictionary !== null) this.read(dictionary);
      }
    }
  }

  protected override readDirectory(): PtDirectoryReader {
    const { size } = this.source;
    const tail = this.readWhole(Math.max(0, size - TAIL_BYTES), TAIL_BYTES);
    const footerBytes = new DataView(tail.buffer, tail.byteOffset).getUint32(0, true);
    return this.directoryBefore(size - TAIL_BYTES - footerBytes, MAGIC_BYTES);
  }
}

/** Rewrites a Parquet file as a .pt file; `meta` is its block. Returns the manifest's description of the new file. @throws TsdbError
 *  corrupt_file, io, overloaded, and what `write` throws */
export async function rewriteParquet(
  kernel: Kernel,
  { source, meta }: { source: ObjectSource; meta: BlockMeta },
  write: (piece: Uint8Array<ArrayBuffer>) => Promise<void>,
): Promise<{ bytes: number; block: BlockMeta }> {
  const reader = new ParquetReader(kernel, openByteSource(source));
  const codec = new ColumnCodec(kernel);
  const memory = new Blocks(kernel);
  const output = new FileOutput(write);
  let writer: MergedBlockWriter | undefined;
  try {
    reader.checkPages();
    const stored = reader.stored(0);
    const block = reader.block(0);
    const series = block.readSeries(memory);
    writer = new MergedBlockWriter(kernel, codec, output, stored);
    output.append(encodeHeader(PT_VERSION_GROUPED));
    writer.begin(block.columns, series.dictionary);
    const groups = Array.from({ length: Math.ceil(block.pages.length / GROUP_PAGES) }, (_, i) =>
      block.pages.slice(i * GROUP_PAGES, (i + 1) * GROUP_PAGES),
    );
    const rows = await RowStream.open(kernel, source, block.columns);
    try {
      for (const pages of groups) {
        await writeGroup(kernel, writer, { rows, pages, series });
        await output.drain();
      }
    } finally {
      rows.close();
    }
    writer.end(rowCounts(kernel, series, memory));
    output.append(encodeDirectory({ blocks: [writer.block!] }, output.bytes, PT_VERSION_GROUPED));
    await output.end();
    return { bytes: output.bytes, block: { ...meta, index: 0, closed: true } };
  } finally {
    writer?.release();
    memory.release();
    codec.release();
    reader.close();
  }
}

async function writeGroup(
  kernel: Kernel,
  writer: MergedBlockWriter,
  { rows, pages, series: { offsetsPtr } }: { rows: RowStream; pages: readonly BlockPage[]; series: BlockSeries },
): Promise<void> {
  const memory = new Blocks(kernel);
  try {
    const { firstRow, firstSeries } = pages[0]!;
    const pageRows = pages.map(({ rowCount }) => rowCount);
    const rowCount = pageRows.reduce((sum, count) => sum + count, 0);
    const seriesPtr = memory.alloc(rowCount * 4);
    kernel.call.fillSeries(offsetsPtr, firstSeries, firstRow, rowCount, seriesPtr);
    const columns = await rows.take(rowCount, memory);
    writer.beginGroup({ seriesPtr, firstSeries: 0, timePtr: columns[0]!.dataPtr, pageRows });
    for (const column of columns) writer.writeColumn(column);
  } finally {
    memory.release();
  }
}

/** Streams the rows of a file in order: time and fields, skipping the tags between them. */
class RowStream {
  private batch: ResultBatch | null = null;
  /** Rows of the current batch already taken. */
  private taken = 0;

  private constructor(
    private readonly kernel: Kernel,
    private readonly columns: readonly MergedColumn[],
    private readonly name: string,
    private readonly database: Database,
    private readonly results: ResultStream,
  ) {}

  /** @throws TsdbError corrupt_file */
  static async open(kernel: Kernel, source: ObjectSource, columns: readonly MergedColumn[]): Promise<RowStream> {
    assert(source.kind === "path", "an older server's files are on a disk");
    const { path } = source;
    const database = await Database.open({ memoryBytes: DUCKDB_BYTES, threads: 1, tempDir: null, readableDirs: [dirname(path)] });
    try {
      const connection = await database.connect();
      const statement = await connection.prepare(`SELECT * FROM read_parquet('${path.replaceAll("'", "''")}')`);
      return new RowStream(kernel, columns, path, database, await statement.execute());
    } catch (error) {
      database.close();
      throw corrupt(path, 0, error);
    }
  }

  /** The next rows, in `memory`. @throws TsdbError corrupt_file, overloaded */
  async take(rowCount: number, memory: Blocks): Promise<ColumnRun[]> {
    const { call } = this.kernel;
    const targets = this.columns.map(({ columnId, type }) => ({
      ...{ columnId, type, dataPtr: memory.alloc(rowCount * VALUE_BYTES[type]) },
      validityPtr: memory.allocZeroed(bitmapBytes(rowCount)),
    }));
    for (let row = 0; row < rowCount; ) {
      const batch = await this.nextBatch();
      const count = Math.min(rowCount - row, batch.rowCount - this.taken);
      // column order: time, tags, fields
      const firstField = batch.columns.length - (targets.length - 1);
      targets.forEach((target, i) => {
        const column = batch.columns[i === 0 ? 0 : firstField + i - 1]!;
        copyRows(this.kernel, { column, from: this.taken, count }, { ...target, row }, memory);
      });
      this.taken += count;
      row += count;
    }
    return targets.map((target) => ({
      ...target,
      validityPtr: call.countBits(target.validityPtr, 0, rowCount) === rowCount ? 0 : target.validityPtr,
    }));
  }

  close(): void {
    this.database.close();
  }

  private async nextBatch(): Promise<ResultBatch> {
    while (this.batch === null || this.taken === this.batch.rowCount) {
      this.taken = 0;
      try {
        this.batch = await this.results.next();
      } catch (error) {
        throw corrupt(this.name, 0, error);
      }
      if (this.batch === null) throw corrupt(this.name, 0, "rows are missing");
    }
    return this.batch;
  }
}

/** Copies rows [from, from + count) of a column to a run, starting at its row `row`; text is copied to `memory`. */
function copyRows(
  kernel: Kernel,
  { column, from, count }: { column: ResultColumn; from: number; count: number },
  { type, dataPtr, validityPtr, row }: ColumnRun & { readonly row: number },
  memory: Blocks,
): void {
  const { call, u8 } = kernel;
  const width = VALUE_BYTES[type];
  const { validity, values, offsets, data } = column;
  if (type === ColumnType.string) {
    const text = Buffer.from(data!.buffer, data!.byteOffset, data!.byteLength);
    const texts = Array.from({ length: count }, (_, i) => text.toString("utf8", offsets![from + i], offsets![from + i + 1]));
    call.copyBytes(dataPtr + row * width, memory.allocViews(texts), count * width);
  } else {
    u8.set(new Uint8Array(values.buffer, values.byteOffset + from * width, count * width), dataPtr + row * width);
  }
  if (validity === null) {
    call.setBits(validityPtr, row, count);
    return;
  }
  const scratch = new Blocks(kernel);
  const bits = scratch.allocZeroed(bitmapBytes(validity.length * 8));
  u8.set(validity, bits);
  call.copyBits(bits, from, validityPtr, row, count);
  scratch.release();
}

/** Number of rows per series, u32. */
function rowCounts({ u32 }: Kernel, { dictionary: { seriesCount }, offsetsPtr }: BlockSeries, memory: Blocks): number {
  const ptr = memory.alloc(seriesCount * 4);
  for (let series = 0; series < seriesCount; series++) {
    u32[ptr / 4 + series] = u32[offsetsPtr / 4 + series + 1]! - u32[offsetsPtr / 4 + series]!;
  }
  return ptr;
}
