// Rewrites expressions bottom-up: children first, then the rule for the node. A rule returns DuckDB's expression and the kind of its value.
import { TsdbError } from "../../model/errors.ts";
import { noteSource } from "../bind/column-sources.ts";
import { type Hint, type ScanUse, type Typed, typeNote, withClock } from "../bind/kind.ts";
import type { Scope } from "../bind/scope.ts";
import { chosenType, DICTIONARY, isNullConstant, markOf, NULL_TYPE, sameType, withMarkOf } from "../bind/type-notes.ts";
import { decodeNames } from "../parse/names.ts";
import { type Cast, type Comparison, call, type Expression, type Star, type SubqueryExpression } from "../parse/tree.ts";
import { unsupported } from "../parse/unsupported.ts";
import type { RewriteContext } from "./context.ts";
import { rewriteFunction, rewriteSelectorCall } from "./function.ts";
import { makeList } from "./functions/array-function.ts";
import { expectOneKind } from "./functions/conditional-function.ts";
import { selectorPart } from "./functions/selector.ts";
import { partOf } from "./functions/struct-function.ts";
import { presenceHint, tagHint, truthHint } from "./pushdown/conditions.ts";
import { alternatives } from "./time/common-zone.ts";
import { currentTime } from "./time/time-function.ts";
import { typed } from "./typed.ts";
import { rewriteCast } from "./values/cast.ts";
import { asNumbers, unify } from "./values/common-type.ts";
import { condition, rewriteBetween, rewriteComparison, rewriteIn, rewriteInList } from "./values/comparison.ts";
import { listMembers, typedConstant } from "./values/constant.ts";
import { keptCondition } from "./values/neutral.ts";
import { rewriteParameter } from "./values/parameter.ts";
import { expectNegatable, expectOperands } from "./values/truth.ts";
import { someNode } from "./walk.ts";
import { rewriteWindow } from "./window.ts";

/** Rewrites an expression. */
export function rewriteExpression(node: Expression, context: RewriteContext, scope: Scope): Typed {
  switch (node.class) {
    case "COLUMN_REF": {
      const resolved = scope.resolve(node.column_names);
      if (!resolved.found && node.column_names.length === 1) {
        const value = currentTime(node.column_names[0]!, context);
        if (value !== null) return value;
        if (SESSION_NAMES.has(node.column_names[0]!)) throw noField(node.column_names[0]!);
      }
      const ref: Expression = { ...node, column_names: resolved.names };
      const { source, isOptional } = resolved.value;
      if (source !== undefined && isOptional !== true) noteSource(ref, source);
      return { ...resolved.value, node: ref };
    }
    case "CONSTANT":
      return typedConstant(node);
    case "PARAMETER":
      return rewriteParameter(node, context);
    case "FUNCTION":
      return rewriteFunction(node, context, scope);
    case "WINDOW":
      return rewriteWindow(node, context, scope);
    case "CAST":
      return castOf(node, rewriteExpression(node.child, context, scope), scope);
    case "CASE":
      return rewriteCase(node, context, scope);
    case "COMPARISON": {
      const right = rewriteExpression(node.right, context, scope);
      if (!isTruthTest(node)) return rewriteComparison(node, rewriteExpression(node.left, context, scope), right, scope);
      const tested = rewriteExpression(node.left.child, context, scope);
      expectNegatable(tested);
      return rewriteComparison(node, castOf(node.left, tested, scope), right, scope);
    }
    case "BETWEEN": {
      const operands = [node.input, node.lower, node.upper].map((child) => rewriteExpression(child, context, scope));
      return rewriteBetween(node, operands, scope);
    }
    case "CONJUNCTION": {
      const children = node.children.map((child) => rewriteExpression(child, context, scope));
      const sign = node.type === "CONJUNCTION_AND" ? "AND" : "OR";
      expectOperands(sign, children);
      const kept = keptCondition(sign, children);
      const rewritten: Expression = { ...node, children: children.map((child) => child.node) };
      const conditions = children.map(asCondition);
      const all = conditions.map((child) => child.hints ?? []);
      const areExact = conditions.every(({ isExact }) => isExact === true);
      if (sign === "AND") return withMarkOf({ node: rewritten, kind: "boolean", hints: all.flat(), isExact: areExact }, kept);
      return withMarkOf(anyOf(rewritten, all, areExact), kept);
    }
    case "OPERATOR":
      return rewriteOperator(node, context, scope);
    case "SUBQUERY":
      return rewriteSubquery(node, context, scope);
    case "STAR":
      return typed(rewriteStar(node, context, scope), "unknown");
    case "LAMBDA":
      return typed({ ...node, expr: rewriteExpression(node.expr, context, scope).node }, "unknown");
    case "COLLATE":
      return typed({ ...node, child: rewriteExpression(node.child, context, scope).node }, "string");
    case "POSITIONAL_REFERENCE":
      return typed(node, "unknown");
    case "LITERALS":
      throw new Error("BUG: a list of literals stands behind IN alone");
  }
}

function castOf(node: Cast, child: Typed, scope: Scope): Typed {
  return withMarkOf(rewriteCast(node, child, scope), child);
}

/** `x IS TRUE`, `x IS NOT FALSE`: DuckDB's parser casts the value. */
function isTruthTest(node: Comparison): node is Comparison & { readonly left: Cast } {
  const isDistinct = node.type === "COMPARE_NOT_DISTINCT_FROM" || node.type === "COMPARE_DISTINCT_FROM";
  // literals of the dialect are casts of texts: only the parser makes constants that are true or false
  const isMade = node.right.class === "CONSTANT" && node.right.value.type.id === "BOOLEAN";
  return isDistinct && isMade && node.left.class === "CAST" && node.left.cast_type.id === "BOOLEAN";
}

/** A value used as a condition: a boolean column gives a hint, a constant none. */
export function asCondition(value: Typed): Typed {
  if (value.hints !== undefined || value.kind !== "boolean") return value;
  if (value.boolean === true) return { ...value, hints: [], isExact: true };
  const hint = truthHint(value, true);
  return hint === null ? value : condition(value.node, [hint]);
}

/** The hints of alternatives: conditions that every alternative makes on the same column, combined. */
function anyOf(node: Expression, alternatives: readonly (readonly Hint[])[], areExact: boolean): Typed {
  const [first = [], ...others] = alternatives;
  const byColumn = others.map(firstByColumn);
  const hints = first.flatMap((hint): Hint[] => {
    const column = columnOf(hint);
    const same = byColumn.map((hints) => (column === null ? undefined : hints.get(hint.scan)?.get(column)));
    if (same.some((other) => other === undefined)) return [];
    if (hint.kind === "tag") return [{ ...hint, values: [hint, ...same].flatMap((other) => (other?.kind === "tag" ? other.values : [])) }];
    return [same.reduce<Hint>((union, other) => unite(union, other!), hint)];
  });
  // Value lists of one tag combine exactly; ranges may leave a gap.
  const isExact = areExact && hints.length === 1 && hints[0]!.kind === "tag" && alternatives.every(({ length }) => length === 1);
  return { node, kind: "boolean", hints, isExact };
}

/** The column of a hint; null: such hints cannot be combined. */
function columnOf(hint: Hint): number | "time" | null {
  return hint.kind === "time" ? "time" : hint.kind === "tag" ? hint.columnId : null;
}

/** The first hint per column. */
function firstByColumn(hints: readonly Hint[]): Map<ScanUse, Map<number | "time", Hint>> {
  const found = new Map<ScanUse, Map<number | "time", Hint>>();
  for (const hint of hints) {
    const column = columnOf(hint);
    if (column === null) continue;
    const columns = found.get(hint.scan) ?? new Map<number | "time", Hint>();
    if (!columns.has(column)) columns.set(column, hint);
    found.set(hint.scan, columns);
  }
  return found;
}

function unite(a: Hint, b: Hint): Hint {
  if (a.kind !== "time" || b.kind !== "time") return a;
  const minNs = a.range.minNs < b.range.minNs ? a.range.minNs : b.range.minNs;
  const maxNs = a.range.maxNs > b.range.maxNs ? a.range.maxNs : b.range.maxNs;
  return { ...a, range: { minNs, maxNs } };
}

/** Names that DuckDB interprets as session functions if no column has them. */
const SESSION_NAMES: ReadonlySet<string> = new Set([
  "current_catalog",
  "current_role",
  "current_schema",
  "current_user",
  "session_user",
  "user",
]);

function noField(name: string): TsdbError {
  return new TsdbError("bad_query", `Schema error: No field named ${decodeNames(name)}.`);
}

function rewriteCase(node: Extract<Expression, { class: "CASE" }>, context: RewriteContext, scope: Scope): Typed {
  const checks = node.case_checks.map((check) => ({
    condition: rewriteExpression(check.when_expr, context, scope),
    value: rewriteExpression(check.then_expr, context, scope),
  }));
  const otherwise = rewriteExpression(node.else_expr, context, scope);
  const values = alternatives([otherwise, ...checks.map(({ value }) => value)], scope, "first");
  const { nodes, ...common } = unify(values);
  const case_checks = checks.map(({ condition }, i) => ({ when_expr: condition.node, then_expr: nodes[i + 1]! }));
  const chosen = withClock({ node: { ...node, case_checks, else_expr: nodes[0]! }, ...common }, values);
  const { arrow } = chosenType(values);
  const sure = checks.find(({ condition }) => condition.boolean !== false);
  const kept = sure === undefined ? otherwise : sure.condition.boolean === true ? sure.value : undefined;
  // beside a NULL that is written a tag is a plain text
  const isTag = arrow === DICTIONARY && !values.some((value) => isNullConstant(value) && value.node.query_location !== undefined);
  const isNoted = isTag || arrow === NULL_TYPE || /^(UInt64|U?Int(8|16|32))$/.test(arrow ?? "");
  return withMarkOf(isNoted ? { ...chosen, arrow: arrow! } : chosen, kept);
}

function rewriteOperator(node: Extract<Expression, { class: "OPERATOR" }>, context: RewriteContext, scope: Scope): Typed {
  const part = selectorPart(node);
  if (part !== null) return rewriteSelectorCall(part.selector, context, scope, part.part);
  if (node.type === "COMPARE_IN" || node.type === "COMPARE_NOT_IN") {
    const [subject, list] = node.children;
    if (list?.class !== "LITERALS")
      return rewriteIn(
        node,
        node.children.map((child) => rewriteExpression(child, context, scope)),
        scope,
      );
    return rewriteInList(node, rewriteExpression(subject!, context, scope), list, scope);
  }
  const children = node.children.map((child) => rewriteExpression(child, context, scope));
  const rewritten: Expression = { ...node, children: children.map((child) => child.node) };
  switch (node.type) {
    case "OPERATOR_COALESCE": {
      expectOneKind("coalesce", children);
      const values = alternatives(asNumbers(children, scope), scope);
      const { nodes, ...common } = unify(values);
      return { ...withClock({ node: { ...node, children: nodes }, ...common }, values), ...chosenType(values) };
    }
    case "OPERATOR_IS_NULL":
      return condition(rewritten, [tagHint(children[0]!, [null])]);
    case "OPERATOR_IS_NOT_NULL":
      return condition(rewritten, [presenceHint(children[0]!)]);
    case "OPERATOR_NOT":
      expectNegatable(children[0]!);
      return withMarkOf(condition(rewritten, [truthHint(children[0]!, false)]), children[0]);
    case "ARRAY_EXTRACT":
    case "STRUCT_EXTRACT":
      return partOf(children[0]!, children[1]!);
    case "ARRAY_SLICE":
      return { node: rewritten, kind: children[0]!.kind, ...typeNote(children[0]!) };
    case "ARRAY_CONSTRUCTOR":
      return makeList({ ...node, children: listMembers(children) }, children);
    case "GROUPING_FUNCTION":
      return { node: rewritten, kind: "integer", arrow: "Int32" };
    default:
      return typed(rewritten, "unknown");
  }
}

/** The list of `5 = ANY(list)`, which DuckDB parses as a query; null: another subquery, or a value that is no constant. */
function listOfAny({ subquery_type, comparison_type, subquery: { node }, child }: SubqueryExpression): Expression | null {
  if (subquery_type !== "ANY" || comparison_type !== "COMPARE_EQUAL" || child?.class !== "CONSTANT") return null;
  if (node.type !== "SELECT_NODE" || node.from_table.type !== "EMPTY" || node.select_list.length !== 1) return null;
  const item = node.select_list[0]!;
  return item.class === "FUNCTION" && item.function_name === "unnest" && item.children.length === 1 ? item.children[0]! : null;
}

function rewriteSubquery(node: SubqueryExpression, context: RewriteContext, scope: Scope): Typed {
  const list = listOfAny(node);
  if (list !== null) return rewriteExpression(call("array_has", [list, node.child!], node.query_location), context, scope);
  const { columns } = context.query(node.subquery.node, scope, scope.ctes);
  const child = node.child === null ? null : rewriteSought(node.child, context, scope);
  const column = columns?.[0];
  if (node.subquery_type !== "SCALAR") return typed({ ...node, child }, "boolean");
  if (column === undefined) return typed({ ...node, child }, "unknown");
  return { ...withClock(typed({ ...node, child }, column.kind), [column]), ...sameType(column), mark: markOf(column) };
}

/** The values of IN. Several values in parentheses are not a struct there. */
function rewriteSought(node: Expression, context: RewriteContext, scope: Scope): Expression {
  if (node.class !== "FUNCTION" || node.function_name !== "row") return rewriteExpression(node, context, scope).node;
  return { ...node, children: node.children.map((child) => rewriteExpression(child, context, scope).node) };
}

function rewriteStar(node: Star, context: RewriteContext, scope: Scope): Star {
  // a parameter cannot be a name
  if (node.expr !== null && someNode(node.expr, (part) => part.class === "PARAMETER")) throw unsupported("a placeholder in COLUMNS");
  return {
    ...node,
    replace_list: node.replace_list.map(({ key, value }) => ({ key, value: rewriteExpression(value, context, scope).node })),
  };
}
