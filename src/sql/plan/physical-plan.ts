// The physical plan of one statement over one snapshot: its scans, and either a direct scan or SQL text for DuckDB.
import type { QueryParams } from "../../model/query/query.ts";
import { ColumnType } from "../../model/rows/column.ts";
import type { EncodedColumns } from "../bind/kind.ts";
import { PlanClock } from "../bind/plan-clock.ts";
import type { OutputColumn } from "../bind/scope.ts";
import { bindNames } from "../column-name/bind-names.ts";
import type { ItemNames } from "../column-name/select-items.ts";
import { type DirectScan, directScan, type ReturnedRows } from "../execute/direct-scan.ts";
import { firstRows } from "../execute/order/first-rows.ts";
import type { Breathe } from "../execute/series/breathe.ts";
import { limitCosts } from "../limits/cost-limits.ts";
import type { QueryNode } from "../parse/tree.ts";
import { printStatement } from "../print/print.ts";
import type { SqlWriter } from "../print/sql-writer.ts";
import type { OpenParameters } from "../rewrite/open-parameters.ts";
import { rewriteStatement } from "../rewrite/rewriter.ts";
import { TableReferences } from "../rewrite/table-references.ts";
import { type PlannedScan, PlannedTables, type SeenTables, type StatementTables } from "./planned-scan.ts";
import { keysQuery, seriesQuery } from "./series-query.ts";

/** The properties of a parsed statement that a plan needs. */
export interface ParsedQuery {
  /** A new tree. */
  tree(): QueryNode;
}

export interface PlanOptions {
  readonly params: QueryParams;
  /** Value of now(). */
  readonly nowNs: bigint;
  /** Names of unnamed columns. */
  readonly names: ItemNames;
  readonly tables: StatementTables;
  /** Maximum bytes that functions may create; null: no function creates any (cost-limits.ts). */
  readonly functionBytesMax: number | null;
  /** Set if the statement is described, not run: parameters without a value stay open. */
  readonly open?: OpenParameters;
  /** Called when a stage is complete. */
  readonly onPart?: (part: "fill" | "names" | "rewrite" | "limit") => void;
}

/** What a plan consists of, but for the value of now(). */
interface PlanParts {
  readonly query: QueryNode;
  /** Their ranges may follow from now(). */
  readonly scans: readonly PlannedScan[];
  readonly tables: SeenTables;
  readonly isRepeatable: boolean;
  readonly isInternal: boolean;
  readonly outputs: readonly OutputColumn[] | null;
  readonly functionBytes: number;
  readonly direct: DirectScan<PlannedScan> | null;
  /** What DuckDB reads of the rows of a scan, if it needs the first ones alone. */
  readonly firstRows: { readonly handle: number; readonly rows: ReturnedRows } | null;
}

/** The physical plan of one statement. It does not change: runs of the same text may share it (known-plan.ts). */
export class PhysicalPlan {
  readonly scans: readonly PlannedScan[];
  /** Null: DuckDB is needed. */
  readonly direct: DirectScan<PlannedScan> | null;

  private constructor(
    private readonly parts: PlanParts,
    nowNs: bigint,
  ) {
    const { scans, direct } = parts;
    this.scans = scans.map((scan) => scan.at(nowNs));
    this.direct = direct === null ? null : { ...direct, scan: this.scans[direct.scan.handle]! };
  }

  /** True if it depends on the text, the tables' properties, and by ranges of scans on the clock: not on parameters, nor on an attempt that
   *  has failed. */
  get isRepeatable(): boolean {
    return this.parts.isRepeatable;
  }

  /** Columns of the answer; null: only DuckDB knows them. */
  get outputs(): readonly OutputColumn[] | null {
    return this.parts.outputs;
  }

  /** Bytes that functions may create at a time. */
  get functionBytes(): number {
    return this.parts.functionBytes;
  }

  /** The rows that are returned of a scan, by its handle; null: all, or they may have any time. */
  get returned(): { readonly handle: number; readonly rows: ReturnedRows } | null {
    const { direct, firstRows } = this.parts;
    return direct === null ? firstRows : { handle: direct.scan.handle, rows: direct };
  }

  /** The plan when now() has that value. */
  at(nowNs: bigint): PhysicalPlan {
    return this.parts.scans.some(({ isDeferred }) => isDeferred) ? new PhysicalPlan(this.parts, nowNs) : this;
  }

  /** @throws TsdbError bad_query */
  static of(statement: ParsedQuery, options: PlanOptions): PhysicalPlan {
    const stages = PhysicalPlan.stages(statement, options);
    for (;;) {
      const { done, value } = stages.next();
      if (done) return value;
    }
  }

  /** The same with pauses between the stages of a long statement. */
  static async inTurns(statement: ParsedQuery, options: PlanOptions, breathe: Breathe): Promise<PhysicalPlan> {
    const stages = PhysicalPlan.stages(statement, options);
    for (;;) {
      const { done, value } = stages.next();
      if (done) return value;
      const pause = breathe();
      if (pause !== null) await pause;
    }
  }

  private static *stages(statement: ParsedQuery, options: PlanOptions): Generator<void, PhysicalPlan, void> {
    const { params, nowNs, names, tables, functionBytesMax, open, onPart } = options;
    const query = statement.tree();
    onPart?.("fill");
    yield;
    const planned = new PlannedTables(tables);
    const clock = new PlanClock(nowNs);
    bindNames(query, names, (schema, table) => planned.columnsOf(schema, table));
    onPart?.("names");
    const input = { tables: planned, params, clock, references: new TableReferences(query), open };
    const { columns: outputs } = rewriteStatement(query, input);
    onPart?.("rewrite");
    yield;
    const { scans } = planned;
    const columnsOf = (place: number) => scans[place]?.columns ?? null;
    for (const scan of scans) {
      scan.series = seriesQuery(scan.conditions);
      scan.keys = scan.subject.kind === "groups" ? keysQuery(scan.subject.source) : null;
    }
    const bytesOf = (node: QueryNode, columns: (place: number) => EncodedColumns | null) =>
      functionBytesMax === null ? 0 : limitCosts(node, { bytesMax: functionBytesMax, columnsOf: columns });
    const beforehand = scans.flatMap(({ series, keys }) => [...(series === null ? [] : [series]), ...(keys === null ? [] : [keys])]);
    const ofSeries = beforehand.map((each) => bytesOf(each.query, () => each.columns));
    // they run one after the other
    const functionBytes = Math.max(bytesOf(query, columnsOf), ...ofSeries);
    onPart?.("limit");
    yield;
    const direct = tables.isPlain ? null : directScan(query, scans);
    const first =
      tables.isPlain || direct !== null ? null : firstRows(query, scans, (scan, index) => scan.defs[index]!.type === ColumnType.time);
    const { seen } = planned;
    // a statement for DuckDB, and one over combinations, have now() in their text
    const isTimeless = !clock.isUsed || (!clock.isRead && direct !== null && beforehand.length === 0);
    const parts = {
      ...{ query: first?.query ?? query, scans, tables: seen, outputs, functionBytes, direct },
      firstRows: first === null ? null : { handle: first.scan.handle, rows: first.rows },
      ...{ isRepeatable: isTimeless && isRepeatable(options), isInternal: tables.isInternal },
    };
    return new PhysicalPlan(parts, nowNs);
  }

  /** True if planning the same text with these options would return an equal plan. */
  fits(options: PlanOptions): boolean {
    const { isInternal, tables } = this.parts;
    return this.isRepeatable && isRepeatable(options) && options.tables.isInternal === isInternal && tables.fit(options.tables);
  }

  /** The statement for DuckDB. `scanCalls`: those of `scans`, in order. */
  print(scanCalls: readonly string[]): SqlWriter {
    return printStatement(this.parts.query, scanCalls);
  }
}

function isRepeatable({ params, tables, open }: PlanOptions): boolean {
  for (const _ in params) return false;
  return open === undefined && !tables.isPlain && tables.takesConditions && tables.refused.size === 0;
}
