// Estimated quantiles of a column that the scan can compute.
import { aggregateType, QUANTILE_SIZE_MAX, type QuantileAggregate } from "../../../model/query/aggregate.ts";
import { ColumnType } from "../../../model/rows/column.ts";
import type { Expression, FunctionCall } from "../../parse/tree.ts";
import type { CallParts } from "./call-parts.ts";

/** Centroids of a digest, as the vendor's; more make an estimate more exact. */
const SIZE = 100;

/** Where the arguments after the value are. */
interface Places {
  readonly weight: number | null;
  readonly share: number | null;
}

const QUANTILES: Readonly<Record<string, Places>> = {
  approx_median: { weight: null, share: null },
  approx_percentile_cont: { weight: null, share: 1 },
  approx_percentile_cont_with_weight: { weight: 1, share: 2 },
};

/** A call in terms of the scan's quantiles: f(x, …), or f(…) WITHIN GROUP (ORDER BY x). Null if they cannot express it, or if it is
 *  wrong. */
export function storageQuantile(node: FunctionCall, parts: CallParts): Expression | null {
  const { function_name: name, children } = node;
  const places = Object.hasOwn(QUANTILES, name) ? QUANTILES[name]! : null;
  const [order, ...others] = node.order_bys.orders;
  if (places === null || others.length > 0 || (order !== undefined && places.share === null)) return null;
  const args = order === undefined ? children : [order.expression, ...children];
  const shareAt = places.share ?? 0;
  if (args.length <= shareAt || args.length > (places.share === null ? 1 : shareAt + 2)) return null;
  const column = parts.column(args[0]!);
  const weight = places.weight === null ? null : parts.column(args[places.weight]!);
  const share = places.share === null ? 0.5 : parts.number(args[shareAt]!);
  const size = sizeOf(args[shareAt + 1], parts);
  if (column === null || share === null || !(share >= 0 && share <= 1) || size === null) return null;
  if (places.weight !== null && weight === null) return null;
  // the vendor's form with WITHIN GROUP returns a float
  if (weight !== null && order !== undefined && column.type !== ColumnType.float) return null;
  const wanted = order?.type === "DESCENDING" ? 1 - share : share;
  const aggregate: QuantileAggregate = { fn: "quantile", column, share: wanted, size, weight };
  return aggregateType(aggregate) === null ? null : parts.value(aggregate);
}

/** Null for anything but a count. */
function sizeOf(argument: Expression | undefined, parts: CallParts): number | null {
  if (argument === undefined) return SIZE;
  const size = parts.number(argument);
  return size === null || !Number.isInteger(size) || size < 1 ? null : Math.min(Math.max(size, SIZE), QUANTILE_SIZE_MAX);
}
