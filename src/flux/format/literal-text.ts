// Literals as text.
import type { Expression, Identifier, StringLiteral } from "../parse/ast.ts";
import { floatText } from "../values/text.ts";

const NAME = /^[\p{L}_][\p{L}\p{Nd}_]*$/u;

/** A property's key: a name, or else a string. */
export function labelText(key: Identifier | StringLiteral): string {
  if (key.type === "StringLiteral") return `"${escapedText(key.value)}"`;
  return NAME.test(key.name) ? key.name : `"${escapedText(key.name)}"`;
}

/** Text between quotes. A dollar sign in front of another one would hide what that begins. */
export function escapedText(text: string): string {
  return text
    .replace(/["\\]/g, "\\$&")
    .replace(/\$(?=\{)/g, "\\$")
    .replace(/\$(?=\$|\\\$|$)/g, "\\x24");
}

/** A literal without a source, or null for another expression. */
export function literalText(node: Expression): string | null {
  switch (node.type) {
    case "Identifier":
      return node.name;
    case "BooleanLiteral":
    case "IntegerLiteral":
      return String(node.value);
    case "UnsignedIntegerLiteral":
      return `uint(v: ${node.value})`;
    case "FloatLiteral": {
      const text = floatText(node.value);
      return text.includes(".") ? text : `${text}.0`;
    }
    case "StringLiteral":
      return `"${escapedText(node.value)}"`;
    case "DateTimeLiteral":
      return timeLiteral(node.value);
    case "DurationLiteral":
      return node.values.map(({ magnitude, unit }) => `${magnitude}${unit}`).join("");
    case "RegexpLiteral":
      return `/${node.value.replace(/\\.|\//gsu, (found) => (found === "/" ? "\\/" : found))}/`;
    case "LabelLiteral":
      return `.${node.value}`;
    case "PipeLiteral":
      return "<-";
    case "BadExpression":
      return node.text;
    default:
      return null;
  }
}

const FRACTION_DIGITS_MAX = 9;

/** A date is midnight in UTC; fractions have nine digits at most, and no zeros at their end. */
function timeLiteral(text: string): string {
  if (!text.includes("T")) return `${text}T00:00:00Z`;
  return text.replace(/\.\d+/, (fraction) => fraction.slice(0, 1 + FRACTION_DIGITS_MAX).replace(/\.?0+$/, "")).replace(/[+-]00:00$/, "Z");
}
