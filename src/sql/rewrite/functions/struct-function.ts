// Structs and maps. Member names are encoded like all names (names.ts).
import { type Kind, type Typed, typeNote } from "../../bind/kind.ts";
import { itemType, memberType, structType } from "../../bind/type-notes.ts";
import { decodeNames, encodeName } from "../../parse/names.ts";
import { call, type Expression } from "../../parse/tree.ts";
import { callAs, expectArguments, planError, type Rule, type RuleInput, type Rules, wide } from "../rule.ts";
import { listMembers } from "../values/constant.ts";
import { subscript } from "./array-function.ts";

const ANY = Number.POSITIVE_INFINITY;

function member(value: Typed, name: string): Expression {
  return { ...listMembers([value])[0]!, alias: encodeName(name) };
}

/** A struct of members with encoded names, and its type note. */
function structOf(input: RuleInput, members: readonly { name: string; value: Typed }[]): Typed {
  const node = callAs(
    "struct_pack",
    input,
    members.map(({ name, value }) => member(value, name)),
  );
  return { node, kind: "struct", ...structType(members) };
}

/** struct(a, b), (a, b): members c0, c1, unless named. */
function row(input: RuleInput): Typed {
  const nameOf = ({ node }: Typed, i: number) => (node.alias === "" ? `c${i}` : decodeNames(node.alias));
  return structOf(
    input,
    input.args.map((value, i) => ({ name: nameOf(value, i), value })),
  );
}

/** `{'a': 1}` */
function struct(input: RuleInput): Typed {
  return structOf(
    input,
    input.args.map((value) => ({ name: decodeNames(value.node.alias), value })),
  );
}

/** named_struct('a', 1, 'b', 2) */
function namedStruct(input: RuleInput): Typed {
  const { args } = input;
  if (args.length === 0 || args.length % 2 !== 0) {
    throw planError(`named_struct requires an even number of arguments, got ${args.length} instead`);
  }
  const members: { name: string; value: Typed }[] = [];
  for (let i = 0; i < args.length; i += 2) {
    const name = args[i]!.text;
    if (name === undefined) throw planError("named_struct requires its names to be constant texts");
    members.push({ name, value: args[i + 1]! });
  }
  return structOf(input, members);
}

/** get_field(struct or map, 'name' [, 'name' …]) */
function getField(input: RuleInput): Typed {
  expectArguments(input, 2, ANY);
  const [value, ...keys] = input.args;
  return keys.reduce<Typed>((from, key) => partOf(from, key), value!);
}

/** `value[key]`: an element of a list, a value of a map, or a member of a struct. */
export function partOf(value: Typed, key: Typed): Typed {
  const isMember = key.text !== undefined && value.kind !== "map" && value.kind !== "list";
  const name =
    isMember && key.node.class === "CONSTANT" ? { ...key.node, value: { ...key.node.value, value: encodeName(key.text!) } } : key.node;
  const node = subscript(value.node, value.kind === "map" ? wide(key) : name);
  const depth = (value.depth ?? 1) - 1;
  if (value.kind === "list") return { ...(depth > 0 ? { node, kind: "list", depth } : { node, kind: "unknown" }), ...itemType(value) };
  return { node, kind: "unknown", ...(key.text === undefined ? {} : memberType(value, key.text)) };
}

/** make_map(key, value, key, value …) */
function makeMap(input: RuleInput): Typed {
  const { args } = input;
  if (args.length === 0 || args.length % 2 !== 0) throw planError("make_map requires an even number of arguments");
  const [keys, values] = [0, 1].map((rest) => call("list_value", args.filter((_, i) => i % 2 === rest).map(wide)));
  return { node: callAs("map", input, [keys!, values!]), kind: "map" };
}

/** map(keys, values) */
function map(input: RuleInput): Typed {
  expectArguments(input, 0, 2);
  return { node: callAs("map", input), kind: "map", entries: input.args.map(typeNote) };
}

/** The list of a map's keys or values, with the type of the list it was created from. */
function mapList(name: string, side: number): Rule {
  return (input) => {
    expectArguments(input, 1);
    return { node: callAs(name, input), kind: "list", depth: 1, ...input.args[0]!.entries?.[side] };
  };
}

/** map_extract(map, key): the value in a list. */
function mapExtract(input: RuleInput): Typed {
  expectArguments(input, 2);
  const [map, key] = input.args;
  return { node: callAs("__map_extract", input, [map!.node, wide(key!)]), kind: "list", depth: 1 };
}

function ofKind(name: string, counts: readonly [number, number], kind: Kind): Rule {
  return (input) => {
    expectArguments(input, ...counts);
    return { node: callAs(name, input), kind, ...(kind === "list" ? { depth: 1 } : {}) };
  };
}

export const STRUCT_RULES: Rules = {
  element_at: mapExtract,
  get_field: getField,
  make_map: makeMap,
  map,
  map_entries: ofKind("map_entries", [1, 1], "list"),
  map_extract: mapExtract,
  map_keys: mapList("map_keys", 0),
  map_values: mapList("map_values", 1),
  named_struct: namedStruct,
  row,
  struct: row,
  struct_pack: struct,
};
