// Floats from text as Go's `strconv` reads them: decimal or hexadecimal, with `_` between digits.

const SPECIAL = /^(?:nan|[+-]?inf(?:inity)?)$/i;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const HEXADECIMAL = /^([+-]?)0x([0-9a-f]*)(?:\.([0-9a-f]*))?p([+-]?\d+)$/i;
const BAD_UNDERSCORE = /(?<!\d)_|_(?!\d)/;
const BAD_HEXADECIMAL_UNDERSCORE = /(?<![0-9a-f]|^[+-]?0x)_|_(?![0-9a-f])/i;

/** The float, or what is wrong with its text. */
export function parseFloatText(text: string): number | "invalid syntax" | "value out of range" {
  if (SPECIAL.test(text)) return specialFloat(text.toLowerCase());
  const isHexadecimal = /^[+-]?0x/i.test(text);
  const plain = text.includes("_") ? text.replaceAll("_", "") : text;
  if (plain !== text && (isHexadecimal ? BAD_HEXADECIMAL_UNDERSCORE : BAD_UNDERSCORE).test(text)) return "invalid syntax";
  const value = isHexadecimal ? hexadecimalFloat(plain) : DECIMAL.test(plain) ? Number(plain) : null;
  if (value === null) return "invalid syntax";
  return Number.isFinite(value) ? value : "value out of range";
}

function specialFloat(text: string): number {
  if (text === "nan") return Number.NaN;
  return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

function hexadecimalFloat(text: string): number | null {
  const [, sign, whole = "", fraction = "", power] = HEXADECIMAL.exec(text) ?? [];
  if (power === undefined || whole + fraction === "") return null;
  const digits = Number(`0x${whole}${fraction}`);
  const exponent = Number(power) - 4 * fraction.length;
  // in two steps: the power alone may be no float when the product is one
  const half = Math.trunc(exponent / 2);
  return digits === 0 ? (sign === "-" ? -0 : 0) : (sign === "-" ? -digits : digits) * 2 ** half * 2 ** (exponent - half);
}
