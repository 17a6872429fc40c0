// The table columns that rewritten column references denote: names alone do not tell, because queries in FROM rename columns.
import type { Expression } from "../parse/tree.ts";
import type { ColumnSource } from "./kind.ts";

const sources = new WeakMap<Expression, ColumnSource>();

/** Remembers what a reference denotes. */
export function noteSource(ref: Expression, source: ColumnSource): void {
  sources.set(ref, source);
}

/** Undefined: unknown, or not a plain column of a scan. */
export function sourceOf(ref: Expression): ColumnSource | undefined {
  return sources.get(ref);
}
