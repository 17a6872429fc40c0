// Functions that select among their arguments.
import { haveMixedSigns } from "../../bind/decimals.ts";
import { type Kind, type Typed, withClock } from "../../bind/kind.ts";
import { chosenType, isDictionary, isNullConstant, isTruth, sameType, typeName } from "../../bind/type-notes.ts";
import { castTo, type Expression } from "../../parse/tree.ts";
import { callAs, expectArguments, isNotNull, nullConstant, nullOf, planError, type RuleInput, type Rules, whenThen } from "../rule.ts";
import { alternatives } from "../time/common-zone.ts";
import { asNumbers, unify } from "../values/common-type.ts";
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
    const args = alternatives(asNumbers(input.args, input.scope), input.scope);
    if (dependsOnNan(args)) {
      const least = callAs(
        opposite,
        input,
        args.map(({ node }) => negative(node)),
      );
      return withLeastNan({ node: negative(least), kind: "float" });
    }
    const { nodes, ...common } = unify(args);
    return withClock({ node: callAs(name, input, nodes), ...common, ...chosenType(args) }, args);
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
  return { node, ...common, ...chosenType(input.args), ...(isView(input.args) ? { arrow: "Utf8View" } : {}) };
}

/** True for a text beside NULL, and for texts of which one is a tag: then the function's first parameter type applies. */
function isView(args: readonly Typed[]): boolean {
  const present = args.filter((arg) => !isNullConstant(arg));
  return present.every(({ kind }) => kind === "string") && (present.length === 1 || present.some(isDictionary));
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
  const [value, other] = asNumbers(input.args, input.scope);
  // DuckDB would take the type of NULL from the wrong argument
  if (isNullConstant(value!)) {
    const type = NULLS[other!.kind];
    return { node: type === undefined ? nullConstant() : nullOf(type), kind: other!.kind };
  }
  if (haveMixedSigns(value!, other!)) {
    const { nodes, ...common } = unify([value!, other!]);
    return { node: callAs("nullif", input, nodes), ...common };
  }
  if (value!.kind === "integer" && other!.kind === "float") {
    return { node: callAs("nullif", input, [castTo(value!.node, "DOUBLE"), other!.node]), kind: "float" };
  }
  // beside NULL a tag is a plain text
  const type = isDictionary(value!) && isNullConstant(other!) ? {} : sameType(value);
  return withClock({ node: callAs("nullif", { ...input, args: [value!, other!] }), kind: value!.kind, ...type }, [value!]);
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
  return withClock({ node: whenThen([[isNotNull(value!.node), widened[0]!]], widened[1]!), ...common }, [present!, absent!]);
}

export const CONDITIONAL_RULES: Rules = {
  greatest: choice("greatest", "least"),
  least: choice("least", "greatest"),
  nullif: nullIf,
  nvl: ifNull,
  nvl2,
};
