// Formats rows for the v1 API's JSON and CSV: in the kernel if it supports all column types, otherwise cell by cell. Series of one answer
// mostly have the same columns, so their formatters are cached.
import { assert } from "../../model/assert.ts";
import type { ResultBatch, ResultField } from "../../model/query/result-batch.ts";
import type { RowLayout, RowText, RowTextMaker } from "../../model/query/row-text.ts";
import { CodeStrings, withoutCodes } from "../arrow/code-strings.ts";
import type { ByteWriter } from "../byte-writer.ts";
import type { Cells } from "../cells/cells.ts";
import { createV1Cells } from "./cells.ts";

/** For fewer rows, formatting here is faster than copying them into the kernel. */
const KERNEL_ROWS_MIN = 8;

export interface V1RowTexts {
  readonly isCsv: boolean;
  readonly epochNs: number | null;
  readonly rowStart: string;
  readonly rowEnd: string;
  /** Written between cells. */
  readonly separator: string;
}

interface RowWriter {
  readonly text: RowText | null;
  cells: readonly Cells[] | undefined;
}

const utf8 = new TextEncoder();

/** The row formatter of one answer. */
export class V1Rows {
  private fields: readonly ResultField[] = [];
  private writer: RowWriter | undefined;
  private readonly writers = new Map<string, RowWriter>();
  private readonly strings = new CodeStrings();
  private readonly nullText: string;
  private rowStart: string;

  constructor(
    private readonly out: ByteWriter,
    private readonly texts: V1RowTexts,
    private readonly kernel: RowTextMaker | undefined,
  ) {
    this.nullText = texts.isCsv ? "" : "null";
    this.rowStart = texts.rowStart;
  }

  /** Sets the columns of the following rows, and the text before each row. */
  begin(fields: readonly ResultField[], rowStart = this.texts.rowStart): void {
    if (fields === this.fields && rowStart === this.rowStart && this.writer !== undefined) return;
    this.fields = fields;
    this.rowStart = rowStart;
    const types = JSON.stringify([rowStart, fields.map(({ type }) => type)]);
    this.writer = this.writers.get(types);
    if (this.writer !== undefined) return;
    // limits the cache for a statement over thousands of measurements
    if (this.writers.size >= 64) this.writers.clear();
    this.writer = { text: this.kernel?.make(withoutCodes(fields), this.layout(fields)) ?? null, cells: undefined };
    this.writers.set(types, this.writer);
  }

  /** Appends rows `from` .. `to` - 1. @throws TsdbError bad_format */
  write(batch: ResultBatch, from: number, to: number): void {
    const { writer } = this;
    assert(writer !== undefined, "the columns are known before the rows");
    if (to - from >= KERNEL_ROWS_MIN) {
      const bytes = writer.text?.rows(this.strings.expand(batch, from, to), from, to) ?? null;
      if (bytes !== null) {
        this.out.copy(bytes, 0, bytes.length);
        return;
      }
    }
    writer.cells ??= createV1Cells(this.fields, this.out, this.texts);
    this.writeCells(writer.cells, batch, from, to);
  }

  private writeCells(cells: readonly Cells[], batch: ResultBatch, from: number, to: number): void {
    const { out, rowStart, nullText } = this;
    const { rowEnd, separator } = this.texts;
    assert(batch.columns.length === cells.length, `${batch.columns.length} columns, ${cells.length} in the head`);
    for (let i = 0; i < cells.length; i++) cells[i]!.bind(batch.columns[i]!, batch.rowCount);
    for (let row = from; row < to; row++) {
      out.utf8(rowStart);
      for (let i = 0; i < cells.length; i++) {
        if (i > 0) out.ascii(separator);
        const column = cells[i]!;
        if (column.isNull(row)) out.ascii(nullText);
        else column.write(row);
      }
      out.ascii(rowEnd);
    }
  }

  private layout(fields: readonly ResultField[]): RowLayout {
    const { isCsv, epochNs, rowEnd, separator } = this.texts;
    return {
      isCsv,
      skipsNulls: false,
      rowStart: utf8.encode(this.rowStart),
      rowEnd: utf8.encode(rowEnd),
      nullText: utf8.encode(this.nullText),
      labels: fields.map((_, i) => utf8.encode(i > 0 ? separator : "")),
      v1: { epochNs },
    };
  }
}
