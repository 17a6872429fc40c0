// DuckDB's parse tree as json_serialize_sql writes it, as far as it is accepted: check.ts rejects everything not declared here. Members
// have DuckDB's names.
import type { CacheReference } from "../../model/caches.ts";
import { TsdbError } from "../../model/errors.ts";
import type { LiteralKind } from "./literals.ts";
import type { SqlType, SqlValue, TypeInfo } from "./sql-value.ts";

export interface Located {
  /** Number of a token of the statement (template.ts; DuckDB writes a byte offset); absent if unknown to DuckDB. */
  query_location?: number;
  alias: string;
}

export interface ColumnRef extends Located {
  class: "COLUMN_REF";
  type: "COLUMN_REF";
  column_names: string[];
}
export interface Constant extends Located {
  class: "CONSTANT";
  type: "VALUE_CONSTANT";
  value: SqlValue;
}
export interface FunctionCall extends Located {
  class: "FUNCTION";
  type: "FUNCTION";
  function_name: string;
  schema: string;
  catalog: string;
  children: Expression[];
  filter: Expression | null;
  order_bys: { type: "ORDER_MODIFIER"; orders: OrderBy[] };
  distinct: boolean;
  is_operator: boolean;
  export_state: boolean;
}
export interface Cast extends Located {
  class: "CAST";
  type: "OPERATOR_CAST";
  child: Expression;
  cast_type: SqlType;
  try_cast: boolean;
}
export interface Case extends Located {
  class: "CASE";
  type: "CASE_EXPR";
  case_checks: { when_expr: Expression; then_expr: Expression }[];
  else_expr: Expression;
}
export interface Comparison extends Located {
  class: "COMPARISON";
  type: string;
  left: Expression;
  right: Expression;
}
export interface Between extends Located {
  class: "BETWEEN";
  type: "COMPARE_BETWEEN";
  input: Expression;
  lower: Expression;
  upper: Expression;
}
export interface Conjunction extends Located {
  class: "CONJUNCTION";
  type: "CONJUNCTION_AND" | "CONJUNCTION_OR";
  children: Expression[];
}
export interface Operator extends Located {
  class: "OPERATOR";
  type: string;
  children: Expression[];
}
export interface SubqueryExpression extends Located {
  class: "SUBQUERY";
  type: "SUBQUERY";
  subquery_type: string;
  subquery: { node: QueryNode };
  child: Expression | null;
  comparison_type: string;
}
export interface Window extends Located {
  class: "WINDOW";
  type: string;
  function_name: string;
  schema: string;
  catalog: string;
  children: Expression[];
  partitions: Expression[];
  orders: OrderBy[];
  start: string;
  end: string;
  start_expr: Expression | null;
  end_expr: Expression | null;
  offset_expr: Expression | null;
  default_expr: Expression | null;
  ignore_nulls: boolean;
  filter_expr: Expression | null;
  exclude_clause: string;
  distinct: boolean;
  arg_orders: OrderBy[];
}
export interface QualifiedName {
  readonly catalog: string;
  readonly schema: string;
  readonly table: string;
  readonly column: string;
}
export interface Star extends Located {
  class: "STAR";
  type: "STAR";
  relation_name: string;
  exclude_list: string[];
  qualified_exclude_list: QualifiedName[];
  replace_list: { key: string; value: Expression }[];
  rename_list: { key: QualifiedName; value: string }[];
  /** COLUMNS(…) */
  columns: boolean;
  expr: Expression | null;
}
export interface Parameter extends Located {
  class: "PARAMETER";
  type: "VALUE_PARAMETER";
  identifier: string;
}
export interface Lambda extends Located {
  class: "LAMBDA";
  type: "LAMBDA";
  lhs: Expression;
  expr: Expression;
}
export interface Collate extends Located {
  class: "COLLATE";
  type: "COLLATE";
  child: Expression;
  collation: string;
}
export interface PositionalReference extends Located {
  class: "POSITIONAL_REFERENCE";
  type: "POSITIONAL_REFERENCE";
  index: number;
}

/** The list of IN if it consists of literals only: of any length. */
export interface LiteralList extends Located {
  class: "LITERALS";
  type: "LITERALS";
  readonly kind: LiteralKind;
  readonly values: readonly SqlValue[];
}

export type Expression =
  | ColumnRef
  | Constant
  | FunctionCall
  | Cast
  | Case
  | Comparison
  | Between
  | Conjunction
  | Operator
  | SubqueryExpression
  | Window
  | Star
  | Parameter
  | Lambda
  | Collate
  | PositionalReference
  | LiteralList;

export interface OrderBy {
  type: string;
  null_order: string;
  expression: Expression;
}

export type Modifier =
  | { type: "ORDER_MODIFIER"; orders: OrderBy[] }
  | { type: "LIMIT_MODIFIER" | "LIMIT_PERCENT_MODIFIER"; limit: Expression | null; offset: Expression | null }
  | { type: "DISTINCT_MODIFIER"; distinct_on_targets: Expression[] };

export interface CommonTableExpression {
  aliases: string[];
  query: { node: QueryNode };
  materialized: string;
  key_targets: Expression[];
}

export interface NodeBase {
  modifiers: Modifier[];
  cte_map: { map: { key: string; value: CommonTableExpression }[] };
}
export interface SelectNode extends NodeBase {
  type: "SELECT_NODE";
  select_list: Expression[];
  from_table: TableRef;
  where_clause: Expression | null;
  group_expressions: Expression[];
  group_sets: number[][];
  aggregate_handling: string;
  having: Expression | null;
  sample: Sample | null;
  qualify: Expression | null;
}
export interface SetOperationNode extends NodeBase {
  type: "SET_OPERATION_NODE";
  setop_type: string;
  setop_all: boolean;
  left: QueryNode;
  right: QueryNode;
}
export interface RecursiveCteNode extends NodeBase {
  type: "RECURSIVE_CTE_NODE";
  cte_name: string;
  union_all: boolean;
  left: QueryNode;
  right: QueryNode;
  aliases: string[];
  key_targets: Expression[];
}
export type QueryNode = SelectNode | SetOperationNode | RecursiveCteNode;

export interface Sample {
  sample_size: SqlValue;
  is_percentage: boolean;
  method: string;
  seed: number | string;
}

export interface RefBase extends Located {
  sample: Sample | null;
}
export interface EmptyRef extends RefBase {
  type: "EMPTY";
}
export interface BaseTable extends RefBase {
  type: "BASE_TABLE";
  catalog_name: string;
  schema_name: string;
  table_name: string;
  column_name_alias: string[];
  at_clause: object | null;
  /** Set if it is a cache rather than a table (cache-tables.ts). */
  cache?: CacheReference;
  /** Set if a column must be a tag of the table: its name. */
  tag?: string;
}
export interface Join extends RefBase {
  type: "JOIN";
  left: TableRef;
  right: TableRef;
  condition: Expression | null;
  join_type: string;
  ref_type: string;
  using_columns: string[];
}
export interface SubqueryRef extends RefBase {
  type: "SUBQUERY";
  subquery: { node: QueryNode };
  column_name_alias: string[];
}
export interface TableFunctionRef extends RefBase {
  type: "TABLE_FUNCTION";
  function: FunctionCall;
  column_name_alias: string[];
  with_ordinality: string;
}
export interface ExpressionListRef extends RefBase {
  type: "EXPRESSION_LIST";
  expected_names: string[];
  values: Expression[][];
}
export interface ShowRef extends RefBase {
  type: "SHOW_REF";
  table_name: string;
  query: QueryNode | null;
  show_type: string;
  schema_name: string;
}
export type TableRef = EmptyRef | BaseTable | Join | SubqueryRef | TableFunctionRef | ExpressionListRef | ShowRef;

/** The result of json_serialize_sql. */
export interface SerializedSql {
  error: boolean;
  error_type?: string;
  error_message?: string;
  position?: string;
  statements?: { node: QueryNode }[];
}

/** An unknown location. Within a text the quotes would be escaped. */
const NO_LOCATION = '"query_location":18446744073709551615';
/** Quick test for the following. */
const MAY_BE_BIG = /\d{16}|Infinity/;
/** Texts, to be skipped; integers that are not exact as doubles; and the serializer's form of numbers beyond a double's range. */
const BIG_NUMBERS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d{16,}(?![\d.eE])|Infinity/g;

/** Parses the serializer's text; integers that are not exact as doubles stay text. @throws TsdbError bad_query for a number out of range */
export function parseTree(json: string): SerializedSql {
  const located = json.replaceAll(NO_LOCATION, '"query_location":null');
  if (!MAY_BE_BIG.test(located)) return JSON.parse(located) as SerializedSql;
  const exact = located.replace(BIG_NUMBERS, (match) => {
    if (match === "Infinity") throw new TsdbError("bad_query", "SQL error: a number is out of the range of a 64-bit float");
    return match.startsWith('"') ? match : `"${match}"`;
  });
  return JSON.parse(exact) as SerializedSql;
}

/** A call built by a rewrite. */
export function call(name: string, children: Expression[], location?: number): FunctionCall {
  const built: FunctionCall = {
    class: "FUNCTION",
    type: "FUNCTION",
    alias: "",
    function_name: name,
    schema: "",
    catalog: "",
    children,
    filter: null,
    order_bys: { type: "ORDER_MODIFIER", orders: [] },
    distinct: false,
    is_operator: false,
    export_state: false,
  };
  if (location !== undefined) built.query_location = location;
  return built;
}

/** `left operator right`, built by a rewrite. */
export function operator(name: string, left: Expression, right: Expression): FunctionCall {
  return { ...call(name, [left, right]), is_operator: true };
}

/** A constant of type BIGINT. */
export function bigintConstant(value: bigint): Cast {
  return castTo(integerConstant(value), "BIGINT");
}

/** A constant of type INTEGER. */
export function integerConstant(value: bigint | number): Constant {
  const text = value.toString();
  return {
    class: "CONSTANT",
    type: "VALUE_CONSTANT",
    alias: "",
    value: { type: { id: "BIGINT", type_info: null }, is_null: false, value: text },
  };
}

/** A constant of type DOUBLE. */
export function floatConstant(value: number): Constant {
  const type = { id: "DOUBLE", type_info: null };
  return { class: "CONSTANT", type: "VALUE_CONSTANT", alias: "", value: { type, is_null: false, value } };
}

/** A constant of type VARCHAR. */
export function stringConstant(text: string): Constant {
  return {
    class: "CONSTANT",
    type: "VALUE_CONSTANT",
    alias: "",
    value: { type: { id: "VARCHAR", type_info: null }, is_null: false, value: text },
  };
}

/** A list cast to a list of another type. */
export function castToList(child: Expression, id: string): Cast {
  const type_info: TypeInfo = { type: "LIST_TYPE_INFO", child_type: { id, type_info: null } };
  return { ...castTo(child, "LIST"), cast_type: { id: "LIST", type_info } };
}

/** A cast to a decimal type. */
export function castToDecimal(child: Expression, width: number, scale: number): Cast {
  const type_info: TypeInfo = { type: "DECIMAL_TYPE_INFO", width, scale };
  return { ...castTo(child, "DECIMAL"), cast_type: { id: "DECIMAL", type_info } };
}

/** A cast to the type with this id. */
export function castTo(child: Expression, id: string): Cast {
  return { class: "CAST", type: "OPERATOR_CAST", alias: "", child, cast_type: { id, type_info: null }, try_cast: false };
}
