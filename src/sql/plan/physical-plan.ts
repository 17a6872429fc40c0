// The physical plan of one statement over one snapshot: its scans, and either a direct scan or a text for DuckDB.
import type { QueryParams } from "../../model/query/query.ts";
import type { OutputColumn } from "../bind/scope.ts";
import { bindNames } from "../column-name/bind-names.ts";
import type { ItemNames } from "../column-name/select-items.ts";
import { type DirectScan, directScan } from "../execute/direct-scan.ts";
import type { Breathe } from "../execute/duck-table.ts";
import { limitCosts } from "../limits/cost-limits.ts";
import type { QueryNode } from "../parse/tree.ts";
import { printStatement } from "../print/print.ts";
import type { SqlWriter } from "../print/sql-writer.ts";
import type { OpenParameters } from "../rewrite/open-parameters.ts";
import { rewriteStatement } from "../rewrite/rewriter.ts";
import { TableReferences } from "../rewrite/table-references.ts";
import { type PlannedScan, PlannedTables, type StatementTables } from "./planned-scan.ts";

/** A parsed statement, as a plan needs it. */
export interface ParsedQuery {
  /** A tree of the caller's own. */
  tree(): QueryNode;
}

export interface PlanOptions {
  readonly params: QueryParams;
  /** now() */
  readonly nowNs: bigint;
  /** Of columns that the statement gives none. */
  readonly names: ItemNames;
  readonly tables: StatementTables;
  /** Bytes that functions may make; null: nothing in the statement makes any (cost-limits.ts). */
  readonly functionBytesMax: number | null;
  /** The statement is described, not run: parameters without a value stay open. */
  readonly open?: OpenParameters;
  /** Told when a part of it is done. */
  readonly onPart?: (part: "fill" | "names" | "rewrite" | "limit") => void;
}

export class PhysicalPlan {
  private printed: SqlWriter | null = null;

  private constructor(
    private readonly query: QueryNode,
    readonly scans: readonly PlannedScan[],
    /** Columns of the answer; null: DuckDB knows them. */
    readonly outputs: readonly OutputColumn[] | null,
    /** What functions may make at a time. */
    readonly functionBytes: number,
    /** Null: DuckDB has something to do. */
    readonly direct: DirectScan<PlannedScan> | null,
  ) {}

  /** @throws TsdbError bad_query */
  static of(statement: ParsedQuery, options: PlanOptions): PhysicalPlan {
    const stages = PhysicalPlan.stages(statement, options);
    for (;;) {
      const { done, value } = stages.next();
      if (done) return value;
    }
  }

  /** The same, while others have their turn between the stages of a long one. */
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
    bindNames(query, names, (schema, table) => planned.columnsOf(schema, table));
    onPart?.("names");
    const input = { tables: planned, params, nowNs, references: new TableReferences(query), open };
    const { columns: outputs } = rewriteStatement(query, input);
    onPart?.("rewrite");
    yield;
    const { scans } = planned;
    const columnsOf = (place: number) => scans[place]?.columns ?? null;
    const functionBytes = functionBytesMax === null ? 0 : limitCosts(query, { bytesMax: functionBytesMax, columnsOf });
    onPart?.("limit");
    yield;
    return new PhysicalPlan(query, scans, outputs, functionBytes, tables.isPlain ? null : directScan(query, scans));
  }

  /** The statement for DuckDB. `handles`: those of `scans`, by their places; always the same ones. */
  text(handles: readonly number[]): string {
    this.printed ??= printStatement(this.query, handles);
    return this.printed.text;
  }

  /** The location in the statement of a byte offset in the text; null when nothing before it is marked, or there is no text. */
  sourceOf(byteOffset: number): number | null {
    return this.printed === null ? null : this.printed.sourceOf(byteOffset);
  }
}
