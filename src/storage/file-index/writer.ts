// Writes the index of a file: for each chosen column of its blocks a list of values or, if there are many, a filter per page. Works page by
// page, so that memory depends on the size of a page only.
import { crc32 } from "../../disk/crc32.ts";
import { readStrings } from "../../duckdb/string-reader.ts";
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { DataBlock } from "../block/data-block.ts";
import type { FileOutput } from "../block/file-output.ts";
import { CELL_BYTES, cellCount, encodeIndexDirectory, encodeIndexHeader, type IndexEntry, type IndexedBlock, sealCells } from "./format.ts";
import { LIST_VALUES_MAX, ValueListBuilder } from "./values.ts";

const VIEW_BYTES = VALUE_BYTES[ColumnType.string];

/** Distinct texts of a page, or of a block's dictionary: string views in kernel memory. */
interface Texts {
  readonly viewsPtr: number;
  readonly count: number;
}

/** Writes one file index; columns are added one by one. */
export class FileIndexWriter {
  private readonly entries: IndexEntry[] = [];

  constructor(
    private readonly kernel: Kernel,
    private readonly output: FileOutput,
    private readonly pace: () => Promise<void>,
    private readonly valuesMax = LIST_VALUES_MAX,
  ) {
    output.append(encodeIndexHeader());
  }

  /** @throws TsdbError corrupt_file, io, overloaded, and what `pace` throws */
  async add(block: DataBlock, blockIndex: number, identity: IndexedBlock, column: { id: number; type: ColumnType }): Promise<void> {
    const { rowCount, minTimeNs, maxTimeNs, seqMin, seqMax } = identity;
    const isTag = column.type === ColumnType.tag;
    const pageCount = isTag ? 0 : block.pages.length;
    const gathering = new Gathering(this.kernel, this.output, pageCount, this.valuesMax);
    for (let page = 0; page < Math.max(1, pageCount); page++) {
      const memory = new Blocks(this.kernel);
      try {
        const texts = isTag ? tagTexts(block, column.id, memory) : pageTexts(this.kernel, block, page, column.id, memory);
        gathering.add(page, texts, memory);
      } finally {
        memory.release();
      }
      await this.pace();
    }
    const content = gathering.end();
    this.entries.push({ blockIndex, columnId: column.id, pageCount, block: { rowCount, minTimeNs, maxTimeNs, seqMin, seqMax }, content });
  }

  /** Call after the last column. */
  end(): void {
    this.output.append(encodeIndexDirectory(this.entries, this.output.bytes));
  }
}

/** The state of one column: list and filters in parallel, until it is known which form it takes. */
class Gathering {
  private list: ValueListBuilder | null;
  /** Filters held back while the column may still become a list. */
  private held: Uint8Array[] = [];
  private offset = 0;
  private readonly cells: number[] = [];

  constructor(
    private readonly kernel: Kernel,
    private readonly output: FileOutput,
    private readonly pageCount: number,
    private readonly valuesMax: number,
  ) {
    this.list = new ValueListBuilder(valuesMax);
  }

  add(page: number, texts: Texts, memory: Blocks): void {
    if (this.list !== null && !this.addToList(this.list, page, texts)) {
      this.list = null;
      this.offset = this.output.bytes;
      for (const filter of this.held.splice(0)) this.output.append(filter);
    }
    const filter = this.filterOf(texts, memory);
    this.cells.push(filter.length / CELL_BYTES);
    if (this.list === null) this.output.append(filter);
    else this.held.push(filter);
  }

  end(): IndexEntry["content"] {
    if (this.list === null) return { kind: "filters", offset: this.offset, cells: Uint32Array.from(this.cells) };
    const encoded = this.list.encode(this.pageCount);
    const offset = this.output.bytes;
    this.output.append(encoded);
    return { kind: "values", offset, bytes: encoded.length, crc: crc32(encoded) };
  }

  private addToList(list: ValueListBuilder, page: number, { viewsPtr, count }: Texts): boolean {
    if (count > this.valuesMax) return false;
    if (count === 0) return true;
    const { offsets, data } = readStrings(this.kernel.u8.subarray(viewsPtr, viewsPtr + count * VIEW_BYTES), count, null);
    const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    for (let i = 0; i < count; i++) {
      if (!list.add(page, text.toString("utf8", offsets[i]!, offsets[i + 1]!), this.pageCount)) return false;
    }
    return true;
  }

  private filterOf({ viewsPtr, count }: Texts, memory: Blocks): Uint8Array {
    const cells = cellCount(count);
    if (cells === 0) return new Uint8Array(0);
    const ptr = memory.allocZeroed(cells * CELL_BYTES);
    this.kernel.call.fileFilterAdd(viewsPtr, count, ptr, cells);
    const filter = this.kernel.copyOut(ptr, cells * CELL_BYTES);
    sealCells(filter);
    return filter;
  }
}

/** All values of the block's dictionary except view 0, which stands for series without the tag. */
function tagTexts(block: DataBlock, columnId: number, memory: Blocks): Texts {
  const tag = block.readSeries(memory).dictionary.tags.find((each) => each.columnId === columnId);
  return tag === undefined ? { viewsPtr: 0, count: 0 } : { viewsPtr: tag.valuesPtr + VIEW_BYTES, count: tag.valueCount - 1 };
}

function pageTexts(kernel: Kernel, block: DataBlock, page: number, columnId: number, memory: Blocks): Texts {
  const column = block.readColumn(page, columnId, memory);
  const { rowCount } = block.pages[page]!;
  if (column === null) return { viewsPtr: 0, count: 0 };
  const { call } = kernel;
  const { dataPtr, validityPtr } = column;
  const present = validityPtr === 0 ? rowCount : call.countBits(validityPtr, 0, rowCount);
  if (present === 0) return { viewsPtr: 0, count: 0 };
  let valuesPtr = dataPtr;
  if (present < rowCount) {
    valuesPtr = memory.alloc(present * VIEW_BYTES);
    call.squeeze(dataPtr, validityPtr, rowCount, VIEW_BYTES, valuesPtr);
  }
  const slotCount = 2 ** Math.ceil(Math.log2(present * 2));
  const slots = memory.allocZeroed(slotCount * 4);
  const viewsPtr = memory.alloc(present * VIEW_BYTES);
  const count = call.distinctTexts(valuesPtr, present, slots, slotCount, viewsPtr) >>> 0;
  return { viewsPtr, count };
}
