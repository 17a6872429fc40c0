// A condition on rows that may be among the first of an order, which becomes narrower while the scan that it is given to is read: the
// rows of a page are selected by what was known when it was opened.
import {
  type ExpressionOperator,
  type ExpressionType,
  expressionType,
  type FieldExpression,
} from "../../../model/query/field-expression.ts";
import type { FieldCondition } from "../../../model/query/scan.ts";
import type { ColumnDef } from "../../../model/rows/column.ts";
import { I64_MAX, I64_MIN } from "../../../model/rows/int64.ts";

/** Beyond this difference two integers have different ranks. */
const ROUNDED_BY = 1024n;

/** How a key orders rows: NULLs first or last, NaN above all other numbers. */
export interface KeyOrder {
  readonly isDescending: boolean;
  readonly nullsFirst: boolean;
}

/** What is known of the first rows: no row with a greater rank of its key is one. */
export interface KnownBound {
  /** The value, or the negative one of a descending key; infinite: nothing is known, or that of all that come before finite numbers. */
  readonly rank: number;
  /** True: nor is one with this rank. */
  readonly isStrict: boolean;
}

const UNKNOWN: KnownBound = { rank: Number.POSITIVE_INFINITY, isStrict: false };

/** A field predicate that all rows satisfy until `bound` is set; each rank that is set is at most the one before. */
export class KeyBound implements FieldCondition {
  readonly operator = "true";
  bound: KnownBound = UNKNOWN;

  private constructor(
    private readonly column: FieldExpression & { readonly kind: "column" },
    private readonly order: KeyOrder,
  ) {}

  /** Null for a key that conditions are not made of. */
  static of({ id, type }: ColumnDef, order: KeyOrder): KeyBound | null {
    const keyType = expressionType(type);
    if (keyType === null || keyType === "boolean") return null;
    return new KeyBound({ kind: "column", type: keyType, columnId: id }, order);
  }

  get expression(): FieldExpression {
    const { column, order, bound } = this;
    const isNull = call("is null", column);
    if (bound.rank === Number.POSITIVE_INFINITY) return call("or", isNull, call("not", isNull));
    const { isDescending } = order;
    const value = valueOfRank(column.type, isDescending ? -bound.rank : bound.rank, isDescending);
    const limit: FieldExpression = { kind: "constant", type: column.type, value };
    const [before, after] = isDescending ? [limit, column] : [column, limit];
    const isWithin = bound.isStrict ? call("<", before, after) : call("not", call("<", after, before));
    return order.nullsFirst ? call("or", isNull, isWithin) : isWithin;
  }
}

function call(operator: ExpressionOperator, ...operands: readonly FieldExpression[]): FieldExpression {
  return { kind: "call", type: "boolean", operator, operands };
}

/** The end of the values that have this rank: of integers beyond 2^53 many have the same. */
function valueOfRank(type: ExpressionType, rank: number, isLeast: boolean): number | bigint {
  if (type === "float") return rank;
  if (Number.isSafeInteger(rank)) return BigInt(rank);
  if (!Number.isFinite(rank)) return rank > 0 ? I64_MAX : I64_MIN;
  const value = BigInt(rank) + (isLeast ? -ROUNDED_BY : ROUNDED_BY);
  return value < I64_MIN ? I64_MIN : value > I64_MAX ? I64_MAX : value;
}
