// Encodes answers as CSV: a header line and rows, each ended by `\n`; quotes only where needed, NULL is empty.
import type { ResultBatch, ResultSchema } from "../../model/query/result-batch.ts";
import type { RowText, RowTextMaker } from "../../model/query/row-text.ts";
import type { AnswerEncoder } from "../answer-encoder.ts";
import { ByteWriter } from "../byte-writer.ts";
import type { Cells } from "../cells/cells.ts";
import { createCells } from "../cells/create-cells.ts";
import { writeText } from "../cells/text-cells.ts";
import { bindAll } from "./json-encoder.ts";

const encoder = new TextEncoder();
const utf8 = (text: string): Uint8Array => encoder.encode(text);
const COMMA = 0x2c;
const LINE_FEED = 0x0a;

/** An answer without rows is an empty body without the header, whatever its batches. */
export class CsvEncoder implements AnswerEncoder {
  readonly contentType = "text/csv";
  private readonly out = new ByteWriter();
  private made: readonly Cells[] | undefined;
  private readonly text: RowText | null;
  private started = false;

  /** @throws TsdbError bad_format for nested columns */
  constructor(
    private readonly schema: ResultSchema,
    kernel?: RowTextMaker,
  ) {
    const labels = schema.fields.map((_, index) => utf8(index > 0 ? "," : ""));
    const layout = { isCsv: true, skipsNulls: false, rowStart: utf8(""), rowEnd: utf8("\n"), nullText: utf8(""), labels };
    this.text = kernel?.make(schema.fields, layout) ?? null;
    if (this.text === null) this.made = this.makeCells();
  }

  /** For rows that the kernel cannot format. */
  private makeCells(): readonly Cells[] {
    return createCells(this.schema, this.out, { style: "csv", omitNulls: false });
  }

  begin(): null {
    return null;
  }

  batch(batch: ResultBatch): Uint8Array | null {
    if (batch.rowCount === 0) return null;
    if (!this.started) {
      this.started = true;
      this.writeHeader();
    }
    const rows = this.text?.rows(batch) ?? null;
    if (rows !== null) return this.out.length === 0 ? rows : Buffer.concat([this.out.take(), rows]);
    this.made ??= this.makeCells();
    bindAll(this.made, batch);
    for (let row = 0; row < batch.rowCount; row++) this.writeRow(this.made, row);
    return this.out.take();
  }

  end(): null {
    return null;
  }

  private writeHeader(): void {
    const start = this.out.length;
    for (const [index, { name }] of this.schema.fields.entries()) {
      if (index > 0) this.out.byte(COMMA);
      writeText(this.out, "csv", name);
    }
    this.endLine(start);
  }

  private writeRow(cells: readonly Cells[], row: number): void {
    const { out } = this;
    const start = out.length;
    for (let index = 0; index < cells.length; index++) {
      if (index > 0) out.byte(COMMA);
      const column = cells[index]!;
      if (!column.isNull(row)) column.write(row);
    }
    this.endLine(start);
  }

  /** An empty line would not count as a record: a single empty cell is written as quotes. */
  private endLine(start: number): void {
    if (this.out.length === start) this.out.ascii('""');
    this.out.byte(LINE_FEED);
  }
}
