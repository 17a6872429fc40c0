// Determines which rows of a table can be stored if some of its columns conflict: rows are passed to the schema plan in body order, because
// the first row with a new name determines its type. Most rows need no check: only values of columns not known to fit are examined, column
// by column.

import type { ParsedColumn, ParsedTable } from "../../kernel/parse/parser-view.ts";
import type { SchemaPlan } from "../../storage/catalog/resolve.ts";

/** Rows gathered at a time: a multiple of 32. */
const WINDOW_ROWS = 16_384;
const NONE: readonly number[] = [];

export interface ChoiceParts {
  readonly plan: Pick<SchemaPlan, "acceptRow" | "tagFits" | "fieldFits">;
  /** Index of the table in the plan. */
  readonly tableIndex: number;
  readonly parsed: Pick<ParsedTable, "rowCount" | "columns" | "seriesPtr">;
  /** Plan tags of the parser's series that the table does not know. */
  readonly tagsOf: ReadonlyMap<number, readonly number[]>;
  /** The kernel's memory. */
  readonly u32: Uint32Array;
}

/** Numbers of the rows to store, ascending. Calls `reject` for the others, in order. */
export function chooseRows(parts: ChoiceParts, reject: (row: number, reason: string) => void): Uint32Array {
  const { plan, tableIndex, parsed, tagsOf, u32 } = parts;
  const { rowCount } = parsed;
  const seriesAt = parsed.seriesPtr / 4;
  const unchecked = new UncheckedFields(parts);
  const openTags = new Map([...tagsOf].filter(([, tags]) => tags.length > 0));
  const keep = new Uint32Array(rowCount);
  let keepCount = 0;
  for (let row = 0; row < rowCount; row++) {
    if (row % WINDOW_ROWS === 0) unchecked.gather(row);
    const fields = unchecked.ofRow(row);
    const series = u32[seriesAt + row]!;
    const tags = openTags.size === 0 ? NONE : (openTags.get(series) ?? NONE);
    // the first accepted row creates the table
    if (keepCount > 0 && fields.length === 0 && tags.length === 0) {
      keep[keepCount++] = row;
      continue;
    }
    const reason = plan.acceptRow(tableIndex, tags, fields);
    if (reason === null) {
      keep[keepCount++] = row;
      if (tags.every((tag) => plan.tagFits(tableIndex, tag))) openTags.delete(series);
      unchecked.settle(fields);
    } else {
      reject(row, reason);
    }
  }
  return keep.subarray(0, keepCount);
}

/** The fields of each row that are not known to fit: column indexes, ascending. */
class UncheckedFields {
  private readonly fits: boolean[];
  /** Columns without NULLs. */
  private dense: number[];
  private readonly sparse: number[];
  private firstRow = 0;
  /** For each row of the window: the end of its columns in `list`. */
  private readonly ends: Uint32Array;
  private list = new Uint16Array(0);
  private readonly row: number[] = [];
  /** Rows of a window: small for tables of few rows, of which a body may have thousands. */
  private readonly windowRows: number;

  constructor(private readonly parts: ChoiceParts) {
    const { plan, tableIndex, parsed } = parts;
    this.windowRows = Math.min(WINDOW_ROWS, parsed.rowCount);
    this.ends = new Uint32Array(this.windowRows + 1);
    this.fits = parsed.columns.map((_, i) => plan.fieldFits(tableIndex, i));
    const unchecked = parsed.columns.map((_, i) => i).filter((i) => !this.fits[i]);
    this.dense = unchecked.filter((i) => parsed.columns[i]!.validityPtr === 0);
    this.sparse = unchecked.filter((i) => parsed.columns[i]!.validityPtr !== 0);
  }

  /** Fields of accepted rows are known to fit from now on. */
  settle(fields: readonly number[]): void {
    const { plan, tableIndex } = this.parts;
    for (const i of fields) this.fits[i] = plan.fieldFits(tableIndex, i);
    if (this.dense.some((i) => this.fits[i])) this.dense = this.dense.filter((i) => !this.fits[i]);
  }

  /** Gathers the values of the window of rows that starts at `firstRow`. */
  gather(firstRow: number): void {
    this.firstRow = firstRow;
    const { ends, windowRows } = this;
    const columns = this.sparse.filter((i) => !this.fits[i]);
    ends.fill(0);
    // counted one position ahead, so that after summing up, each row's entry is the start of its columns
    for (const i of columns) this.eachPresent(this.parts.parsed.columns[i]!, (row) => ends[row + 1]!++);
    for (let row = 0; row < windowRows; row++) ends[row + 1]! += ends[row]!;
    const total = ends[windowRows]!;
    if (this.list.length < total) this.list = new Uint16Array(total);
    const { list } = this;
    for (const i of columns) {
      this.eachPresent(this.parts.parsed.columns[i]!, (row) => {
        list[ends[row]!++] = i;
      });
    }
  }

  /** Borrowed until the next call. */
  ofRow(row: number): readonly number[] {
    const { row: found, list, ends, fits } = this;
    const at = row - this.firstRow;
    found.length = 0;
    for (const i of this.dense) found.push(i);
    const denseCount = found.length;
    for (let k = at === 0 ? 0 : ends[at - 1]!; k < ends[at]!; k++) if (!fits[list[k]!]) found.push(list[k]!);
    if (denseCount > 0 && found.length > denseCount) found.sort((a, b) => a - b);
    return found;
  }

  /** Calls `use` for the rows of the window (relative numbers) that have a value. */
  private eachPresent({ validityPtr }: ParsedColumn, use: (row: number) => void): void {
    const { u32, parsed } = this.parts;
    const end = Math.min(WINDOW_ROWS, parsed.rowCount - this.firstRow);
    const first = validityPtr / 4 + this.firstRow / 32;
    for (let row = 0; row < end; row += 32) {
      let word = u32[first + row / 32]!;
      for (; word !== 0; word &= word - 1) {
        const bit = 31 - Math.clz32(word & -word);
        if (row + bit < end) use(row + bit);
      }
    }
  }
}
