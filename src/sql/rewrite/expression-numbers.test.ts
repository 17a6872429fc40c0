// Equal numbers for equal expressions: compared with the JSON of their whole trees.
import { expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import type { SqlValue } from "../parse/sql-value.ts";
import type { Expression, FunctionCall } from "../parse/tree.ts";
import { ExpressionNumbers } from "./expression-numbers.ts";

const type = (id: string, type_info: SqlValue["type"]["type_info"] = null): SqlValue["type"] => ({ id, type_info });
const decimal = (scale: number) =>
  type("DECIMAL", { type: "DECIMAL_TYPE_INFO", alias: "", extension_info: null, width: 5, scale } as never);
const VALUES: readonly SqlValue[] = [
  { type: type("INTEGER"), is_null: false, value: 1 },
  { type: type("BIGINT"), is_null: false, value: 1 },
  { type: type("BIGINT"), is_null: false, value: "1" },
  { type: type("VARCHAR"), is_null: false, value: "1" },
  { type: type("VARCHAR"), is_null: false, value: "1 f0 1" },
  { type: type("VARCHAR"), is_null: false, value: "" },
  { type: type("VARCHAR"), is_null: true },
  { type: type("BOOLEAN"), is_null: false, value: true },
  { type: type("VARCHAR"), is_null: false, value: "true" },
  { type: type("HUGEINT"), is_null: false, value: { upper: 0, lower: 1 } },
  { type: type("HUGEINT"), is_null: false, value: { upper: 1, lower: 0 } },
  { type: decimal(1), is_null: false, value: 15 },
  { type: decimal(2), is_null: false, value: 15 },
];

function whole(node: Expression): string {
  return JSON.stringify(node, (key, value) => (key === "query_location" || key === "alias" ? undefined : value));
}

test("numbers are equal exactly where trees are, apart from places and names", () => {
  const below = prng(7);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  const place = () => ({ alias: pick(["", "a"]), query_location: below(9) });
  const expression = (depth: number): Expression => {
    const kind = depth === 0 ? below(2) : below(4);
    if (kind === 0) return { class: "CONSTANT", type: "VALUE_CONSTANT", ...place(), value: pick(VALUES) };
    if (kind === 1) return { class: "COLUMN_REF", type: "COLUMN_REF", ...place(), column_names: pick([["a"], ["b"], ["a", "b"], ["f0"]]) };
    if (kind === 2) {
      return { class: "COMPARISON", type: "COMPARE_EQUAL", ...place(), left: expression(depth - 1), right: expression(depth - 1) };
    }
    const call: FunctionCall = {
      ...{
        class: "FUNCTION",
        type: "FUNCTION",
        ...place(),
        function_name: pick(["f", "g", "f 1"]),
        schema: pick(["", "", "f"]),
        catalog: "",
      },
      children: Array.from({ length: below(3) }, () => expression(depth - 1)),
      filter: below(6) === 0 ? expression(0) : null,
      order_bys: {
        type: "ORDER_MODIFIER",
        orders: below(6) === 0 ? [{ type: "ASCENDING", null_order: "ORDER_DEFAULT", expression: expression(0) }] : [],
      },
      ...{ distinct: below(4) === 0, is_operator: below(4) === 0, export_state: false },
    };
    return call;
  };
  const numbers = new ExpressionNumbers();
  const byTree = new Map<string, number>();
  const byNumber = new Map<number, string>();
  for (let round = 0; round < 5000; round++) {
    const node = expression(below(3));
    const [tree, number] = [whole(node), numbers.of(node)];
    expect({ tree, number: byTree.get(tree) ?? number }).toEqual({ tree, number });
    expect({ number, tree: byNumber.get(number) ?? tree }).toEqual({ number, tree });
    byTree.set(tree, number);
    byNumber.set(number, tree);
  }
  expect(byTree.size).toBeLessThan(4000);
});
