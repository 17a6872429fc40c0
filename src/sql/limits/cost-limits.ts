// Checks a rewritten statement for costs that DuckDB's limits do not cover, and makes them cheaper or rejects the statement.
//   - Nested macros: arguments are planned as often as they are used (macro-weights.ts); an expensive one is bound once.
//   - Texts and lists: DuckDB does not limit the memory that functions take for a chunk of rows (size-rules.ts); a statement has a maximum.
//   - LIKE patterns: DuckDB's matcher backtracks, for some patterns almost endlessly; RE2 does not.
import { SCAN_FUNCTION } from "../../duckdb/table-function.ts";
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { CteScope } from "../bind/cte-scope.ts";
import type { EncodedColumns } from "../bind/kind.ts";
import type { Constant, Expression, ExpressionListRef, FunctionCall, Lambda, QueryNode, SelectNode, TableRef } from "../parse/tree.ts";
import { childrenOf, mapChildren } from "../rewrite/walk.ts";
import { bind, workOf } from "./argument-binding.ts";
import { withBoundedSizes } from "./bounded-calls.ts";
import { COLUMN_BYTES, type Columns, columnsFrom, NO_COLUMNS, renamed, together, UNKNOWN_COLUMNS } from "./column-bytes.ts";
import { saferPattern } from "./like-patterns.ts";
import {
  constantOf,
  elementsOf,
  GATHERING,
  MADE_ON_THE_WAY,
  MAKES_NESTED,
  SIZE_RULES,
  type SizedArgument,
  stepsOf,
  VALUE_BYTES,
} from "./size-rules.ts";

export interface CostLimitOptions {
  /** Maximum bytes that all functions of a statement may create for a chunk of rows. */
  readonly bytesMax: number;
  /** Columns of a scan by its handle, encoded. */
  readonly columnsOf: (handle: number) => readonly { readonly name: string; readonly type: ColumnType }[] | null;
}

/** Maximum expressions that DuckDB must plan. */
const WEIGHT_MAX = 200_000;
/** DuckDB traverses a large expression again for each enclosing one: maximum expressions traversed this way, per expression of a SELECT
 *  and in total; about a microsecond each. */
const WORK_MAX = 100_000;
const ALL_WORK_MAX = 400_000;
/** Maximum steps of functions for a chunk of rows, 2 to 50 ns each: DuckDB cannot be interrupted within one. */
const STEPS_MAX = 2 ** 30;
/** Collected aggregates are within DuckDB's limit; this much of one may be processed further. */
const GATHERED_BYTES = 64 << 20;
const FUNCTION_BYTES_MIN = 64;

/** Changes `query` in place. Returns the bytes that its functions may create at a time. @throws TsdbError bad_query for a statement that
 *  remains too expensive */
export function limitCosts(query: QueryNode, options: CostLimitOptions): number {
  const limits = new CostLimits(options);
  limits.query(query, { rows: LIMITS.vectorRows, columns: NO_COLUMNS, ctes: CteScope.inside(null), depth: 0 });
  return limits.bytes;
}

/** The context of a node. */
interface Sizes {
  /** Rows of a chunk. */
  readonly rows: number;
  readonly columns: Columns;
  readonly ctes: CteScope<Columns>;
  /** Number of arguments bound around it. */
  readonly depth: number;
}

interface Part extends SizedArgument {
  readonly weight: number;
  /** DuckDB's work for nested expressions; absent: negligible. */
  readonly work?: number;
  /** True if it is the same for all rows: `bytes` are those of one. */
  readonly isConstant?: boolean;
}

function tooManyFunctions(): TsdbError {
  return new TsdbError("bad_query", "Error during planning: the statement has too many functions in functions");
}

class CostLimits {
  bytes = 0;
  private weight = 0;
  private work = 0;
  private nodes = 0;
  private steps = 0;

  constructor(private readonly options: CostLimitOptions) {}

  /** Returns its columns. */
  query(node: QueryNode, outer: Sizes): Columns {
    const sizes: Sizes = { ...outer, ctes: this.ctes(node, outer) };
    const { ctes } = sizes;
    let columns: Columns;
    let inside = sizes;
    if (node.type === "SELECT_NODE") ({ columns, inside } = this.select(node, sizes));
    else {
      const right =
        node.type === "RECURSIVE_CTE_NODE" ? { ...sizes, ctes: CteScope.inside(ctes).with(node.cte_name, UNKNOWN_COLUMNS) } : sizes;
      const { byName } = this.query(node.left, sizes);
      columns = together({ byName, most: 0 }, this.query(node.right, right));
      columns = {
        byName: new Map([...columns.byName].map(([name]) => [name, columns.most])),
        most: Math.max(columns.most, ...byName.values()),
      };
      inside = { ...sizes, columns };
    }
    this.modifiers(node, inside);
    return columns;
  }

  private ctes(node: QueryNode, outer: Sizes): CteScope<Columns> {
    if (node.cte_map.map.length === 0) return outer.ctes;
    let ctes = CteScope.inside(outer.ctes);
    for (const { key, value } of node.cte_map.map) {
      // an entry may be recursive
      ctes = ctes.with(key, UNKNOWN_COLUMNS);
      ctes = ctes.with(key, renamed(this.query(value.query.node, { ...outer, ctes }), value.aliases));
    }
    return ctes;
  }

  private modifiers({ modifiers }: QueryNode, sizes: Sizes): void {
    for (const modifier of modifiers) {
      if (modifier.type === "ORDER_MODIFIER") {
        for (const order of modifier.orders) order.expression = this.whole(order.expression, sizes).node;
      } else if (modifier.type === "DISTINCT_MODIFIER") {
        modifier.distinct_on_targets = modifier.distinct_on_targets.map((target) => this.whole(target, sizes).node);
      } else {
        if (modifier.limit !== null) modifier.limit = this.whole(modifier.limit, sizes).node;
        if (modifier.offset !== null) modifier.offset = this.whole(modifier.offset, sizes).node;
      }
    }
  }

  private select(node: SelectNode, outer: Sizes): { columns: Columns; inside: Sizes } {
    const from = this.table(node.from_table, outer);
    // without FROM there is one row
    const rows = node.from_table.type === "EMPTY" ? 1 : LIMITS.vectorRows;
    const inside = { ...outer, rows, columns: together(from, outer.columns) };
    const shown: (readonly [string, number])[] = [];
    node.select_list = node.select_list.map((item) => {
      const part = this.whole(item, inside);
      // it is returned with every row
      if (part.isConstant === true) this.made(part.bytes * rows);
      if (item.class === "STAR") shown.push(...from.byName, ["", from.most]);
      else shown.push([item.alias !== "" || item.class !== "COLUMN_REF" ? item.alias : item.column_names.at(-1)!, part.bytes]);
      return part.node.alias === item.alias ? part.node : { ...part.node, alias: item.alias };
    });
    node.group_expressions = node.group_expressions.map((group) => this.whole(group, inside).node);
    if (node.where_clause !== null) node.where_clause = this.whole(node.where_clause, inside).node;
    if (node.having !== null) node.having = this.whole(node.having, inside).node;
    if (node.qualify !== null) node.qualify = this.whole(node.qualify, inside).node;
    return { columns: columnsFrom(shown), inside };
  }

  private table(ref: TableRef, sizes: Sizes): Columns {
    switch (ref.type) {
      case "BASE_TABLE":
        return renamed(sizes.ctes.get(ref.table_name) ?? UNKNOWN_COLUMNS, ref.column_name_alias);
      case "SUBQUERY":
        return renamed(this.query(ref.subquery.node, sizes), ref.column_name_alias);
      case "JOIN": {
        const left = this.table(ref.left, sizes);
        // the right side may use the columns of the left
        const columns = together(left, this.table(ref.right, { ...sizes, columns: together(left, sizes.columns) }));
        if (ref.condition !== null) ref.condition = this.whole(ref.condition, { ...sizes, columns: together(columns, sizes.columns) }).node;
        return columns;
      }
      case "TABLE_FUNCTION":
        return renamed(this.tableFunction(ref.function, sizes), ref.column_name_alias);
      case "EXPRESSION_LIST":
        return this.values(ref, sizes);
      default:
        return NO_COLUMNS;
    }
  }

  private tableFunction(node: FunctionCall, sizes: Sizes): Columns {
    const [handle] = node.children;
    const columns =
      node.function_name === SCAN_FUNCTION && handle !== undefined ? this.options.columnsOf(Number(constantOf(handle))) : null;
    if (columns !== null) return columnsOfScan(columns);
    const args = node.children.map((child) => this.whole(child, { ...sizes, rows: 1 }));
    node.children = args.map((arg) => arg.node);
    return { byName: new Map(), most: args.reduce((most, { bytes }) => Math.max(most, bytes), VALUE_BYTES * LIMITS.vectorRows) };
  }

  private values(ref: ExpressionListRef, sizes: Sizes): Columns {
    const bytes = ref.expected_names.map(() => 0);
    ref.values = ref.values.map((row) =>
      row.map((value, i) => {
        const part = this.whole(value, { ...sizes, rows: 1 });
        bytes[i] = (bytes[i] ?? 0) + part.bytes;
        return part.node;
      }),
    );
    return columnsFrom(ref.expected_names.map((name, i) => [name, bytes[i]!]));
  }

  /** Checks a top-level expression. */
  private whole(node: Expression, sizes: Sizes): Part {
    const part = this.expression(node, sizes);
    this.weight += part.weight;
    this.work += part.work ?? 0;
    if ((part.work ?? 0) > WORK_MAX || this.work > ALL_WORK_MAX)
      throw new TsdbError("bad_query", "Error during planning: functions are nested too deeply in the statement");
    if (this.weight > WEIGHT_MAX) throw tooManyFunctions();
    return part;
  }

  private expression(node: Expression, sizes: Sizes): Part {
    // a rewrite may share a node, which is then printed several times
    if (++this.nodes > WEIGHT_MAX) throw tooManyFunctions();
    switch (node.class) {
      case "COLUMN_REF":
        return { node, weight: 1, bytes: sizes.columns.byName.get(node.column_names.at(-1)!) ?? sizes.columns.most };
      case "CONSTANT":
        return { node, weight: 1, bytes: constantBytes(node), isConstant: true };
      case "FUNCTION":
        return this.function(node, sizes);
      case "SUBQUERY": {
        const { most } = this.query(node.subquery.node, sizes);
        const child = node.child === null ? null : this.expression(node.child, sizes).node;
        return { node: { ...node, child }, weight: 1, bytes: node.subquery_type === "SCALAR" ? most : VALUE_BYTES * sizes.rows };
      }
      case "LITERALS":
        // they create nothing
        return { node, weight: 1, bytes: VALUE_BYTES, isConstant: true };
      default:
        return this.other(node, sizes);
    }
  }

  private other(node: Expression, sizes: Sizes): Part {
    const parts: Part[] = [];
    const mapped = mapChildren(node, (child) => {
      const part = this.expression(child, sizes);
      parts.push(part);
      return part.node;
    });
    const { isConstant, weight } = summary(parts);
    const rows = isConstant ? 1 : sizes.rows;
    const work = workOf(weight, parts);
    let [most, sum] = [0, 0];
    for (const part of parts) {
      const bytes = part.isConstant === true ? part.bytes * rows : part.bytes;
      most = Math.max(most, bytes);
      sum += bytes;
    }
    if (node.class === "CAST") return { ...this.cast(mapped, weight, sum, rows), work, isConstant };
    const isValue = node.class === "COMPARISON" || node.class === "CONJUNCTION" || node.class === "BETWEEN";
    if (node.class === "WINDOW") {
      const bytes = GATHERING.has(node.function_name) ? GATHERED_BYTES : most;
      return { node: mapped, weight, work, bytes };
    }
    const isList = node.class === "OPERATOR" && node.type === "ARRAY_CONSTRUCTOR";
    const bytes = isValue ? VALUE_BYTES * rows : isList ? this.made(sum + VALUE_BYTES * rows) : most;
    return { node: mapped, weight, work, bytes, isConstant, ...(isList ? { elements: parts.length * rows } : {}) };
  }

  /** Numbers, times and structs become longer as text. */
  private cast(node: Expression, weight: number, bytes: number, rows: number): Part {
    if (node.class !== "CAST" || node.cast_type.id !== "VARCHAR") return { node, weight, bytes };
    const { child } = node;
    const isNested =
      (child.class === "OPERATOR" && child.type === "ARRAY_CONSTRUCTOR") ||
      (child.class === "FUNCTION" && MAKES_NESTED.test(child.function_name));
    return { node, weight, bytes: isNested ? this.made(bytes * 3 + FUNCTION_BYTES_MIN * rows) : bytes };
  }

  private function(node: FunctionCall, sizes: Sizes): Part {
    const parts: Part[] = [];
    const mapped = mapChildren(node, (child) => {
      const part = child.class === "LAMBDA" ? this.lambda(child, parts[0], sizes) : this.expression(child, sizes);
      parts.push(part);
      return part.node;
    }) as FunctionCall;
    const { isConstant: isOfConstants, weight } = summary(parts);
    // what is gathered of a constant grows with the rows
    const isConstant = isOfConstants && !GATHERING.has(node.function_name);
    const rows = isConstant ? 1 : sizes.rows;
    const args = parts.slice(0, node.children.length).map((part) => (part.isConstant === true ? inRows(part, rows) : part));
    this.taken(stepsOf(mapped.function_name, args, rows));
    const pattern = saferPattern(mapped);
    if (pattern !== null)
      return { node: { ...pattern, alias: node.alias }, weight: weight + 4, work: workOf(weight, parts), bytes: VALUE_BYTES * sizes.rows };
    const guarded = withBoundedSizes(mapped);
    const bytes = this.made(sizeOf(guarded, args, rows));
    this.made((args[0]?.bytes ?? 0) * (MADE_ON_THE_WAY.get(node.function_name) ?? 0));
    const elements = elementsOf(guarded.function_name, args, bytes, rows);
    return { ...bind(guarded, parts, weight, sizes.depth), bytes, isConstant, ...(elements === undefined ? {} : { elements }) };
  }

  /** The body is computed for all elements of the list at once. */
  private lambda(node: Lambda, list: Part | undefined, sizes: Sizes): Part {
    const parameters = node.lhs.class === "FUNCTION" ? node.lhs.children : [node.lhs];
    // for a constant list it is computed once, unless it uses row values
    const isConstant = list?.isConstant === true && !looksOutside(node.expr, namesOf(parameters));
    const { bytes: listBytes, elements } = list?.isConstant === true ? inRows(list, isConstant ? 1 : sizes.rows) : (list ?? { bytes: 0 });
    const rows = Math.max(isConstant ? 1 : sizes.rows, elements ?? listBytes / 8);
    // outer values are repeated for each element
    const scale = rows / sizes.rows;
    const { byName, most } = sizes.columns;
    const outer = { byName: new Map([...byName].map(([name, bytes]) => [name, bytes * scale])), most: most * scale };
    const own = columnsFrom(
      parameters.flatMap((parameter) => (parameter.class === "COLUMN_REF" ? [[parameter.column_names[0]!, listBytes] as const] : [])),
    );
    const body = this.expression(node.expr, {
      ...sizes,
      rows,
      columns: { byName: new Map([...outer.byName, ...own.byName]), most: outer.most },
    });
    if (rows > LIMITS.vectorRows) this.taken(rows * body.weight);
    // constants are repeated for each element too
    const bytes = body.isConstant === true ? this.made(body.bytes * rows) : body.bytes;
    return {
      node: { ...node, expr: body.node },
      weight: body.weight,
      work: body.work ?? 0,
      bytes: Math.max(bytes, 8 * rows),
      isConstant,
    };
  }

  /** Counts steps. */
  private taken(steps: number): void {
    this.steps += steps;
    if (this.steps <= STEPS_MAX) return;
    throw new TsdbError("bad_query", "Resources exhausted: functions of the statement might take too many steps with a few rows");
  }

  /** Counts created bytes. */
  private made(bytes: number): number {
    this.bytes += bytes;
    if (this.bytes > this.options.bytesMax) {
      const most = Math.floor(this.options.bytesMax / (1 << 20));
      throw new TsdbError(
        "bad_query",
        `Resources exhausted: functions of the statement might make more than ${most} MiB of text and lists at a time`,
      );
    }
    return bytes;
  }
}

/** Of an expression with these parts; one without parts is no constant. */
function summary(parts: readonly Part[]): { readonly isConstant: boolean; readonly weight: number } {
  let [isConstant, weight] = [parts.length > 0, 1];
  for (const part of parts) {
    isConstant &&= part.isConstant === true;
    weight += part.weight;
  }
  return { isConstant, weight };
}

/** The size of a constant repeated for this many rows. */
function inRows<P extends SizedArgument>(part: P, rows: number): P {
  return { ...part, bytes: part.bytes * rows, ...(part.elements === undefined ? {} : { elements: part.elements * rows }) };
}

/** By the columns of a table's definition, which statements share. */
const scanned = new WeakMap<EncodedColumns, Columns>();

function columnsOfScan(columns: EncodedColumns): Columns {
  let known = scanned.get(columns);
  if (known === undefined) {
    known = columnsFrom(columns.map(({ name, type }) => [name, isText(type) ? COLUMN_BYTES : VALUE_BYTES * LIMITS.vectorRows]));
    scanned.set(columns, known);
  }
  return known;
}

function namesOf(parameters: readonly Expression[]): ReadonlySet<string> {
  return new Set(parameters.flatMap((parameter) => (parameter.class === "COLUMN_REF" ? [parameter.column_names[0]!] : [])));
}

/** True if a lambda's body uses names other than its parameters. */
function looksOutside(body: Expression, own: ReadonlySet<string>): boolean {
  if (body.class === "COLUMN_REF") return !own.has(body.column_names[0]!);
  if (body.class === "SUBQUERY") return true;
  if (body.class !== "LAMBDA") return childrenOf(body).some((child) => looksOutside(child, own));
  const parameters = body.lhs.class === "FUNCTION" ? body.lhs.children : [body.lhs];
  return looksOutside(body.expr, new Set([...own, ...namesOf(parameters)]));
}

function isText(type: ColumnType): boolean {
  return type === ColumnType.tag || type === ColumnType.string;
}

function constantBytes({ value }: Constant): number {
  if (value.is_null || value.type.id !== "VARCHAR") return VALUE_BYTES;
  return String(value.value).length * 3;
}

const ITEMWISE = new Set(["list_transform", "list_apply", "array_transform", "array_apply", "apply"]);

function sizeOf({ function_name: name }: FunctionCall, args: readonly SizedArgument[], rows: number): number {
  if (GATHERING.has(name)) return GATHERED_BYTES;
  if (ITEMWISE.has(name)) return args[1]?.bytes ?? 0;
  const rule = SIZE_RULES.get(name);
  if (rule !== undefined) return rule(args, rows);
  return args.reduce((sum, { bytes }) => sum + bytes, FUNCTION_BYTES_MIN * rows);
}
