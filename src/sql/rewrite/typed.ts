// A value of which only the kind is known.
import type { Kind, Typed } from "../bind/kind.ts";
import type { Expression } from "../parse/tree.ts";

/** A value of which only the kind is known. */
export function typed(node: Expression, kind: Kind): Typed {
  return { node, kind };
}
