// The value list of a file index: values in ascending byte order, each with the set of pages that contain it. For columns with few values
// per block; the others have filters.
import { DirectoryReader, DirectoryWriter } from "../pt/bytes.ts";

/** Beyond any of these limits, a column of a block gets filters. */
export const LIST_VALUES_MAX = 1024;
const TEXT_BYTES_MAX = 64 << 10;
const SET_BYTES_MAX = 256 << 10;

/** Collects the values of a column page by page. */
export class ValueListBuilder {
  private readonly pages = new Map<string, number[]>();
  private textBytes = 0;

  constructor(private readonly valuesMax: number) {}

  /** Returns false if the list has become too large; it is useless then. */
  add(page: number, text: string, pageCount: number): boolean {
    let pages = this.pages.get(text);
    if (pages === undefined) {
      this.textBytes += Buffer.byteLength(text);
      pages = [];
      this.pages.set(text, pages);
    }
    pages.push(page);
    const { size } = this.pages;
    return size <= this.valuesMax && this.textBytes <= TEXT_BYTES_MAX && size * wordsFor(pageCount) * 4 <= SET_BYTES_MAX;
  }

  /** | count u32 | words u32 | ends of texts u32[count] | sets u32[count * words], bit p of a set = page p has it | texts | */
  encode(pageCount: number): Uint8Array {
    const values = [...this.pages].map(([text, pages]) => ({ bytes: Buffer.from(text), pages }));
    values.sort((a, b) => Buffer.compare(a.bytes, b.bytes));
    const words = wordsFor(pageCount);
    const writer = new DirectoryWriter(64);
    writer.u32(values.length);
    writer.u32(words);
    let end = 0;
    for (const { bytes } of values) {
      end += bytes.length;
      writer.u32(end);
    }
    for (const { pages } of values) {
      const set = new Uint32Array(words);
      for (const page of words === 0 ? [] : pages) set[page >>> 5]! |= 1 << (page & 31);
      for (const word of set) writer.u32(word);
    }
    for (const { bytes } of values) writer.bytes(bytes);
    return writer.take();
  }
}

function wordsFor(pageCount: number): number {
  return Math.ceil(pageCount / 32);
}

/** A parsed value list, for lookups. */
export class ValueList {
  private readonly ends: readonly number[];
  private readonly sets: readonly number[];
  private readonly texts: Buffer;
  private readonly words: number;

  /** Checks the list; `bytes` is borrowed. @throws Error with the cause alone */
  constructor(bytes: Uint8Array, pageCount: number) {
    const reader = new DirectoryReader(bytes);
    const count = reader.u32();
    this.words = reader.u32();
    if (this.words !== wordsFor(pageCount)) throw new Error(`sets of ${this.words} words for ${pageCount} pages`);
    this.ends = reader.list(count, () => reader.u32());
    this.sets = reader.list(count * this.words, () => reader.u32());
    this.texts = Buffer.from(reader.piece(reader.left));
    for (const [i, end] of this.ends.entries()) {
      if (end < (this.ends[i - 1] ?? 0) || end > this.texts.length) throw new Error("ends of texts do not ascend");
    }
  }

  get memoryBytes(): number {
    return (this.ends.length + this.sets.length) * 8 + this.texts.length;
  }

  /** Marks the pages that contain the text in `pages` (u8 each). Returns false if none does. */
  mark(text: Buffer, pages: Uint8Array): boolean {
    let [low, high] = [0, this.ends.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = Buffer.compare(this.texts.subarray(this.ends[middle - 1] ?? 0, this.ends[middle]), text);
      if (order === 0) {
        this.markSet(middle, pages);
        return true;
      }
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return false;
  }

  private markSet(value: number, pages: Uint8Array): void {
    for (let page = 0; page < pages.length; page++) {
      if (((this.sets[value * this.words + (page >>> 5)]! >>> (page & 31)) & 1) === 1) pages[page] = 1;
    }
  }
}
