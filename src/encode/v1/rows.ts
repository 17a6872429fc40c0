// Formats rows for the v1 API's JSON and CSV. Series of one answer mostly have the same columns, so their formatters are cached.
import { assert } from "../../model/assert.ts";
import type { ResultBatch, ResultField } from "../../model/query/result-batch.ts";
import type { RowLayout, RowTextMaker } from "../../model/query/row-text.ts";
import type { ByteWriter } from "../byte-writer.ts";
import { TextRows } from "../text/text-rows.ts";
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

const utf8 = new TextEncoder();

/** The row formatter of one answer. */
export class V1Rows {
  private fields: readonly ResultField[] = [];
  private writer: TextRows | undefined;
  private readonly writers = new Map<string, TextRows>();
  private rowStart: string;

  constructor(
    private readonly out: ByteWriter,
    private readonly texts: V1RowTexts,
    private readonly kernel: RowTextMaker | undefined,
  ) {
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
    const layout = this.layout(fields);
    this.writer = new TextRows(this.out, {
      fields,
      layout,
      kernel: this.kernel,
      makeCells: () => createV1Cells(fields, this.out, this.texts),
    });
    this.writers.set(types, this.writer);
  }

  /** Appends rows `from` .. `to` - 1, the first without the first `skip` bytes of its start. @throws TsdbError bad_format */
  write(batch: ResultBatch, from: number, to: number, skip = 0): void {
    const { writer, out } = this;
    assert(writer !== undefined, "the columns are known before the rows");
    const bytes = to - from >= KERNEL_ROWS_MIN ? writer.byKernel(batch, from, to) : null;
    if (bytes === null) writer.append(batch, from, to, skip);
    else out.copy(bytes, skip, bytes.length);
  }

  private layout(fields: readonly ResultField[]): RowLayout {
    const { isCsv, epochNs, rowEnd, separator } = this.texts;
    return {
      isCsv,
      skipsNulls: false,
      rowStart: utf8.encode(this.rowStart),
      rowEnd: utf8.encode(rowEnd),
      nullText: utf8.encode(isCsv ? "" : "null"),
      labels: fields.map((_, i) => utf8.encode(i > 0 ? separator : "")),
      v1: { epochNs },
    };
  }
}
