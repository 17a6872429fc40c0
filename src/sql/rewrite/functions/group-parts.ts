// Aggregates of groups from those of their parts, where parts have one value of a tag each: its values can be counted beside other
// aggregates.
import type { Aggregate } from "../../../model/query/aggregate.ts";
import { type ColumnDef, ColumnType } from "../../../model/rows/column.ts";
import { call, castTo, castToDecimal, type Expression, type FunctionCall, integerConstant, operator } from "../../parse/tree.ts";

/** The tag whose values a call counts, each once; null for other calls. */
export function countedTag(node: FunctionCall, columnOf: (argument: Expression) => ColumnDef | null): ColumnDef | null {
  const { function_name: name, distinct, filter, children, order_bys } = node;
  const counts = name === "approx_distinct" || (name === "count" && distinct);
  if (!counts || filter !== null || order_bys.orders.length > 0 || children.length !== 1) return null;
  const def = columnOf(children[0]!);
  return def?.type === ColumnType.tag ? def : null;
}

/** An aggregate over parts that have `value` of each; null if it is none of theirs. */
export function overParts(aggregate: Aggregate, value: (aggregate: Aggregate) => Expression): Expression | null {
  const { fn, column } = aggregate;
  switch (fn) {
    case "count":
      return { class: "OPERATOR", type: "OPERATOR_COALESCE", alias: "", children: [call("sum", [value(aggregate)]), integerConstant(0)] };
    case "sum":
    case "min":
    case "max":
      return call(fn, [value(aggregate)]);
    case "mean": {
      const sum = value({ fn: "sum", column });
      // a sum of integers can exceed 64 bits where their mean is a number
      const total = column?.type === ColumnType.float ? sum : castToDecimal(sum, 38, 0);
      const count = call("sum", [value({ fn: "count", column })]);
      return operator("/", castTo(call("sum", [total]), "DOUBLE"), castTo(count, "DOUBLE"));
    }
    default:
      return null;
  }
}
