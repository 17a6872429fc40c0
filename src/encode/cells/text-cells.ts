// Formats strings, and strings by code. They stay UTF-8 bytes from the batch to the answer.
import { assert } from "../../model/assert.ts";
import type { ResultColumn } from "../../model/query/result-batch.ts";
import { ByteWriter } from "../byte-writer.ts";
import { type CellStyle, Cells } from "./cells.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;

/** A string column as bytes. */
export abstract class Utf8Column extends Cells {
  protected offsets: Int32Array = new Int32Array(0);
  protected data: Uint8Array = new Uint8Array(0);
  protected load(column: ResultColumn): void {
    assert(column.offsets !== undefined && column.data !== undefined, "a string column has offsets and data");
    this.offsets = column.offsets;
    this.data = column.data;
  }
}

/** Strings. */
export class Utf8Cells extends Utf8Column {
  constructor(
    out: ByteWriter,
    private readonly style: CellStyle,
  ) {
    super(out);
  }
  write(row: number): void {
    writeUtf8(this.out, this.style, this.data, this.offsets[row]!, this.offsets[row + 1]!);
  }
}

/** Strings by code. A code's text is formatted at its first occurrence and cached while the dictionary is unchanged. */
export class DictionaryCells extends Cells {
  private codes: Uint32Array = new Uint32Array(0);
  private dictionary: readonly string[] = [];
  private readonly ready = new ByteWriter();
  /** By code: end of its text in `ready`, 0 while unused; and its length. */
  private ends: Uint32Array = new Uint32Array(0);
  private lengths: Uint32Array = new Uint32Array(0);

  /** @param prepareText formats a text as a cell */
  constructor(
    out: ByteWriter,
    private readonly prepareText: (out: ByteWriter, text: string) => void,
  ) {
    super(out);
  }

  protected load(column: ResultColumn): void {
    assert(column.dictionary !== undefined, "a dictionary column has a dictionary");
    this.codes = column.values as Uint32Array;
    if (column.dictionary === this.dictionary) return;
    this.dictionary = column.dictionary;
    this.ends = new Uint32Array(column.dictionary.length);
    this.lengths = new Uint32Array(column.dictionary.length);
    this.ready.truncate(0);
    this.ready.byte(0); // so that no text ends at 0
  }

  write(row: number): void {
    const code = this.codes[row]!;
    const end = this.ends[code] || this.prepare(code);
    this.out.copy(this.ready.bytes, end - this.lengths[code]!, end);
  }

  private prepare(code: number): number {
    const text = this.dictionary[code];
    assert(text !== undefined, `code ${code} of a dictionary of ${this.dictionary.length}`);
    const start = this.ready.length;
    this.prepareText(this.ready, text);
    this.ends[code] = this.ready.length;
    this.lengths[code] = this.ready.length - start;
    return this.ready.length;
  }
}

/** Writes a string in the given style. */
export function writeText(out: ByteWriter, style: CellStyle, text: string): void {
  const bytes = new TextEncoder().encode(text);
  writeUtf8(out, style, bytes, 0, bytes.length);
}

function writeUtf8(out: ByteWriter, style: CellStyle, bytes: Uint8Array, start: number, end: number): void {
  if (style === "json") out.jsonString(bytes, start, end);
  else if (style === "csv" && needsQuotes(bytes, start, end)) writeCsvQuoted(out, bytes, start, end);
  else out.copy(bytes, start, end);
}

function needsQuotes(bytes: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    const value = bytes[index]!;
    if (value <= COMMA && (value === COMMA || value === QUOTE || value === LINE_FEED || value === RETURN)) return true;
  }
  return false;
}

function writeCsvQuoted(out: ByteWriter, bytes: Uint8Array, start: number, end: number): void {
  out.byte(QUOTE);
  for (let index = start; index < end; index++) {
    if (bytes[index] === QUOTE) out.byte(QUOTE);
    out.byte(bytes[index]!);
  }
  out.byte(QUOTE);
}
