// Collects rows of scans in growing arrays and gathers them in another order: the input of groups, windows and joins.
import { readStrings } from "../../../duckdb/string-reader.ts";
import type { Kernel } from "../../../kernel/memory/kernel.ts";
import type { ResultColumn, ResultType } from "../../../model/query/result-batch.ts";
import type { ScanColumn } from "../../../model/query/scan-table.ts";
import { ColumnType } from "../../../model/rows/column.ts";
import { inSteps, isPause, StepCounter, type Steps } from "../../../model/steps.ts";
import { takeIntegers } from "../../functions/int64.ts";
import type { Cells } from "../../functions/operator.ts";
import { EMPTY_TEXT, TEXT_BYTES, Texts, Vocabulary } from "../../functions/texts.ts";
import { isValid } from "../../functions/validity.ts";
import type { FieldType } from "../../parse/ast.ts";
import type { Stretches } from "./stretches.ts";

/** A column of tag values as codes; "" stands for absent. */
export interface TagCells {
  readonly type: "tag";
  readonly codes: Uint32Array;
  readonly dictionary: readonly string[];
  /** True: "" is an ordinary text. */
  readonly keepsEmpty?: boolean;
}

export type AnyCells = Cells | TagCells;

const FIELD_TYPE: Readonly<Record<ColumnType, FieldType | "tag">> = {
  [ColumnType.time]: "integer",
  [ColumnType.tag]: "tag",
  [ColumnType.float]: "float",
  [ColumnType.integer]: "integer",
  [ColumnType.unsigned]: "unsigned",
  [ColumnType.string]: "string",
  [ColumnType.boolean]: "boolean",
};

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** One column of all rows so far. */
export interface GrowingColumn {
  append(column: ScanColumn, rowCount: number): void;
  /** The rows in this order, or all in their original order; owned by the caller. */
  take(rows: Uint32Array | null, rowCount: number): Steps<AnyCells>;
  /** Approximate memory. */
  readonly bytes: number;
}

/** A growing column for values of a type. @param capacity rows to have room for at once */
export function growingColumn(kernel: Kernel, type: ColumnType, capacity = 0): GrowingColumn {
  if (type === ColumnType.tag) return new TagColumn(kernel);
  return type === ColumnType.string ? new TextColumn(kernel) : new NumberColumn(kernel, type, capacity);
}

type NumberArray = Float64Array | BigInt64Array | BigUint64Array | Uint8Array;

/** A growing column of numbers, booleans or times. */
export class NumberColumn implements GrowingColumn {
  private values: NumberArray;
  private readonly presence = new Presence();
  private count = 0;

  constructor(
    private readonly kernel: Kernel,
    private readonly type: ColumnType,
    capacity = 0,
  ) {
    this.values = newNumbers(type, capacity);
  }

  get bytes(): number {
    return this.values.byteLength + this.presence.bytes;
  }

  append({ dataPtr, validityPtr }: ScanColumn, rowCount: number): void {
    const end = this.count + rowCount;
    if (end > this.values.length) {
      const grown = newNumbers(this.type, Math.max(end, this.values.length * 2));
      (grown as Float64Array).set(this.values as Float64Array);
      this.values = grown;
    }
    if (dataPtr !== 0) (this.values as Float64Array).set(this.source(dataPtr, rowCount), this.count);
    this.presence.append(this.kernel, dataPtr, validityPtr, rowCount);
    this.count = end;
  }

  /** Borrowed: all values so far. */
  view(): NumberArray {
    return this.values.subarray(0, this.count);
  }

  /** The rows of these stretches, one behind the other; null: some rows have no value. */
  *takeStretches({ bounds, rowCount }: Stretches): Steps<Cells | null> {
    if (!this.presence.isWhole) return null;
    const taken = newNumbers(this.type, rowCount) as Float64Array;
    const values = this.values as Float64Array;
    const counter = new StepCounter();
    for (let i = 0, at = 0; i < bounds.length; i += 2) {
      const from = bounds[i]!;
      const to = bounds[i + 1]!;
      taken.set(values.subarray(from, to), at);
      at += to - from;
      if (counter.isDue((to - from) >> 3)) yield;
    }
    return { type: FIELD_TYPE[this.type], values: taken, validity: null } as unknown as Cells;
  }

  *take(rows: Uint32Array | null, rowCount: number): Steps<Cells> {
    const validity = yield* this.presence.take(rows, rowCount);
    const type = FIELD_TYPE[this.type] as FieldType;
    const cells = (values: NumberArray) => ({ type, values, validity }) as unknown as Cells;
    if (rows === null) return cells(this.values.slice(0, rowCount));
    const taken = newNumbers(this.type, rowCount);
    const { values } = this;
    if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
      return cells(yield* takeIntegers(values.subarray(0, this.count), new Int32Array(rows.buffer, rows.byteOffset, rowCount)));
    }
    const floats = values as Float64Array;
    yield* inSteps(rowCount, (from, to) => {
      for (let i = from; i < to; i++) taken[i] = floats[rows[i]!]!;
    });
    return cells(taken);
  }

  private source(ptr: number, rowCount: number): Float64Array {
    const { kernel } = this;
    if (this.type === ColumnType.float) return kernel.f64.subarray(ptr / 8, ptr / 8 + rowCount);
    if (this.type === ColumnType.boolean) return kernel.u8.subarray(ptr, ptr + rowCount) as unknown as Float64Array;
    const i64 = kernel.i64.subarray(ptr / 8, ptr / 8 + rowCount);
    const isSigned = this.type !== ColumnType.unsigned;
    return (isSigned ? i64 : new BigUint64Array(i64.buffer, i64.byteOffset, rowCount)) as unknown as Float64Array;
  }
}

function newNumbers(type: ColumnType, length: number): NumberArray {
  if (type === ColumnType.float) return new Float64Array(length);
  if (type === ColumnType.boolean) return new Uint8Array(length);
  return type === ColumnType.unsigned ? new BigUint64Array(length) : new BigInt64Array(length);
}

class TextColumn implements GrowingColumn {
  private readonly vocabulary = new Vocabulary();
  private codes = new Uint32Array(0);
  private count = 0;
  private textBytes = 0;
  private readonly presence = new Presence();

  constructor(private readonly kernel: Kernel) {}

  append({ dataPtr, validityPtr }: ScanColumn, rowCount: number): void {
    const { kernel, vocabulary, count } = this;
    const bits = this.presence.append(kernel, dataPtr, validityPtr, rowCount);
    const end = count + rowCount;
    const codes = this.reserve(end);
    this.count = end;
    if (dataPtr === 0) {
      codes.fill(EMPTY_TEXT, count, end);
      return;
    }
    const { offsets, data } = readStrings(kernel.u8.subarray(dataPtr, dataPtr + rowCount * VIEW_BYTES), rowCount, bits);
    const words = kernel.u32.subarray(dataPtr / 4, dataPtr / 4 + (rowCount * VIEW_BYTES) / 4);
    const texts = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const known = vocabulary.texts.length;
    for (let i = 0; i < rowCount; i++) {
      const from = offsets[i]!;
      const to = offsets[i + 1]!;
      if (from === to) codes[count + i] = EMPTY_TEXT;
      else if (i > 0 && codes[count + i - 1] !== EMPTY_TEXT && haveOneView(words, i, i - 1)) codes[count + i] = codes[count + i - 1]!;
      else codes[count + i] = vocabulary.code(texts.toString("utf8", from, to));
    }
    this.textBytes += vocabulary.texts.length === known ? 0 : data.length + (vocabulary.texts.length - known) * TEXT_BYTES;
  }

  get bytes(): number {
    return this.codes.byteLength + this.textBytes + this.presence.bytes;
  }

  *take(rows: Uint32Array | null, rowCount: number): Steps<Cells> {
    const validity = yield* this.presence.take(rows, rowCount);
    const values = new Texts(this.codes.subarray(0, this.count), this.vocabulary.texts);
    if (rows === null) return { type: "string", values: values.slice(0, rowCount), validity };
    return { type: "string", values: yield* values.take(new Int32Array(rows.buffer, rows.byteOffset, rowCount)), validity };
  }

  private reserve(end: number): Uint32Array {
    if (end <= this.codes.length) return this.codes;
    const grown = new Uint32Array(Math.max(end, this.codes.length * 2));
    grown.set(this.codes);
    this.codes = grown;
    return grown;
  }
}

/** Views of texts: four words for a row. */
function haveOneView(words: Uint32Array, row: number, other: number): boolean {
  const a = row * 4;
  const b = other * 4;
  return words[a] === words[b] && words[a + 1] === words[b + 1] && words[a + 2] === words[b + 2] && words[a + 3] === words[b + 3];
}

const VIEW_BYTES = 16;

/** Whether all rows have one view, which is so when the bytes equal themselves one view further: the rows of one series. */
function areOneView(views: Uint8Array): boolean {
  return views.length > 0 && Buffer.compare(views.subarray(VIEW_BYTES), views.subarray(0, views.length - VIEW_BYTES)) === 0;
}

const SHORT_BYTES = 12;
const shortBytes = Buffer.alloc(SHORT_BYTES);

/** The text of a view that holds it, if it is ASCII; null otherwise. Most tags are such, and decoding would take longer than all else. */
function shortText(view: Uint32Array): string | null {
  const length = view[0]!;
  if (length > SHORT_BYTES) return null;
  let all = 0;
  for (let i = 0; i < length; i++) {
    const byte = (view[1 + (i >> 2)]! >>> ((i & 3) * 8)) & 0xff;
    shortBytes[i] = byte;
    all |= byte;
  }
  return all < 0x80 ? shortBytes.toString("latin1", 0, length) : null;
}

/** The text of the view at words[at]. */
export function viewText(words: Uint32Array, at: number): string {
  const view = words.slice(at, at + VIEW_BYTES / 4);
  return shortText(view) ?? decoder.decode(readStrings(new Uint8Array(view.buffer), 1, null).data);
}

const CACHE_SLOTS = 256;

/** Tag values as codes. Consecutive rows mostly have the same view, or one of few. */
export class TagColumn implements GrowingColumn {
  readonly dictionary: string[] = [];
  private readonly codeOf = new Map<string, number>();
  private codes = new Uint32Array(0);
  private count = 0;
  /** Recently seen views, and their codes. */
  private cachedViews: Uint32Array | null = null;
  private cachedCodes = new Int32Array(0);

  constructor(private readonly kernel: Kernel) {}

  get bytes(): number {
    return this.codes.byteLength + this.dictionary.length * 64;
  }

  /** Borrowed: the code of every row so far. */
  view(): Uint32Array {
    return this.codes.subarray(0, this.count);
  }

  append({ dataPtr, validityPtr }: ScanColumn, rowCount: number): void {
    const end = this.count + rowCount;
    if (end > this.codes.length) {
      const grown = new Uint32Array(Math.max(end, this.codes.length * 2));
      grown.set(this.codes);
      this.codes = grown;
    }
    const { codes, count } = this;
    if (dataPtr === 0) codes.fill(this.code(""), count, end);
    else {
      const words = this.kernel.u32.subarray(dataPtr / 4, dataPtr / 4 + rowCount * 4);
      const bits = validityPtr === 0 ? null : this.kernel.u8.subarray(validityPtr, validityPtr + ((rowCount + 7) >> 3));
      if (bits === null && areOneView(this.kernel.u8.subarray(dataPtr, dataPtr + rowCount * VIEW_BYTES)))
        codes.fill(this.find(words, 0), count, end);
      else this.appendEach(words, bits, rowCount);
    }
    this.count = end;
  }

  private appendEach(words: Uint32Array, bits: Uint8Array | null, rowCount: number): void {
    const { codes, count } = this;
    /** By code: the row whose value came behind it. Groups come in the same order window by window. */
    const nextRows: number[] = [];
    let previous = -1;
    for (let i = 0; i < rowCount; i++) {
      if (bits !== null && ((bits[i >> 3]! >> (i & 7)) & 1) === 0) {
        codes[count + i] = this.code("");
        previous = -1;
        continue;
      }
      if (previous < 0) previous = this.find(words, i * 4);
      else if (!haveOneView(words, i, i - 1)) {
        const next = nextRows[previous];
        const isKnown = next !== undefined && haveOneView(words, i, next);
        if (!isKnown) nextRows[previous] = i;
        previous = isKnown ? codes[count + next]! : this.find(words, i * 4);
      }
      codes[count + i] = previous;
    }
  }

  *take(rows: Uint32Array | null, rowCount: number): Steps<TagCells> {
    const { codes, dictionary } = this;
    if (rows === null) return { type: "tag", codes: codes.slice(0, rowCount), dictionary };
    const taken = new Uint32Array(rowCount);
    yield* inSteps(rowCount, (from, to) => {
      for (let i = from; i < to; i++) taken[i] = codes[rows[i]!]!;
    });
    return { type: "tag", codes: taken, dictionary };
  }

  private find(words: Uint32Array, at: number): number {
    const a = words[at]!;
    const b = words[at + 1]!;
    const c = words[at + 2]!;
    const d = words[at + 3]!;
    const slot = (Math.imul(a ^ Math.imul(b, 31) ^ Math.imul(c, 0x9e3779b1) ^ Math.imul(d, 0x85ebca6b), 0x27d4eb2d) >>> 16) % CACHE_SLOTS;
    if (this.cachedViews === null) this.cachedCodes = new Int32Array(CACHE_SLOTS).fill(-1);
    this.cachedViews ??= new Uint32Array(CACHE_SLOTS * 4);
    const { cachedViews, cachedCodes } = this;
    const place = slot * 4;
    const isKnown =
      cachedCodes[slot]! >= 0 &&
      cachedViews[place] === a &&
      cachedViews[place + 1] === b &&
      cachedViews[place + 2] === c &&
      cachedViews[place + 3] === d;
    if (isKnown) return cachedCodes[slot]!;
    const code = this.code(viewText(words, at));
    cachedViews.set([a, b, c, d], place);
    cachedCodes[slot] = code;
    return code;
  }

  private code(value: string): number {
    let code = this.codeOf.get(value);
    if (code === undefined) {
      code = this.dictionary.push(value) - 1;
      this.codeOf.set(value, code);
    }
    return code;
  }
}

/** Tracks which rows have a value; allocates nothing while all have one. */
class Presence {
  private present: Uint8Array | null = null;
  private count = 0;

  get bytes(): number {
    return this.present?.length ?? 0;
  }

  /** True if all rows have a value. */
  get isWhole(): boolean {
    return this.present === null;
  }

  /** Copies the validity bitmap of appended rows. */
  append(kernel: Kernel, dataPtr: number, validityPtr: number, rowCount: number): Uint8Array | null {
    const end = this.count + rowCount;
    const bits = dataPtr === 0 || validityPtr === 0 ? null : kernel.u8.slice(validityPtr, validityPtr + ((rowCount + 7) >> 3));
    const isAll = dataPtr !== 0 && (bits === null || allSet(bits, rowCount));
    if (!isAll || this.present !== null) {
      const present = this.reserve(end);
      if (isAll) present.fill(1, this.count, end);
      else if (bits === null) present.fill(0, this.count, end);
      else for (let i = 0; i < rowCount; i++) present[this.count + i] = (bits[i >> 3]! >> (i & 7)) & 1;
    }
    this.count = end;
    return bits;
  }

  *take(rows: Uint32Array | null, rowCount: number): Steps<Uint8Array | null> {
    const { present } = this;
    if (present === null) return null;
    const bits = new Uint8Array((rowCount + 7) >> 3);
    let missing = 0;
    for (let i = 0; i < rowCount; i++) {
      if (isPause(i)) yield;
      if (present[rows === null ? i : rows[i]!]! === 1) bits[i >> 3] = bits[i >> 3]! | (1 << (i & 7));
      else missing++;
    }
    return missing === 0 ? null : bits;
  }

  private reserve(end: number): Uint8Array {
    const { present } = this;
    if (present !== null && end <= present.length) return present;
    const grown = new Uint8Array(Math.max(end, (present?.length ?? 0) * 2));
    if (present === null) grown.fill(1, 0, this.count);
    else grown.set(present);
    this.present = grown;
    return grown;
  }
}

function allSet(bits: Uint8Array, rowCount: number): boolean {
  const whole = rowCount >> 3;
  for (let i = 0; i < whole; i++) if (bits[i] !== 0xff) return false;
  const rest = rowCount & 7;
  return rest === 0 || (bits[whole]! & ((1 << rest) - 1)) === (1 << rest) - 1;
}

// Columns of an answer ----------------------------------------------------------------------------------------------------------------

const RESULT_TYPE: Readonly<Record<FieldType, ResultType>> = {
  float: { kind: "float", bits: 64 },
  integer: { kind: "int", bits: 64, signed: true },
  unsigned: { kind: "int", bits: 64, signed: false },
  string: { kind: "utf8" },
  boolean: { kind: "bool" },
};

/** The result type of a column; null: no type is known. */
export function resultTypeOf(type: FieldType | "tag" | null): ResultType {
  if (type === null) return { kind: "null" };
  return RESULT_TYPE[type === "tag" ? "string" : type];
}

const NOTHING = new Uint8Array(0);

/** Null: a column without values. */
export function toResultColumn(cells: Cells | null, rowCount: number): ResultColumn {
  if (cells === null) return { validity: new Uint8Array((rowCount + 7) >> 3), values: NOTHING };
  if (cells.type !== "string") return { validity: cells.validity, values: cells.values };
  return { validity: cells.validity, values: NOTHING, ...encodeTexts(cells) };
}

/** Rows without a value become empty. */
function encodeTexts({ values, validity }: Cells & { readonly type: "string" }): { offsets: Int32Array; data: Uint8Array } {
  const { codes } = values;
  const offsets = new Int32Array(codes.length + 1);
  let [known, bytes] = [EMPTY_TEXT, 0];
  for (let row = 0; row < codes.length; row++) {
    const hasText = codes[row] !== EMPTY_TEXT && isValid(validity, row);
    if (hasText && codes[row] !== known) {
      known = codes[row]!;
      bytes = Buffer.byteLength(values.at(row));
    }
    offsets[row + 1] = offsets[row]! + (hasText ? bytes : 0);
  }
  const data = Buffer.allocUnsafeSlow(offsets[codes.length]!);
  for (let row = 0; row < codes.length; row++) if (offsets[row + 1]! > offsets[row]!) data.write(values.at(row), offsets[row]!);
  return { offsets, data };
}
