// Encodes rows as JSON: an array of objects (`json`), an object per line (`jsonl`), and arrays within one series, the default format
// (`seed`).
import { assert } from "../../model/assert.ts";
import type { ResultBatch, ResultSchema } from "../../model/query/result-batch.ts";
import type { RowText, RowTextMaker } from "../../model/query/row-text.ts";
import type { AnswerEncoder } from "../answer-encoder.ts";
import { ByteWriter } from "../byte-writer.ts";
import type { Cells } from "../cells/cells.ts";
import { createCells } from "../cells/create-cells.ts";
import { writeText } from "../cells/text-cells.ts";

const encoder = new TextEncoder();
const utf8 = (text: string): Uint8Array => encoder.encode(text);
const COMMA = 0x2c;
const LINE_FEED = 0x0a;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/** Rows as objects without null members: `[{…},{…}]`, or with `lines` one object per line. */
export class JsonEncoder implements AnswerEncoder {
  readonly contentType: string;
  private readonly out = new ByteWriter();
  private made: readonly Cells[] | undefined;
  /** `,"name":` by column; the comma is skipped for a row's first member. */
  private readonly labels: readonly Uint8Array[];
  private readonly text: RowText | null;
  private any = false;

  constructor(
    private readonly schema: ResultSchema,
    private readonly lines: boolean,
    kernel?: RowTextMaker,
  ) {
    this.contentType = lines ? "application/jsonl" : "application/json";
    this.labels = schema.fields.map(({ name }) => {
      const label = new ByteWriter();
      label.byte(COMMA);
      writeText(label, "json", name);
      label.ascii(":");
      return label.take();
    });
    const rowStart = utf8(lines ? "{" : ",{");
    const layout = { isCsv: false, skipsNulls: true, rowStart, rowEnd: utf8(lines ? "}\n" : "}"), nullText: utf8(""), labels: this.labels };
    this.text = kernel?.make(schema.fields, layout) ?? null;
    if (this.text === null) this.made = this.makeCells();
  }

  /** For rows that the kernel cannot format. */
  private makeCells(): readonly Cells[] {
    return createCells(this.schema, this.out, { style: "json", omitNulls: true });
  }

  begin(): Uint8Array | null {
    if (this.lines) return null;
    this.out.byte(OPEN_LIST);
    return this.out.take();
  }

  batch(batch: ResultBatch): Uint8Array | null {
    if (batch.rowCount === 0) return null;
    const rows = this.text?.rows(batch) ?? null;
    if (rows !== null) {
      const skip = this.any || this.lines ? 0 : 1;
      this.any = true;
      return rows.subarray(skip);
    }
    this.made ??= this.makeCells();
    const { out, made: cells } = this;
    bindAll(cells, batch);
    for (let row = 0; row < batch.rowCount; row++) {
      if (this.any && !this.lines) out.byte(COMMA);
      this.any = true;
      this.writeRow(cells, row);
      if (this.lines) out.byte(LINE_FEED);
    }
    return out.takeIfAny();
  }

  end(): Uint8Array | null {
    if (this.lines) return null;
    this.out.byte(CLOSE_LIST);
    return this.out.take();
  }

  private writeRow(cells: readonly Cells[], row: number): void {
    const { out, labels } = this;
    out.byte(OPEN);
    let skip = 1;
    for (let index = 0; index < cells.length; index++) {
      const column = cells[index]!;
      if (column.isNull(row)) continue;
      const label = labels[index]!;
      out.copy(label, skip, label.length);
      skip = 0;
      column.write(row);
    }
    out.byte(CLOSE);
  }
}

/** `{"results":[{"series":[{"name":…,"columns":[…],"values":[[…],…]}]}]}`; NULL is null. */
export class SeriesEncoder implements AnswerEncoder {
  readonly contentType = "application/json";
  private readonly out = new ByteWriter();
  private made: readonly Cells[] | undefined;
  private readonly text: RowText | null;
  private any = false;

  constructor(
    private readonly schema: ResultSchema,
    kernel?: RowTextMaker,
  ) {
    const labels = schema.fields.map((_, index) => utf8(index > 0 ? "," : ""));
    const layout = { isCsv: false, skipsNulls: false, rowStart: utf8(",["), rowEnd: utf8("]"), nullText: utf8("null"), labels };
    this.text = kernel?.make(schema.fields, layout) ?? null;
    if (this.text === null) this.made = this.makeCells();
  }

  /** For rows that the kernel cannot format. */
  private makeCells(): readonly Cells[] {
    return createCells(this.schema, this.out, { style: "json", omitNulls: false });
  }

  begin(): Uint8Array {
    const { out, schema } = this;
    out.ascii('{"results":[{"series":[{"name":');
    writeText(out, "json", schema.tableName);
    out.ascii(',"columns":[');
    for (const [index, { name }] of schema.fields.entries()) {
      if (index > 0) out.byte(COMMA);
      writeText(out, "json", name);
    }
    out.ascii('],"values":[');
    return out.take();
  }

  batch(batch: ResultBatch): Uint8Array | null {
    if (batch.rowCount === 0) return null;
    const rows = this.text?.rows(batch) ?? null;
    if (rows !== null) {
      const skip = this.any ? 0 : 1;
      this.any = true;
      return rows.subarray(skip);
    }
    this.made ??= this.makeCells();
    const { out, made: cells } = this;
    bindAll(cells, batch);
    for (let row = 0; row < batch.rowCount; row++) {
      if (this.any) out.byte(COMMA);
      this.any = true;
      out.byte(OPEN_LIST);
      for (let index = 0; index < cells.length; index++) {
        if (index > 0) out.byte(COMMA);
        const column = cells[index]!;
        if (column.isNull(row)) out.ascii("null");
        else column.write(row);
      }
      out.byte(CLOSE_LIST);
    }
    return out.takeIfAny();
  }

  end(): Uint8Array {
    this.out.ascii("]}]}]}");
    return this.out.take();
  }
}

/** Binds each column of `batch` to its cells. */
export function bindAll(cells: readonly Cells[], batch: ResultBatch): void {
  assert(batch.columns.length === cells.length, `${batch.columns.length} columns, ${cells.length} in the schema`);
  for (let index = 0; index < cells.length; index++) cells[index]!.bind(batch.columns[index]!, batch.rowCount);
}
