// Counts the parts of a statement while check.ts traverses it: a statement beyond STATEMENT_LIMITS is rejected as soon as a limit is
// exceeded. Aliases of a select list used within the same list are replaced by their expressions: DuckDB does so level by level.
import { TsdbError } from "../../model/errors.ts";
import { checkLimit, STATEMENT_LIMITS } from "../../model/query/statement-limits.ts";
import type { Expression, SelectNode, TableRef } from "../parse/tree.ts";

const LIMITS = STATEMENT_LIMITS;

/** The size of the expression that an alias stands for. */
interface Aliased {
  /** Expressions, including those of nested aliases. */
  readonly nodes: number;
  /** Expressions that DuckDB traverses: at each level of aliases all nested ones. */
  readonly work: number;
}

/** One SELECT; subqueries have their own. */
interface Frame {
  readonly aliases: Map<string, Aliased>;
  /** Size of the aliases in the current item. */
  named: Aliased;
  subqueries: number;
  windows: number;
}

/** Functions that create lists of their arguments; so does the subject of IN. */
const LISTS: ReadonlySet<string> = new Set(["list_value", "make_array", "ARRAY_CONSTRUCTOR", "COMPARE_IN", "COMPARE_NOT_IN"]);

const NOTHING: Aliased = { nodes: 0, work: 0 };

/** The size of one statement. */
export class StatementSize {
  private nodes = 0;
  private depth = 0;
  private ctes = 0;
  private unitedQueries = 0;
  private aliasedNodes = 0;
  private frame: Frame = newFrame();
  /** Number of enclosing subqueries. */
  private subqueries = 0;
  private lambdas = 0;

  /** Enters an expression, a query or a table; everything until `leave` is nested in it. */
  enter(): void {
    checkLimit("expressions", ++this.nodes, LIMITS.nodesMax);
    if (++this.depth > LIMITS.nestingMax) throw tooDeep();
  }

  leave(): void {
    this.depth--;
  }

  withEntry(): void {
    checkLimit("WITH entries", ++this.ctes, LIMITS.ctesMax);
  }

  /** A UNION, EXCEPT or INTERSECT of two queries. */
  setOperation(): void {
    checkLimit("queries of UNION, EXCEPT and INTERSECT", 1 + ++this.unitedQueries, LIMITS.unitedQueriesMax);
  }

  /** Everything that `visit` traverses belongs to this SELECT. */
  select(node: SelectNode, visit: () => void): void {
    checkLimit("columns in one SELECT", node.select_list.length, LIMITS.columnsMax);
    this.keys("expressions in GROUP BY", node.group_expressions);
    checkLimit("sets in GROUP BY", node.group_sets.length, LIMITS.groupingSetsMax);
    const tables = tableCount(node.from_table);
    checkLimit("tables in one FROM", tables, LIMITS.joinedTablesMax);
    if (tables > 1) {
      const conditions = joinConditions(node.from_table) + columnConditions(node.where_clause);
      checkLimit("conditions between columns in a SELECT with joins", conditions, LIMITS.joinConditionsMax);
    }
    const outer = this.frame;
    this.frame = newFrame();
    visit();
    this.frame = outer;
  }

  /** Items of a select list, each traversed by `visit`. */
  items(list: readonly Expression[], visit: (item: Expression) => void): void {
    const { frame } = this;
    for (const item of list) {
      const before = this.nodes;
      frame.named = NOTHING;
      visit(item);
      const nodes = this.nodes - before + frame.named.nodes;
      const { alias } = item;
      if (alias !== "" && !frame.aliases.has(alias)) frame.aliases.set(alias, { nodes, work: nodes + frame.named.work });
    }
    frame.named = NOTHING;
  }

  /** A column, or an alias of the select list. */
  column(names: readonly string[]): void {
    if (names.length !== 1) return;
    const { frame } = this;
    const aliased = frame.aliases.get(names[0]!);
    if (aliased === undefined) return;
    frame.named = { nodes: frame.named.nodes + aliased.nodes, work: frame.named.work + aliased.work };
    this.aliasedNodes += aliased.work;
    checkLimit("expressions behind names of select lists", this.aliasedNodes, LIMITS.aliasedNodesMax);
  }

  keys(what: string, list: readonly unknown[]): void {
    checkLimit(what, list.length, LIMITS.keysMax);
  }

  call(name: string, args: readonly Expression[]): void {
    if (!LISTS.has(name)) checkLimit("arguments in one call", args.length, LIMITS.argumentsMax);
  }

  window(): void {
    checkLimit("calls with OVER in one SELECT", ++this.frame.windows, LIMITS.windowsMax);
  }

  subquery(visit: () => void): void {
    checkLimit("subqueries in the expressions of one SELECT", ++this.frame.subqueries, LIMITS.subqueriesMax);
    if (++this.subqueries > LIMITS.nestedSubqueriesMax) throw tooNested("subqueries", LIMITS.nestedSubqueriesMax);
    visit();
    this.subqueries--;
  }

  lambda(visit: () => void): void {
    if (++this.lambdas > LIMITS.nestedLambdasMax) throw tooNested("lambdas", LIMITS.nestedLambdasMax);
    visit();
    this.lambdas--;
  }

  /** A row of VALUES. */
  row(values: readonly Expression[]): void {
    checkLimit("columns in VALUES", values.length, LIMITS.columnsMax);
  }
}

function newFrame(): Frame {
  return { aliases: new Map(), named: NOTHING, subqueries: 0, windows: 0 };
}

/** The error for excessive nesting; DuckDB's parser may be the first to report it. */
export function tooDeep(): TsdbError {
  const { nestingMax } = LIMITS;
  return new TsdbError("bad_query", `Error during planning: the statement is nested too deeply (more than ${nestingMax} levels)`, {
    max: nestingMax,
  });
}

function tooNested(what: string, max: number): TsdbError {
  return new TsdbError("bad_query", `Error during planning: more than ${max} ${what} inside of each other`, { max });
}

function tableCount(ref: TableRef): number {
  let count = 0;
  for (const table of tablesOf(ref)) if (table.type !== "JOIN") count++;
  return count;
}

function joinConditions(ref: TableRef): number {
  let count = 0;
  for (const table of tablesOf(ref)) if (table.type === "JOIN") count += columnConditions(table.condition) + table.using_columns.length;
  return count;
}

/** The tables of a FROM, including joins between them; joins are as deep as there are tables. */
function* tablesOf(ref: TableRef): Generator<TableRef> {
  const open = [ref];
  for (let table = open.pop(); table !== undefined; table = open.pop()) {
    yield table;
    if (table.type === "JOIN") open.push(table.right, table.left);
  }
}

/** AND-connected comparisons in which neither side is constant. */
function columnConditions(condition: Expression | null): number {
  let count = 0;
  const open = condition === null ? [] : [condition];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.class === "CONJUNCTION" && node.type === "CONJUNCTION_AND") for (const child of node.children) open.push(child);
    else if (node.class === "COMPARISON" && hasColumn(node.left) && hasColumn(node.right)) count++;
  }
  return count;
}

function hasColumn(node: Expression): boolean {
  switch (node.class) {
    case "CONSTANT":
    case "PARAMETER":
      return false;
    case "CAST":
      return hasColumn(node.child);
    case "FUNCTION":
      return node.children.some(hasColumn);
    default:
      return true;
  }
}
