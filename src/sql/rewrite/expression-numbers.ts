// Tells equal expressions of a query, in time proportional to their size.
import type { Expression } from "../parse/tree.ts";
import { mapChildren } from "./walk.ts";

/** Numbers expressions: equal ones, apart from their places and names, have equal numbers. Expressions must not change meanwhile. */
export class ExpressionNumbers {
  private readonly known = new WeakMap<Expression, number>();
  private readonly byText = new Map<string, number>();

  of(node: Expression): number {
    let number = this.known.get(node);
    if (number === undefined) {
      // a child is its number
      const own = mapChildren(node, (child) => childNumber(this.of(child)));
      const text = JSON.stringify(own, withoutPlace);
      number = this.byText.get(text) ?? this.byText.size;
      this.byText.set(text, number);
      this.known.set(node, number);
    }
    return number;
  }
}

function childNumber(index: number): Expression {
  return { class: "POSITIONAL_REFERENCE", type: "POSITIONAL_REFERENCE", alias: "", index };
}

function withoutPlace(key: string, value: unknown): unknown {
  if (key === "query_location" || key === "alias") return undefined;
  return typeof value === "bigint" ? `${value}n` : value;
}
