// Formats rows as JSON or CSV text, for all formats with such rows: in the kernel if it supports all column types, otherwise cell by cell.
// Both follow the same layout and produce the same bytes.
import type { ResultBatch, ResultField } from "../../model/query/result-batch.ts";
import type { RowLayout, RowText, RowTextMaker } from "../../model/query/row-text.ts";
import { CodeStrings, withoutCodes } from "../arrow/code-strings.ts";
import type { ByteWriter } from "../byte-writer.ts";
import { bindAll, type Cells } from "../cells/cells.ts";
import { joinParts } from "../encoder.ts";

const EMPTY_CELL = '""';
/** A code has 4 bytes, its string up to 64 KiB: longer columns are formatted cell by cell, without expanding them. */
const CODE_STRINGS_BYTES_MAX = 4 << 20;

export interface TextRowsParts {
  readonly fields: readonly ResultField[];
  readonly layout: RowLayout;
  readonly kernel: RowTextMaker | undefined;
  /** Creates one `Cells` per column, writing to the same `out`. */
  readonly makeCells: () => readonly Cells[];
}

/** The row formatter of a table. */
export class TextRows {
  private readonly layout: RowLayout;
  private readonly makeCells: () => readonly Cells[];
  private readonly kernel: RowText | null;
  /** Null if no column has codes. */
  private readonly strings: CodeStrings | null;
  private cells: readonly Cells[] | undefined;
  /** The end of a row and the start of the next one. */
  private readonly between: Uint8Array;
  /** The byte between two cells, null if it is not a single byte: writing it takes half as long as copying a label. */
  private readonly separator: number | null;

  /** Creates the cells at once if the kernel does not support all types. @throws TsdbError bad_format from `makeCells` */
  constructor(
    private readonly out: ByteWriter,
    { fields, layout, kernel, makeCells }: TextRowsParts,
  ) {
    this.layout = layout;
    this.makeCells = makeCells;
    const plain = withoutCodes(fields);
    this.kernel = kernel?.make(plain, layout) ?? null;
    this.strings = plain === fields ? null : new CodeStrings();
    this.between = joinParts([layout.rowEnd, layout.rowStart]);
    this.separator = separatorOf(layout.labels);
    if (this.kernel === null) this.cells = makeCells();
  }

  /** Formats rows `from` .. `to` - 1 in the kernel; the caller owns the bytes. Returns null if only `append` can format them.
   *  @throws TsdbError bad_format for a value */
  byKernel(batch: ResultBatch, from = 0, to = batch.rowCount): Uint8Array<ArrayBuffer> | null {
    if (this.kernel === null) return null;
    const expanded = this.strings === null ? batch : this.strings.expand(batch, from, to, CODE_STRINGS_BYTES_MAX);
    return expanded === null ? null : this.kernel.rows(expanded, from, to);
  }

  /** Appends rows `from` .. `to` - 1 to `out` cell by cell, the first without the first `skip` bytes of its start. */
  append(batch: ResultBatch, from: number, to: number, skip: number): void {
    this.cells ??= this.makeCells();
    const { out, cells } = this;
    const { rowStart, rowEnd, skipsNulls, isCsv, v1 } = this.layout;
    // rows of the v1 API begin with a name
    const hasEmptyRows = isCsv && v1 === undefined;
    bindAll(cells, batch);
    for (let row = from; row < to; row++) {
      if (row > from) put(out, this.between);
      else out.copy(rowStart, skip, rowStart.length);
      const start = out.length;
      if (skipsNulls) this.writePresent(cells, row);
      else this.writeAll(cells, row);
      // an empty line would not count as a record
      if (hasEmptyRows && out.length === start) out.ascii(EMPTY_CELL);
    }
    if (to > from) put(out, rowEnd);
  }

  private writeAll(cells: readonly Cells[], row: number): void {
    const { out, separator } = this;
    const { labels, nullText } = this.layout;
    const hasNullText = nullText.length > 0;
    for (let index = 0; index < cells.length; index++) {
      if (separator === null) put(out, labels[index]!);
      else if (index > 0) out.byte(separator);
      const column = cells[index]!;
      if (!column.isNull(row)) column.write(row);
      else if (hasNullText) out.copy(nullText, 0, nullText.length);
    }
  }

  private writePresent(cells: readonly Cells[], row: number): void {
    const { out } = this;
    const { labels } = this.layout;
    let skip = 1;
    for (let index = 0; index < cells.length; index++) {
      const column = cells[index]!;
      if (column.isNull(row)) continue;
      const label = labels[index]!;
      out.copy(label, skip, label.length);
      skip = 0;
      column.write(row);
    }
  }
}

/** Returns null unless the same byte precedes each cell but the first. */
function separatorOf([first, second, ...others]: readonly Uint8Array[]): number | null {
  const isByte = second?.length === 1 && others.every((label) => label.length === 1 && label[0] === second[0]);
  return first?.length === 0 && isByte ? second[0]! : null;
}

function put(out: ByteWriter, text: Uint8Array): void {
  if (text.length === 1) out.byte(text[0]!);
  else if (text.length > 0) out.copy(text, 0, text.length);
}
