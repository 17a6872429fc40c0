// Encodes strings as Dictionary<Int32, Utf8> of the strings that occur: from the engine's codes, and for tags also from plain strings,
// because few tag values occur often. A batch with new strings replaces the dictionary (no delta dictionaries: several readers reject
// them); it grows while small, otherwise starts over, so that it never holds more than one batch's strings or DICTIONARY_KEPT_MAX.
import { type Data, type DataType, Dictionary, Int32, makeData, Utf8, Vector, vectorFromArray } from "apache-arrow";
import { assert } from "../../model/assert.ts";
import type { ResultColumn } from "../../model/query/result-batch.ts";
import { StringCodes } from "./string-codes.ts";

/** A dictionary grows up to this many strings before it starts over with those of one batch. */
const DICTIONARY_KEPT_MAX = 1024;

/** Borrows `column`'s buffers. */
export type Convert = (column: ResultColumn, rowCount: number) => Data;

export interface Converter {
  readonly type: DataType;
  readonly data: Convert;
}

/** For tags that arrive as plain strings. */
export class TagStrings implements Converter {
  readonly type = new Dictionary(new Utf8(), new Int32());
  private readonly codes = new StringCodes();
  private dictionary: Vector<Utf8> | null = null;

  readonly data: Convert = (column, length) => {
    const known = this.codes.count;
    let data = this.encode(column, length);
    if (known > 0 && this.codes.count > known && this.codes.count > DICTIONARY_KEPT_MAX) {
      this.codes.clear();
      this.dictionary = null;
      data = this.encode(column, length);
    }
    if (this.dictionary === null || this.codes.count !== known) this.dictionary = utf8Vector(this.codes);
    return makeData({ type: this.type, length, data, dictionary: this.dictionary, ...nulls(column) });
  };

  private encode(column: ResultColumn, length: number): Int32Array {
    const { offsets, data: text } = column;
    assert(offsets !== undefined && text !== undefined && offsets.length > length, "a string column has offsets and data");
    const codes = new Int32Array(length);
    // rows are sorted by series, so strings mostly repeat
    let code = -1;
    let start = 0;
    let end = 0;
    for (let row = 0; row < length; row++) {
      if (isNull(column, row)) continue;
      const from = offsets[row]!;
      const to = offsets[row + 1]!;
      if (code < 0 || !isSame(text, start, end, from, to)) code = this.codes.codeOf(text, from, to);
      start = from;
      end = to;
      codes[row] = code;
    }
    return codes;
  }
}

/** True if both ranges have the same bytes. */
function isSame(bytes: Uint8Array, start: number, end: number, from: number, to: number): boolean {
  if (end - start !== to - from) return false;
  for (let i = start, k = from; i < end; i++, k++) if (bytes[i] !== bytes[k]) return false;
  return true;
}

/** A dictionary is never empty: some readers require a string even if no code refers to it. */
function utf8Vector(codes: StringCodes): Vector<Utf8> {
  if (codes.count === 0) return vectorFromArray([""], new Utf8());
  const { offsets, bytes } = codes.copy();
  return new Vector([makeData({ type: new Utf8(), length: codes.count, nullCount: 0, valueOffsets: offsets, data: bytes })]);
}

/** For strings with codes: the engine's dictionary may hold a million strings of which the answer uses ten. */
export class UsedStrings implements Converter {
  readonly type = new Dictionary(new Utf8(), new Int32());
  private source: readonly string[] = [];
  private strings: string[] = [];
  /** Our code by the engine's code, -1 if not assigned. */
  private ours: Int32Array = new Int32Array(0);
  /** Null: not made since the strings started over. */
  private dictionary: Vector<Utf8> | null = null;

  readonly data: Convert = (column, length) => {
    assert(column.dictionary !== undefined, "a dictionary column has a dictionary");
    if (column.dictionary !== this.source) this.follow(column.dictionary);
    const codes = column.values as Uint32Array;
    const known = this.strings.length;
    this.learn(codes, column, length);
    if (known > 0 && this.strings.length > known && this.strings.length > DICTIONARY_KEPT_MAX) {
      this.restart();
      this.learn(codes, column, length);
    }
    if (this.dictionary === null || this.strings.length !== known)
      this.dictionary = vectorFromArray(this.strings.length === 0 ? [""] : this.strings, new Utf8());
    const data = new Int32Array(length);
    for (let row = 0; row < length; row++) data[row] = isNull(column, row) ? 0 : this.ours[codes[row]!]!;
    return makeData({ type: this.type, length, data, dictionary: this.dictionary, ...nulls(column) });
  };

  private learn(codes: Uint32Array, column: ResultColumn, length: number): void {
    for (let row = 0; row < length; row++) {
      if (isNull(column, row)) continue;
      const code = codes[row]!;
      const text = this.source[code];
      assert(text !== undefined, `code ${code} of a dictionary of ${this.source.length}`);
      if (this.ours[code] === -1) this.ours[code] = this.strings.push(text) - 1;
    }
  }

  /** If the engine's dictionary only grew, our codes stay valid. */
  private follow(source: readonly string[]): void {
    const before = this.ours;
    this.source = source;
    const grew = before.length <= source.length && before.every((our, code) => our === -1 || this.strings[our] === source[code]);
    if (!grew) {
      this.restart();
      return;
    }
    this.ours = new Int32Array(source.length).fill(-1);
    this.ours.set(before);
  }

  private restart(): void {
    this.dictionary = null;
    this.strings = [];
    this.ours = new Int32Array(this.source.length).fill(-1);
  }
}

/** Null count and bitmap of a column, in Arrow's form. */
export function nulls(column: ResultColumn): { nullCount: number; nullBitmap?: Uint8Array } {
  return column.validity === null ? { nullCount: 0 } : { nullCount: -1, nullBitmap: column.validity };
}

/** True if the row is NULL. */
export function isNull(column: ResultColumn, row: number): boolean {
  return column.validity !== null && ((column.validity[row >> 3]! >> (row & 7)) & 1) === 0;
}
