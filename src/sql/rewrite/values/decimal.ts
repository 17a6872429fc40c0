// + - * / % of decimals, and of integers whose only common type is a decimal.
import { asDecimal, type DecimalType, decimalNote, decimalOf, haveMixedSigns, resultOf } from "../../bind/decimals.ts";
import type { Typed } from "../../bind/kind.ts";
import type { Expression, FunctionCall } from "../../parse/tree.ts";
import { call, castTo, castToDecimal, operator, stringConstant } from "../../parse/tree.ts";

/** An expression that is an error if it is zero. */
export type Divisor = (node: Expression, value: Typed, dividend: Typed) => Expression;

/** Returns null if no decimals are involved. */
export function rewriteDecimals(node: FunctionCall, left: Typed, right: Typed, divisor: Divisor): Typed | null {
  const [ofLeft, ofRight] = [decimalOf(left), decimalOf(right)];
  if (ofLeft === null && ofRight === null && !haveMixedSigns(left, right)) return null;
  const [a, b] = [asDecimal(left), asDecimal(right)];
  if (a === null || b === null) return floats(node, left, right);
  const result = resultOf(node.function_name, a, b);
  const value = computed(node, [left, a], [right, b], result, divisor);
  return { node: castToDecimal(value, result.width, result.scale), ...decimalNote(result) };
}

/** Next to a float a decimal becomes a float. */
function floats(node: FunctionCall, left: Typed, right: Typed): Typed | null {
  if (left.kind !== "float" || right.kind !== "float") return null;
  const children = [left, right].map((value) => castTo(value.node, "DOUBLE"));
  if (node.function_name === "/") return { node: call("/", children, node.query_location), kind: "float" };
  return { node: { ...node, children }, kind: "float" };
}

type Operand = readonly [value: Typed, type: DecimalType];

function computed(node: FunctionCall, left: Operand, right: Operand, { scale }: DecimalType, divisor: Divisor): Expression {
  const [[x, a], [y, b]] = [left, right];
  switch (node.function_name) {
    case "/": {
      const dividend = operator("*", unscaled(x.node, a, a.scale), castTo(powerOfTen(scale - a.scale + b.scale), "HUGEINT"));
      return scaled(operator("//", dividend, divisor(unscaled(y.node, b, b.scale), y, x)), scale);
    }
    case "%":
      return scaled({ ...node, children: [unscaled(x.node, a, scale), divisor(unscaled(y.node, b, scale), y, x)] }, scale);
    case "*":
      return scaled({ ...node, children: [unscaled(x.node, a, a.scale), unscaled(y.node, b, b.scale)] }, scale);
    default: {
      const children = [left, right].map(([value, type]) =>
        castToDecimal(value.node, Math.min(type.width - type.scale + scale, 38), scale),
      );
      return { ...node, children };
    }
  }
}

/** The digits of a decimal as an integer. */
function unscaled(node: Expression, { width }: DecimalType, scale: number): Expression {
  if (scale === 0) return castTo(node, "HUGEINT");
  return castTo(
    operator("*", castToDecimal(node, Math.max(width, scale), scale), castToDecimal(powerOfTen(scale), scale + 1, 0)),
    "HUGEINT",
  );
}

/** The inverse. */
function scaled(digits: Expression, scale: number): Expression {
  if (scale === 0) return digits;
  return operator("*", castToDecimal(digits, 38, 0), castToDecimal(stringConstant(`0.${"1".padStart(scale, "0")}`), scale + 1, scale));
}

function powerOfTen(exponent: number): Expression {
  return stringConstant(`1${"0".repeat(exponent)}`);
}
