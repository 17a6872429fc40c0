// `unnest` of a struct: a column per member, as far as the expression shows the members.
import { type Expression, stringConstant } from "../parse/tree.ts";
import { rawText } from "./list-operator.ts";
import { type NameNode, UNNEST } from "./node.ts";

export interface Member {
  readonly key: string;
  readonly item: Expression;
}

/** The items that replace `item`, whose name is `node`; null: it is not such a call, or its members are unknown. */
export function membersOf(item: Expression, node: NameNode): readonly Member[] | null {
  const value = node.kind === "call" && node.name === UNNEST ? node.args[0] : undefined;
  const struct = item.class === "FUNCTION" && item.children.length === 1 ? item.children[0] : undefined;
  if (value?.kind !== "call" || value.over !== null || struct?.class !== "FUNCTION") return null;
  if (value.name.startsWith("selector_")) return selected(struct);
  const { children } = struct;
  if (value.name === "struct" && children.length === value.args.length) {
    return children.map((child, i) => ({ key: `c${i}`, item: child }));
  }
  const keys = value.name === "named_struct" ? value.args.filter((_, i) => i % 2 === 0).map(keyOf) : [];
  // named_struct('a', 1) has the keys among its arguments, struct(1 AS a) as names
  const step = children.length === 2 * keys.length ? 2 : 1;
  if (keys.length === 0 || keys.includes(null) || children.length !== step * keys.length) return null;
  return keys.map((key, i) => ({ key: key!, item: children[step * i + step - 1]! }));
}

function keyOf(key: NameNode): string | null {
  return key.kind === "text" ? rawText(key) : null;
}

function selected(selector: Expression): readonly Member[] {
  return ["value", "time"].map((key) => {
    return { key, item: { class: "OPERATOR", type: "ARRAY_EXTRACT", alias: "", children: [{ ...selector }, stringConstant(key)] } };
  });
}
