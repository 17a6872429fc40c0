// Tells equal expressions of a query, in time proportional to their size.
import type { Expression } from "../parse/tree.ts";
import { mapChildren } from "./walk.ts";

/** Numbers expressions: equal ones, apart from their places and names, have equal numbers. Expressions must not change meanwhile. */
export class ExpressionNumbers {
  private readonly known = new WeakMap<Expression, number>();
  private readonly byText = new Map<string, number>();

  /** @param hasOneSource true if all columns are of one source: then the qualifiers of their names do not matter */
  constructor(private readonly hasOneSource = false) {}

  of(node: Expression): number {
    let number = this.known.get(node);
    if (number === undefined) {
      const text = this.textOf(node);
      number = this.byText.get(text) ?? this.byText.size;
      this.byText.set(text, number);
      this.known.set(node, number);
    }
    return number;
  }

  private textOf(node: Expression): string {
    if (node.class === "COLUMN_REF") return JSON.stringify(this.hasOneSource ? node.column_names.slice(-1) : node.column_names);
    // a child is its number
    const own = mapChildren(node, (child) => childNumber(this.of(child)));
    return JSON.stringify(own, withoutPlace);
  }
}

function childNumber(index: number): Expression {
  return { class: "POSITIONAL_REFERENCE", type: "POSITIONAL_REFERENCE", alias: "", index };
}

function withoutPlace(key: string, value: unknown): unknown {
  if (key === "query_location" || key === "alias") return undefined;
  return typeof value === "bigint" ? `${value}n` : value;
}
