// The environment of a rewrite: the statement's tables, values and references. Calls contain expressions, and expressions contain queries:
// modules imported by rewriter.ts and expression.ts rewrite those through the context, so that imports have one direction.
import type { QueryParams } from "../../model/query/query.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import type { ColumnDef } from "../../model/rows/column.ts";
import type { SystemColumn } from "../../model/system-table.ts";
import type { EncodedColumns, GroupSource, ScanUse, Typed } from "../bind/kind.ts";
import type { PlanClock } from "../bind/plan-clock.ts";
import type { CteMap, Derived, Narrowable, Relation, Scope } from "../bind/scope.ts";
import type { Expression, QueryNode, TableRef } from "../parse/tree.ts";
import type { OpenParameters } from "./open-parameters.ts";
import type { TableReferences } from "./table-references.ts";

/** A rewritten FROM. */
export interface From {
  readonly ref: TableRef;
  readonly relations: readonly Relation[];
  readonly narrowable: Narrowable;
}

/** The statement's tables, as the rewriter uses them. */
export interface TableCatalog {
  /** A scan of a user table, registered under a new handle; null if there is no such table. `name` is decoded. */
  scanTable(name: string): ScanUse | null;
  /** The same for a virtual table of information_schema or system. */
  scanOwn(schema: string, name: string): OwnScan | null;
  /** A user table, with its columns in the order of `*`; null if there is no such table. */
  describe(name: string): TableDescription | null;
  /** Starts a choice that may turn out wrong when the scan is opened, and returns its number; null: it did in an earlier attempt. */
  choose(): number | null;
  /** A scan of groups of a user table's rows, registered under a new handle; null if that is not possible. */
  groups(name: string, source: GroupSource): ScanUse | null;
}

/** A scan of a virtual table. */
export interface OwnScan {
  /** The scan takes conditions, as one of a user table. */
  readonly isStored: boolean;
  readonly scan: ScanUse;
  readonly columns: readonly SystemColumn[];
}

/** A user table in the catalog. */
export interface TableDescription {
  readonly defs: readonly ColumnDef[];
  readonly columns: EncodedColumns;
  /** True if aggregating all its rows is faster than DuckDB's aggregation of the newest ones. */
  readonly isSmall: boolean;
  /** See ScanUse. */
  readonly takesConditions: boolean;
  /** Contains the times of all rows. Absent: unknown. */
  readonly times?: TimeRange | undefined;
}

/** The input of a rewrite. */
export interface RewriteInput {
  readonly tables: TableCatalog;
  readonly params: QueryParams;
  /** Of now(). */
  readonly clock: PlanClock;
  /** Number of references to each WITH entry. */
  readonly references: TableReferences;
  /** Set if the statement is described, not run: parameters without a value stay open. */
  readonly open?: OpenParameters | undefined;
}

/** The input of a rewrite, and the recursive rewrite functions. */
export interface RewriteContext extends RewriteInput {
  /** References that the rewriter itself has made. */
  readonly sources: Map<TableRef, From>;
  /** Rewrites an expression. */
  expression(node: Expression, scope: Scope): Typed;
  /** Rewrites a query in place. */
  query(node: QueryNode, outer: Scope | null, ctes: CteMap): Derived;
}
