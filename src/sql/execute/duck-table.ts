// Presents a table of the snapshot to DuckDB's table function: columns by name, cursors opened with the conditions of the WHERE clause.
import type { ChunkCursor, ScanSource } from "../../duckdb/table-function.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { ThreadTexts } from "../../kernel/scan/thread-texts.ts";
import type { FieldPredicate, ScanRequest, TimeRange } from "../../model/query/scan.ts";
import type { KeptChunk, ScanChunk, ScanTable } from "../../model/query/scan-table.ts";
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import type { Steps } from "../../model/steps.ts";
import type { PlannedScan } from "../plan/planned-scan.ts";
import type { SeriesQuery } from "../plan/series-query.ts";
import { shownName } from "../tables/cache-tables.ts";
import { boundChunks } from "./bounded-chunks.ts";
import { isAllPresent } from "./chunk-reader.ts";
import type { ReturnedRows } from "./direct-scan.ts";
import { OpenCursors } from "./open-cursors.ts";
import { type EndRows, endRange } from "./order/end-range.ts";
import { KeyBound } from "./order/key-bound.ts";
import { conditionTexts, seriesTexts } from "./scan-text.ts";
import type { PrepareParts } from "./series/combinations.ts";
import { SeriesConditions } from "./series/series-conditions.ts";

/** Columns that are read as lists though a statement may not use them all. */
const LISTED_MAX = 8;

export const EMPTY_CURSOR: ChunkCursor = { next: () => null, close: () => {} };

/** What a plan wrongly assumed: that newest rows, or groups, suffice, or that conditions on tags can be decided beforehand. */
export type Misplanned = "rows" | "conditions";

/** What a statement reads: rows of a table, or groups. */
export interface StatementScan extends ScanSource {
  readonly table: ScanTable;
  handle: number;
  /** Reads it in bulk, if it has enough rows. Absent: never. */
  readInBulk?(bulk: BulkReading): void;
  /** The first error of its cursors. */
  error: unknown;
  /** The number of the choice (TableCatalog.choose) to abandon if `prepare` fails; null: none. */
  readonly stake: number | null;
  /** Called before the first `open`; returns what of the plan was wrong, or null. */
  prepare(parts: PrepareParts): Promise<Misplanned | null>;
  /** Text of the condition on tags that is decided beforehand; null: none. */
  readonly condition: SeriesQuery | null;
  end(): void;
  /** A description of what it reads, for EXPLAIN. */
  describe(): string;
  /** Tells before `prepare` which of its rows are returned. Absent: it reads all in any case. */
  returns?(rows: ReturnedRows): void;
  /** True if it counts all rows of its table, or the combinations of tags that they have. Absent: false. */
  readonly countsTable?: boolean;
  /** The newest row of every combination of the columns `keys`, in order of these, in steps; null: the rows must be sorted. Absent:
   *  always. */
  newestInOrder?(columnIndexes: readonly number[], keys: readonly ColumnOrder[]): Steps<ChunkCursor | null>;
  /** Opens a cursor that may leave out rows beyond a bound of a key, as far as it is known when it comes to them; null: there are no such
   *  bounds of it. Absent: always. */
  openBounded?(columnIndexes: readonly number[], key: ColumnOrder): { readonly cursor: ChunkCursor; readonly bound: KeyBound } | null;
}

/** How scans of many rows are read. */
export interface BulkReading {
  /** With at least so many rows, threads of DuckDB may read a scan at a time. */
  readonly parallelRowsMin: number;
  readonly threadsMax: number;
  /** With at least so many rows, DuckDB is given lists. */
  readonly listedRowsMin: number;
  /** True if the statement may use the column of this name; null: it may use any. */
  readonly names: ((name: string) => boolean) | null;
}

/** A column of the scan to order by. */
export interface ColumnOrder {
  readonly columnIndex: number;
  readonly isDescending: boolean;
  readonly nullsFirst: boolean;
}

/** One reference to a table in a running statement. */
export class DuckTable implements StatementScan {
  readonly columns: ScanSource["columns"];
  readonly stake: number | null;
  private readonly defs: readonly ColumnDef[];
  readonly range: TimeRange;
  readonly tags: PlannedScan["tags"];
  private readonly fields: readonly FieldPredicate[];
  private readonly present: readonly ColumnDef[];
  private newestOnly: boolean;
  /** The rows that are returned; null: all, or they may have any time. */
  private endRows: EndRows | null = null;
  /** Where these are. */
  private endRange: TimeRange | null = null;
  readonly condition: SeriesQuery | null;
  private readonly conditions: SeriesConditions | null;
  private readonly name: string;
  handle = 0;
  threadsMax = 1;
  listed: readonly number[] | null = null;
  error: unknown;
  private readonly cursors = new OpenCursors();
  private readonly texts: ThreadTexts;

  constructor(
    private readonly kernel: Kernel,
    readonly table: ScanTable,
    { defs, columns, range, tags, fields, newestOnly, present, stake, subject, series }: PlannedScan,
  ) {
    this.condition = series;
    this.conditions = series === null ? null : new SeriesConditions(table, series);
    this.texts = new ThreadTexts(kernel);
    this.defs = defs;
    this.columns = columns;
    this.range = range;
    this.tags = tags;
    this.fields = fields;
    this.newestOnly = newestOnly;
    this.present = present;
    this.stake = stake;
    this.name = shownName(subject.table);
  }

  get rowCountMax(): number {
    return this.table.rowCountMax;
  }

  open(columnIndexes: readonly number[]): ChunkCursor {
    return this.openWhere(columnIndexes, []);
  }

  private openWhere(columnIndexes: readonly number[], further: readonly FieldPredicate[]): ChunkCursor {
    this.cursors.throwIfEnded();
    if (this.range.minNs > this.range.maxNs) return EMPTY_CURSOR;
    const columns = columnIndexes.map((index) => this.defs[index]!);
    const request = this.request(columns);
    const cursor = this.table.open({ ...request, fields: [...this.fields, ...further] });
    return this.cursors.track(boundChunks(this.kernel, cursor, columns));
  }

  openBounded(columnIndexes: readonly number[], key: ColumnOrder): { cursor: ChunkCursor; bound: KeyBound } | null {
    const bound = this.newestOnly || this.table.selectsExactly !== true ? null : KeyBound.of(this.defs[key.columnIndex]!, key);
    return bound === null ? null : { cursor: this.openWhere(columnIndexes, [bound]), bound };
  }

  readInBulk({ parallelRowsMin, threadsMax, listedRowsMin, names }: BulkReading): void {
    if (this.rowCountMax >= parallelRowsMin) this.threadsMax = threadsMax;
    if (this.rowCountMax < listedRowsMin) return;
    const indexes = this.columns.flatMap(({ name }, i) => (names === null || names(name) ? [i] : []));
    if (indexes.length > 0 && (names !== null || indexes.length <= LISTED_MAX)) this.listed = indexes;
  }

  async prepare(parts: PrepareParts): Promise<Misplanned | null> {
    if (this.range.minNs > this.range.maxNs) return null;
    if (this.conditions !== null && !(await this.conditions.decide(this, parts))) return "conditions";
    if (!this.checkNewest()) return "rows";
    const { endRows, kernel, table } = this;
    if (endRows !== null && !this.newestOnly && table.selectsExactly === true) {
      this.endRange = await endRange(kernel, table, this.request([]), endRows, parts.breathe);
    }
    return null;
  }

  /** The first rows in the order of time lie at one end of it. */
  returns({ keys, distinctOn, columnIndexes, limit, offset }: ReturnedRows): void {
    const [key] = keys;
    if (key === undefined || distinctOn !== null || !Number.isFinite(limit)) return;
    if (this.defs[columnIndexes[key.column]!]!.type !== ColumnType.time) return;
    this.endRows = { count: limit + offset, isDescending: key.isDescending };
  }

  *newestInOrder(columnIndexes: readonly number[], keys: readonly ColumnOrder[]): Steps<ChunkCursor | null> {
    this.cursors.throwIfEnded();
    const { table, range, newestOnly, fields } = this;
    const defs = keys.map(({ columnIndex }) => this.defs[columnIndex]!);
    if (!newestOnly || fields.length > 0 || table.selectsExactly !== true || table.newestInOrder === undefined) return null;
    if (range.minNs > range.maxNs || defs.some(({ type }) => type !== ColumnType.tag)) return null;
    const columns = columnIndexes.map((index) => this.defs[index]!);
    const orders = keys.map(({ isDescending, nullsFirst }, i) => ({ columnId: defs[i]!.id, isDescending, nullsFirst }));
    const cursor = yield* table.newestInOrder({ ...this.request(columns), keys: orders });
    return cursor === null ? null : this.cursors.track(boundChunks(this.kernel, cursor, columns));
  }

  /** Checks whether newest rows suffice. Returns false if they do not and the plan depends on it. */
  private checkNewest(): boolean {
    if (!this.newestOnly || this.present.length === 0) return true;
    this.newestOnly = this.areAllPresent();
    return this.newestOnly || this.stake === null;
  }

  private areAllPresent(): boolean {
    const cursor = this.table.open(this.request(this.present));
    try {
      for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) {
        const { rowCount } = chunk;
        if (!chunk.columns.every((column) => isAllPresent(this.kernel, column, rowCount))) return false;
      }
      return true;
    } finally {
      cursor.close();
    }
  }

  private request(columns: readonly ColumnDef[]): ScanRequest {
    const { range, tags, fields, newestOnly, conditions } = this;
    return {
      columns,
      range: this.endRange ?? range,
      tags,
      fields,
      newestOnly,
      ...(conditions === null ? {} : { tests: conditions.tests }),
    };
  }

  keepTexts(thread: object, chunk: ScanChunk | null, columnIndexes: readonly number[], adds: boolean): KeptChunk | null {
    const types = columnIndexes.map((index) => this.defs[index]!.type);
    return this.texts.keep(thread, chunk, types, adds);
  }

  describe(): string {
    const { newestOnly, name, endRows } = this;
    const end = endRows === null ? [] : [`the ${endRows.isDescending ? "latest" : "earliest"} ${endRows.count}`];
    const { range, tags, fields } = this;
    const conditions = [...conditionTexts({ range, tags, fields }, this.defs), ...seriesTexts(this.condition)];
    const parts = [...conditions, ...(newestOnly ? ["the newest row of each series"] : end)];
    return `rows of ${name}${parts.length === 0 ? "" : `: ${parts.join("; ")}`}`;
  }

  failed(error: unknown): void {
    this.error ??= error;
  }

  /** Closes all cursors; nothing is read afterwards. */
  end(): void {
    this.cursors.end();
    this.conditions?.release();
    this.texts.release();
  }
}
