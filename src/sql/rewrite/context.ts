// What a rewrite works with: the statement's tables, values and references. Calls have expressions in them, and expressions queries: what
// rewriter.ts and expression.ts import gets those rewritten through the context, so that imports point down.
import type { QueryParams } from "../../model/query/query.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import type { ColumnDef } from "../../model/rows/column.ts";
import type { SystemColumn } from "../../model/system-table.ts";
import type { EncodedColumns, GroupSource, ScanUse, Typed } from "../bind/kind.ts";
import type { CteMap, Derived, Scope } from "../bind/scope.ts";
import type { Expression, QueryNode } from "../parse/tree.ts";
import type { OpenParameters } from "./open-parameters.ts";
import type { TableReferences } from "./table-references.ts";

/** What a statement's tables are, for the rewriter. */
export interface TableCatalog {
  /** A scan of a user table, registered under a new handle; null when there is no such table. `name` is decoded. */
  scanTable(name: string): ScanUse | null;
  /** The same for a table of information_schema or system. */
  scanOwn(schema: string, name: string): OwnScan | null;
  /** A user table, with its columns in the order of `*`; null when there is no such table. */
  describe(name: string): TableDescription | null;
  /** Begins a choice that may turn out wrong when the storage is asked, and gives its place; null: it has. */
  choose(): number | null;
  /** A scan of groups of a user table's rows, registered under a new handle; null when the statement has to do without. */
  groups(name: string, source: GroupSource): ScanUse | null;
}

/** A scan of a table of information_schema or system. */
export interface OwnScan {
  readonly scan: ScanUse;
  readonly columns: readonly SystemColumn[];
}

/** A user table as the catalog describes it. */
export interface TableDescription {
  readonly defs: readonly ColumnDef[];
  readonly columns: EncodedColumns;
  /** Groups over all its rows are made sooner than DuckDB makes them of the newest. */
  readonly isSmall: boolean;
  /** No row has another time. Absent: unknown. */
  readonly times?: TimeRange | undefined;
}

/** What the statement that is rewritten depends on. */
export interface RewriteInput {
  readonly tables: TableCatalog;
  readonly params: QueryParams;
  /** now() */
  readonly nowNs: bigint;
  /** How often the statement names each WITH entry. */
  readonly references: TableReferences;
  /** The statement is described, not run: parameters without a value stay open. */
  readonly open?: OpenParameters | undefined;
}

/** The input of a rewrite, and the rewriter itself. */
export interface RewriteContext extends RewriteInput {
  /** Rewrites an expression. */
  expression(node: Expression, scope: Scope): Typed;
  /** Rewrites a query in place. */
  query(node: QueryNode, outer: Scope | null, ctes: CteMap): Derived;
}
