// Tells equal expressions of a query, in time proportional to their size.
import type { Constant, Expression, FunctionCall } from "../parse/tree.ts";
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
    if (node.class === "COLUMN_REF") {
      const { column_names: names } = node;
      return this.hasOneSource || names.length === 1 ? `n${names.at(-1)!}` : JSON.stringify(names);
    }
    if (node.class === "CONSTANT" && isPlainConstant(node)) {
      const { type, is_null, value } = node.value;
      return `c${Number(is_null)} ${type.id} ${typeof value} ${value}`;
    }
    if (node.class === "FUNCTION" && isPlainCall(node)) return this.callText(node);
    // a child is its number
    const own = mapChildren(node, (child) => childNumber(this.of(child)));
    return JSON.stringify(own, withoutPlace);
  }

  /** A text that starts with a letter, unlike JSON of an object or list. */
  private callText({ function_name, schema, catalog, distinct, is_operator, export_state, children }: FunctionCall): string {
    let text = `f${Number(distinct)}${Number(is_operator)}${Number(export_state)}`;
    for (const child of children) text += ` ${this.of(child)}`;
    return `${text} ${function_name}\0${schema}\0${catalog}`;
  }
}

/** A call with arguments only. */
function isPlainCall({ filter, order_bys }: FunctionCall): boolean {
  return filter === null && order_bys.orders.length === 0;
}

function isPlainConstant({ value: { type, value } }: Constant): boolean {
  return type.type_info === null && typeof value !== "object";
}

function childNumber(index: number): Expression {
  return { class: "POSITIONAL_REFERENCE", type: "POSITIONAL_REFERENCE", alias: "", index };
}

function withoutPlace(key: string, value: unknown): unknown {
  if (key === "query_location" || key === "alias") return undefined;
  return typeof value === "bigint" ? `${value}n` : value;
}
