// Decoding of one block: dictionary, choice of pages, columns. Nothing here trusts the bytes: checksums find accidents, and whatever passes
// them still cannot make the kernel touch memory that is not the run's.
import { Blocks } from "../kernel/blocks.ts";
import type { ColumnCodec, DecodeTarget, EncodedSource } from "../kernel/codec.ts";
import { nextDictionaryId } from "../kernel/dictionary-id.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { bitmapBytes } from "../kernel/rows.ts";
import { SeriesFilter } from "../kernel/series-filter.ts";
import { ColumnType, TIME_COLUMN, VALUE_BYTES } from "../model/column.ts";
import { TsdbError } from "../model/errors.ts";
import type { ColumnRun, DictionaryView, TagColumnView } from "../model/run.ts";
import type { TagPredicate, TimeRange } from "../model/scan.ts";
import { corrupt, type PtBlock, type PtColumn, type PtExtent, timesOf } from "./pt-format.ts";
import type { DecodedRun } from "./pt-reader.ts";

export interface OpenFile {
  readonly kernel: Kernel;
  readonly codec: ColumnCodec;
  readonly name: string;
  /** Checked bytes of extents side by side, borrowed until the next read. */
  read(extents: readonly PtExtent[]): Uint8Array;
}

/** Pages [first, end) that lie side by side. */
interface PageRange {
  readonly first: number;
  readonly end: number;
}

/** Owns the dictionary until decodePages takes it over. */
export interface SelectedPages {
  readonly blocks: Memory;
  readonly dictionary: DictionaryView;
  readonly offsetsPtr: number;
  readonly ranges: readonly PageRange[];
}

/** Blocks that know how large they are. */
class Memory extends Blocks {
  bytes = 0;

  override alloc(bytes: number): number {
    const ptr = super.alloc(Math.max(1, bytes));
    this.bytes += bytes;
    return ptr;
  }
}

/** The pages that can hold rows of the range and of a series that the predicates want; null when there is none.
 *  @throws TsdbError corrupt_file, overloaded, io */
export function selectPages(
  file: OpenFile,
  block: PtBlock,
  { range, tags }: { range: TimeRange; tags: readonly TagPredicate[] },
): SelectedPages | null {
  const blocks = new Memory(file.kernel);
  const filter = new SeriesFilter(file.kernel, tags);
  try {
    const { dictionary, offsetsPtr } = readDictionary(file, block, blocks);
    const { none, wantedPtr } = filter.wanted(dictionary);
    const ranges = none ? [] : choosePages(file.kernel, block, range, wantedPtr);
    if (ranges.length > 0) return { blocks, dictionary, offsetsPtr, ranges };
    blocks.release();
    return null;
  } catch (error) {
    blocks.release();
    throw error;
  } finally {
    filter.release();
  }
}

function choosePages({ u8 }: Kernel, { pages }: PtBlock, { minNs, maxNs }: TimeRange, wantedPtr: number): PageRange[] {
  const ranges: { first: number; end: number }[] = [];
  pages.forEach(({ minTimeNs, maxTimeNs, firstSeries, lastSeries }, page) => {
    if (minTimeNs > maxNs || maxTimeNs < minNs) return;
    if (wantedPtr !== 0 && !u8.subarray(wantedPtr + firstSeries, wantedPtr + lastSeries + 1).includes(1)) return;
    const last = ranges.at(-1);
    if (last?.end === page) last.end = page + 1;
    else ranges.push({ first: page, end: page + 1 });
  });
  return ranges;
}

/** Row offsets, then codes and values of each tag column: see PtBlockWriter.writeDictionary. */
function readDictionary(file: OpenFile, block: PtBlock, blocks: Memory): { dictionary: DictionaryView; offsetsPtr: number } {
  const { kernel, codec } = file;
  const { seriesCount, rowCount } = block;
  const encoded = new Encoded(file, [block.dictionary]);
  try {
    const offsetsPtr = blocks.alloc((seriesCount + 1) * 4);
    codec.decodeU32(encoded.next(seriesCount + 1), offsetsPtr);
    if (!kernel.call.isOffsets(offsetsPtr, seriesCount + 1, rowCount)) throw new Error("row offsets of series do not ascend");
    const tags = block.tags.map(({ columnId, valueCount }): TagColumnView => {
      const codesPtr = blocks.alloc(seriesCount * 4);
      codec.decodeU32(encoded.next(seriesCount), codesPtr);
      if (!kernel.call.areBelow(codesPtr, seriesCount, valueCount + 1))
        throw new Error(`codes of tag column ${columnId} past ${valueCount}`);
      // view 0 stays empty: absent
      const valuesPtr = blocks.allocZeroed((valueCount + 1) * VALUE_BYTES[ColumnType.tag]);
      decodeText(file, encoded.next(valueCount), { type: ColumnType.tag, dataPtr: valuesPtr + 16, validityPtr: 0 }, blocks);
      return { columnId, codesPtr, valuesPtr, valueCount: valueCount + 1 };
    });
    return { dictionary: { id: nextDictionaryId(kernel), seriesCount, tags }, offsetsPtr };
  } catch (error) {
    throw located(file, block.dictionary.offset, error);
  } finally {
    encoded.release();
  }
}

/** @throws TsdbError corrupt_file, overloaded, io; `selected` is released then */
export function decodePages(file: OpenFile, block: PtBlock, selected: SelectedPages, columnIds: readonly number[]): DecodedRun {
  const { blocks, dictionary, ranges } = selected;
  try {
    const pages = ranges.flatMap(({ first, end }) => block.pages.slice(first, end));
    const rowCount = pages.reduce((sum, page) => sum + page.rowCount, 0);
    const [time, ...fields] = block.columns;
    const { dataPtr: timePtr } = decodeColumn(file, block, time!, { ranges, rowCount, blocks });
    const wanted = fields.filter(({ columnId }) => columnId !== TIME_COLUMN.id && columnIds.includes(columnId));
    const columns = wanted.map((column) => decodeColumn(file, block, column, { ranges, rowCount, blocks }));
    const run = {
      rowCount,
      seriesPtr: decodeSeries(file.kernel, block, selected, rowCount),
      timePtr,
      columns,
      dictionary,
      sorted: true,
      unique: block.unique,
      ...timesOf(pages),
      seqMin: block.seqMin,
      seqMax: block.seqMax,
    };
    return { ...run, memoryBytes: blocks.bytes, release: () => blocks.release() };
  } catch (error) {
    blocks.release();
    throw error;
  }
}

function decodeSeries(
  { call }: Kernel,
  { pages }: PtBlock,
  { ranges, dictionary, offsetsPtr, blocks }: SelectedPages,
  rowCount: number,
): number {
  const seriesPtr = blocks.alloc(rowCount * 4);
  let target = seriesPtr;
  let row = 0;
  let page = 0;
  for (const { first, end } of ranges) {
    for (; page < first; page++) row += pages[page]!.rowCount;
    const from = row;
    for (; page < end; page++) row += pages[page]!.rowCount;
    call.fillSeries(offsetsPtr, call.seriesOfRow(offsetsPtr, dictionary.seriesCount, from), from, row - from, target);
    target += (row - from) * 4;
  }
  return seriesPtr;
}

/** The chosen pages of a column side by side. All but a block's last page end on a whole word of a bitmap. */
function decodeColumn(
  file: OpenFile,
  { pages }: PtBlock,
  { columnId, type, chunks }: PtColumn,
  { ranges, rowCount, blocks }: { ranges: readonly PageRange[]; rowCount: number; blocks: Memory },
): ColumnRun {
  const dataPtr = blocks.alloc(rowCount * VALUE_BYTES[type]);
  const validityPtr = blocks.alloc(bitmapBytes(rowCount));
  let hasNulls = false;
  let row = 0;
  for (const { first, end } of ranges.flatMap((range) => cutReads(range, chunks))) {
    const encoded = new Encoded(file, chunks.slice(first, end));
    try {
      for (let page = first; page < end; page++) {
        const source = encoded.next(pages[page]!.rowCount);
        const target = { type, dataPtr: dataPtr + row * VALUE_BYTES[type], validityPtr: validityPtr + row / 8 };
        const decoded = type === ColumnType.string ? decodeText(file, source, target, blocks) : decode(file, source, target);
        hasNulls ||= decoded.hasNulls;
        row += source.rowCount;
      }
    } catch (error) {
      throw located(file, chunks[first]!.offset, error);
    } finally {
      encoded.release();
    }
  }
  return { columnId, type, dataPtr, validityPtr: hasNulls ? validityPtr : 0 };
}

// One read of a column: large enough to cost few calls, small enough not to hold a copy of a large block.
const READ_BYTES_MAX = 4 << 20;

function cutReads({ first, end }: PageRange, chunks: readonly PtExtent[]): PageRange[] {
  const reads: PageRange[] = [];
  let bytes = 0;
  for (let page = first; page < end; page++) {
    const chunk = chunks[page]!.bytes;
    const last = reads.at(-1);
    if (last === undefined || bytes + chunk > READ_BYTES_MAX) {
      reads.push({ first: page, end: page + 1 });
      bytes = chunk;
    } else {
      reads[reads.length - 1] = { first: last.first, end: page + 1 };
      bytes += chunk;
    }
  }
  return reads;
}

type Place = Pick<DecodeTarget, "type" | "dataPtr" | "validityPtr">;

function decode({ codec }: OpenFile, source: EncodedSource, place: Place): { hasNulls: boolean } {
  return codec.decode(source, { ...place, textPtr: 0, textBytes: 0 });
}

/** Views whose long text is in `blocks`. */
function decodeText({ codec }: OpenFile, source: EncodedSource, place: Place, blocks: Memory): { hasNulls: boolean } {
  const textBytes = codec.decodedTextBytes(source);
  // text is stored as it is, so a wild number is damage, not a reason to allocate
  if (textBytes > source.bytes) throw new Error(`${textBytes} bytes of text in ${source.bytes} encoded ones`);
  const textPtr = textBytes === 0 ? 0 : blocks.alloc(textBytes);
  return codec.decode(source, { ...place, textPtr, textBytes });
}

/** Encoded columns, one behind the other, copied to the kernel. */
class Encoded {
  private readonly blocks: Blocks;
  private at: number;
  private left: number;

  constructor(
    private readonly file: OpenFile,
    extents: readonly PtExtent[],
  ) {
    const bytes = file.read(extents);
    this.blocks = new Blocks(file.kernel);
    this.at = this.blocks.alloc(Math.max(1, bytes.length));
    this.left = bytes.length;
    file.kernel.u8.set(bytes, this.at);
  }

  /** The next column, which has `rowCount` rows. Borrowed until `release`. */
  next(rowCount: number): EncodedSource {
    const source = { ptr: this.at, bytes: this.file.codec.columnBytes(this.at, this.left), rowCount };
    this.at += source.bytes;
    this.left -= source.bytes;
    return source;
  }

  release(): void {
    this.blocks.release();
  }
}

/** Errors about bytes name the file and the place. */
function located({ name }: OpenFile, offset: number, error: unknown): unknown {
  const isOurs = error instanceof TsdbError && (error.kind !== "corrupt_file" || error.details["file"] !== undefined);
  return isOurs ? error : corrupt(name, offset, error);
}
