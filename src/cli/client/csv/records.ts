// Records of CSV (RFC 4180) as they arrive: a cell in quotes may have commas, line breaks and doubled quotes.
import { TsdbError } from "../../../model/errors.ts";

export interface CsvRecord {
  readonly cells: readonly string[];
  /** Number of the line that it begins with, from 1. */
  readonly line: number;
}

const RECORD_CHARACTERS_MAX = 16 << 20;
const BREAK = /[,\r\n"]/g;

/** Empty lines are left out. @throws TsdbError config for what is no CSV */
export async function* csvRecords(input: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRecord> {
  const reader = new RecordReader();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  for await (const piece of input) yield* reader.add(decode(() => decoder.decode(piece, { stream: true })));
  yield* reader.add(decode(() => decoder.decode()));
  yield* reader.end();
}

function decode(run: () => string): string {
  try {
    return run();
  } catch (cause) {
    throw new TsdbError("config", "the file is no UTF-8", {}, { cause });
  }
}

class RecordReader {
  private rest = "";
  private line = 1;

  /** Complete records of what came so far. */
  *add(text: string): Generator<CsvRecord> {
    this.rest += text;
    yield* this.records(false);
    if (this.rest.length > RECORD_CHARACTERS_MAX) throw this.fault(`a record has more than ${RECORD_CHARACTERS_MAX} characters`);
  }

  *end(): Generator<CsvRecord> {
    yield* this.records(true);
  }

  private *records(isEnd: boolean): Generator<CsvRecord> {
    let at = 0;
    while (at < this.rest.length) {
      const found = this.record(at, isEnd);
      if (found === null) break;
      const { cells, next } = found;
      const line = this.line;
      for (let i = this.rest.indexOf("\n", at); i >= 0 && i < next; i = this.rest.indexOf("\n", i + 1)) this.line++;
      at = next;
      if (cells.length > 1 || cells[0] !== "") yield { cells, line };
    }
    this.rest = this.rest.slice(at);
  }

  /** The record at a place; null: its end has not come. */
  private record(from: number, isEnd: boolean): { readonly cells: string[]; readonly next: number } | null {
    const { rest } = this;
    const cells: string[] = [];
    for (let at = from; ; ) {
      const cell = rest[at] === '"' ? this.quoted(at + 1, isEnd) : this.plain(at);
      if (cell === null) return null;
      cells.push(cell.text);
      const after = rest[cell.next];
      if (after === undefined && !isEnd) return null;
      if (after === ",") {
        at = cell.next + 1;
        continue;
      }
      const next = cell.next + (rest.startsWith("\r\n", cell.next) ? 2 : 1);
      if (after !== undefined && after !== "\n" && next === cell.next + 1) {
        if (after === "\r" && cell.next + 1 === rest.length && !isEnd) return null;
        throw this.fault(`expected a comma or the end of the line behind a cell, got ${JSON.stringify(after)}`);
      }
      return { cells, next: Math.min(next, rest.length) };
    }
  }

  private plain(from: number): { readonly text: string; readonly next: number } {
    BREAK.lastIndex = from;
    const end = BREAK.exec(this.rest)?.index ?? this.rest.length;
    if (this.rest[end] === '"') throw this.fault("a quote within a cell that does not begin with one");
    return { text: this.rest.slice(from, end), next: end };
  }

  private quoted(from: number, isEnd: boolean): { readonly text: string; readonly next: number } | null {
    let text = "";
    for (let at = from; ; ) {
      const quote = this.rest.indexOf('"', at);
      if (quote < 0 || (quote + 1 === this.rest.length && !isEnd)) {
        if (isEnd) throw this.fault("a quoted cell has no end");
        return null;
      }
      text += this.rest.slice(at, quote);
      if (this.rest[quote + 1] !== '"') return { text, next: quote + 1 };
      text += '"';
      at = quote + 2;
    }
  }

  private fault(reason: string): TsdbError {
    return new TsdbError("config", `line ${this.line} is no CSV: ${reason}`);
  }
}
