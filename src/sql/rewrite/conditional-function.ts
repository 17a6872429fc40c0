// Functions that choose among their arguments.
import type { Typed } from "../kind.ts";
import { commonKind } from "./expression.ts";
import { callAs, expectArguments, isNotNull, nullConstant, type RuleInput, type Rules, whenThen, wide } from "./rule.ts";

const kindOf = (values: readonly Typed[]): Typed["kind"] => commonKind(values.map(({ kind }) => kind));

/** greatest, least: NULLs do not count. */
function choice(name: string): (input: RuleInput) => Typed {
  return (input) => {
    expectArguments(input, 1, Number.POSITIVE_INFINITY);
    return { node: callAs(name, input), kind: kindOf(input.args) };
  };
}

/** The first that is not NULL, of two. */
function ifNull(input: RuleInput): Typed {
  expectArguments(input, 2);
  return { node: { class: "OPERATOR", type: "OPERATOR_COALESCE", alias: "", children: input.args.map(wide) }, kind: kindOf(input.args) };
}

function nullIf(input: RuleInput): Typed {
  expectArguments(input, 2);
  const [value, other] = input.args;
  // DuckDB looks for the type of NULL in the wrong argument
  if (value!.node.class === "CONSTANT" && value!.node.value.is_null) return { node: nullConstant(), kind: other!.kind };
  return { node: callAs("nullif", input), kind: value!.kind };
}

/** nvl2(value, if it is there, if it is NULL) */
function nvl2(input: RuleInput): Typed {
  expectArguments(input, 3);
  const [value, present, absent] = input.args;
  return { node: whenThen([[isNotNull(value!.node), wide(present!)]], wide(absent!)), kind: kindOf([present!, absent!]) };
}

export const CONDITIONAL_RULES: Rules = {
  greatest: choice("greatest"),
  ifnull: ifNull,
  least: choice("least"),
  nullif: nullIf,
  nvl: ifNull,
  nvl2,
};
