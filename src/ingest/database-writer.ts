// The bind step of a write: converts a parsed body for one database to batches of rows whose tables, columns and series the catalog knows.
// All of it is one synchronous step; ingest.ts logs and buffers the result before anything else runs.

import type { Kernel } from "../kernel/memory/kernel.ts";
import type { Scratch } from "../kernel/memory/scratch.ts";
import type { LineParser } from "../kernel/parse/line-parser.ts";
import { ParsedTables } from "../kernel/parse/parsed-tables.ts";
import type { ParsedBody, ParsedTable } from "../kernel/parse/parser-view.ts";
import { bitmapBytes, gatherColumn, gatherValues } from "../kernel/scan/rows.ts";
import { assert } from "../model/assert.ts";
import { VALUE_BYTES } from "../model/rows/column.ts";
import type { ColumnRun } from "../model/rows/run.ts";
import type { WriteRequest } from "../model/write.ts";
import type { LiveTables } from "../storage/buffer/live-tables.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import { type FinishedPlan, SchemaPlan } from "../storage/catalog/resolve.ts";
import type { SchemaLimits } from "../storage/catalog/schema-limits.ts";
import { chooseRows } from "./definitions/row-choice.ts";
import type { FrameTable } from "./frame.ts";
import { UNRESOLVED } from "./kernel-list.ts";
import { OldRows } from "./old-rows.ts";
import { Rejections } from "./rejections.ts";
import type { SchemaSteps } from "./schema-steps.ts";
import { TableLink, type UnresolvedSeries } from "./table-link.ts";

/** Names of rejected tables of one step that the parser may keep: the tables may be created later when there is room. */
const REFUSED_TABLES_KEPT = 1024;
const NONE_REJECTED = new Rejections([], 0);

/** The result for a body. Batches are borrowed until the next body of the database. */
export interface ResolvedBody {
  readonly batches: readonly FrameTable[];
  readonly rejections: Rejections;
  readonly lineCount: number;
  /** Rows that the database does not keep; undefined: there were none. */
  readonly old?: OldRows;
  /** Resolves when the schema that the batches rely on is durable. */
  readonly schemaDurable: Promise<void> | undefined;
}

export interface WriterParts {
  readonly kernel: Kernel;
  readonly catalog: Catalog;
  readonly tables: LiveTables;
  readonly scratch: Scratch;
}

/** A table of the body during binding. */
interface TableWork {
  readonly parsed: ParsedTable;
  readonly link: TableLink;
  /** Rows to store, ascending; undefined = all. */
  keep?: Uint32Array;
}

/** A table with columns or series that the links do not know, in the form of SchemaPlan. */
interface SchemaWork {
  readonly work: TableWork;
  /** Parser tag column by plan tag. */
  readonly tagColumns: readonly number[];
  /** Unresolved series of this body, by parser series. */
  readonly unresolved: ReadonlyMap<number, UnresolvedSeries>;
}

/** Binds bodies of one database: parser columns to catalog columns, parser series to series ids; determines the rejected lines.
 *  Synchronous. A `ResolvedBody` points into the parser's memory and is valid until the next body. */
export class DatabaseWriter {
  private links: TableLink[] = [];
  /** The parser knows more columns of some table than the catalog allows. Detected earlier than the parser's own `wantsReset`, which
   *  appears with the first valid line that found no room. */
  private crowded = false;
  /** Some link has lost its table. */
  private hasLeft = false;
  /** Sum over all tables at the time when no link was stale. */
  private nameChanges = 0;
  /** Size of the scratch block for records of pending series. */
  private recordPtr = 0;
  private readonly tables: ParsedTables;
  private recordBytes = 0;

  constructor(
    /** By name in the default namespace, or by id. */
    private readonly database: string | number,
    private readonly parser: LineParser,
    private readonly limits: SchemaLimits,
    private readonly parts: WriterParts,
  ) {
    this.tables = new ParsedTables(parts.kernel);
  }

  /** True if it should be reset before the next body is parsed. */
  get wantsReset(): boolean {
    return this.crowded || this.hasStaleLinks() || this.parser.view.wantsReset;
  }

  /** Binds the parser's last body if it contains only rows to be stored of already linked tables, columns and series, as most do.
   *  Otherwise returns undefined without any effect. @throws TsdbError overloaded: nothing is stored then */
  takeKnown(resultPtr: number, { minTimeNs }: Pick<WriteRequest, "minTimeNs">): ResolvedBody | undefined {
    const { tables, links } = this;
    if (!tables.begin(resultPtr)) return undefined;
    const old = this.oldRows(minTimeNs);
    while (tables.next()) if (!links[tables.index]?.knows(tables) || old?.isIn(tables) === true) return undefined;
    const batches: FrameTable[] = [];
    tables.begin(resultPtr);
    try {
      while (tables.next()) batches.push(links[tables.index]!.knownRows(tables));
    } catch (error) {
      // times of some tables have been recorded already
      this.reset();
      throw error;
    }
    return { batches, rejections: NONE_REJECTED, lineCount: tables.bodyRows, schemaDurable: undefined };
  }

  /** Binds the parser's last body; the batches point into parser memory and the body. With acceptPartial=false and an invalid line
   *  nothing changes and `batches` is empty. `madeTables`: number of tables that `prepare` has created for it. @throws TsdbError
   *  overloaded, limit_exceeded, unavailable: nothing is stored then */
  take(parsed: ParsedBody, { acceptPartial, minTimeNs }: Pick<WriteRequest, "acceptPartial" | "minTimeNs">, madeTables = 0): ResolvedBody {
    this.recordBytes = 0;
    try {
      const { lineCount } = parsed;
      const rejections = new Rejections(parsed.errors, lineCount - parsed.rowCount);
      const old = this.oldRows(minTimeNs);
      const tables = this.works(parsed, old);
      const schema = this.unknown(tables);
      const plan = schema.length === 0 ? undefined : this.plan(schema, madeTables, rejections);
      const badCount = lineCount - parsed.rowCount - parsed.droppedCount;
      const isRefused = acceptPartial === "conflicts" ? badCount > 0 : !acceptPartial && rejections.count > 0;
      if (isRefused) return this.refuse(tables, rejections, lineCount);
      const schemaDurable = plan === undefined ? undefined : this.extend(schema, plan).durable;
      const batches = tables.flatMap((work) => this.batch(work) ?? []);
      return { batches, rejections, lineCount, schemaDurable, ...(old === undefined || old.count === 0 ? {} : { old }) };
    } catch (error) {
      // the parser may know series that no link has resolved: start over
      this.reset();
      throw error;
    }
  }

  /** Creates tables, columns and series of a part of a body, so that `take` of the whole body finds them. Stores no row. @throws
   *  TsdbError as take */
  prepare(parsed: ParsedBody, { minTimeNs }: Pick<WriteRequest, "minTimeNs">, steps: SchemaSteps): void {
    this.recordBytes = 0;
    try {
      const tables = this.works(parsed, this.oldRows(minTimeNs));
      const admitted = tables.filter((work) => steps.admits(work.parsed.name));
      const rejections = new Rejections([], parsed.lineCount - parsed.rowCount);
      const schema = this.unknown(admitted);
      const plan = schema.length === 0 ? undefined : this.plan(schema, steps.madeTables, rejections);
      if (!steps.isMaking) {
        // lines of different steps may conflict: that is left to `take`, which sees all of them
        const hasConflicts = () => parsed.tables.some((table) => this.parser.view.hasConflicts(table));
        if (rejections.count > 0 || hasConflicts()) steps.noteBadLine();
        keepPending(tables);
        return;
      }
      keepPending(tables.filter((work) => !admitted.includes(work)));
      if (plan !== undefined) steps.madeTables += this.extend(schema, plan).madeTables;
      for (const work of admitted) this.resolveNew(work);
    } catch (error) {
      this.reset();
      throw error;
    }
  }

  /** Forgets what the parser has learned: needed after tables were dropped. */
  reset(): void {
    this.parser.reset();
    for (const link of this.links) link.release();
    this.links = [];
    this.crowded = false;
    this.hasLeft = false;
    this.nameChanges = this.parts.tables.nameChanges;
  }

  release(): void {
    this.reset();
    this.parser.release();
  }

  /** True if a linked table was renamed or dropped: then all links are rebuilt, because the parser's knowledge of their tables may be
   *  outdated. */
  private hasStaleLinks(): boolean {
    const { nameChanges } = this.parts.tables;
    if (nameChanges === this.nameChanges) return false;
    if (this.hasLeft || this.links.some((link) => link?.isStale)) return true;
    this.nameChanges = nameChanges;
    return false;
  }

  private oldRows(minTimeNs: bigint | undefined): OldRows | undefined {
    const { kernel, scratch } = this.parts;
    return minTimeNs === undefined ? undefined : new OldRows(kernel, scratch, minTimeNs);
  }

  /** The tables with rows to be stored. */
  private works(parsed: ParsedBody, old: OldRows | undefined): TableWork[] {
    return parsed.tables.flatMap((table) => {
      const work = this.begin(table);
      const kept = old === undefined ? table : old.removeFrom(table);
      if (kept === table) return [work];
      keepPending([work]);
      return kept === null ? [] : [{ ...work, parsed: kept }];
    });
  }

  private begin(parsed: ParsedTable): TableWork {
    let link = this.links[parsed.index];
    if (link === undefined) {
      link = new TableLink(this.parts.kernel);
      this.links[parsed.index] = link;
    }
    link.grow(parsed);
    if (link.isStale) {
      // the body was parsed before the table was renamed: for this body its series are looked up one by one
      link.leave(parsed.newSeriesFirst);
      this.hasLeft = true;
    }
    link.followDictionary();
    if (parsed.columns.some(({ index }) => index >= this.limits.columnsPerTableMax)) this.crowded = true;
    return { parsed, link };
  }

  /** All-or-nothing mode with an invalid line: keeps only what the parser will not report again. */
  private refuse(tables: readonly TableWork[], rejections: Rejections, lineCount: number): ResolvedBody {
    keepPending(tables);
    return { batches: [], rejections, lineCount, schemaDurable: undefined };
  }

  /** Tables with columns or series that the links do not know. */
  private unknown(tables: readonly TableWork[]): SchemaWork[] {
    return tables.filter((work) => !isKnown(work)).map((work) => this.schemaWork(work));
  }

  private schemaWork(work: TableWork): SchemaWork {
    const { parsed, link } = work;
    const unresolved = new Map<number, UnresolvedSeries>();
    // there may be millions of pending ones, and few rows
    for (const seriesId of link.pending.size === 0 ? [] : seriesOf(this.parts.kernel, parsed)) {
      if (!link.pending.has(seriesId)) continue;
      unresolved.set(seriesId, { seriesId, tagColumns: link.tagColumnsAt(this.pendingRecord(parsed, seriesId)), recordPtr: 0 });
    }
    for (const series of link.newSeries(parsed)) unresolved.set(series.seriesId, series);
    const tagColumns = new Set<number>();
    for (const series of unresolved.values()) for (const tag of series.tagColumns) tagColumns.add(tag);
    return { work, tagColumns: [...tagColumns].sort((a, b) => a - b), unresolved };
  }

  /** Determines what is missing and which rows cannot be stored; adds those to `rejections`. `madeTables`: tables created earlier for
   *  the same body. */
  private plan(schema: readonly SchemaWork[], madeTables: number, rejections: Rejections): SchemaPlan {
    const plan = new SchemaPlan(
      this.parts.catalog,
      this.database,
      schema.map(({ work, tagColumns }) => ({
        name: work.parsed.name,
        tags: tagColumns.map((tag) => work.parsed.tagColumns[tag]!),
        fields: work.parsed.columns,
      })),
      { madeTables, limits: this.limits },
    );
    schema.forEach((table, tableIndex) => {
      if (plan.needsRows(tableIndex)) this.chooseRows(plan, tableIndex, table, rejections);
    });
    return plan;
  }

  /** For tables with conflicts only. */
  private chooseRows(plan: SchemaPlan, tableIndex: number, { work, tagColumns, unresolved }: SchemaWork, rejections: Rejections): void {
    const { parsed } = work;
    const { u32 } = this.parts.kernel;
    const planTag = new Map(tagColumns.map((tag, i) => [tag, i]));
    const tagsOf = new Map<number, number[]>();
    for (const { seriesId, tagColumns: tags } of unresolved.values()) {
      tagsOf.set(
        seriesId,
        tags.map((tag) => planTag.get(tag)!),
      );
    }
    rejections.beginGroup();
    const keep = chooseRows({ plan, tableIndex, parsed, tagsOf, u32 }, (row, message) => {
      rejections.add(u32[parsed.lineOffsetsPtr / 4 + row]!, message);
    });
    if (keep.length < parsed.rowCount) work.keep = keep;
  }

  /** The record of a series that the parser did not report with this body: borrowed until the next call. */
  private pendingRecord(parsed: ParsedTable, seriesId: number): number {
    const { view } = this.parser;
    const series = { tableIndex: parsed.index, seriesId };
    const bytes = view.seriesRecordBytes(series);
    if (bytes > this.recordBytes) {
      this.recordPtr = this.parts.scratch.alloc(bytes);
      this.recordBytes = bytes;
    }
    view.writeSeriesRecord(series, this.recordPtr);
    return this.recordPtr;
  }

  /** Applies the plan to the catalog and the links. */
  private extend(schema: readonly SchemaWork[], plan: SchemaPlan): { durable: Promise<void> | undefined; madeTables: number } {
    const { operations, targets } = plan.finish();
    const durable = operations.length === 0 ? undefined : this.parts.catalog.apply(operations).durable;
    for (const [i, table] of schema.entries()) this.link(table, targets[i]!);
    // the parser keeps names of tables that do not exist
    if (targets.filter((target) => target === null).length > REFUSED_TABLES_KEPT) this.crowded = true;
    return { durable, madeTables: operations.filter(({ kind }) => kind === "create_table").length };
  }

  private link({ work, tagColumns, unresolved }: SchemaWork, target: FinishedPlan["targets"][number]): void {
    const { parsed, link, keep } = work;
    if (target === null) {
      assert(keep?.length === 0, `no row of table ${parsed.name} was accepted`);
      for (const series of unresolved.values()) link.pending.add(series.seriesId);
      return;
    }
    const table = this.parts.catalog.tableById(target.tableId);
    assert(table !== undefined, `table ${target.tableId} was just planned`);
    link.join(this.parts.tables.ensure(table));
    tagColumns.forEach((tag, i) => {
      if (target.tagColumnIds[i]! >= 0) link.setTagColumnId(tag, target.tagColumnIds[i]!);
    });
    parsed.columns.forEach((column, i) => {
      link.setFieldColumnId(column.index, target.fieldColumnIds[i]!);
    });
    if (keep === undefined && link.pending.size === 0) return; // `batch` resolves all new series at once
    const seriesBase = parsed.seriesPtr / 4;
    const { u32 } = this.parts.kernel;
    const used = keep === undefined ? undefined : new Set(Array.from(keep, (row) => u32[seriesBase + row]!));
    for (const series of unresolved.values()) {
      if (used !== undefined && !used.has(series.seriesId)) link.pending.add(series.seriesId);
      else link.resolve(series.seriesId, series.recordPtr === 0 ? this.pendingRecord(parsed, series.seriesId) : series.recordPtr);
    }
  }

  /** The rows of a table in the buffer's form; undefined if none remain. */
  private batch(work: TableWork): FrameTable | undefined {
    const { parsed, link, keep } = work;
    const { kernel } = this.parts;
    if (parsed.rowCount === 0 || keep?.length === 0) return undefined;
    this.resolveNew(work);
    const live = link.live;
    assert(live !== undefined, `table ${parsed.name} has rows and is linked`);
    const rowCount = keep?.length ?? parsed.rowCount;
    const columns = keep === undefined ? this.wholeColumns(work) : this.keptColumns(work, keep);
    if (link.hasForgotten) this.resolveForgotten(work, rowCount);
    live.dictionary.mapSeries(link.seriesMapPtr, parsed.seriesPtr, rowCount, parsed.seriesPtr);
    const facts = live.dictionary.noteTimes(parsed.seriesPtr, parsed.timePtr, rowCount);
    assert(kernel.u32[parsed.seriesPtr / 4]! < live.dictionary.seriesCount, "series are resolved");
    const batch = { rowCount, seriesPtr: parsed.seriesPtr, timePtr: parsed.timePtr, columns, ...facts };
    return { live, batch };
  }

  /** For a table whose rows are all accepted; otherwise the series of accepted rows are resolved when the table is linked. */
  private resolveNew({ parsed, link, keep }: TableWork): void {
    if (keep === undefined && parsed.newSeriesCount > 0 && !link.isResolved(parsed.newSeriesFirst)) link.resolveNew(parsed);
  }

  /** Looks up series again that were known before the table's dictionary was evicted. */
  private resolveForgotten({ parsed, link }: TableWork, rowCount: number): void {
    const { kernel, scratch } = this.parts;
    const listPtr = scratch.alloc(rowCount * 4);
    const count = kernel.call.unmappedIds(link.seriesMapPtr, parsed.seriesPtr, rowCount, UNRESOLVED, listPtr);
    for (const seriesId of kernel.u32.slice(listPtr / 4, listPtr / 4 + count)) {
      // a series of several rows is listed several times
      if (!link.isResolved(seriesId)) link.resolve(seriesId, this.pendingRecord(parsed, seriesId));
    }
  }

  private wholeColumns({ parsed, link }: TableWork): ColumnRun[] {
    return parsed.columns.map(({ index, type, dataPtr, validityPtr }): ColumnRun => {
      const columnId = link.fieldColumnId(index);
      assert(columnId > 0, `column ${index} of table ${parsed.name} is linked`);
      return columnRun({ columnId, type, dataPtr, validityPtr });
    });
  }

  /** Removes the rejected rows from the columns, in place. */
  private keptColumns({ parsed, link }: TableWork, keep: Uint32Array): ColumnRun[] {
    const { kernel, scratch } = this.parts;
    const count = keep.length;
    const rowsPtr = scratch.alloc(count * 4);
    kernel.u32.set(keep, rowsPtr / 4);
    gatherValues(kernel, 4, { sourcePtr: parsed.seriesPtr, rowsPtr, count, targetPtr: parsed.seriesPtr });
    gatherValues(kernel, 8, { sourcePtr: parsed.timePtr, rowsPtr, count, targetPtr: parsed.timePtr });
    const keptPtr = scratch.alloc(bitmapBytes(parsed.rowCount));
    kernel.call.rowBits(rowsPtr, count, parsed.rowCount, keptPtr);
    const columns: ColumnRun[] = [];
    let keptValidityPtr = 0;
    for (const { index, type, dataPtr, validityPtr } of parsed.columns) {
      const columnId = link.fieldColumnId(index);
      if (columnId < 0) continue; // only rejected rows had it
      if (validityPtr === 0) {
        gatherColumn(kernel, type, { sourcePtr: dataPtr, rowsPtr, count, targetPtr: dataPtr });
        columns.push({ columnId, type, dataPtr, validityPtr });
        continue;
      }
      keptValidityPtr ||= scratch.alloc(bitmapBytes(count));
      const kept = kernel.call.keepPacked(VALUE_BYTES[type], dataPtr, validityPtr, keptPtr, parsed.rowCount, keptValidityPtr);
      if (kept === 0) continue;
      columns.push(columnRun({ columnId, type, dataPtr, validityPtr: keptValidityPtr }));
      keptValidityPtr = 0;
    }
    return columns;
  }
}

/** In the parser's layout: columns with a bitmap are packed. */
function columnRun(column: ColumnRun): ColumnRun {
  return column.validityPtr === 0 ? column : { ...column, isPacked: true };
}

/** True if the links know every column and series of the table, or can resolve its series directly. */
function isKnown({ parsed, link }: TableWork): boolean {
  if (link.live === undefined || link.pending.size > 0) return false;
  for (const { index } of parsed.columns) if (link.fieldColumnId(index) < 0) return false;
  if (parsed.newSeriesCount === 0) return true;
  return parsed.tagColumns.every((_, tag) => link.tagIsKnown(tag));
}

/** The distinct parser series of the rows. */
function seriesOf({ u32 }: Kernel, { seriesPtr, rowCount }: ParsedTable): Set<number> {
  return new Set(u32.subarray(seriesPtr / 4, seriesPtr / 4 + rowCount));
}

/** The parser reports a new series only once: those not used now are remembered until rows use them. */
function keepPending(tables: readonly TableWork[]): void {
  for (const { parsed, link } of tables) for (let i = 0; i < parsed.newSeriesCount; i++) link.pending.add(parsed.newSeriesFirst + i);
}
