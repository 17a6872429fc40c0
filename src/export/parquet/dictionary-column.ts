// Columns of tags: a dictionary of the group's values, and an index for each row. Rows come with the numbers of their series, whose tags
// are codes already: a value is looked up once for each dictionary of series.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { TagColumnView } from "../../model/rows/run.ts";
import { ChunkPages, CODEC, ENCODING, type FinishedChunk } from "./chunk.ts";
import { indexBytes, levelBytes } from "./hybrid.ts";
import type { PageColumn, PageMemory, PagePlace } from "./page-column.ts";
import { boundsOf } from "./text-column.ts";

const LENGTH_BYTES = 4;
/** Dictionaries of series whose codes are known at a time. */
const KNOWN_MAX = 16;
const UNKNOWN = 0xffff_ffff;

/** Rows of a run with the tag, as far as any of its series has it. */
export interface RunTags {
  readonly dictionaryId: number;
  readonly tag: TagColumnView;
  /** u32 for each row: its series. */
  readonly seriesPtr: number;
}

/** A column of one tag. */
export class DictionaryColumn implements PageColumn<RunTags> {
  private chunk = new ChunkPages(CODEC.none);
  /** Indexes of the rows of the page that have a value, in order. */
  private readonly indexes: Uint32Array;
  private indexCount = 0;
  private readonly validity: Uint8Array;
  private readonly codesPtr: number;
  private readonly kernel: Kernel;
  private dictionary = new GroupDictionary();
  /** By dictionary of series: the index for each code. */
  private readonly known = new Map<number, Uint32Array>();

  constructor({ kernel, scratchPtr, pageRows }: PageMemory) {
    this.kernel = kernel;
    this.codesPtr = scratchPtr;
    this.indexes = new Uint32Array(pageRows);
    this.validity = new Uint8Array(pageRows / 8);
  }

  get bytes(): number {
    return this.chunk.bytes + this.dictionary.bytes;
  }

  add(source: RunTags | null, { from, count, at }: PagePlace): void {
    if (source === null) return;
    const { kernel, codesPtr, indexes, validity } = this;
    const { dictionaryId, tag, seriesPtr } = source;
    const known = this.indexesOf(dictionaryId, tag);
    kernel.call.gather4(tag.codesPtr, seriesPtr + from * 4, count, codesPtr);
    const codes = kernel.u32.subarray(codesPtr / 4, codesPtr / 4 + count);
    let [last, index] = [0, 0];
    for (let i = 0; i < count; i++) {
      const code = codes[i]!;
      if (code === 0) continue;
      if (code !== last) {
        last = code;
        index = known[code]!;
        if (index === UNKNOWN) {
          index = this.dictionary.indexOf(kernel, tag.valuesPtr + code * 16);
          known[code] = index;
        }
      }
      indexes[this.indexCount++] = index;
      validity[(at + i) >> 3]! |= 1 << ((at + i) & 7);
    }
  }

  endPage(rowCount: number): void {
    const presentCount = this.indexCount;
    this.chunk.add({
      ...{ rowCount, nullCount: rowCount - presentCount },
      levels: levelBytes(presentCount === rowCount ? null : this.validity, rowCount),
      values: indexBytes(this.indexes.subarray(0, presentCount), this.dictionary.count),
      encoding: ENCODING.dictionary,
    });
    this.indexCount = 0;
    this.validity.fill(0);
  }

  endGroup(): FinishedChunk {
    const { dictionary } = this;
    const finished = this.chunk.finish(dictionary.bounds(), { values: dictionary.values(), count: dictionary.count });
    this.chunk = new ChunkPages(CODEC.none);
    this.dictionary = new GroupDictionary();
    this.known.clear();
    return finished;
  }

  private indexesOf(dictionaryId: number, { valueCount }: TagColumnView): Uint32Array {
    let known = this.known.get(dictionaryId);
    if (known !== undefined && known.length > valueCount) return known;
    // it has grown since
    const grown = new Uint32Array(valueCount + 1).fill(UNKNOWN);
    if (known !== undefined) grown.set(known);
    known = grown;
    this.known.delete(dictionaryId);
    const [oldest] = this.known.keys();
    if (this.known.size >= KNOWN_MAX && oldest !== undefined) this.known.delete(oldest);
    this.known.set(dictionaryId, known);
    return known;
  }
}

/** The values of a group in the order in which they come. */
class GroupDictionary {
  bytes = 0;
  private readonly texts: Uint8Array[] = [];
  private readonly places = new Map<string, number>();

  get count(): number {
    return this.texts.length;
  }

  /** @param view of the kernel's memory */
  indexOf({ u8, u32, i64, base }: Kernel, view: number): number {
    const length = u32[view / 4]!;
    const ptr = length <= 12 ? view + 4 : Number(i64[view / 8 + 1]! - base);
    // a character for each byte: texts that differ have keys that differ
    const text = u8.slice(ptr, ptr + length);
    const key = Buffer.from(text.buffer).toString("latin1");
    const known = this.places.get(key);
    if (known !== undefined) return known;
    this.places.set(key, this.texts.length);
    this.bytes += LENGTH_BYTES + length;
    return this.texts.push(text) - 1;
  }

  /** Each behind its length. */
  values(): Uint8Array {
    const bytes = new Uint8Array(this.bytes);
    const view = new DataView(bytes.buffer);
    let at = 0;
    for (const text of this.texts) {
      view.setUint32(at, text.length, true);
      bytes.set(text, at + LENGTH_BYTES);
      at += LENGTH_BYTES + text.length;
    }
    return bytes;
  }

  bounds() {
    let [min, max] = [this.texts[0], this.texts[0]];
    if (min === undefined || max === undefined) return null;
    for (const text of this.texts) {
      if (Buffer.compare(text, min) < 0) min = text;
      else if (Buffer.compare(text, max) > 0) max = text;
    }
    return boundsOf(min, max);
  }
}
