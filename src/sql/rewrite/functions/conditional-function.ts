// Functions that select among their arguments.
import { haveMixedSigns } from "../../bind/decimals.ts";
import type { Kind, Typed } from "../../bind/kind.ts";
import { chosenType, isDictionary, isNullConstant, isTruth, sameType, typeName } from "../../bind/type-notes.ts";
import { castTo, type Expression } from "../../parse/tree.ts";
import { callAs, expectArguments, isNotNull, nullConstant, nullOf, planError, type RuleInput, type Rules, whenThen } from "../rule.ts";
import { unify } from "../values/common-type.ts";
import { dependsOnNan, negative, withLeastNan } from "../values/least-nan.ts";

/** Truth values go with truth values alone, where DuckDB takes them for 0 and 1. @throws TsdbError bad_query */
export function expectOneKind(name: string, values: readonly Typed[]): void {
  if (!values.some(({ kind }) => kind === "boolean") || values.every(isTruth)) return;
  const types = values.map((value) => typeName(value) ?? value.kind).join(", ");
  throw planError(`No function matches the given name and argument types '${name}(${types})'. You might need to add explicit type casts.`);
}

/** greatest, least: NULLs are ignored. */
function choice(name: string, opposite: string): (input: RuleInput) => Typed {
  return (input) => {
    expectArguments(input, 1, Number.POSITIVE_INFINITY);
    expectOneKind(name, input.args);
    if (dependsOnNan(input.args)) {
      const least = callAs(
        opposite,
        input,
        input.args.map(({ node }) => negative(node)),
      );
      return withLeastNan({ node: negative(least), kind: "float" });
    }
    const { nodes, ...common } = unify(input.args);
    return { node: callAs(name, input, nodes), ...common, ...chosenType(input.args) };
  };
}

function coalesce(children: Expression[]): Expression {
  return { class: "OPERATOR", type: "OPERATOR_COALESCE", alias: "", children };
}

/** Signed beside unsigned integers are floats of 32 bits to nvl. */
function floatOf({ args }: RuleInput): Typed {
  return { node: coalesce(args.map(({ node }) => castTo(node, "FLOAT"))), kind: "float", arrow: "Float32" };
}

/** The first of two values that is not NULL. */
function ifNull(input: RuleInput): Typed {
  expectArguments(input, 2);
  if (haveMixedSigns(input.args[0]!, input.args[1]!)) return floatOf(input);
  const { nodes, ...common } = unify(input.args);
  const node = coalesce(nodes);
  return { node, ...common, ...chosenType(input.args), ...(isTextOrNull(input.args) ? { arrow: "Utf8View" } : {}) };
}

/** True for texts and NULLs: then the function's first parameter type applies. */
function isTextOrNull(args: readonly Typed[]): boolean {
  const present = args.filter((arg) => !isNullConstant(arg));
  return present.length === 1 && present[0]!.kind === "string" && !isDictionary(present[0]!);
}

const NULLS: Partial<Record<Kind, string>> = {
  boolean: "BOOLEAN",
  date: "DATE",
  float: "DOUBLE",
  integer: "BIGINT",
  string: "VARCHAR",
  time: "TIMESTAMP_NS",
};

function nullIf(input: RuleInput): Typed {
  expectArguments(input, 2);
  expectOneKind("nullif", input.args);
  const [value, other] = input.args;
  // DuckDB would take the type of NULL from the wrong argument
  if (isNullConstant(value!)) {
    const type = NULLS[other!.kind];
    return { node: type === undefined ? nullConstant() : nullOf(type), kind: other!.kind };
  }
  if (haveMixedSigns(value!, other!)) {
    const { nodes, ...common } = unify(input.args);
    return { node: callAs("nullif", input, nodes), ...common };
  }
  if (value!.kind === "integer" && other!.kind === "float") {
    return { node: callAs("nullif", input, [castTo(value!.node, "DOUBLE"), other!.node]), kind: "float" };
  }
  // beside NULL a tag is a plain text
  const type = isDictionary(value!) && isNullConstant(other!) ? {} : sameType(value);
  return { node: callAs("nullif", input), kind: value!.kind, ...type };
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
  greatest: choice("greatest", "least"),
  ifnull: ifNull,
  least: choice("least", "greatest"),
  nullif: nullIf,
  nvl: ifNull,
  nvl2,
};
