// Checks ORDER BY with DISTINCT: rows merged into one have no unique other values to sort by.
import { TsdbError } from "../../model/errors.ts";
import { decodeNames } from "../parse/names.ts";
import type { Expression, SelectNode } from "../parse/tree.ts";

/** @throws TsdbError bad_query */
export function checkDistinctOrder(node: SelectNode): void {
  const orders = node.modifiers.flatMap((modifier) => (modifier.type === "ORDER_MODIFIER" ? modifier.orders : []));
  const distinct = node.modifiers.find((modifier) => modifier.type === "DISTINCT_MODIFIER");
  if (distinct?.type !== "DISTINCT_MODIFIER" || orders.length === 0) return;
  const { distinct_on_targets: targets } = distinct;
  if (targets.length === 0) {
    for (const { expression } of orders) if (!isShown(expression, node.select_list)) throw notShown(expression);
    return;
  }
  const wanted = targets.map((target) => textOf(target, node));
  const found = new Set(orders.slice(0, targets.length).map(({ expression }) => textOf(expression, node)));
  if (orders.length >= targets.length ? wanted.every((text) => found.has(text)) : [...found].every((text) => wanted.includes(text))) return;
  throw new TsdbError("bad_query", "Error during planning: SELECT DISTINCT ON expressions must match initial ORDER BY expressions");
}

function notShown(expression: Expression): TsdbError {
  const name = expression.class === "COLUMN_REF" ? decodeNames(expression.column_names.join(".")) : "of other values";
  return new TsdbError("bad_query", `Error during planning: For SELECT DISTINCT, ORDER BY expressions ${name} must appear in select list`);
}

function isShown(expression: Expression, items: readonly Expression[]): boolean {
  if (expression.class === "CONSTANT" || expression.class === "PARAMETER" || expression.class === "STAR") return true;
  if (items.some((item) => item.class === "STAR" || (item.class === "FUNCTION" && item.function_name === "unnest"))) return true;
  const name = expression.class === "COLUMN_REF" ? expression.column_names.at(-1) : undefined;
  const text = plainText(expression);
  return items.some((item) => {
    const isNamed = name !== undefined && (item.alias === name || (item.class === "COLUMN_REF" && item.column_names.at(-1) === name));
    return isNamed || plainText(item) === text;
  });
}

/** The text of an expression: aliases and positions replaced by their item, columns without qualifiers. */
function textOf(expression: Expression, { select_list: items }: SelectNode): string {
  if (expression.class === "CONSTANT") {
    const item = items[Number(expression.value.value) - 1];
    return item === undefined ? plainText(expression) : plainText(item);
  }
  const name = expression.class === "COLUMN_REF" && expression.column_names.length === 1 ? expression.column_names[0] : undefined;
  const item = name === undefined ? undefined : items.find(({ alias }) => alias === name);
  return plainText(item ?? expression);
}

function plainText(expression: Expression): string {
  if (expression.class === "COLUMN_REF") return expression.column_names.at(-1)!;
  // literals may differ in the next statement of the same shape
  return JSON.stringify({ ...expression, alias: "" }, (key, value) => {
    if (key === "query_location") return undefined;
    return value?.class === "CONSTANT" ? "constant" : value?.class === "COLUMN_REF" ? value.column_names.at(-1) : value;
  });
}
