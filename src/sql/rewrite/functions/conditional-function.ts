// Functions that select among their arguments.
import type { Kind, Typed } from "../../bind/kind.ts";
import { chosenType, isDictionary, isNullConstant, sameType } from "../../bind/type-notes.ts";
import { castTo, type Expression } from "../../parse/tree.ts";
import { callAs, expectArguments, isNotNull, nullConstant, type RuleInput, type Rules, whenThen } from "../rule.ts";
import { unify } from "../values/common-type.ts";

/** greatest, least: NULLs are ignored. */
function choice(name: string): (input: RuleInput) => Typed {
  return (input) => {
    expectArguments(input, 1, Number.POSITIVE_INFINITY);
    const { nodes, ...common } = unify(input.args);
    return { node: callAs(name, input, nodes), ...common, ...chosenType(input.args) };
  };
}

/** The first of two values that is not NULL. */
function ifNull(input: RuleInput): Typed {
  expectArguments(input, 2);
  const { nodes, ...common } = unify(input.args);
  const node: Expression = { class: "OPERATOR", type: "OPERATOR_COALESCE", alias: "", children: nodes };
  return { node, ...common, ...chosenType(input.args), ...(isTextOrNull(input.args) ? { arrow: "Utf8View" } : {}) };
}

/** True for texts and NULLs: then the function's first parameter type applies. */
function isTextOrNull(args: readonly Typed[]): boolean {
  const present = args.filter((arg) => !isNullConstant(arg));
  return present.length === 1 && present[0]!.kind === "string" && !isDictionary(present[0]!);
}

function nullIf(input: RuleInput): Typed {
  expectArguments(input, 2);
  const [value, other] = input.args;
  // DuckDB would take the type of NULL from the wrong argument
  if (value!.node.class === "CONSTANT" && value!.node.value.is_null) return { node: nullConstant(), kind: other!.kind };
  if (value!.kind === "integer" && other!.kind === "float") {
    return { node: callAs("nullif", input, [castTo(value!.node, "DOUBLE"), other!.node]), kind: "float" };
  }
  return { node: callAs("nullif", input), kind: value!.kind, ...sameType(value) };
}

/** nvl2(value, result if not NULL, result if NULL) */
function nvl2(input: RuleInput): Typed {
  expectArguments(input, 3);
  const [value, present, absent] = input.args;
  // the value takes part in the choice of the type, although it is none of the results
  const takesPart = (["string", "integer", "float"] as Kind[]).includes(value!.kind) && !isNullConstant(value!);
  const { nodes, ...common } = unify([present!, absent!, ...(takesPart ? [value!] : [])]);
  // DuckDB does not see the value among the results
  const widened = takesPart && common.kind === "float" && common.arrow === undefined ? nodes.map((node) => castTo(node, "DOUBLE")) : nodes;
  return { node: whenThen([[isNotNull(value!.node), widened[0]!]], widened[1]!), ...common };
}

export const CONDITIONAL_RULES: Rules = {
  greatest: choice("greatest"),
  ifnull: ifNull,
  least: choice("least"),
  nullif: nullIf,
  nvl: ifNull,
  nvl2,
};
