// Texts of columns with one value: neighbours of one series share these columns, and then their texts too.
import type { FluxColumn } from "../tables/column.ts";
import type { CellTexts } from "./cells.ts";

interface Tail {
  /** Columns [from, to). */
  readonly from: number;
  readonly to: number;
  /** With a delimiter before each. */
  readonly text: string;
}

const NO_TAIL: Tail = { from: 0, to: 0, text: "" };

/** The texts of a table's columns by their places, kept for the next table. */
export class ConstantCells {
  private readonly columns: (FluxColumn | undefined)[] = [];
  private readonly shown: string[] = [];
  private latestTail = NO_TAIL;

  constructor(
    private readonly texts: CellTexts,
    private readonly delimiter: string,
  ) {}

  /** Of a column with one value. */
  of(column: FluxColumn, place: number): string {
    if (this.columns[place] === column) return this.shown[place]!;
    this.latestTail = NO_TAIL;
    const text = this.texts.of(column, 0);
    this.columns[place] = column;
    this.shown[place] = text;
    return text;
  }

  /** The last columns, as far as they stood at the same places before. */
  tailOf(columns: readonly FluxColumn[]): Tail {
    const to = columns.length;
    let from = to;
    while (from > 0 && columns[from - 1] === this.columns[from - 1]) from--;
    if (from === to) return { from, to, text: "" };
    const { latestTail } = this;
    if (latestTail.from === from && latestTail.to === to) return latestTail;
    // joined, because the parts of a concatenation would be copied again and again
    this.latestTail = { from, to, text: this.delimiter + this.shown.slice(from, to).join(this.delimiter) };
    return this.latestTail;
  }
}
