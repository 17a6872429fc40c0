// Operands that say nothing: the vendor's optimizer makes `x * 1` x, whose column keeps its mark.
import type { Typed } from "../../bind/kind.ts";

/** The operand that an operator returns as it is; undefined if it computes something. */
export function keptOperand(sign: string, left: Typed, right: Typed): Typed | undefined {
  switch (sign) {
    case "*":
      return isNumber(right, 1) ? left : isNumber(left, 1) ? right : undefined;
    case "|":
      return isNumber(right, 0) ? left : isNumber(left, 0) ? right : undefined;
    case "/":
      return isNumber(right, 1) ? left : undefined;
    case "<<":
    case ">>":
      return isNumber(right, 0) ? left : undefined;
    default:
      return undefined;
  }
}

/** The one condition of AND or OR beside constants that change nothing, also when it is written twice. */
export function keptCondition(sign: "AND" | "OR", conditions: readonly Typed[]): Typed | undefined {
  const [first, ...others] = conditions.filter(({ boolean }) => boolean !== (sign === "AND"));
  return first !== undefined && others.every((other) => isSameColumn(first, other)) ? first : undefined;
}

/** True for a constant of this value. */
export function isNumber({ number }: Typed, value: number): boolean {
  return number !== undefined && Number(number) === value;
}

/** True for a column and itself. */
export function isSameColumn({ source: a }: Typed, { source: b }: Typed): boolean {
  return a !== undefined && b !== undefined && a.scan === b.scan && a.index === b.index;
}
