// Numbers for the distinct rows of some columns, in the order in which they come first: a hash table over their cells.
import { type FluxColumn, halvesOf } from "./column.ts";

const FIRST_SLOTS = 64;
const WORD_BITS = 32;
const RUN_ROWS_MAX = 4096;

/** Cells of a column as two words each; a text is its number. */
interface Words {
  readonly words: Int32Array;
  readonly mask: number;
  readonly valid: Uint8Array | null;
}

/** Assigns numbers to distinct rows. */
export class RowNumbers {
  /** Of each distinct row: the words of its cells, and words whose bits are its nulls. */
  private rows: Int32Array;
  /** Number + 1 of a row, 0 for none; a power of two. */
  private slots = new Int32Array(FIRST_SLOTS);
  private readonly texts = new Map<string, number>();
  private readonly width: number;
  private readonly row: Int32Array;
  private latest: { readonly columns: readonly FluxColumn[]; readonly sources: readonly Words[] } | null = null;
  count = 0;

  constructor(private readonly columnCount: number) {
    this.width = columnCount * 2 + Math.ceil(columnCount / WORD_BITS);
    this.row = new Int32Array(this.width);
    this.rows = new Int32Array((FIRST_SLOTS / 2) * this.width);
  }

  /** The numbers of rows [from, to), new rows counted. */
  add(columns: readonly FluxColumn[], from: number, to: number): Uint32Array {
    return this.numbers(columns, from, to, true);
  }

  /** The numbers of the rows that are known; 0xffffffff for others. */
  find(columns: readonly FluxColumn[], from: number, to: number): Uint32Array {
    return this.numbers(columns, from, to, false);
  }

  private numbers(columns: readonly FluxColumn[], from: number, to: number, adds: boolean): Uint32Array {
    const sources = this.sourcesOf(columns);
    const found = new Uint32Array(to - from);
    let latest = -1;
    // rows of tables beside each other mostly come in one order: each run may be twice as long as the one before
    let runMax = 1;
    for (let row = from; row < to; ) {
      const run = this.runOf(sources, row, Math.min(runMax, to - row), latest + 1);
      for (let i = 0; i < run; i++) found[row - from + i] = latest + 1 + i;
      row += run;
      latest += run;
      runMax = run === runMax ? Math.min(runMax * 2, RUN_ROWS_MAX) : 1;
      if (run > 0) continue;
      this.read(sources, row);
      latest = this.lookUp(adds);
      found[row - from] = latest;
      row++;
    }
    return found;
  }

  /** How many rows from `row` on, at most `rowCount`, are the known ones from `number` on. */
  private runOf(sources: readonly Words[], row: number, rowCount: number, number: number): number {
    let length = Math.min(rowCount, this.count - number);
    for (let c = 0; c < sources.length && length > 0; c++) length = this.columnRun(sources[c]!, c, row, length, number);
    return length;
  }

  private columnRun({ words, mask, valid }: Words, c: number, row: number, rowCount: number, number: number): number {
    const { rows, width } = this;
    const nulls = this.columnCount * 2 + Math.floor(c / WORD_BITS);
    const bit = c % WORD_BITS;
    for (let i = 0, start = number * width; i < rowCount; i++, start += width) {
      const at = (row + i) & mask;
      const isNull = valid !== null && valid[at] === 0 ? 1 : 0;
      if (((rows[start + nulls]! >>> bit) & 1) !== isNull) return i;
      if (isNull === 0 && (rows[start + 2 * c] !== words[2 * at] || rows[start + 2 * c + 1] !== words[2 * at + 1])) return i;
    }
    return rowCount;
  }

  /** A table is numbered in parts. */
  private sourcesOf(columns: readonly FluxColumn[]): readonly Words[] {
    const { latest } = this;
    if (latest !== null && columns.every((column, i) => latest.columns[i] === column)) return latest.sources;
    const sources = columns.map((column) => this.wordsOf(column));
    this.latest = { columns: [...columns], sources };
    return sources;
  }

  private read(sources: readonly Words[], row: number): void {
    const target = this.row;
    const nulls = this.columnCount * 2;
    for (let i = nulls; i < target.length; i++) target[i] = 0;
    for (let c = 0; c < this.columnCount; c++) {
      const { words, mask, valid } = sources[c]!;
      const at = row & mask;
      if (valid !== null && valid[at] === 0) {
        target[nulls + Math.floor(c / WORD_BITS)]! |= 1 << (c % WORD_BITS);
        target[2 * c] = 0;
        target[2 * c + 1] = 0;
      } else {
        target[2 * c] = words[2 * at]!;
        target[2 * c + 1] = words[2 * at + 1]!;
      }
    }
  }

  private isAt(number: number): boolean {
    const { rows, row, width } = this;
    const from = number * width;
    for (let i = 0; i < width; i++) if (rows[from + i] !== row[i]) return false;
    return true;
  }

  private lookUp(adds: boolean): number {
    const last = this.slots.length - 1;
    for (let slot = this.hash(this.row, 0) & last; ; slot = (slot + 1) & last) {
      const number = this.slots[slot]! - 1;
      if (number < 0) return adds ? this.append(slot) : -1;
      if (this.isAt(number)) return number;
    }
  }

  private append(slot: number): number {
    const { width } = this;
    const start = this.count * width;
    if (start + width > this.rows.length) {
      const rows = new Int32Array(this.rows.length * 2);
      rows.set(this.rows);
      this.rows = rows;
    }
    for (let i = 0; i < width; i++) this.rows[start + i] = this.row[i]!;
    this.slots[slot] = ++this.count;
    if (this.count * 2 > this.slots.length) this.grow();
    return this.count - 1;
  }

  private grow(): void {
    // fewer times for many rows
    const slots = new Int32Array(this.slots.length * 4);
    const last = slots.length - 1;
    for (let number = 0; number < this.count; number++) {
      let slot = this.hash(this.rows, number * this.width) & last;
      while (slots[slot] !== 0) slot = (slot + 1) & last;
      slots[slot] = number + 1;
    }
    this.slots = slots;
  }

  /** Multiplication and shifts of MurmurHash3's finalizer, word by word. */
  private hash(words: Int32Array, from: number): number {
    let hash = 0;
    for (let i = from; i < from + this.width; i++) {
      hash = Math.imul(hash ^ words[i]!, 0x85ebca6b);
      hash ^= hash >>> 13;
      hash = Math.imul(hash, 0xc2b2ae35);
      hash ^= hash >>> 16;
    }
    return hash;
  }

  private wordsOf(column: FluxColumn): Words {
    const { cells, mask, valid } = column;
    if (Array.isArray(cells)) return { words: this.textNumbers(cells), mask, valid };
    if (cells instanceof Uint8Array)
      return { words: Int32Array.from({ length: cells.length * 2 }, (_, i) => (i & 1 ? 0 : cells[i >> 1]!)), mask, valid };
    if (!(cells instanceof Float64Array)) return { words: halvesOf(column), mask, valid };
    const floats = new Float64Array(cells.length);
    // both zeros are one number
    for (let i = 0; i < floats.length; i++) floats[i] = cells[i]! + 0;
    return { words: new Int32Array(floats.buffer), mask, valid };
  }

  private textNumbers(cells: readonly string[]): Int32Array {
    const words = new Int32Array(cells.length * 2);
    for (let i = 0; i < cells.length; i++) {
      const text = cells[i]!;
      // the same text mostly comes many times in a row
      if (i > 0 && text === cells[i - 1]) words[2 * i] = words[2 * i - 2]!;
      else {
        let number = this.texts.get(text);
        if (number === undefined) {
          number = this.texts.size;
          this.texts.set(text, number);
        }
        words[2 * i] = number;
      }
    }
    return words;
  }
}
