// The kernel's parser as optimized TypeScript: the same predictions (series, columns, the last timestamp), typed arrays, no string or
// object allocation per value. It does less than the kernel, in its own favour: no escapes, no checks for duplicate names, no UTF-8
// validation, no messages.

const NEWLINE = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const EQUALS = 0x3d;
const BACKSLASH = 0x5c;

type FieldType = "float" | "integer" | "string" | "boolean";

interface Series {
  readonly key: Uint8Array;
  readonly id: number;
  readonly table: BaselineTable;
  next: Series | undefined;
}

/** One column of the baseline parser: values as word pairs and presence by row. */
class BaselineColumn {
  next: BaselineColumn | undefined;
  /** Rows below this index have been marked as present or absent. */
  filled = 0;
  values: Float64Array;
  /** Shared memory: integers and strings (offset, bytes) take two words. */
  words: Int32Array;
  present: Uint8Array | undefined;

  constructor(
    readonly key: Uint8Array,
    readonly type: FieldType,
    rows: number,
  ) {
    this.values = new Float64Array(rows);
    this.words = new Int32Array(this.values.buffer);
  }

  grow(rows: number): void {
    const values = new Float64Array(rows);
    values.set(this.values);
    this.values = values;
    this.words = new Int32Array(values.buffer);
    if (this.present) {
      const present = new Uint8Array(rows);
      present.set(this.present);
      this.present = present;
    }
  }

  /** Marks a row that does not directly follow the last one. */
  mark(row: number): void {
    this.present ??= new Uint8Array(this.values.length).fill(1, 0, this.filled);
    this.present.fill(0, this.filled, row);
    this.present[row] = 1;
    this.filled = row + 1;
  }
}

/** The rows of one table as parsed by the baseline parser. */
export class BaselineTable {
  rowCount = 0;
  series = new Uint32Array(1024);
  /** Two words per row. */
  times = new Int32Array(2048);
  lines = new Uint32Array(1024);
  seriesCount = 0;
  readonly columns: BaselineColumn[] = [];
  first: BaselineColumn | undefined;

  constructor(readonly name: string) {}

  grow(): void {
    const rows = this.series.length * 2;
    const copy = <T extends Uint32Array | Int32Array>(from: T, to: T): T => {
      to.set(from);
      return to;
    };
    this.series = copy(this.series, new Uint32Array(rows));
    this.lines = copy(this.lines, new Uint32Array(rows));
    this.times = copy(this.times, new Int32Array(rows * 2));
    for (const column of this.columns) column.grow(rows);
  }

  reset(): void {
    this.rowCount = 0;
    for (const column of this.columns) {
      column.filled = 0;
      column.present = undefined;
    }
  }
}

const EXACT_POWERS = Array.from({ length: 23 }, (_, i) => Number(`1e${i}`));

/** Parses line protocol into BaselineTables; the comparison for the kernel's parser. */
export class BaselineParser {
  readonly tables = new Map<string, BaselineTable>();
  badLineCount = 0;
  private readonly series = new Map<number, Series[]>();
  private last: Series | undefined;
  private body: Uint8Array = new Uint8Array(0);
  private at = 0;
  // the last timestamp: the position of its digits, and its two words
  private timeAt = 0;
  private timeBytes = 0;
  private timeLow = 0;
  private timeHigh = 0;

  /** Parses nanosecond timestamps; lines without one get `receiveTimeNs`. Returns the number of rows. */
  parse(body: Uint8Array, receiveTimeNs: bigint): number {
    this.body = body;
    this.badLineCount = 0;
    this.timeBytes = 0;
    for (const table of this.tables.values()) table.reset();
    const receiveLow = Number(BigInt.asIntN(32, receiveTimeNs));
    const receiveHigh = Number(receiveTimeNs >> 32n);
    let rows = 0;
    this.at = 0;
    while (this.at < body.length) {
      const start = this.at;
      const series = this.takeSeries();
      if (series !== undefined && this.takeFields(series.table)) {
        const { table } = series;
        const row = table.rowCount;
        const timed = this.takeTime();
        const c = body[this.at];
        if (c === NEWLINE || c === undefined) {
          this.at++;
          table.times[row * 2] = timed ? this.timeLow : receiveLow;
          table.times[row * 2 + 1] = timed ? this.timeHigh : receiveHigh;
          table.series[row] = series.id;
          table.lines[row] = start;
          table.rowCount = row + 1;
          rows++;
          continue;
        }
      }
      const newline = body.indexOf(NEWLINE, start);
      this.at = newline < 0 ? body.length : newline + 1;
      if (this.at > start + 1 && body[start] !== 0x23) this.badLineCount++;
    }
    return rows;
  }

  private takeSeries(): Series | undefined {
    const predicted = this.last?.next;
    let found = predicted !== undefined && this.matches(predicted.key) ? predicted : undefined;
    if (found === undefined) {
      found = this.lookUpSeries();
      if (found === undefined) return undefined;
      if (this.last !== undefined) this.last.next = found;
    }
    this.at += found.key.length;
    this.last = found;
    return found;
  }

  private matches(key: Uint8Array): boolean {
    const { body, at } = this;
    for (let i = 0; i < key.length; i++) if (body[at + i] !== key[i]) return false;
    return true;
  }

  private lookUpSeries(): Series | undefined {
    const { body, at } = this;
    let end = at;
    let hash = 0;
    for (; body[end] !== SPACE; end++) {
      const c = body[end];
      if (c === undefined || c === NEWLINE || c === BACKSLASH) return undefined;
      hash = Math.imul(hash ^ c, 0x01000193);
    }
    let bucket = this.series.get(hash);
    if (bucket === undefined) {
      bucket = [];
      this.series.set(hash, bucket);
    }
    for (const series of bucket) if (series.key.length === end + 1 - at && this.matches(series.key)) return series;
    const key = body.slice(at, end + 1);
    const name = new TextDecoder().decode(key).split(/[, ]/)[0]!;
    let table = this.tables.get(name);
    if (table === undefined) {
      table = new BaselineTable(name);
      this.tables.set(name, table);
    }
    const series: Series = { key, id: table.seriesCount++, table, next: undefined };
    bucket.push(series);
    return series;
  }

  private takeFields(table: BaselineTable): boolean {
    const row = table.rowCount;
    if (row === table.series.length) table.grow();
    let previous: BaselineColumn | undefined;
    while (true) {
      let column = previous === undefined ? table.first : previous.next;
      if (column === undefined || !this.matches(column.key)) {
        column = this.lookUpColumn(table);
        if (column === undefined) return false;
        if (previous === undefined) table.first = column;
        else previous.next = column;
      }
      this.at += column.key.length;
      if (column.filled === row && column.present === undefined) column.filled = row + 1;
      else column.mark(row);
      if (!this.takeValue(column, row)) return false;
      if (this.body[this.at] !== COMMA) return true;
      this.at++;
      previous = column;
    }
  }

  private lookUpColumn(table: BaselineTable): BaselineColumn | undefined {
    const { body, at } = this;
    let end = at;
    while (body[end] !== EQUALS) {
      const c = body[end++];
      if (c === undefined || c === NEWLINE || c === SPACE || c === COMMA || c === BACKSLASH) return undefined;
    }
    const type = this.typeOf(end + 1);
    for (const column of table.columns)
      if (column.type === type && column.key.length === end + 1 - at && this.matches(column.key)) return column;
    const column = new BaselineColumn(body.slice(at, end + 1), type, table.series.length);
    table.columns.push(column);
    return column;
  }

  private typeOf(at: number): FieldType {
    const c = this.body[at]!;
    if (c === QUOTE) return "string";
    if (c > 0x39) return "boolean";
    let end = at;
    while (end < this.body.length && this.body[end]! >= ZERO && this.body[end]! <= 0x39) end++;
    return this.body[end] === 0x69 ? "integer" : "float";
  }

  private takeValue(column: BaselineColumn, row: number): boolean {
    if (column.type === "integer") return this.takeInteger(column, row);
    if (column.type === "float") return this.takeFloat(column, row);
    if (column.type === "string") return this.takeString(column, row);
    const text = this.takeWord();
    column.values[row] = text === "t" || text === "true" || text === "T" || text === "True" || text === "TRUE" ? 1 : 0;
    return true;
  }

  private takeInteger(column: BaselineColumn, row: number): boolean {
    const { body } = this;
    let at = this.at;
    const negative = body[at] === MINUS;
    if (negative) at++;
    const first = at;
    let value = 0;
    for (let digit = body[at]! - ZERO; digit >= 0 && digit <= 9; digit = body[++at]! - ZERO) value = value * 10 + digit;
    if (at === first || body[at] !== 0x69) return false;
    if (at - first > 15) return false;
    if (negative) value = -value;
    column.words[row * 2] = value | 0;
    column.words[row * 2 + 1] = Math.floor(value / 4294967296);
    this.at = at + 1;
    return true;
  }

  private takeFloat(column: BaselineColumn, row: number): boolean {
    const { body } = this;
    const start = this.at;
    let at = start;
    const negative = body[at] === MINUS;
    if (negative) at++;
    const first = at;
    let value = 0;
    for (let digit = body[at]! - ZERO; digit >= 0 && digit <= 9; digit = body[++at]! - ZERO) value = value * 10 + digit;
    let digits = at - first;
    if (digits === 0) return false;
    let fraction = 0;
    if (body[at] === DOT) {
      const dot = at++;
      for (let digit = body[at]! - ZERO; digit >= 0 && digit <= 9; digit = body[++at]! - ZERO) value = value * 10 + digit;
      fraction = at - dot - 1;
      digits += fraction;
    }
    if (digits <= 15 && (body[at]! | 0x20) !== 0x65) {
      const size = fraction === 0 ? value : value / EXACT_POWERS[fraction]!;
      column.values[row] = negative ? -size : size;
      this.at = at;
      return true;
    }
    column.values[row] = Number(this.takeWord());
    return true;
  }

  private takeString(column: BaselineColumn, row: number): boolean {
    const { body } = this;
    let at = this.at + 1;
    for (; body[at] !== QUOTE; at++) if (body[at] === undefined || body[at] === BACKSLASH) return false;
    column.words[row * 2] = this.at + 1;
    column.words[row * 2 + 1] = at - this.at - 1;
    this.at = at + 1;
    return true;
  }

  /** Takes text up to the next separator. */
  private takeWord(): string {
    const start = this.at;
    for (let c = this.body[this.at]; c !== undefined && c !== COMMA && c !== SPACE && c !== NEWLINE; c = this.body[++this.at]);
    return String.fromCharCode(...this.body.subarray(start, this.at));
  }

  /** Reads a timestamp into timeLow and timeHigh; returns false if there is none. */
  private takeTime(): boolean {
    const { body } = this;
    if (body[this.at] !== SPACE) return false;
    const start = ++this.at;
    let same = this.timeBytes > 0;
    for (let i = 0; same && i < this.timeBytes; i++) same = body[start + i] === body[this.timeAt + i];
    const next = body[start + this.timeBytes];
    if (same && (next === NEWLINE || next === undefined)) {
      this.at = start + this.timeBytes;
      return true;
    }
    const text = this.takeWord();
    if (!/^-?\d+$/.test(text)) return false;
    const time = BigInt(text);
    this.timeAt = start;
    this.timeBytes = this.at - start;
    this.timeLow = Number(BigInt.asIntN(32, time));
    this.timeHigh = Number(time >> 32n);
    return true;
  }
}
