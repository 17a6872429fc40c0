// Conditions of WHERE and ON are the part of a rewrite that is done for each statement of a shape: their constants are what statements
// differ in, and what they say goes to the scans.
import type { Hint, Typed } from "../../bind/kind.ts";
import type { Scope } from "../../bind/scope.ts";
import type { Expression } from "../../parse/tree.ts";
import type { RewriteContext } from "../context.ts";
import { asCondition, rewriteExpression } from "../expression.ts";
import { someNode } from "../walk.ts";

/** What is left of `part` when `apply` has told scans what it says; null: nothing. `apply` gives whether the hints need no second look. */
export function lateCondition(
  part: Expression,
  context: RewriteContext,
  scope: Scope,
  apply: (hints: readonly Hint[]) => boolean,
): Expression | null {
  const { timeRange } = scope;
  const rewrite = (): Typed => {
    const outer = scope.timeRange;
    scope.timeRange = timeRange;
    const value = asCondition(rewriteExpression(part, context, scope));
    scope.timeRange = outer;
    return value;
  };
  // a query inside is rewritten in place, so only once
  const once = someNode(part, ({ class: kind }) => kind === "SUBQUERY") ? rewrite() : null;
  const late = context.trace.step(
    () => {
      const { node, hints = [], isExact } = once ?? rewrite();
      return { node, hints, isDone: apply(hints) && isExact === true };
    },
    (before, now) => before.isDone === now.isDone && haveSameForm(before.hints, now.hints),
  );
  if (late.current.isDone) return null;
  if (once !== null) return once.node;
  const made = {
    get current() {
      return late.current.node;
    },
    look: () => late.look().node,
  };
  return { class: "LATE", type: "LATE", alias: "", made };
}

function haveSameForm(a: readonly Hint[], b: readonly Hint[]): boolean {
  return a.length === b.length && a.every((hint, i) => hint.kind === b[i]!.kind && hint.scan === b[i]!.scan);
}
