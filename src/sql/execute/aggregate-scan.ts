// Presents groups of one table to DuckDB's table function: the scan aggregates, DuckDB receives one row per group.
import type { ChunkCursor, ScanSource } from "../../duckdb/table-function.ts";
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { TsdbError } from "../../model/errors.ts";
import { type AggregateRequest, aggregateColumns, NEWEST_GROUPS_MAX } from "../../model/query/aggregate.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import type { ScanChunk, ScanCursor, ScanTable } from "../../model/query/scan-table.ts";
import type { GapFill, GroupSource, ScanUse } from "../bind/kind.ts";
import type { PlannedScan, ScanSubject } from "../plan/planned-scan.ts";
import type { SeriesQuery } from "../plan/series-query.ts";
import { shownName } from "../tables/cache-tables.ts";
import type { ReturnedRows } from "./direct-scan.ts";
import { EMPTY_CURSOR, type Misplanned, type StatementScan } from "./duck-table.ts";
import { FilledCursor, type FilledGroups } from "./gaps/filled-groups.ts";
import { SortedGroups } from "./gaps/sorted-groups.ts";
import { countRows, groupsInTurns } from "./groups-in-turns.ts";
import { OpenCursors } from "./open-cursors.ts";
import { conditionTexts, groupTexts, seriesTexts } from "./scan-text.ts";
import type { Breathe } from "./series/breathe.ts";
import type { PrepareParts } from "./series/combinations.ts";
import { SeriesConditions } from "./series/series-conditions.ts";
import { SeriesGroups } from "./series/series-groups.ts";

type GroupSubject = Extract<ScanSubject, { kind: "groups" }>;

/** A scan of groups. */
export class AggregateScan implements StatementScan {
  readonly columns: ScanSource["columns"];
  readonly stake: number | null;
  private readonly source: GroupSource;
  private readonly name: string;
  /** Conditions on the keys from outside, which remove whole groups. */
  private readonly tags: ScanUse["tags"];
  handle = 0;
  error: unknown;
  private readonly cursors = new OpenCursors();
  private readonly blocks: Blocks;
  readonly condition: SeriesQuery | null;
  private readonly conditions: SeriesConditions | null;
  private readonly groups: SeriesGroups | null;
  /** The groups computed before the statement started. */
  private prepared: ScanCursor | null = null;
  /** Rows that are returned, newest bin first; 0: all. */
  private newestGroups = 0;
  /** The groups between which bins are inserted. */
  private filled: FilledGroups | null = null;

  constructor(
    private readonly kernel: Kernel,
    readonly table: ScanTable,
    planned: PlannedScan,
  ) {
    this.blocks = new Blocks(kernel);
    this.source = (planned.subject as GroupSubject).source;
    this.columns = planned.columns;
    this.tags = planned.tags;
    this.condition = planned.series;
    this.conditions = planned.series === null ? null : new SeriesConditions(table, planned.series);
    this.groups = planned.keys === null ? null : new SeriesGroups(table, planned.keys);
    this.stake = planned.stake;
    this.name = shownName(planned.subject.table);
  }

  get rowCountMax(): number {
    return this.table.rowCountMax;
  }

  /** The latest bins are enough for the first rows in descending order of bins. */
  returns({ keys, distinctOn, columnIndexes, limit, offset }: ReturnedRows): void {
    const { request, gaps } = this.source;
    const [key] = keys;
    const isByBin = request.bins !== null && key?.isDescending === true && columnIndexes[key.column] === 0;
    const count = limit + offset;
    if (isByBin && distinctOn === null && gaps === undefined && count > 0 && count <= NEWEST_GROUPS_MAX) this.newestGroups = count;
  }

  get countsTable(): boolean {
    const { range, tags, fields, tests = [], bins, groupBy, values, aggregates, counted } = this.request;
    const isWhole = range.minNs === ALL_TIME.minNs && range.maxNs === ALL_TIME.maxNs && tags.length + fields.length + tests.length === 0;
    if (!isWhole || bins !== null || values !== undefined || this.groups !== null) return false;
    return counted !== undefined || (groupBy.length === 0 && aggregates.every(({ fn, column }) => fn === "count" && column === null));
  }

  /** Computes the groups. */
  async prepare(parts: PrepareParts): Promise<Misplanned | null> {
    if (this.isEmpty) return (await this.hasUnbinnedRows(parts.breathe)) ? "rows" : null;
    if (this.conditions !== null && !(await this.conditions.decide(this.within, parts))) return "conditions";
    if (await this.hasUnbinnedRows(parts.breathe)) return "rows";
    if (this.groups !== null && !(await this.groups.merge(this.request, parts))) return "conditions";
    this.prepared = await groupsInTurns(this.table, this.request, parts.breathe);
    if (this.prepared === null) return "rows";
    const { gaps } = this.source;
    return gaps === undefined || (await this.fill(this.prepared, gaps, parts.breathe)) ? null : "rows";
  }

  /** Reads the groups, to insert the missing bins. Returns false if there are too many. */
  private async fill(groups: ScanCursor, gaps: GapFill, breathe: Breathe): Promise<boolean> {
    this.prepared = null;
    const types = aggregateColumns(this.source.request);
    const keys = gaps.columns.flatMap(({ content, index }) => (content === "key" ? [index] : []));
    const sorted = await SortedGroups.read(this.kernel, groups, { types, keys, gaps }, breathe);
    if (sorted === null) return false;
    this.filled = { groups: sorted, gaps, types };
    return true;
  }

  /** Contains the times of all rows that matter. */
  private get within(): Pick<AggregateRequest, "range" | "tags"> {
    const { range, tags } = this.request;
    const { unbinned } = this.source;
    const isCut = unbinned.minNs <= unbinned.maxNs;
    return { range: isCut ? { minNs: unbinned.minNs, maxNs: range.maxNs } : range, tags };
  }

  open(columnIndexes: readonly number[]): ChunkCursor {
    this.cursors.throwIfEnded();
    if (this.source.gaps !== undefined) return this.openFilled(columnIndexes);
    const groups = this.isEmpty ? EMPTY_CURSOR : (this.prepared ?? this.aggregate());
    this.prepared = null;
    // it succeeded before the statement started, on the same pinned rows
    if (groups === null) throw new TsdbError("query_limit", "Resources exhausted: too many groups");
    return this.cursors.track(new GroupCursor(groups, columnIndexes, this.isGlobal ? () => this.noRows() : () => null));
  }

  private openFilled(columnIndexes: readonly number[]): ChunkCursor {
    return this.filled === null ? EMPTY_CURSOR : this.cursors.track(new FilledCursor(this.kernel, this.filled, columnIndexes));
  }

  describe(): string {
    const { request, table } = this;
    const { bins, range } = request;
    // the first complete bin starts slightly after the least time
    const isFirst = bins !== null && range.minNs - ALL_TIME.minNs < bins.widthNs;
    const keys = this.groups === null ? [] : ["keys that are expressions of their tags"];
    const gaps = this.source.gaps === undefined ? [] : ["missing bins inserted"];
    const newest = this.newestGroups === 0 ? [] : [`the latest ${this.newestGroups}`];
    const conditions = isFirst ? { ...request, range: { ...range, minNs: ALL_TIME.minNs } } : request;
    return `groups of ${this.name}: ${[...groupTexts(request), ...conditionTexts(conditions, table.columns), ...seriesTexts(this.condition), ...keys, ...gaps, ...newest].join("; ")}`;
  }

  failed(error: unknown): void {
    this.error ??= error;
  }

  end(): void {
    this.prepared?.close();
    this.prepared = null;
    this.filled = null;
    this.cursors.end();
    this.blocks.release();
    this.conditions?.release();
    this.groups?.release();
  }

  private get isGlobal(): boolean {
    const { bins, groupBy, values, counted } = this.source.request;
    return counted !== undefined || (bins === null && groupBy.length === 0 && values === undefined);
  }

  private get request(): AggregateRequest {
    const { request } = this.source;
    const tests = this.conditions?.tests ?? [];
    const merged = this.groups?.merged;
    const newest = this.newestGroups === 0 ? {} : { newestGroups: this.newestGroups };
    if (this.tags.length === 0 && tests.length === 0 && merged === undefined) return { ...request, ...newest };
    return { ...request, tags: [...request.tags, ...this.tags], tests, ...(merged === undefined ? {} : { merged }), ...newest };
  }

  private get isEmpty(): boolean {
    const { range, tags } = this.request;
    return range.minNs > range.maxNs || tags.some(({ values }) => values.length === 0);
  }

  private aggregate(): ScanCursor | null {
    return this.table.aggregate?.(this.request) ?? null;
  }

  /** True if rows exist whose bin would start before the least time: they form a NULL group, which the scan does not compute. */
  private async hasUnbinnedRows(breathe: Breathe): Promise<boolean> {
    const { unbinned } = this.source;
    if (unbinned.minNs > unbinned.maxNs) return false;
    const count = await countRows(this.kernel, this.table, { ...this.request, range: unbinned }, breathe);
    return count === null || count > 0;
  }

  /** The result of aggregates without groups over no rows: counts are 0, all others NULL. */
  private noRows(): ScanChunk {
    const zero = this.blocks.allocZeroed(8);
    const { aggregates, counted } = this.source.request;
    if (counted !== undefined) return { rowCount: 1, columns: [{ dataPtr: zero, validityPtr: 0 }] };
    return { rowCount: 1, columns: aggregates.map(({ fn }) => ({ dataPtr: fn === "count" ? zero : 0, validityPtr: 0 })) };
  }
}

/** The requested columns of the groups. */
class GroupCursor implements ChunkCursor {
  private isFirst = true;

  constructor(
    private readonly groups: ChunkCursor,
    private readonly columnIndexes: readonly number[],
    /** Rows to return if there are no groups. */
    private readonly whenNone: () => ScanChunk | null,
  ) {}

  next(): ScanChunk | null {
    const chunk = this.groups.next() ?? (this.isFirst ? this.whenNone() : null);
    this.isFirst = false;
    return chunk === null ? null : { rowCount: chunk.rowCount, columns: this.columnIndexes.map((index) => chunk.columns[index]!) };
  }

  close(): void {
    this.groups.close();
  }
}
