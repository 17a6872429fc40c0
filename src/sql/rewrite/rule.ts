// The interface of rules for function calls, and common helpers.
import { TsdbError } from "../../model/errors.ts";
import { isUnsigned64 } from "../bind/decimals.ts";
import type { Kind, Typed } from "../bind/kind.ts";
import type { Scope } from "../bind/scope.ts";
import type { Expression, FunctionCall } from "../parse/tree.ts";
import { call, castTo } from "../parse/tree.ts";
import type { RewriteContext } from "./context.ts";
import { wideConstant } from "./values/constant.ts";

/** The input of a rule: the call with rewritten arguments. */
export interface RuleInput {
  readonly node: FunctionCall;
  readonly args: readonly Typed[];
  /** The values of the call's ORDER BY. */
  readonly orders?: readonly Typed[];
  readonly context: RewriteContext;
  readonly scope: Scope;
}
/** Returns null if the rule does not apply to these arguments. */
export type Rule = (input: RuleInput) => Typed | null;
export type Rules = Readonly<Record<string, Rule>>;

/** An error in the words of a planner. */
export function planError(message: string): TsdbError {
  return new TsdbError("bad_query", `Error during planning: ${message}`);
}

/** The error for a wrong number of arguments. */
export function argumentCount(name: string, want: string, got: number): TsdbError {
  return planError(`Function '${name}' expects ${want} arguments but received ${got}`);
}

/** @throws TsdbError bad_query for too many or too few arguments */
export function expectArguments({ node, args }: RuleInput, least: number, most = least): void {
  if (args.length >= least && args.length <= most) return;
  const want = least === most ? String(least) : most === Number.POSITIVE_INFINITY ? `at least ${least}` : `${least} to ${most}`;
  throw argumentCount(node.function_name, want, args.length);
}

/** An argument of a list, a struct or an aggregate: an integer literal has 64 bits in the dialect, rather than DuckDB's 32. */
export function wide(value: Typed): Expression {
  return wideConstant(value);
}

/** A number of characters or a position: integers may arrive as decimals or unsigned. @throws TsdbError bad_query for a truth value */
export function whole(value: Typed): Expression {
  refuseTruth(value);
  return value.arrow?.startsWith("Decimal") === true || isUnsigned64(value) ? castTo(value.node, "BIGINT") : wide(value);
}

/** DuckDB would take it for 0 or 1. @throws TsdbError bad_query */
export function refuseTruth({ kind }: Typed): void {
  if (kind === "boolean") throw planError("an argument of type Boolean is no number");
}

/** For lengths and positions, which DuckDB accepts as INTEGER only. @throws TsdbError bad_query for a truth value */
export function narrow(value: Typed): Expression {
  refuseTruth(value);
  return value.node.class === "CONSTANT" ? value.node : castTo(value.node, "INTEGER");
}

/** A call of `name` with the same arguments, at the call's location. */
export function callAs(name: string, { node, args }: RuleInput, children: Expression[] = args.map(wide)): FunctionCall {
  return call(name, children, node.query_location);
}

/** A rule that renames the call. `kind` "first": that of the first argument. `arrow`: see Typed. */
export function simple(name: string, counts: readonly [number, number?], kind: Kind | "first", arrow?: string): Rule {
  return (input) => {
    expectArguments(input, counts[0], counts[1] ?? counts[0]);
    const node = callAs(name, input);
    return { node, kind: kind === "first" ? (input.args[0]?.kind ?? "unknown") : kind, ...(arrow === undefined ? {} : { arrow }) };
  };
}

/** NULL, without a type. */
export function nullConstant(): Expression {
  return { class: "CONSTANT", type: "VALUE_CONSTANT", alias: "", value: { type: { id: "NULL", type_info: null }, is_null: true } };
}

/** NULL of a type. */
export function nullOf(type: string): Expression {
  return castTo(nullConstant(), type);
}

/** CASE WHEN … THEN … ELSE … END. */
export function whenThen(checks: readonly (readonly [Expression, Expression])[], otherwise: Expression = nullConstant()): Expression {
  const case_checks = checks.map(([when_expr, then_expr]) => ({ when_expr, then_expr }));
  return { class: "CASE", type: "CASE_EXPR", alias: "", case_checks, else_expr: otherwise };
}

/** `value IS NOT NULL`. */
export function isNotNull(value: Expression): Expression {
  return { class: "OPERATOR", type: "OPERATOR_IS_NOT_NULL", alias: "", children: [value] };
}

/** `NOT condition`. */
export function not(condition: Expression): Expression {
  return { class: "OPERATOR", type: "OPERATOR_NOT", alias: "", children: [condition] };
}
