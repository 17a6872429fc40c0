// List functions: every array_… exists as list_… too. Positions count from 1, negative ones from the end.
import type { Kind, Typed, TypeNote } from "../../bind/kind.ts";
import { DICTIONARY, isNullConstant, itemType, listType, NULL_TYPE, typeName } from "../../bind/type-notes.ts";
import { bigintConstant, call, castTo, castToList, type Expression, type Operator, stringConstant } from "../../parse/tree.ts";
import { callAs, expectArguments, nullOf, planError, type Rule, type RuleInput, type Rules, refuseTruth, wide } from "../rule.ts";
import { bind } from "../time/time-macro.ts";
import { implicitText, textOf } from "../values/cast.ts";
import { listMembers } from "../values/constant.ts";
import { rewriteSeries } from "./series-function.ts";

const ANY = Number.POSITIVE_INFINITY;

/** Nesting depth of a list value. */
function depthOf(value: Typed | undefined): number {
  return value?.depth ?? 1;
}

function listOf(node: Expression, depth: number): Typed {
  return { node, kind: "list", depth };
}

/** The type of a list's elements, as far as known. */
function elementOf(node: Expression, list: Typed | undefined): Typed {
  const depth = depthOf(list);
  return { ...(depth > 1 ? listOf(node, depth - 1) : { node, kind: "unknown" as const }), ...itemType(list ?? {}) };
}

/** `list[index]` or `map[key]`, `struct['name']`. */
export function subscript(value: Expression, key: Expression): Operator {
  return { class: "OPERATOR", type: "ARRAY_EXTRACT", alias: "", children: [value, key] };
}

/** A list of the given values, as created by `make_array` and `[…]`. */
export function makeList(node: Expression, items: readonly Typed[]): Typed {
  const first = items.find(({ kind }) => kind === "list");
  return { ...listOf(node, first === undefined ? 1 : depthOf(first) + 1), ...listType(items) };
}

/** A function that returns a list like its argument at `at`. */
function sameList(name: string, counts: readonly [number, number?], at = 0): Rule {
  return (input) => {
    expectArguments(input, counts[0], counts[1] ?? counts[0]);
    const list = input.args[at]!;
    if (at === 0) expectList(input);
    if (OF_NULL.has(name) && isNullConstant(list)) return { node: list.node, kind: "unknown", arrow: NULL_TYPE };
    // DuckDB would take the type of NULL from another argument
    if (isNullConstant(list) && EXTENDED.has(name)) return makeList(call("list_value", [wide(input.args[1 - at]!)]), [input.args[1 - at]!]);
    if (isNullConstant(list)) return listOf(castToList(list.node, "BIGINT"), 1);
    if (EXTENDED.has(name)) return { ...listOf(callAs(name, input), depthOf(list)), ...joinedType([list, listOfOne(input.args[1 - at]!)]) };
    const isSame = (counts[0] === 1 || name === "list_slice") && list.arrow !== undefined;
    return { ...listOf(callAs(name, input), depthOf(list)), ...(isSame ? { arrow: list.arrow! } : {}) };
  };
}

function listOfOne(item: Typed): TypeNote {
  return listType([item]);
}

/** The note of lists that become one: of tags, if one of them is. */
function joinedType(lists: readonly TypeNote[]): TypeNote {
  const arrow = `List(${DICTIONARY})`;
  return lists.some((list) => list.arrow === arrow) ? { arrow } : {};
}

/** Of NULL these make NULL without a type. */
const OF_NULL: ReadonlySet<string> = new Set(["list_reverse", "__sorted_distinct", "__except"]);

/** NULL is an empty list to these. */
const EXTENDED: ReadonlySet<string> = new Set(["list_append", "list_prepend"]);

/** Texts and numbers are no lists. @throws TsdbError bad_query */
function expectList({ node, args }: RuleInput): void {
  const [list] = args;
  if (list !== undefined && NO_LISTS.has(list.kind)) throw planError(`${node.function_name} does not support type ${typeName(list)}`);
}

const NO_LISTS: ReadonlySet<Kind> = new Set(["string", "integer", "float", "boolean", "time", "date", "interval"]);

function ofKind(name: string, counts: readonly [number, number?], kind: Kind): Rule {
  return (input) => {
    expectArguments(input, counts[0], counts[1] ?? counts[0]);
    return { node: callAs(name, input), kind };
  };
}

/** A count or a position: unsigned 64 bits in the dialect. */
function place(node: Expression): Typed {
  return { node: castTo(node, "BIGINT"), kind: "integer", arrow: "UInt64" };
}

function element(name: string): Rule {
  return (input) => {
    expectArguments(input, name === "list_extract" ? 2 : 1);
    expectList(input);
    if (isNullConstant(input.args[0]!)) return { node: input.args[0]!.node, kind: "unknown", arrow: NULL_TYPE };
    return elementOf(callAs(name, input), input.args[0]);
  };
}

/** array_length(list [, dimension]) */
function length(input: RuleInput): Typed {
  expectArguments(input, 1, 2);
  expectList(input);
  const [list, dimension] = input.args;
  const depth = dimension === undefined ? 1n : dimension.number;
  if (typeof depth !== "bigint") throw planError("array_length expects its dimension to be a constant");
  if (depth < 1n || depth > BigInt(depthOf(list))) return place(nullOf("BIGINT"));
  return place(callAs("len", input, [inside(list!.node, Number(depth) - 1)]));
}

/** The first element, `steps` levels deep. */
function inside(list: Expression, steps: number): Expression {
  return steps === 0 ? list : subscript(inside(list, steps - 1), bigintConstant(1n));
}

function dimensions(input: RuleInput): Typed {
  expectArguments(input, 1);
  const [list] = input.args;
  const lengths = Array.from({ length: depthOf(list) }, (_, i) => call("len", [inside(list!.node, i)]));
  return listOf(castToList(call("__not_empty", [list!.node, call("list_value", lengths)]), "UBIGINT"), 1);
}

function dimensionCount(input: RuleInput): Typed {
  expectArguments(input, 1);
  return place(call("__if_present", [input.args[0]!.node, bigintConstant(BigInt(depthOf(input.args[0])))]));
}

/** Flattens `steps` levels of lists. */
function flat(list: Expression, steps: number): Expression {
  return steps <= 0 ? list : flat(call("flatten", [list]), steps - 1);
}

function flatten(input: RuleInput): Typed {
  expectArguments(input, 1);
  expectList(input);
  const depth = depthOf(input.args[0]);
  return depth === 1 ? input.args[0]! : listOf(callAs("flatten", input), depth - 1);
}

/** The number of a map's entries, or of the elements of a nested list; NULL for an empty list. */
function cardinality(input: RuleInput): Typed {
  expectArguments(input, 1);
  expectList(input);
  const [value] = input.args;
  if (isNullConstant(value!)) return place(bigintConstant(0n));
  if (value!.kind === "map") return { node: callAs("cardinality", input), kind: "integer" };
  const depth = depthOf(value);
  const count = callAs("len", input, [flat(value!.node, depth - 1)]);
  return place(depth === 1 ? call("nullif", [count, bigintConstant(0n)]) : count);
}

/** array_to_string(list, delimiter [, text for NULL]); nested lists are flattened. */
function toText(input: RuleInput): Typed {
  expectArguments(input, 2, 3);
  const [list, delimiter, none] = input.args;
  const values = flat(list!.node, depthOf(list) - 1);
  const texts = none === undefined ? values : call("__texts", [values, textOf(none)]);
  // DuckDB joins by constants alone
  if (delimiter!.text !== undefined) return { node: callAs("__joined", input, [texts, delimiter!.node]), kind: "string" };
  return { node: callAs("__list_joined_by", input, [texts, implicitText(delimiter!, input.scope)]), kind: "string" };
}

function position(input: RuleInput): Typed {
  expectArguments(input, 2, 3);
  const [list, value, from] = input.args;
  if (from !== undefined) return place(callAs("__position_from", input));
  return place(callAs("list_position", input, [list!.node, wide(value!)]));
}

function positions(input: RuleInput): Typed {
  expectArguments(input, 2);
  return listOf(castToList(callAs("__positions", input), "UBIGINT"), 1);
}

function distance(input: RuleInput): Typed {
  expectArguments(input, 2);
  return {
    node: callAs(
      "list_distance",
      input,
      input.args.map(({ node }) => castToList(node, "DOUBLE")),
    ),
    kind: "float",
  };
}

const PARSED_ORDERS = new Set(["ASCENDING", "DESCENDING", "ORDER_DEFAULT"]);

/** array_sort(list [, 'ASC' | 'DESC' [, 'NULLS FIRST' | 'NULLS LAST']]) */
function sort(input: RuleInput): Typed | null {
  expectArguments(input, 1, 3);
  const [list, direction, nulls] = input.args;
  // the form of list(x ORDER BY x) after DuckDB's parser
  if (direction?.text !== undefined && PARSED_ORDERS.has(direction.text)) return null;
  const order = direction === undefined ? "ASC" : (direction.text?.toUpperCase() ?? "");
  const where = nulls === undefined ? "NULLS FIRST" : (nulls.text?.toUpperCase() ?? "");
  if (order !== "ASC" && order !== "DESC") throw planError("array_sort expects 'ASC' or 'DESC' as its second argument");
  if (where !== "NULLS FIRST" && where !== "NULLS LAST")
    throw planError("array_sort expects 'NULLS FIRST' or 'NULLS LAST' as its third argument");
  const sorted = listOf(callAs("list_sort", input, [list!.node, stringConstant(order), stringConstant(where)]), depthOf(list));
  return list!.arrow === undefined ? sorted : { ...sorted, arrow: list!.arrow };
}

/** `array_remove` and similar: `last` is the last position to remove or replace. */
function upTo(macro: string, counts: number, last: (args: readonly Expression[]) => Expression): Rule {
  return (input) => {
    expectArguments(input, counts);
    const [list] = input.args;
    const body = (args: readonly Expression[]) => callAs(macro, input, [...args.slice(0, macro === "__removed" ? 2 : 3), last(args)]);
    return listOf(bindAll(input.args.map(wide), body), depthOf(list));
  };
}

/** Each is used several times, also in lambdas: binding avoids exponential nesting. */
function bindAll(args: readonly Expression[], body: (args: readonly Expression[]) => Expression): Expression {
  const [first, ...rest] = args;
  if (first === undefined) return body([]);
  return bind(`argument ${rest.length}`, first, (bound) => bindAll(rest, (others) => body([bound, ...others])));
}

const firstPlace = ([list, sought]: readonly Expression[]): Expression => call("list_position", [list!, sought!]);
const nthPlace = (args: readonly Expression[]): Expression => call("__nth_position", [args[0]!, args[1]!, args[args.length - 1]!]);
const lastPlace = ([list]: readonly Expression[]): Expression => call("len", [list!]);

function repeat(input: RuleInput): Typed {
  expectArguments(input, 2);
  const [value, count] = input.args;
  refuseTruth(count!);
  return makeList(callAs("__list_repeat", input, [wide(value!), wide(count!)]), [value!]);
}

function resize(input: RuleInput): Typed {
  expectArguments(input, 2, 3);
  const [list, size, value] = input.args;
  refuseTruth(size!);
  const bounded = call("__bounded_size", [wide(size!)]);
  const node = callAs("list_resize", input, [list!.node, bounded, ...(value === undefined ? [] : [wide(value)])]);
  return { ...listOf(node, depthOf(list)), ...joinedType([list!]) };
}

function concat(input: RuleInput): Typed {
  expectArguments(input, 1, ANY);
  return { ...listOf(callAs("list_concat", input), Math.max(...input.args.map(depthOf))), ...joinedType(input.args) };
}

/** True if a list contains a value. */
function has(input: RuleInput): Typed {
  const isConstant = input.args[1] !== undefined && input.args[1].node.class === "CONSTANT";
  return ofKind(isConstant ? "__has" : "list_contains", [2], "boolean")(input)!;
}

function isEmpty(input: RuleInput): Typed {
  expectList(input);
  return ofKind("__list_empty", [1], "boolean")(input)!;
}

/** make_array(…) */
function make(input: RuleInput): Typed {
  return makeList(callAs("list_value", input, listMembers(input.args)), input.args);
}

/** By the name after `array_` and `list_`. */
const BOTH: Rules = {
  any_value: element("list_any_value"),
  append: sameList("list_append", [2]),
  cat: concat,
  concat,
  contains: has,
  dims: dimensions,
  distance,
  distinct: sameList("__sorted_distinct", [1]),
  element: element("list_extract"),
  empty: isEmpty,
  except: sameList("__except", [2]),
  extract: element("list_extract"),
  has,
  has_all: ofKind("__has_all", [2], "boolean"),
  has_any: ofKind("__has_any", [2], "boolean"),
  indexof: position,
  intersect: sameList("__intersect", [2]),
  join: toText,
  length,
  max: element("list_max"),
  min: element("list_min"),
  ndims: dimensionCount,
  pop_back: sameList("__pop_back", [1]),
  pop_front: sameList("__pop_front", [1]),
  position,
  positions,
  prepend: sameList("list_prepend", [2], 1),
  push_back: sameList("list_append", [2]),
  push_front: sameList("list_prepend", [2], 1),
  remove: upTo("__removed", 2, firstPlace),
  remove_all: upTo("__removed", 2, lastPlace),
  remove_n: upTo("__removed", 3, nthPlace),
  repeat,
  replace: upTo("__replaced", 3, firstPlace),
  replace_all: upTo("__replaced", 3, lastPlace),
  replace_n: upTo("__replaced", 4, nthPlace),
  resize,
  reverse: sameList("list_reverse", [1]),
  slice: sameList("list_slice", [3, 4]),
  sort,
  to_string: toText,
  union: sameList("__union", [2]),
};

export const ARRAY_RULES: Rules = {
  ...Object.fromEntries(
    Object.entries(BOTH).flatMap(([name, rule]) => [[`array_${name}`, rule] as const, [`list_${name}`, rule] as const]),
  ),
  arrays_overlap: BOTH["has_any"]!,
  cardinality,
  empty: BOTH["empty"]!,
  array_flatten: flatten,
  flatten,
  generate_series: (input) => rewriteSeries(input, true),
  list_flatten: flatten,
  list_value: make,
  range: (input) => rewriteSeries(input, false),
};
