// Decides on DuckDB's tree what may run: traverses every node, rejects unknown ones, and collects tables and parameters.
import type { CacheReference } from "../../model/caches.ts";
import { TsdbError } from "../../model/errors.ts";
import { CteScope } from "../bind/cte-scope.ts";
import { DIALECT_FUNCTIONS } from "../bind/dialect.ts";
import { checkDistinctOrder } from "../bind/distinct-order.ts";
import { DUCKDB_FUNCTIONS, TABLE_FUNCTIONS } from "../bind/functions.ts";
import { unknownFunction } from "../bind/unknown-function.ts";
import { StatementSize } from "../limits/statement-size.ts";
import { cacheKey } from "../tables/cache-tables.ts";
import { decodeNames } from "./names.ts";
import { percentage } from "./row-count.ts";
import type { BaseTable, Expression, Modifier, NodeBase, OrderBy, QueryNode, SelectNode, TableRef } from "./tree.ts";
import { unsupported } from "./unsupported.ts";

/** A table of a statement other than a CTE. `schema` is "iox", "information_schema" or "system". */
export interface TableName {
  readonly schema: string;
  readonly table: string;
}

export interface CheckResult {
  /** Decoded names of user tables, without duplicates. */
  readonly tables: readonly string[];
  /** True if the statement reads the list of tables. */
  readonly readsCatalog: boolean;
  /** Names in schema `system`, without duplicates. */
  readonly systemTables: readonly string[];
  /** Without duplicates. */
  readonly caches: readonly CacheReference[];
  /** True if nothing in it could create large values or a large plan: few functions, and none of text or lists (cost-limits.ts). */
  readonly isSimple: boolean;
}

const SIMPLE_FUNCTIONS_MAX = 40;
const SIMPLE_INTERVALS_MAX = 2;
/** Maximum nesting within a simple statement: rewritten expressions may use their argument twice per level. */
const SIMPLE_LEVELS_MAX = 8;
/** Functions that most dashboard statements consist of. */
const SIMPLE_FUNCTIONS: ReadonlySet<string> = new Set(
  `+ - * / % avg count count_star date_bin date_part date_trunc first_value last_value max mean median min now round abs selector_first
   selector_last selector_max selector_min stddev sum approx_distinct approx_median approx_percentile_cont row_number`.split(/\s+/),
);

/** The name of a call as DuckDB reads it. */
interface CalledName {
  readonly function_name: string;
  readonly schema: string;
  readonly catalog: string;
}

/** CTE names visible at a node. */
type CteNames = CteScope<true>;

/** The schema and table of a reference as written, for a cache its key. @throws TsdbError bad_query for names outside our catalog */
export function tableNameOf(ref: BaseTable): TableName {
  if (ref.cache !== undefined) return { schema: "iox", table: cacheKey(ref.cache) };
  const table = decodeNames(ref.table_name);
  const [catalog, schema] = [decodeNames(ref.catalog_name), decodeNames(ref.schema_name)];
  const known = (catalog === "" || catalog === "public") && ["", "iox", "information_schema", "system"].includes(schema);
  if (!known) throw unknownTable(catalog === "" ? "public" : catalog, schema, table);
  return { schema: schema === "" ? "iox" : schema, table };
}

/** The error for a table that does not exist. */
export function unknownTable(catalog: string, schema: string, table: string): TsdbError {
  const name = `${catalog}.${schema}.${table}`;
  return new TsdbError("bad_query", `Error during planning: table '${name}' not found`, { table: name });
}

/** Checks a query. @throws TsdbError bad_query for anything that is not allowed */
export function checkQuery(node: QueryNode): CheckResult {
  const checker = new Checker();
  checker.query(node, CteScope.inside<true>(null));
  return {
    tables: [...checker.tables],
    readsCatalog: checker.readsCatalog,
    systemTables: [...checker.systemTables],
    caches: [...checker.caches.values()],
    isSimple: checker.isSimple,
  };
}

class Checker {
  readonly tables = new Set<string>();
  readonly systemTables = new Set<string>();
  readonly caches = new Map<string, CacheReference>();
  readsCatalog = false;
  private readonly size = new StatementSize();
  /** Nesting of expressions within their query. */
  private levels = 0;
  private mostLevels = 0;
  private functions = 0;
  private usesOthers = false;
  /** Number of intervals: adding months is slow. */
  private intervals = 0;

  get isSimple(): boolean {
    if (this.mostLevels > SIMPLE_LEVELS_MAX) return false;
    return !this.usesOthers && this.functions <= SIMPLE_FUNCTIONS_MAX && this.intervals <= SIMPLE_INTERVALS_MAX;
  }

  query(node: QueryNode, outer: CteNames): void {
    this.size.enter();
    const { levels } = this;
    this.levels = 0;
    const ctes = this.ctes(node, outer);
    switch (node.type) {
      case "SELECT_NODE":
        this.size.select(node, () => {
          this.select(node, ctes);
          checkDistinctOrder(node);
          this.modifiers(node, ctes);
        });
        break;
      case "SET_OPERATION_NODE":
        if (!["UNION", "EXCEPT", "INTERSECT", "UNION_BY_NAME"].includes(node.setop_type)) throw unsupported(node.setop_type);
        this.size.setOperation();
        this.query(node.left, ctes);
        this.query(node.right, ctes);
        this.modifiers(node, ctes);
        break;
      case "RECURSIVE_CTE_NODE":
        if (node.key_targets.length > 0) throw unsupported("USING KEY");
        this.query(node.left, ctes);
        this.query(node.right, CteScope.inside(ctes).with(node.cte_name, true));
        this.modifiers(node, ctes);
        break;
      default:
        throw unsupported(`query ${(node as { type: string }).type}`);
    }
    this.levels = levels;
    this.size.leave();
  }

  private select(node: SelectNode, ctes: CteNames): void {
    this.size.items(node.select_list, (item) => this.expression(item, ctes));
    this.table(node.from_table, ctes);
    this.expressions(node.group_expressions, ctes);
    this.optional(ctes, node.where_clause, node.having, node.qualify);
    if (!["STANDARD_HANDLING", "FORCE_AGGREGATES"].includes(node.aggregate_handling)) throw unsupported(node.aggregate_handling);
    if (node.sample !== null) throw unsupported("USING SAMPLE");
  }

  private ctes(node: NodeBase, outer: CteNames): CteNames {
    if (node.cte_map.map.length === 0) return outer;
    let visible = CteScope.inside(outer);
    for (const { key, value } of node.cte_map.map) {
      if (value.key_targets.length > 0) throw unsupported("USING KEY");
      this.size.withEntry();
      this.query(value.query.node, visible);
      visible = visible.with(key, true);
    }
    return visible;
  }

  private modifiers({ modifiers }: NodeBase, ctes: CteNames): void {
    for (const modifier of modifiers) this.modifier(modifier, ctes);
  }

  private modifier(modifier: Modifier, ctes: CteNames): void {
    if (modifier.type === "ORDER_MODIFIER") this.orders(modifier.orders, ctes);
    else if (modifier.type === "DISTINCT_MODIFIER") {
      this.size.keys("expressions in DISTINCT ON", modifier.distinct_on_targets);
      this.expressions(modifier.distinct_on_targets, ctes);
    } else if (modifier.type === "LIMIT_MODIFIER") this.optional(ctes, modifier.limit, modifier.offset);
    else if (modifier.type === "LIMIT_PERCENT_MODIFIER") throw percentage();
    else throw unsupported((modifier as { type: string }).type);
  }

  private table(ref: TableRef, ctes: CteNames): void {
    this.size.enter();
    if (ref.sample !== null && ref.sample !== undefined) throw unsupported("TABLESAMPLE");
    switch (ref.type) {
      case "EMPTY":
        break;
      case "BASE_TABLE":
        this.baseTable(ref, ctes);
        break;
      case "JOIN":
        if (ref.alias !== "") throw unsupported("an alias of a join");
        this.table(ref.left, ctes);
        this.table(ref.right, ctes);
        this.optional(ctes, ref.condition);
        break;
      case "SUBQUERY":
        this.query(ref.subquery.node, ctes);
        break;
      case "TABLE_FUNCTION":
        this.tableFunction(ref.function.function_name, ref.function.schema);
        this.expressions(ref.function.children, ctes);
        break;
      case "EXPRESSION_LIST":
        for (const row of ref.values) {
          this.size.row(row);
          this.expressions(row, ctes);
        }
        break;
      case "SHOW_REF":
        throw unsupported("SHOW, DESCRIBE and SUMMARIZE inside a query");
      default:
        throw unsupported(`${(ref as { type: string }).type} in FROM`);
    }
    this.size.leave();
  }

  private baseTable(ref: BaseTable, ctes: CteNames): void {
    if (ref.at_clause !== null) throw unsupported("AT");
    if (ref.schema_name === "" && ref.catalog_name === "" && ctes.has(ref.table_name)) return;
    const name = tableNameOf(ref);
    if (ref.cache !== undefined) this.caches.set(name.table, ref.cache);
    else if (name.schema === "iox") this.tables.add(name.table);
    else if (name.schema === "system") this.systemTables.add(name.table);
    else this.readsCatalog = true;
  }

  private tableFunction(name: string, schema: string): void {
    if (!TABLE_FUNCTIONS.has(name) || (schema !== "" && schema !== "main")) {
      throw new TsdbError("bad_query", `Error during planning: table function '${decodeNames(name)}' not found`);
    }
  }

  private functionName({ function_name: name, schema, catalog }: CalledName, isWindow = false): void {
    this.functions++;
    if (!SIMPLE_FUNCTIONS.has(name)) this.usesOthers = true;
    const known = DUCKDB_FUNCTIONS.has(name) || DIALECT_FUNCTIONS.has(name);
    if (!known || catalog !== "" || (schema !== "" && schema !== "main")) {
      throw unknownFunction(name, isWindow);
    }
  }

  private orders(orders: readonly OrderBy[], ctes: CteNames): void {
    this.size.keys("expressions in ORDER BY", orders);
    for (const order of orders) this.expression(order.expression, ctes);
  }

  private expressions(list: readonly Expression[], ctes: CteNames): void {
    for (const expression of list) this.expression(expression, ctes);
  }

  private optional(ctes: CteNames, ...list: readonly (Expression | null)[]): void {
    for (const expression of list) if (expression !== null) this.expression(expression, ctes);
  }

  private expression(node: Expression, ctes: CteNames): void {
    this.size.enter();
    this.mostLevels = Math.max(this.mostLevels, ++this.levels);
    switch (node.class) {
      case "COLUMN_REF":
        this.size.column(node.column_names);
        break;
      case "CONSTANT":
      case "PARAMETER":
      case "POSITIONAL_REFERENCE":
        break;
      case "FUNCTION":
        if (node.export_state) throw unsupported("EXPORT_STATE");
        this.size.call(node.function_name, node.children);
        this.functionName(node);
        this.expressions(node.children, ctes);
        this.orders(node.order_bys.orders, ctes);
        this.optional(ctes, node.filter);
        break;
      case "WINDOW":
        this.functionName(node, true);
        this.size.window();
        this.size.call(node.function_name, node.children);
        this.size.keys("expressions in PARTITION BY", node.partitions);
        this.expressions([...node.children, ...node.partitions], ctes);
        this.orders([...node.orders, ...node.arg_orders], ctes);
        this.optional(ctes, node.start_expr, node.end_expr, node.offset_expr, node.default_expr, node.filter_expr);
        break;
      case "CAST":
        if (node.cast_type.id === "INTERVAL") this.intervals++;
        this.expression(node.child, ctes);
        break;
      case "COLLATE":
        this.expression(node.child, ctes);
        break;
      case "CASE":
        for (const check of node.case_checks) this.expressions([check.when_expr, check.then_expr], ctes);
        this.expression(node.else_expr, ctes);
        break;
      case "COMPARISON":
        this.expressions([node.left, node.right], ctes);
        break;
      case "BETWEEN":
        this.expressions([node.input, node.lower, node.upper], ctes);
        break;
      case "OPERATOR":
        // not in the dialect; DuckDB cannot plan it beside a subquery and GROUP BY
        if (node.type === "OPERATOR_TRY") throw unknownFunction("try", false);
        this.size.call(node.type, node.children);
        this.expressions(node.children, ctes);
        break;
      case "CONJUNCTION":
        this.expressions(node.children, ctes);
        break;
      case "SUBQUERY":
        this.optional(ctes, node.child);
        this.size.subquery(() => this.query(node.subquery.node, ctes));
        break;
      case "STAR":
        this.optional(ctes, node.expr);
        for (const { value } of node.replace_list) this.expression(value, ctes);
        break;
      case "LAMBDA":
        this.size.lambda(() => this.expressions([node.lhs, node.expr], ctes));
        break;
      default:
        throw unsupported(`expression ${(node as { class: string }).class}`);
    }
    this.levels--;
    this.size.leave();
  }
}
