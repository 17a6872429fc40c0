// Maps one table of a database's parser to the catalog: parser column → column id, parser series → series id. Links live as long as the
// parser; for a body without new names, all lookups succeed here.

import type { Kernel } from "../kernel/memory/kernel.ts";
import { ParsedRows } from "../kernel/parse/parsed-rows.ts";
import type { ParsedTables } from "../kernel/parse/parsed-tables.ts";
import type { ParsedTable } from "../kernel/parse/parser-view.ts";
import type { SeriesDictionary } from "../kernel/series/series-dictionary.ts";
import { assert } from "../model/assert.ts";
import type { LiveTable } from "../storage/buffer/live-tables.ts";
import type { FrameTable } from "./frame.ts";
import { KernelU32List, UNRESOLVED } from "./kernel-list.ts";

/** A parser series that is not in the table's dictionary. */
export interface UnresolvedSeries {
  readonly seriesId: number;
  readonly tagColumns: readonly number[];
  /** Address of its record among the body's new series; 0 for a pending series, whose record the parser recreates on request. */
  readonly recordPtr: number;
}

/** Maps one parser table to one catalog table. Owns kernel memory: call `release`. */
export class TableLink {
  private live_: LiveTable | undefined;
  /** The table's `nameChanges` when it was joined. */
  private nameChanges = 0;
  /** The dictionary of the ids in `seriesMapPtr`. */
  private dictionary: SeriesDictionary | undefined;
  private hasForgotten_ = false;
  /** Parser series used by rejected rows only: the parser reports a new series only once. */
  readonly pending = new Set<number>();
  /** Catalog column id by parser column index; UNRESOLVED: unknown, or in conflict with the catalog. */
  private readonly fieldColumnIds: KernelU32List;
  private readonly tagColumnIds: KernelU32List;
  private readonly seriesIds: KernelU32List;

  constructor(private readonly kernel: Kernel) {
    this.fieldColumnIds = new KernelU32List(kernel);
    this.tagColumnIds = new KernelU32List(kernel);
    this.seriesIds = new KernelU32List(kernel);
  }

  get live(): LiveTable | undefined {
    return this.live_;
  }

  /** Sets the table that the rows belong to. */
  join(live: LiveTable): void {
    this.live_ = live;
    this.nameChanges = live.nameChanges;
    this.dictionary ??= live.dictionary;
    this.followDictionary();
  }

  /** True if the table was renamed or dropped: the parser's name then denotes another table. */
  get isStale(): boolean {
    return this.live_ !== undefined && this.live_.nameChanges !== this.nameChanges;
  }

  /** Forgets the table; parser series up to `seriesCount` must be resolved when they are used. */
  leave(seriesCount: number): void {
    this.live_ = undefined;
    this.dictionary = undefined;
    this.hasForgotten_ = false;
    for (const list of [this.fieldColumnIds, this.tagColumnIds, this.seriesIds]) list.clear();
    for (let seriesId = 0; seriesId < seriesCount; seriesId++) this.pending.add(seriesId);
  }

  /** After an eviction, series ids of the old dictionary are invalid: they must be looked up in its replacement. */
  followDictionary(): void {
    if (this.live_ === undefined || this.live_.dictionary === this.dictionary) return;
    this.dictionary = this.live_.dictionary;
    this.seriesIds.clear();
    this.hasForgotten_ = true;
  }

  /** True if some series that are not pending may be unresolved. */
  get hasForgotten(): boolean {
    return this.hasForgotten_;
  }

  /** u32 per parser series: id in the table's dictionary, or UNRESOLVED. Borrowed until the next `grow`. */
  get seriesMapPtr(): number {
    return this.seriesIds.ptr;
  }

  /** Makes room for all columns and series that the parser knows of the table. */
  grow(parsed: ParsedTable): void {
    this.seriesIds.grow(parsed.newSeriesFirst + parsed.newSeriesCount);
    this.tagColumnIds.grow(parsed.tagColumns.length);
  }

  /** True if a body has only rows for this table: all columns are linked, all series resolved. */
  knows({ tablePtr, rowCount, seriesPtr, newSeriesFirst, newSeriesCount }: ParsedTables): boolean {
    const { live_, fieldColumnIds, seriesIds } = this;
    if (live_ === undefined || this.isStale || live_.dictionary !== this.dictionary) return false;
    if (rowCount === 0 || newSeriesCount > 0 || newSeriesFirst > seriesIds.length) return false;
    const { call } = this.kernel;
    return (
      call.hasColumnIds(tablePtr, fieldColumnIds.ptr, fieldColumnIds.length, UNRESOLVED) !== 0 &&
      call.hasSeriesIds(seriesIds.ptr, seriesPtr, rowCount, UNRESOLVED) !== 0
    );
  }

  /** The rows of a known table in the buffer's form. @throws TsdbError overloaded */
  knownRows(table: ParsedTables): FrameTable {
    const live = this.linked();
    const { dictionary } = live;
    const { seriesPtr, timePtr, rowCount } = table;
    dictionary.mapSeries(this.seriesIds.ptr, seriesPtr, rowCount, seriesPtr);
    const facts = dictionary.noteTimes(seriesPtr, timePtr, rowCount);
    return { live, batch: new ParsedRows(this.kernel, table, this.fieldColumnIds.ptr, facts) };
  }

  tagIsKnown(tagColumn: number): boolean {
    return this.tagColumnIds.get(tagColumn) !== UNRESOLVED;
  }

  setTagColumnId(tagColumn: number, columnId: number): void {
    this.tagColumnIds.set(tagColumn, columnId);
  }

  /** Returns -1 if unknown, or in conflict with the catalog. */
  fieldColumnId(column: number): number {
    if (column >= this.fieldColumnIds.length) return -1;
    const columnId = this.fieldColumnIds.get(column);
    return columnId === UNRESOLVED ? -1 : columnId;
  }

  /** @param columnId -1 if in conflict with the catalog */
  setFieldColumnId(column: number, columnId: number): void {
    this.fieldColumnIds.grow(column + 1);
    this.fieldColumnIds.set(column, columnId < 0 ? UNRESOLVED : columnId);
  }

  isResolved(seriesId: number): boolean {
    return this.seriesIds.get(seriesId) !== UNRESOLVED;
  }

  /** Resolves all new series of a body whose tag columns are known. */
  resolveNew(parsed: ParsedTable): void {
    if (parsed.newSeriesCount === 0) return;
    const { dictionary } = this.linked();
    dictionary.checkRoom(parsed.newSeriesCount, this.tagColumnIds.ptr, this.tagColumnIds.length);
    const out = this.seriesIds.ptr + parsed.newSeriesFirst * 4;
    dictionary.resolveRecords(parsed.newSeriesRecordsPtr, parsed.newSeriesCount, this.tagColumnIds.ptr, out);
  }

  /** Resolves one series by its record. */
  resolve(seriesId: number, recordPtr: number): void {
    const { dictionary } = this.linked();
    dictionary.checkRoom(1, this.tagColumnIds.ptr, this.tagColumnIds.length);
    dictionary.resolveRecords(recordPtr, 1, this.tagColumnIds.ptr, this.seriesIds.ptr + seriesId * 4);
    this.pending.delete(seriesId);
  }

  /** The tag columns in a record (layout of newSeriesRecordsPtr). */
  tagColumnsAt(recordPtr: number): number[] {
    const { u32 } = this.kernel;
    const tagCount = u32[recordPtr / 4]!;
    return Array.from({ length: tagCount }, (_, tag) => u32[recordPtr / 4 + 1 + tag * 3]!);
  }

  /** The new series of a body as objects: for the slow path, and for their new tags. */
  newSeries(parsed: ParsedTable): UnresolvedSeries[] {
    const list: UnresolvedSeries[] = [];
    let recordPtr = parsed.newSeriesRecordsPtr;
    for (let i = 0; i < parsed.newSeriesCount; i++) {
      const tagColumns = this.tagColumnsAt(recordPtr);
      list.push({ seriesId: parsed.newSeriesFirst + i, tagColumns, recordPtr });
      recordPtr += 4 + tagColumns.length * 12;
    }
    return list;
  }

  release(): void {
    this.fieldColumnIds.release();
    this.tagColumnIds.release();
    this.seriesIds.release();
  }

  private linked(): LiveTable {
    assert(this.live_ !== undefined, "the table is linked before its series are resolved");
    return this.live_;
  }
}
