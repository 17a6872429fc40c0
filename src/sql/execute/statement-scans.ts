// The scans of one running statement, as its rewrite planned them, registered under handles with DuckDB's scan function.
import { type ScanRegistry, scanCall, shapeOfScan } from "../../duckdb/table-function.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { ScanTable } from "../../model/query/scan-table.ts";
import type { PlannedScan, StatementTables } from "../plan/planned-scan.ts";
import { RowTable } from "../tables/row-table.ts";
import { type OwnData, ownColumns, virtualTable } from "../tables/virtual-tables.ts";
import { AggregateScan } from "./aggregate-scan.ts";
import { type BulkReading, DuckTable, type StatementScan } from "./duck-table.ts";
import type { PrepareParts } from "./series/combinations.ts";
import type { SqlInput } from "./sql-statement.ts";

export interface ScanOwner {
  readonly kernel: Kernel;
  readonly registry: ScanRegistry;
}

/** Opens and owns the scans of one statement. */
export class StatementScans implements StatementTables {
  private scans: StatementScan[] = [];
  private virtualTables: RowTable[] = [];
  /** Numbers of choices that turned out wrong, in the order in which the rewriter makes them. */
  readonly refused = new Set<number>();
  /** False after a condition could not be decided. */
  takesConditions = true;
  readonly isPlain: boolean;
  readonly isInternal: boolean;
  private readonly tables: readonly ScanTable[];
  private readonly caches: ReadonlyMap<string, ScanTable> | undefined;
  private readonly storedSystemTables: ReadonlyMap<string, ScanTable>;
  private own: OwnData;

  constructor(
    private readonly owner: ScanOwner,
    { tables, caches, databaseTables = [], isInternal = false, systemRows = {}, isPlain = false, storedSystemTables }: SqlInput,
  ) {
    this.tables = tables;
    this.caches = caches;
    this.storedSystemTables = storedSystemTables ?? new Map();
    this.isPlain = isPlain;
    this.isInternal = isInternal;
    this.own = { tables: databaseTables, isInternal, systemRows };
  }

  /** True if `databaseTables` contains a table of this name. */
  has(schema: string, name: string): boolean {
    return schema === "iox" ? this.own.tables.some((table) => table.name === name) : ownColumns(schema, name, this.own.isInternal) !== null;
  }

  /** Restricts the statement to this user table. */
  narrow(name: string): void {
    this.own = { ...this.own, tables: this.own.tables.filter((table) => table.name === name) };
  }

  readonly find = (name: string): ScanTable | null => {
    return this.caches?.get(name) ?? this.tables.find((table) => table.name === name) ?? null;
  };

  /** Registers the scans of a rewrite with DuckDB. */
  open(planned: readonly PlannedScan[]): void {
    for (const plan of planned) {
      const scan = this.scanOf(plan);
      scan.handle = this.owner.registry.add(scan);
      this.scans.push(scan);
    }
  }

  /** The calls that read them in DuckDB, in order. */
  get calls(): readonly string[] {
    return this.scans.map(scanCall);
  }

  /** True if a scan may have so many rows. */
  areLong(rowsMin: number): boolean {
    return this.scans.some(({ rowCountMax }) => rowCountMax >= rowsMin);
  }

  /** Reads scans of many rows in bulk; the calls of these are others then. */
  readInBulk(bulk: BulkReading): void {
    for (const scan of this.scans) scan.readInBulk?.(bulk);
  }

  /** Lets scans compute their groups and check newest rows. Returns false if one fails, so that the statement must be rewritten with new
   *  scans. */
  async prepare(parts: PrepareParts): Promise<boolean> {
    let isDone = true;
    for (const scan of this.scans) {
      const wrong = await scan.prepare(parts);
      if (wrong === null) continue;
      isDone = false;
      if (wrong === "conditions") this.takesConditions = false;
      else if (scan.stake !== null) this.refused.add(scan.stake);
    }
    return isDone;
  }

  /** Ends all scans; the next rewrite starts with none. */
  restart(): void {
    this.unregister();
    this.end();
  }

  /** Unregisters the scans; threads that have found them may still be reading. */
  unregister(): void {
    for (const scan of this.scans) this.owner.registry.remove(scan.handle);
  }

  /** Ends all scans; nothing is read afterwards. */
  end(): void {
    for (const scan of this.scans) {
      scan.end();
      this.owner.registry.release(scan.handle);
    }
    for (const table of this.virtualTables) table.release();
    this.scans = [];
    this.virtualTables = [];
  }

  get all(): readonly StatementScan[] {
    return this.scans;
  }

  /** The properties of the scans that a DuckDB plan depends on, in addition to its text: columns and approximate row counts. */
  get shape(): string {
    return this.scans.map((scan) => `${Math.ceil(Math.log2(scan.rowCountMax + 1))}\0${shapeOfScan(scan)}`).join("\0\0");
  }

  /** True if `prepare` has groups to compute, or conditions to decide. */
  get isPrepared(): boolean {
    return this.scans.some((scan) => scan instanceof AggregateScan || scan.condition !== null);
  }

  get isEmpty(): boolean {
    return this.scans.length === 0;
  }

  /** The scans' first error, of which DuckDB keeps only the text. */
  get error(): unknown {
    return this.scans.find((scan) => scan.error !== undefined)?.error;
  }

  /** The name of the only table read; "" for several, none, or virtual tables. */
  get tableName(): string {
    const names = new Set(this.scans.map(({ table }) => table.name));
    const [only] = names;
    return names.size === 1 && this.virtualTables.length === 0 && only !== undefined ? only : "";
  }

  private scanOf(plan: PlannedScan): StatementScan {
    const { kernel } = this.owner;
    const { subject } = plan;
    if (subject.kind === "own") {
      const { schema, table: name } = subject;
      const stored = schema === "system" ? this.storedSystemTables.get(name) : undefined;
      if (stored !== undefined) return new DuckTable(kernel, stored, plan);
      const found = virtualTable(schema, name, this.own)!;
      const table = new RowTable(kernel, name, found);
      this.virtualTables.push(table);
      return new DuckTable(kernel, table, plan);
    }
    const table = this.find(subject.table)!;
    return subject.kind === "groups" ? new AggregateScan(kernel, table, plan) : new DuckTable(kernel, table, plan);
  }
}
