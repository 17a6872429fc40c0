// The tables of a rewrite: what it may know of them, and the scans that it asks for. Nothing is read: a rewrite outlives the snapshot
// it was made for, so the scans of a statement are opened by what is planned here (statement-scans.ts).

import { aggregateColumns } from "../../model/query/aggregate.ts";
import { ALL_TIME, type FieldPredicate, type TimeRange } from "../../model/query/scan.ts";
import type { ScanTable } from "../../model/query/scan-table.ts";
import type { ColumnDef } from "../../model/rows/column.ts";
import type { GroupSource, ScanUse } from "../bind/kind.ts";
import type { Late } from "../parse/late.ts";
import { compareNames, encodeName } from "../parse/names.ts";
import type { OwnScan, TableCatalog, TableDescription } from "../rewrite/context.ts";
import { isCacheKey } from "../tables/cache-tables.ts";
import { rowTableDefs } from "../tables/row-table.ts";
import { ownColumns } from "../tables/virtual-tables.ts";
import type { Trace } from "./trace.ts";

/** In tables of less rows groups over all of them are made sooner than DuckDB makes them of the newest. */
const SMALL_ROWS_END = 1_000_000;

/** What a scan reads. */
export type ScanSubject =
  | { readonly kind: "rows"; readonly table: string }
  | { readonly kind: "groups"; readonly table: string; readonly source: Late<GroupSource> }
  | { readonly kind: "own"; readonly schema: string; readonly table: string };

/** Tables as a statement finds them. */
export interface StatementTables {
  /** Caches by their keys (cache-tables.ts). */
  readonly find: (name: string) => ScanTable | null;
  /** DuckDB makes everything, of rows. */
  readonly isPlain: boolean;
  /** The database is `_internal`. */
  readonly isInternal: boolean;
  /** Choices that turned out wrong, by their places. */
  readonly refused: ReadonlySet<number>;
}

/** A scan that a statement needs. */
export class PlannedScan implements ScanUse {
  /** Encoded. */
  readonly columns: readonly { readonly name: string; readonly type: ColumnDef["type"] }[];
  tags: ScanUse["tags"] = [];
  fields: FieldPredicate[] = [];
  newestOnly = false;
  present: readonly ColumnDef[] = [];
  stake: number | null = null;
  private narrowed = ALL_TIME;

  constructor(
    private readonly trace: Trace,
    readonly subject: ScanSubject,
    /** Its place among the scans of the statement. */
    readonly handle: number,
    readonly defs: readonly ColumnDef[],
    private readonly table: KnownTable | null,
  ) {
    this.columns = subject.kind === "groups" ? defs : (table?.encoded ?? encoded(defs));
  }

  get selectsExactly(): boolean {
    return this.subject.kind === "groups" || this.table?.facts.selectsExactly === true;
  }

  /** What conditions left depends on the statement. */
  get range(): TimeRange {
    this.trace.lookAtSteps();
    return this.narrowed;
  }

  set range(range: TimeRange) {
    this.narrowed = range;
  }

  get times(): TimeRange {
    return this.table?.times ?? ALL_TIME;
  }

  /** As it was before any condition. */
  reset(): void {
    this.narrowed = ALL_TIME;
    this.tags = [];
    this.fields = [];
  }
}

/** A table of the rewrite's first statement, and then of the others'. */
class KnownTable implements TableDescription {
  readonly defs: readonly ColumnDef[];
  readonly encoded: PlannedScan["columns"];
  private areTimesFixed = false;

  constructor(
    private readonly trace: Trace,
    public facts: TableFacts,
    /** Its columns are shown in the order that they have, not by name. */
    keepsOrder: boolean,
  ) {
    this.defs = keepsOrder ? facts.columns : [...facts.columns].sort((a, b) => compareNames(a.name, b.name));
    this.encoded = encoded(this.defs);
  }

  get isSmall(): boolean {
    return this.facts.isSmall;
  }

  get times(): TimeRange | undefined {
    if (!this.trace.isInStep) this.areTimesFixed = true;
    return this.facts.times;
  }

  /** Whether nothing that the rewrite knows of it is otherwise. */
  isLike({ columns, selectsExactly, makesGroups, isSmall, times }: TableFacts): boolean {
    const { facts } = this;
    return (
      columns.length === facts.columns.length &&
      columns.every((column, i) => isSameColumn(column, facts.columns[i]!)) &&
      selectsExactly === facts.selectsExactly &&
      makesGroups === facts.makesGroups &&
      isSmall === facts.isSmall &&
      (!this.areTimesFixed || (times?.minNs === facts.times?.minNs && times?.maxNs === facts.times?.maxNs))
    );
  }
}

function isSameColumn(a: ColumnDef, b: ColumnDef): boolean {
  return a.id === b.id && a.name === b.name && a.type === b.type;
}

/** All that a rewrite may know of a table: no rows. */
interface TableFacts {
  readonly columns: readonly ColumnDef[];
  readonly selectsExactly: boolean;
  readonly makesGroups: boolean;
  readonly isSmall: boolean;
  readonly times: TimeRange | undefined;
}

function factsOf({ columns, rowCountMax, selectsExactly = false, aggregate, times }: ScanTable): TableFacts {
  return { columns, selectsExactly, makesGroups: aggregate !== undefined, isSmall: rowCountMax < SMALL_ROWS_END, times };
}

function encoded(defs: readonly ColumnDef[]): PlannedScan["columns"] {
  return defs.map(({ name, type }) => ({ name: encodeName(name), type }));
}

export class PlannedTables implements TableCatalog {
  readonly scans: PlannedScan[] = [];
  private readonly known = new Map<string, KnownTable | null>();
  private choices = 0;
  private readonly isPlain: boolean;
  private readonly isInternal: boolean;
  /** Of the first statement, until its rewrite is done. */
  private tables: StatementTables | null;

  constructor(
    private readonly trace: Trace,
    tables: StatementTables,
  ) {
    this.isPlain = tables.isPlain;
    this.isInternal = tables.isInternal;
    this.tables = tables;
  }

  scanTable(name: string): PlannedScan | null {
    const table = this.find(name);
    return table === null ? null : this.add({ kind: "rows", table: name }, table.defs, table);
  }

  scanOwn(schema: string, name: string): OwnScan | null {
    const columns = ownColumns(schema, name, this.isInternal);
    if (columns === null) return null;
    return { scan: this.add({ kind: "own", schema, table: name }, rowTableDefs(columns), null), columns };
  }

  describe(name: string): TableDescription | null {
    return this.isPlain ? null : this.find(name);
  }

  /** Names of a table's columns in the order of `*`; null: there is no such table. */
  columnsOf(schema: string, name: string): readonly string[] | null {
    const columns = schema === "iox" ? this.find(name)?.defs : ownColumns(schema, name, this.isInternal);
    return columns?.map((column) => column.name) ?? null;
  }

  choose(): number | null {
    const place = this.choices++;
    return this.tables!.refused.has(place) ? null : place;
  }

  groups(name: string, source: Late<GroupSource>): PlannedScan | null {
    const table = this.find(name);
    const stake = table?.facts.makesGroups === true ? this.choose() : null;
    if (table === null || stake === null) return null;
    return Object.assign(this.add({ kind: "groups", table: name, source }, aggregateDefs(source.current), table), { stake });
  }

  /** Whether a rewrite over these tables is one over others; then they are the tables from now on. */
  fit({ find, isPlain, isInternal, refused }: StatementTables): boolean {
    if (isPlain !== this.isPlain || isInternal !== this.isInternal || refused.size > 0) return false;
    for (const [name, known] of this.known) {
      const table = find(name);
      if (known === null || table === null) {
        if (known !== table) return false;
        continue;
      }
      const facts = factsOf(table);
      if (!known.isLike(facts)) return false;
      known.facts = facts;
    }
    for (const scan of this.scans) scan.reset();
    return true;
  }

  /** The rewrite is done: nothing of the statement's snapshot is kept. */
  close(): void {
    this.tables = null;
  }

  private find(name: string): KnownTable | null {
    let known = this.known.get(name);
    if (known === undefined) {
      const table = this.tables!.find(name);
      known = table === null ? null : new KnownTable(this.trace, factsOf(table), isCacheKey(name));
      this.known.set(name, known);
    }
    return known;
  }

  private add(subject: ScanSubject, defs: readonly ColumnDef[], table: KnownTable | null): PlannedScan {
    const scan = new PlannedScan(this.trace, subject, this.scans.length, defs, table);
    this.scans.push(scan);
    return scan;
  }
}

/** A column of groups has no id of its own: group keys keep the tag's, all others have none. */
const NO_ID = -1;

/** The groups' columns. */
function aggregateDefs({ request, columnNames }: GroupSource): ColumnDef[] {
  const firstTag = request.bins === null ? 0 : 1;
  return aggregateColumns(request).map((type, i) => ({ id: request.groupBy[i - firstTag]?.id ?? NO_ID, name: columnNames[i]!, type }));
}
