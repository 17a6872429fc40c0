// The tables of a statement as the rewriter sees them, and the scans that it requests. Planning reads no data: the planned scans are opened
// later (execute/statement-scans.ts).

import { aggregateColumns } from "../../model/query/aggregate.ts";
import { ALL_TIME, type FieldPredicate, type TimeRange } from "../../model/query/scan.ts";
import type { ScanTable } from "../../model/query/scan-table.ts";
import type { ColumnDef } from "../../model/rows/column.ts";
import { compareTexts } from "../../model/rows/text-order.ts";
import type { EncodedColumns, GapFill, GroupSource, ScanUse, SeriesCondition } from "../bind/kind.ts";
import { isDeferred, rangeAt } from "../bind/plan-clock.ts";
import { encodeName } from "../parse/names.ts";
import type { OwnScan, TableCatalog, TableDescription } from "../rewrite/context.ts";
import { isCacheKey } from "../tables/cache-tables.ts";
import { rowTableDefs } from "../tables/row-table.ts";
import { findSystemTable } from "../tables/system-schema.ts";
import { ownColumns } from "../tables/virtual-tables.ts";
import type { SeriesQuery } from "./series-query.ts";

/** Below this row count, aggregating all rows is faster than DuckDB's aggregation of the newest ones. */
const SMALL_ROWS_END = 1_000_000;

/** What a scan reads. */
export type ScanSubject =
  | { readonly kind: "rows"; readonly table: string }
  | { readonly kind: "groups"; readonly table: string; readonly source: GroupSource }
  | { readonly kind: "own"; readonly schema: string; readonly table: string };

/** Finds the tables of a statement. */
export interface StatementTables {
  /** Caches by their keys (cache-tables.ts). */
  readonly find: (name: string) => ScanTable | null;
  /** True: no pushdown; DuckDB computes everything from rows. */
  readonly isPlain: boolean;
  /** The database is `_internal`. */
  readonly isInternal: boolean;
  /** Numbers of choices that turned out wrong. */
  readonly refused: ReadonlySet<number>;
  /** False: conditions on tags are evaluated row by row. */
  readonly takesConditions: boolean;
}

/** A scan of a statement, narrowed by the conditions around it. */
export class PlannedScan implements ScanUse {
  range: TimeRange = ALL_TIME;
  tags: ScanUse["tags"] = [];
  fields: FieldPredicate[] = [];
  newestOnly = false;
  present: readonly ColumnDef[] = [];
  stake: number | null = null;
  conditions: SeriesCondition[] = [];
  /** Decides `conditions`; null: there are none. */
  series: SeriesQuery | null = null;
  /** Finds groups that are one; null: each combination of tags is a group. */
  keys: SeriesQuery | null = null;

  constructor(
    readonly subject: ScanSubject,
    /** Its index among the statement's scans. */
    readonly handle: number,
    readonly defs: readonly ColumnDef[],
    readonly columns: EncodedColumns,
    /** Null: any times are possible. */
    private readonly table: Pick<TableDescription, "times" | "takesConditions"> | null,
    readonly selectsExactly: boolean,
  ) {}

  /** True if its times follow from now(). */
  get isDeferred(): boolean {
    return isDeferred(this.range) || (this.subject.kind === "groups" && isDeferredSource(this.subject.source));
  }

  /** The scan when now() has that value. */
  at(nowNs: bigint): PlannedScan {
    if (!this.isDeferred) return this;
    const { subject, handle, defs, columns, table, selectsExactly } = this;
    const bound = subject.kind === "groups" ? { ...subject, source: sourceAt(subject.source, nowNs) } : subject;
    const { tags, fields, newestOnly, present, stake, conditions, series, keys } = this;
    const range = rangeAt(this.range, nowNs);
    const scan = new PlannedScan(bound, handle, defs, columns, table, selectsExactly);
    return Object.assign(scan, { range, tags, fields, newestOnly, present, stake, conditions, series, keys });
  }

  get times(): TimeRange {
    return this.table?.times ?? ALL_TIME;
  }

  get takesConditions(): boolean {
    return this.table?.takesConditions === true;
  }
}

function isDeferredSource({ request, unbinned }: GroupSource): boolean {
  return isDeferred(request.range) || isDeferred(unbinned);
}

function sourceAt(source: GroupSource, nowNs: bigint): GroupSource {
  const { request, unbinned } = source;
  return { ...source, request: { ...request, range: rangeAt(request.range, nowNs) }, unbinned: rangeAt(unbinned, nowNs) };
}

/** A user table referenced by the statement. */
class KnownTable implements TableDescription {
  readonly defs: readonly ColumnDef[];
  readonly columns: EncodedColumns;
  readonly isSmall: boolean;
  readonly selectsExactly: boolean;
  readonly makesGroups: boolean;
  readonly takesConditions: boolean;
  /** The definition that the plan was made for: an altered or new table has another one. */
  private readonly source: readonly ColumnDef[];
  private readonly range: TimeRange | undefined;
  private areTimesUsed = false;

  constructor(table: ScanTable, { keepsOrder, takesConditions }: { readonly keepsOrder: boolean; readonly takesConditions: boolean }) {
    const { columns, rowCountMax, selectsExactly = false, aggregate, times } = table;
    const shown = keepsOrder ? { defs: columns, columns: encoded(columns) } : byName(columns);
    this.source = columns;
    this.defs = shown.defs;
    this.columns = shown.columns;
    this.range = times;
    this.isSmall = isSmall(rowCountMax);
    this.selectsExactly = selectsExactly;
    this.makesGroups = aggregate !== undefined;
    this.takesConditions = takesConditions && canTakeConditions(table);
  }

  get times(): TimeRange | undefined {
    this.areTimesUsed = true;
    return this.range;
  }

  /** True if `table` has all properties that the plan depends on. */
  isLike(table: ScanTable): boolean {
    const { columns, rowCountMax, selectsExactly = false, aggregate, times } = table;
    return (
      canTakeConditions(table) === this.takesConditions &&
      columns === this.source &&
      isSmall(rowCountMax) === this.isSmall &&
      selectsExactly === this.selectsExactly &&
      (aggregate !== undefined) === this.makesGroups &&
      (!this.areTimesUsed || (times?.minNs === this.range?.minNs && times?.maxNs === this.range?.maxNs))
    );
  }
}

function canTakeConditions({ selectsExactly, combinations }: ScanTable): boolean {
  return selectsExactly === true && combinations !== undefined;
}

function isSmall(rowCountMax: number): boolean {
  return rowCountMax < SMALL_ROWS_END;
}

function encoded(defs: readonly ColumnDef[]): EncodedColumns {
  return defs.map(({ name, type }) => ({ name: encodeName(name), type }));
}

interface ShownColumns {
  readonly defs: readonly ColumnDef[];
  readonly columns: EncodedColumns;
}

/** Columns in the order of `*`, computed once per table definition, which is replaced when columns are added. */
const shownOf = new WeakMap<readonly ColumnDef[], ShownColumns>();

function byName(columns: readonly ColumnDef[]): ShownColumns {
  let shown = shownOf.get(columns);
  if (shown === undefined) {
    const defs = [...columns].sort((a, b) => compareTexts(a.name, b.name));
    shown = { defs, columns: encoded(defs) };
    shownOf.set(columns, shown);
  }
  return shown;
}

/** What a plan depends on of the tables that it looked for. It holds nothing of the statement that was planned, whose tables lead to
 *  open results. */
export class SeenTables {
  constructor(private readonly known: ReadonlyMap<string, KnownTable | null>) {}

  /** True if all of them have the same properties in `tables`. */
  fit(tables: StatementTables): boolean {
    for (const [name, known] of this.known) {
      const table = tables.find(name);
      if (known === null || table === null ? known !== table : !known.isLike(table)) return false;
    }
    return true;
  }
}

/** The tables and scans of one statement. */
export class PlannedTables implements TableCatalog {
  readonly scans: PlannedScan[] = [];
  private readonly known = new Map<string, KnownTable | null>();
  private choices = 0;

  constructor(private readonly tables: StatementTables) {}

  scanTable(name: string): PlannedScan | null {
    const table = this.find(name);
    if (table === null) return null;
    const { defs, columns, selectsExactly } = table;
    return this.add(new PlannedScan({ kind: "rows", table: name }, this.scans.length, defs, columns, table, selectsExactly));
  }

  scanOwn(schema: string, name: string): OwnScan | null {
    const columns = ownColumns(schema, name, this.tables.isInternal);
    if (columns === null) return null;
    const defs = rowTableDefs(columns);
    const subject: ScanSubject = { kind: "own", schema, table: name };
    const isStored = schema === "system" && findSystemTable(name, this.tables.isInternal)?.isStored === true;
    return { scan: this.add(new PlannedScan(subject, this.scans.length, defs, encoded(defs), null, false)), columns, isStored };
  }

  describe(name: string): TableDescription | null {
    return this.tables.isPlain ? null : this.find(name);
  }

  /** Names of a table's columns in the order of `*`; null: there is no such table. */
  columnsOf(schema: string, name: string): readonly string[] | null {
    const columns = schema === "iox" ? this.find(name)?.defs : ownColumns(schema, name, this.tables.isInternal);
    return columns?.map((column) => column.name) ?? null;
  }

  choose(): number | null {
    const place = this.choices++;
    return this.tables.refused.has(place) ? null : place;
  }

  groups(name: string, source: GroupSource): PlannedScan | null {
    const table = this.find(name);
    const stake = table?.makesGroups === true ? this.choose() : null;
    if (table === null || stake === null) return null;
    const defs = source.gaps === undefined ? aggregateDefs(source) : filledDefs(source, source.gaps);
    const subject: ScanSubject = { kind: "groups", table: name, source };
    const scan = new PlannedScan(subject, this.scans.length, defs, defs, table, true);
    scan.stake = stake;
    scan.conditions = [...source.conditions];
    return this.add(scan);
  }

  /** The tables and caches that were looked for. */
  get seen(): SeenTables {
    return new SeenTables(this.known);
  }

  private find(name: string): KnownTable | null {
    let known = this.known.get(name);
    if (known === undefined) {
      const table = this.tables.find(name);
      const takesConditions = this.tables.takesConditions && !this.tables.isPlain;
      known = table === null ? null : new KnownTable(table, { keepsOrder: isCacheKey(name), takesConditions });
      this.known.set(name, known);
    }
    return known;
  }

  private add(scan: PlannedScan): PlannedScan {
    this.scans.push(scan);
    return scan;
  }
}

/** Columns of groups have no ids; group keys keep their tag's. */
const NO_ID = -1;

/** The columns of groups with missing bins inserted. */
function filledDefs(source: GroupSource, { columns }: GapFill): ColumnDef[] {
  const groups = aggregateDefs(source);
  return columns.map(({ name, index }) => ({ ...groups[index]!, name }));
}

/** The groups' columns. */
function aggregateDefs({ request, columnNames }: GroupSource): ColumnDef[] {
  const firstTag = request.bins === null ? 0 : 1;
  const tags = request.counted === undefined ? request.groupBy : [];
  return aggregateColumns(request).map((type, i) => ({ id: tags[i - firstTag]?.id ?? NO_ID, name: columnNames[i]!, type }));
}
