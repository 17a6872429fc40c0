// Operators that become functions next to a list, a map or a struct.
import { givesList } from "./function-name.ts";
import { numberText, stringText, stringValue } from "./literal.ts";
import { type NameCall, type NameNode, parts, plainCall, text } from "./node.ts";
import { type TokenReader, UNNAMED } from "./token-reader.ts";

/** Nesting depth of a list; 0 if it is not one, as far as its text shows. */
function listDepth(node: NameNode): number {
  if (node.kind === "cast") return node.type.split("List(").length - 1;
  if (node.kind !== "call" || !givesList(node.name)) return 0;
  if (node.name === "make_array") return 1 + Math.max(0, ...node.args.slice(0, LOOKED_AT).map(listDepth));
  const [first, second] = node.args;
  const list = node.name === "array_prepend" ? second : first;
  return Math.max(1, list === undefined ? 0 : listDepth(list));
}

/** All elements have one type: the first ones determine it. */
const LOOKED_AT = 4;

/** Returns null for an ordinary operator. */
export function listOperator(sign: string, left: NameNode, right: NameNode): NameNode | null {
  if (sign !== "||" && sign !== "@>" && sign !== "<@") return null;
  const [a, b] = [listDepth(left), listDepth(right)];
  if (sign === "||") {
    if (a + b === 0) return null;
    return plainCall(a === b ? "array_concat" : a > b ? "array_append" : "array_prepend", [left, right]);
  }
  if (a === 0 || b === 0) return null;
  return plainCall("array_has_all", sign === "@>" ? [left, right] : [right, left]);
}

/** After `value[`. */
export function subscript(reader: TokenReader, value: NameNode): NameNode {
  const key = reader.token;
  if (key?.kind === "string" && reader.isSymbol("]", 1)) {
    reader.at += 2;
    return field(value, stringValue(key));
  }
  const index = reader.expression();
  if (reader.takeSymbol("]")) return element(value, index);
  reader.expectSymbol(":");
  const end = reader.expression();
  const step = reader.takeSymbol(":") ? reader.expression() : "Int64(1)";
  reader.expectSymbol("]");
  const call = plainCall("array_slice", [value, index, end, typeof step === "string" ? text(step) : step]);
  return { ...parts(value, "[", index, ":", end, ":", step, "]"), long: call };
}

function element(value: NameNode, index: NameNode): NameNode {
  const shown = { ...parts(value, "[", index, "]"), long: plainCall("array_element", [value, index]) };
  if (value.kind !== "call" || value.written !== null || value.over !== null) return shown;
  if (value.name === "array_agg") return { ...value, name: "nth_value", args: [...value.args, index] };
  return value.name === "map" ? field(value, rawText(index)) : shown;
}

/** A member of a struct, as names show it. */
export function field(value: NameNode, key: string): NameNode {
  return { ...parts(value, `[${key}]`), long: plainCall("get_field", [value, text(stringText(key))]) };
}

/** A literal without its type. @throws UNNAMED for anything else */
export function rawText(node: NameNode): string {
  const shown = node.kind === "number" ? numberText(node.written, node.isNegative) : node.kind === "text" ? node.text : "";
  const match = /^\w+\("?([\s\S]*?)"?\)$/.exec(shown);
  if (match === null) throw UNNAMED;
  return match[1]!;
}

/** Calls that are shown as operators. */
export function shownCall(call: NameCall): NameNode {
  const { name, args, written } = call;
  const [first, second] = args;
  if (written !== null || first === undefined) return call;
  if (name === "array_element" && args.length === 2) return { ...parts(first, "[", second!, "]"), long: call };
  if (name === "array_slice" && (args.length === 3 || args.length === 4)) {
    return { ...parts(first, "[", ...args.slice(1).flatMap((bound, i) => (i === 0 ? [bound] : [":", bound])), "]"), long: call };
  }
  if (name === "get_field" && args.length === 2)
    return second!.kind === "text" ? field(first, rawText(second!)) : { ...parts(first, "[", second!, "]"), long: call };
  if (name === "make_map") {
    const every = (rest: number) =>
      plainCall(
        "make_array",
        args.filter((_, i) => i % 2 === rest),
      );
    return plainCall("map", [every(0), every(1)]);
  }
  return call;
}

/** `struct(1 AS a, 2)`: unnamed members are called by their position. */
export function structOf(members: readonly { readonly name: string | null; readonly value: NameNode }[], written: string | null): NameNode {
  if (members.every(({ name }) => name === null))
    return plainCall(
      "struct",
      members.map(({ value }) => value),
      written,
    );
  const named = members.flatMap(({ name, value }, i): NameNode[] => [{ kind: "text", text: stringText(name ?? `c${i}`) }, value]);
  return plainCall("named_struct", named);
}
