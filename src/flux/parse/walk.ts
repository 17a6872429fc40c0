// Nodes of a tree from the top, in the order of the text.
import type { SourceLocation } from "./ast.ts";

export interface AnyNode {
  readonly type: string;
  readonly location: SourceLocation;
  readonly errors?: readonly string[];
}

/** Calls `visit` with each node before its children, which are left out when it gives false. Attributes are not visited. */
export function walk(node: AnyNode, visit: (node: AnyNode, depth: number) => boolean, depth = 1): void {
  if (!visit(node, depth)) return;
  for (const child of childrenOf(node)) walk(child, visit, depth + 1);
}

/** The members of a node are declared in the order of the text. */
export function* childrenOf(node: object): Generator<AnyNode> {
  // the name of a type is the type
  if ("type" in node && (node.type === "NamedType" || node.type === "TvarType")) return;
  for (const [name, value] of Object.entries(node)) {
    if (value === null || typeof value !== "object" || name === "location" || name === "attributes") continue;
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each.type === "DictItem") yield* childrenOf(each);
      else if ("location" in Object(each)) yield each as AnyNode;
    }
  }
}
