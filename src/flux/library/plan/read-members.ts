// What a row function reads, as its tree says.
import { Closure } from "../../interpret/closure.ts";
import { walk } from "../../parse/walk.ts";
import type { FluxFunction } from "../../values/value.ts";

/** Names of all members in the function's text, whatever record they belong to. */
export function membersOf(fn: FluxFunction): ReadonlySet<string> {
  const tree = fn instanceof Closure ? fn.body : null;
  const labels = new Set<string>();
  if (tree === null) return labels;
  walk(tree, (node) => {
    if (node.type === "MemberExpression") {
      const { property } = node as typeof node & { readonly property: { readonly name?: string; readonly value?: string } };
      labels.add(property.name ?? property.value ?? "");
    }
    return true;
  });
  return labels;
}
