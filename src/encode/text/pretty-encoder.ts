// Encodes answers as an ASCII table for people, like the vendor's server: left-aligned, one space around the text, multi-line cells over
// several lines, no newline after the last border.
import type { ResultBatch, ResultSchema } from "../../model/query/result-batch.ts";
import { ByteWriter } from "../byte-writer.ts";
import { bindAll, type Cells } from "../cells/cells.ts";
import { createCells } from "../cells/create-cells.ts";
import type { Encoder } from "../encoder.ts";

/** Text buffered to determine column widths: covers every answer that a person reads. Beyond it the widths are fixed, and a longer cell
 *  displaces its line's borders. */
const HELD_CHARS_MAX = 4 << 20;

type Row = readonly string[];

/** The table of one answer. */
export class PrettyEncoder implements Encoder {
  readonly contentType = "text/plain; charset=utf-8";
  private readonly cell = new ByteWriter();
  private cells: readonly Cells[] = [];
  private header: Row = [];
  private widths: number[] = [];
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  private held: Row[] | null = [];
  private heldChars = 0;

  constructor(private readonly heldCharsMax = HELD_CHARS_MAX) {}

  begin(schema: ResultSchema): null {
    this.cells = createCells(schema, this.cell, { style: "plain", omitNulls: false });
    this.header = schema.fields.map(({ name }) => name);
    this.widths = this.header.map(widthOf);
    return null;
  }

  rows(batch: ResultBatch): Uint8Array | null {
    bindAll(this.cells, batch);
    const lines: string[] = [];
    for (let row = 0; row < batch.rowCount; row++) {
      const texts = this.cells.map((column) => this.text(column, row));
      if (this.held === null) {
        lines.push(this.drawRow(texts));
        continue;
      }
      this.held.push(texts);
      for (const [index, text] of texts.entries()) {
        this.heldChars += text.length;
        this.widths[index] = Math.max(this.widths[index]!, widthOf(text));
      }
      if (this.heldChars > this.heldCharsMax) lines.push(this.release());
    }
    return lines.length === 0 ? null : new TextEncoder().encode(lines.join(""));
  }

  end(): Uint8Array {
    return new TextEncoder().encode(`${this.release()}${this.border()}`);
  }

  /** Returns the head and the buffered rows; later rows are formatted immediately. */
  private release(): string {
    if (this.held === null) return "";
    const rows = this.held.map((row) => this.drawRow(row));
    this.held = null;
    return `${this.border()}\n${this.drawRow(this.header)}${this.border()}\n${rows.join("")}`;
  }

  private text(column: Cells, row: number): string {
    if (column.isNull(row)) return "";
    this.cell.truncate(0);
    column.write(row);
    return this.decoder.decode(this.cell.bytes.subarray(0, this.cell.length));
  }

  private border(): string {
    return `+${this.widths.map((width) => `${"-".repeat(width + 2)}+`).join("")}`;
  }

  private drawRow(texts: Row): string {
    const parts = texts.map(linesOf);
    const height = Math.max(1, ...parts.map((lines) => lines.length));
    let drawn = "";
    for (let line = 0; line < height; line++) {
      drawn += "|";
      for (const [index, lines] of parts.entries()) {
        const text = lines[line] ?? "";
        drawn += ` ${text}${" ".repeat(Math.max(0, this.widths[index]! - lineWidth(text)))} |`;
      }
      drawn += "\n";
    }
    return drawn;
  }
}

function linesOf(text: string): string[] {
  return text.includes("\n") ? text.split(/\r?\n/) : [text];
}

function widthOf(text: string): number {
  let width = 0;
  for (const line of linesOf(text)) width = Math.max(width, lineWidth(line));
  return width;
}

/** Columns on a terminal. A control character counts as one, as in the vendor's tables. */
function lineWidth(line: string): number {
  const controls = line.match(/\p{Cc}/gu);
  if (controls === null) return Bun.stringWidth(line);
  return Bun.stringWidth(line, { countAnsiEscapeCodes: true }) + controls.length;
}
