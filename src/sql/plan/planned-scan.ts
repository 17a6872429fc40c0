// The tables of a statement as the rewriter sees them, and the scans that it requests. Planning reads no data: the planned scans are opened
// later (execute/statement-scans.ts).

import { aggregateColumns } from "../../model/query/aggregate.ts";
import { ALL_TIME, type FieldPredicate, type TimeRange } from "../../model/query/scan.ts";
import type { ScanTable } from "../../model/query/scan-table.ts";
import type { ColumnDef } from "../../model/rows/column.ts";
import type { EncodedColumns, GroupSource, ScanUse } from "../bind/kind.ts";
import { compareNames, encodeName } from "../parse/names.ts";
import type { OwnScan, TableCatalog, TableDescription } from "../rewrite/context.ts";
import { isCacheKey } from "../tables/cache-tables.ts";
import { rowTableDefs } from "../tables/row-table.ts";
import { ownColumns } from "../tables/virtual-tables.ts";

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
}

/** A scan of a statement, narrowed by the conditions around it. */
export class PlannedScan implements ScanUse {
  range: TimeRange = ALL_TIME;
  tags: ScanUse["tags"] = [];
  fields: FieldPredicate[] = [];
  newestOnly = false;
  present: readonly ColumnDef[] = [];
  stake: number | null = null;

  constructor(
    readonly subject: ScanSubject,
    /** Its index among the statement's scans. */
    readonly handle: number,
    readonly defs: readonly ColumnDef[],
    readonly columns: EncodedColumns,
    readonly times: TimeRange,
    readonly selectsExactly: boolean,
  ) {}
}

/** A user table referenced by the statement. */
class KnownTable implements TableDescription {
  readonly defs: readonly ColumnDef[];
  readonly columns: EncodedColumns;
  readonly times: TimeRange | undefined;
  readonly isSmall: boolean;
  readonly selectsExactly: boolean;
  readonly makesGroups: boolean;

  constructor({ columns, rowCountMax, selectsExactly = false, aggregate, times }: ScanTable, keepsOrder: boolean) {
    const shown = keepsOrder ? { defs: columns, columns: encoded(columns) } : byName(columns);
    this.defs = shown.defs;
    this.columns = shown.columns;
    this.times = times;
    this.isSmall = rowCountMax < SMALL_ROWS_END;
    this.selectsExactly = selectsExactly;
    this.makesGroups = aggregate !== undefined;
  }
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
    const defs = [...columns].sort((a, b) => compareNames(a.name, b.name));
    shown = { defs, columns: encoded(defs) };
    shownOf.set(columns, shown);
  }
  return shown;
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
    const { defs, columns, times = ALL_TIME, selectsExactly } = table;
    return this.add(new PlannedScan({ kind: "rows", table: name }, this.scans.length, defs, columns, times, selectsExactly));
  }

  scanOwn(schema: string, name: string): OwnScan | null {
    const columns = ownColumns(schema, name, this.tables.isInternal);
    if (columns === null) return null;
    const defs = rowTableDefs(columns);
    const subject: ScanSubject = { kind: "own", schema, table: name };
    return { scan: this.add(new PlannedScan(subject, this.scans.length, defs, encoded(defs), ALL_TIME, false)), columns };
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
    const defs = aggregateDefs(source);
    const subject: ScanSubject = { kind: "groups", table: name, source };
    const scan = new PlannedScan(subject, this.scans.length, defs, defs, table.times ?? ALL_TIME, true);
    scan.stake = stake;
    return this.add(scan);
  }

  private find(name: string): KnownTable | null {
    let known = this.known.get(name);
    if (known === undefined) {
      const table = this.tables.find(name);
      known = table === null ? null : new KnownTable(table, isCacheKey(name));
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

/** The groups' columns. */
function aggregateDefs({ request, columnNames }: GroupSource): ColumnDef[] {
  const firstTag = request.bins === null ? 0 : 1;
  return aggregateColumns(request).map((type, i) => ({ id: request.groupBy[i - firstTag]?.id ?? NO_ID, name: columnNames[i]!, type }));
}
