// The values of a plan's symbols, found by the nodes of its expressions.
import type { Expression } from "../tsdbql/ast.ts";
import type { AnyCells } from "./tsdbql-columns.ts";
import type { RunPlan } from "./tsdbql-select.ts";

/** Undefined: the expression is no symbol. Null: it has no value. */
export function symbolOf(plan: RunPlan, cells: readonly (AnyCells | null)[], node: Expression): AnyCells | null | undefined {
  const symbol = plan.symbols.get(node);
  return symbol === undefined ? undefined : cells[symbol]!;
}
