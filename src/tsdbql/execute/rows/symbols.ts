// Finds the values of a plan's symbols by the nodes of its expressions.
import type { Expression } from "../../parse/ast.ts";
import type { RunPlan } from "../select-context.ts";
import type { AnyCells } from "./columns.ts";

/** Undefined: the expression is no symbol. Null: it has no values. */
export function symbolOf(plan: RunPlan, cells: readonly (AnyCells | null)[], node: Expression): AnyCells | null | undefined {
  const symbol = plan.symbols.get(node);
  return symbol === undefined ? undefined : cells[symbol]!;
}
