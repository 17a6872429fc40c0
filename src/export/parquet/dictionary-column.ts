// Columns of tags: a dictionary of the group's values, and an index for each row. Rows come with the numbers of their series, whose tags
// are codes already: a value is looked up once for each dictionary of series.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { TagColumnView } from "../../model/rows/run.ts";
import { ChunkPages, CODEC, ENCODING, type FinishedChunk } from "./chunk.ts";
import type { ChunkMemory } from "./chunk-memory.ts";
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
  /** The rows of each series lie together. */
  readonly sorted: boolean;
}

/** A column of one tag. */
export class DictionaryColumn implements PageColumn<RunTags> {
  private chunk: ChunkPages;
  private readonly chunks: ChunkMemory;
  /** Indexes of the rows of the page that have a value, in order. */
  private readonly indexes: Uint32Array;
  private indexCount = 0;
  private readonly validity: Uint8Array;
  private readonly codesPtr: number;
  private readonly kernel: Kernel;
  private dictionary = new GroupDictionary();
  /** By dictionary of series: the index for each code. */
  private readonly known = new Map<number, Uint32Array>();

  constructor({ kernel, scratchPtr, pageRows, chunks }: PageMemory) {
    this.kernel = kernel;
    this.chunks = chunks;
    this.chunk = new ChunkPages(CODEC.none, chunks);
    this.codesPtr = scratchPtr;
    this.indexes = new Uint32Array(pageRows);
    this.validity = new Uint8Array(pageRows / 8);
  }

  get bytes(): number {
    return this.chunk.bytes + this.dictionary.bytes;
  }

  add(source: RunTags | null, place: PagePlace): void {
    if (source === null) return;
    const known = this.indexesOf(source.dictionaryId, source.tag);
    if (source.sorted) this.addStretches(source, known, place);
    else this.addRows(source, known, place);
  }

  /** The rows of a series at a time. */
  private addStretches({ tag, seriesPtr }: RunTags, known: Uint32Array, { from, count, at }: PagePlace): void {
    const { kernel, indexes, validity } = this;
    const series = kernel.u32.subarray(seriesPtr / 4 + from, seriesPtr / 4 + from + count);
    for (let i = 0; i < count; ) {
      const end = stretchEnd(series, i);
      const code = kernel.u32[tag.codesPtr / 4 + series[i]!]!;
      if (code !== 0) {
        indexes.fill(this.indexOf(code, tag, known), this.indexCount, this.indexCount + end - i);
        this.indexCount += end - i;
        setBits(validity, at + i, end - i);
      }
      i = end;
    }
  }

  private addRows({ tag, seriesPtr }: RunTags, known: Uint32Array, { from, count, at }: PagePlace): void {
    const { kernel, codesPtr, indexes, validity } = this;
    kernel.call.gather4(tag.codesPtr, seriesPtr + from * 4, count, codesPtr);
    const codes = kernel.u32.subarray(codesPtr / 4, codesPtr / 4 + count);
    let [last, index] = [0, 0];
    for (let i = 0; i < count; i++) {
      const code = codes[i]!;
      if (code === 0) continue;
      if (code !== last) {
        last = code;
        index = this.indexOf(code, tag, known);
      }
      indexes[this.indexCount++] = index;
      validity[(at + i) >> 3]! |= 1 << ((at + i) & 7);
    }
  }

  endPage(rowCount: number): void {
    const { chunks, indexCount: presentCount } = this;
    this.chunk.add({
      ...{ rowCount, nullCount: rowCount - presentCount },
      levels: levelBytes(chunks.levels, presentCount === rowCount ? null : this.validity, rowCount),
      values: indexBytes(chunks.indexes, this.indexes.subarray(0, presentCount), this.dictionary.count),
      encoding: ENCODING.dictionary,
    });
    this.indexCount = 0;
    this.validity.fill(0);
  }

  endGroup(): FinishedChunk {
    const { dictionary } = this;
    const finished = this.chunk.finish(dictionary.bounds(), { values: dictionary.values(), count: dictionary.count });
    this.chunk = new ChunkPages(CODEC.none, this.chunks);
    this.dictionary = new GroupDictionary();
    this.known.clear();
    return finished;
  }

  private indexOf(code: number, { valuesPtr }: TagColumnView, known: Uint32Array): number {
    if (known[code] === UNKNOWN) known[code] = this.dictionary.indexOf(this.kernel, valuesPtr + code * 16);
    return known[code]!;
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

/** Behind the last of the equal values from `start` on. Equal values lie together, so that steps may double. */
function stretchEnd(values: Uint32Array, start: number): number {
  const value = values[start];
  let [equal, step] = [start, 1];
  while (equal + step < values.length && values[equal + step] === value) {
    equal += step;
    step *= 2;
  }
  let other = Math.min(equal + step, values.length);
  while (other - equal > 1) {
    const middle = (equal + other) >>> 1;
    if (values[middle] === value) equal = middle;
    else other = middle;
  }
  return other;
}

/** Of a bitmap whose bits from `from` on are 0. */
function setBits(bitmap: Uint8Array, from: number, count: number): void {
  const [first, last] = [from >> 3, (from + count) >> 3];
  const [head, tail] = [(0xff << (from & 7)) & 0xff, 0xff >> (8 - ((from + count) & 7))];
  if (first === last) {
    bitmap[first]! |= head & tail;
    return;
  }
  bitmap[first]! |= head;
  bitmap.fill(0xff, first + 1, last);
  if (tail !== 0) bitmap[last]! |= tail;
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
