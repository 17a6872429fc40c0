// The columns that expressions name.
import type { Expression } from "./ast.ts";

export type Ref = Expression & { readonly kind: "ref" };

/** The columns used in an expression, in any order. */
export function refsOf(expression: Expression): Ref[] {
  const refs: Ref[] = [];
  const left: Expression[] = [expression];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (next.kind === "ref") refs.push(next);
    else if (next.kind === "paren") left.push(next.inner);
    else if (next.kind === "binary") left.push(next.left, next.right);
    else if (next.kind === "call") for (const arg of next.args) left.push(arg);
  }
  return refs;
}
