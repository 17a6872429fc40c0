// How one table of a database's parser maps to the catalog: parser column → column id, parser series → series id of the table.
// Links live as long as the parser; a body that brings nothing new finds everything here.

import type { Kernel } from "../kernel/memory/kernel.ts";
import { ParsedRows } from "../kernel/parse/parsed-rows.ts";
import type { ParsedTables } from "../kernel/parse/parsed-tables.ts";
import type { ParsedTable } from "../kernel/parse/parser-view.ts";
import type { SeriesDictionary } from "../kernel/series/series-dictionary.ts";
import { assert } from "../model/assert.ts";
import type { LiveTable } from "../storage/buffer/live-tables.ts";
import type { FrameTable } from "./frame.ts";
import { KernelU32List, UNRESOLVED } from "./kernel-list.ts";

/** A parser series that the table's dictionary does not hold. */
export interface UnresolvedSeries {
  readonly seriesId: number;
  readonly tagColumns: readonly number[];
  /** Pointer to its record in the body's new series; 0 for a pending series, whose record the parser makes again when asked. */
  readonly recordPtr: number;
}

/** Maps one parser table to one catalog table. It holds kernel memory: `release` gives it back. */
export class TableLink {
  private live_: LiveTable | undefined;
  /** Of the table when it was joined. */
  private nameChanges = 0;
  /** Whose series ids `seriesMapPtr` has. */
  private dictionary: SeriesDictionary | undefined;
  private hasForgotten_ = false;
  /** Parser series that only rejected rows have used so far: the parser reports a new series once. */
  readonly pending = new Set<number>();
  /** Catalog column id by parser column index; UNRESOLVED: not known, or in conflict with the catalog. */
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

  /** The table whose rows these are. */
  join(live: LiveTable): void {
    this.live_ = live;
    this.nameChanges = live.nameChanges;
    this.dictionary ??= live.dictionary;
    this.followDictionary();
  }

  /** The table has another name now or is gone: what the parser calls so is another one. */
  get isStale(): boolean {
    return this.live_ !== undefined && this.live_.nameChanges !== this.nameChanges;
  }

  /** Knows no table any more; parser series up to `seriesCount` have to be resolved as they are used. */
  leave(seriesCount: number): void {
    this.live_ = undefined;
    this.dictionary = undefined;
    this.hasForgotten_ = false;
    for (const list of [this.fieldColumnIds, this.tagColumnIds, this.seriesIds]) list.clear();
    for (let seriesId = 0; seriesId < seriesCount; seriesId++) this.pending.add(seriesId);
  }

  /** Series ids of a dictionary that was evicted mean nothing any more: they have to be found in the one that took its place. */
  followDictionary(): void {
    if (this.live_ === undefined || this.live_.dictionary === this.dictionary) return;
    this.dictionary = this.live_.dictionary;
    this.seriesIds.clear();
    this.hasForgotten_ = true;
  }

  /** Some series that are not pending may be unresolved. */
  get hasForgotten(): boolean {
    return this.hasForgotten_;
  }

  /** u32 per parser series: id in the table's dictionary, or UNRESOLVED. Borrowed until the next `grow`. */
  get seriesMapPtr(): number {
    return this.seriesIds.ptr;
  }

  /** Makes room for everything the parser knows of the table. */
  grow(parsed: ParsedTable): void {
    this.seriesIds.grow(parsed.newSeriesFirst + parsed.newSeriesCount);
    this.tagColumnIds.grow(parsed.tagColumns.length);
  }

  /** True when a body brings nothing but rows to this table: their columns are linked, their series resolved. */
  knows({ tablePtr, rowCount, seriesPtr, newSeriesFirst, newSeriesCount }: ParsedTables): boolean {
    const { live_, fieldColumnIds, seriesIds } = this;
    if (live_ === undefined || this.isStale || live_.dictionary !== this.dictionary || this.pending.size > 0) return false;
    if (rowCount === 0 || newSeriesCount > 0 || newSeriesFirst > seriesIds.length) return false;
    const { call } = this.kernel;
    return (
      call.hasColumnIds(tablePtr, fieldColumnIds.ptr, fieldColumnIds.length, UNRESOLVED) !== 0 &&
      call.hasSeriesIds(seriesIds.ptr, seriesPtr, rowCount, UNRESOLVED) !== 0
    );
  }

  /** The rows of a table that is known, as the buffer takes them. @throws TsdbError overloaded */
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

  /** -1: not known, or in conflict with the catalog. */
  fieldColumnId(column: number): number {
    if (column >= this.fieldColumnIds.length) return -1;
    const columnId = this.fieldColumnIds.get(column);
    return columnId === UNRESOLVED ? -1 : columnId;
  }

  /** `columnId`: -1 in conflict with the catalog. */
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

  /** The tag columns that a record (layout of newSeriesRecordsPtr) names. */
  tagColumnsAt(recordPtr: number): number[] {
    const { u32 } = this.kernel;
    const tagCount = u32[recordPtr / 4]!;
    return Array.from({ length: tagCount }, (_, tag) => u32[recordPtr / 4 + 1 + tag * 3]!);
  }

  /** The new series of a body as objects: for the slow path, and for what tags they bring. */
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
