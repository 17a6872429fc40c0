// What one running statement reads: its tables as its rewrite planned them, under handles that DuckDB's scan function knows.
import { type ScanRegistry, shapeOfScan } from "../../duckdb/table-function.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { ScanTable } from "../../model/query/scan-table.ts";
import type { PlannedScan, StatementTables } from "../plan/planned-scan.ts";
import { RowTable } from "../tables/row-table.ts";
import { type OwnData, ownColumns, virtualTable } from "../tables/virtual-tables.ts";
import { AggregateScan } from "./aggregate-scan.ts";
import { type Breathe, DuckTable, type StatementScan } from "./duck-table.ts";
import type { SqlInput } from "./sql-statement.ts";

export interface ScanOwner {
  readonly kernel: Kernel;
  readonly registry: ScanRegistry;
}

export class StatementScans implements StatementTables {
  private scans: StatementScan[] = [];
  private virtualTables: RowTable[] = [];
  /** Choices that turned out wrong, by their place in the order in which the rewriter makes them. */
  readonly refused = new Set<number>();
  readonly isPlain: boolean;
  readonly isInternal: boolean;
  private readonly tables: readonly ScanTable[];
  private readonly caches: ReadonlyMap<string, ScanTable> | undefined;
  private own: OwnData;

  constructor(
    private readonly owner: ScanOwner,
    { tables, caches, databaseTables = [], isInternal = false, systemRows = {}, isPlain = false }: SqlInput,
  ) {
    this.tables = tables;
    this.caches = caches;
    this.isPlain = isPlain;
    this.isInternal = isInternal;
    this.own = { tables: databaseTables, isInternal, systemRows };
  }

  /** Whether there is a table of this name, as far as `databaseTables` tells. */
  has(schema: string, name: string): boolean {
    return schema === "iox" ? this.own.tables.some((table) => table.name === name) : ownColumns(schema, name, this.own.isInternal) !== null;
  }

  /** Of the tables of users, the statement is about this one. */
  narrow(name: string): void {
    this.own = { ...this.own, tables: this.own.tables.filter((table) => table.name === name) };
  }

  readonly find = (name: string): ScanTable | null => {
    return this.caches?.get(name) ?? this.tables.find((table) => table.name === name) ?? null;
  };

  /** Registers the scans of a rewrite for DuckDB to find, and gives their handles. */
  open(planned: readonly PlannedScan[]): readonly number[] {
    for (const plan of planned) {
      const scan = this.scanOf(plan);
      scan.handle = this.owner.registry.add(scan);
      this.scans.push(scan);
    }
    return this.scans.map(({ handle }) => handle);
  }

  /** Lets the storage make all groups, and look at newest rows. False: it could not make some, or they are not what they must be, and the
   *  statement must be rewritten anew, on new scans. */
  async prepare(breathe: Breathe): Promise<boolean> {
    let isDone = true;
    for (const scan of this.scans) {
      if (await scan.prepare(breathe)) continue;
      isDone = false;
      if (scan.stake !== null) this.refused.add(scan.stake);
    }
    return isDone;
  }

  /** Ends all scans; the next rewrite begins with none. */
  restart(): void {
    this.unregister();
    this.end();
  }

  /** Nobody may find them any more; those who have found them may still read. */
  unregister(): void {
    for (const scan of this.scans) this.owner.registry.remove(scan.handle);
  }

  /** Nothing is read after it. */
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

  /** What a plan of DuckDB's for these scans depends on, beside its text: their columns, and roughly how many rows they have. */
  get shape(): string {
    return this.scans.map((scan) => `${Math.ceil(Math.log2(scan.rowCountMax + 1))}\0${shapeOfScan(scan)}`).join("\0\0");
  }

  /** Whether `prepare` has groups to make. */
  get makesGroups(): boolean {
    return this.scans.some((scan) => scan instanceof AggregateScan);
  }

  get isEmpty(): boolean {
    return this.scans.length === 0;
  }

  /** What the storage threw, of which DuckDB keeps only the text. */
  get error(): unknown {
    return this.scans.find((scan) => scan.error !== undefined)?.error;
  }

  /** The single table that is read; "" for several, none, or tables of ours. */
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
      const found = virtualTable(schema, name, this.own)!;
      const table = new RowTable(kernel, name, found);
      this.virtualTables.push(table);
      return new DuckTable(kernel, table, plan);
    }
    const table = this.find(subject.table)!;
    return subject.kind === "groups" ? new AggregateScan(kernel, table, plan) : new DuckTable(kernel, table, plan);
  }
}
