// Aggregates of pairs of numbers: correlation and linear regression.
import { call, castTo, type Expression, type FunctionCall, floatConstant, integerConstant, operator } from "../../parse/tree.ts";
import { not, type Rule, type RuleInput, type Rules, whenThen } from "../rule.ts";
import { isVolatile } from "../volatile.ts";
import { someNode } from "../walk.ts";

/** The call with another name or other arguments; keeps FILTER, DISTINCT and ORDER BY. */
export function aggregate(node: FunctionCall, name: string, children: Expression[] = node.children): FunctionCall {
  return { ...node, function_name: name, children };
}

/** True for what is another value each time, and for a statement of its own, which would be run twice as often at each depth. */
export function standsOnce(node: Expression): boolean {
  return someNode(node, (part) => part.class === "SUBQUERY" || isVolatile(part));
}

export const PAIR_RULES: Rules = {
  corr: ofFinite(whereDefined),
  regr_intercept: ofFinite(whereDefined),
  regr_r2: ofFinite(squaredCorrelation),
  regr_slope: ofFinite(whereDefined),
  regr_sxx: ofFinite(asGiven),
  regr_sxy: ofFinite(asGiven),
  regr_syy: ofFinite(asGiven),
};

/** NaN in DuckDB for constant values is NULL in the dialect. */
function whereDefined(node: FunctionCall): Expression {
  return call("__defined", [node]);
}

function squaredCorrelation(node: FunctionCall): Expression {
  const varies = operator("<>", aggregate(node, "regr_syy"), castTo(integerConstant(0), "DOUBLE"));
  return whenThen([[varies, call("__defined", [node])]]);
}

function asGiven(node: FunctionCall): Expression {
  return node;
}

/** NaN if a value of a pair is not finite, or its square is not, where DuckDB's functions fail. Arguments may stand several times, as
 *  aggregates do not nest. */
function ofFinite(result: (node: FunctionCall) => Expression): Rule {
  return ({ node, args }: RuleInput) => {
    const mayFail = args.length === 2 && args.some(({ kind }) => kind === "float") && !args.some((arg) => standsOnce(arg.node));
    if (!mayFail) return { node: result(node), kind: "float" };
    const [y, x] = args.map((arg) => arg.node);
    const pair = call("__finite_pair", [y!, x!]);
    const finite = aggregate(node, node.function_name, [whenThen([[pair, y!]]), x!]);
    const areFinite = aggregate(node, "bool_and", [pair]);
    return { node: whenThen([[not(areFinite), floatConstant(Number.NaN)]], result(finite)), kind: "float" };
  };
}
