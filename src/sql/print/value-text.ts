// Prints constants as SQL text, and reads their numbers.
import { stringLiteral } from "../parse/names.ts";
import type { SqlValue } from "../parse/sql-value.ts";
import { unsupported } from "../parse/unsupported.ts";

/** A constant. Decimals become doubles, as in the dialect; integers keep all digits. */
export function valueText(value: SqlValue): string {
  if (value.is_null) return "NULL";
  const raw = value.value;
  switch (value.type.id) {
    case "VARCHAR":
      return stringLiteral(String(raw));
    case "TINYINT":
    case "SMALLINT":
    case "INTEGER":
    case "BIGINT":
    case "UBIGINT":
      return integerText(BigInt(raw as number | string));
    case "HUGEINT":
      return integerText(wideValue(value));
    case "DOUBLE":
      return doubleText(Number(raw));
    case "DECIMAL":
      return doubleText(decimalValue(value));
    case "BOOLEAN":
      return raw === true ? "TRUE" : "FALSE";
    default:
      throw unsupported(`constant of type ${value.type.id}`);
  }
}

function integerText(value: bigint): string {
  // otherwise it would be a HUGEINT, which no column is
  if (value > 9223372036854775807n && value <= 18446744073709551615n) return `CAST(${value} AS UBIGINT)`;
  return value < 0n ? `(${value})` : String(value);
}

function doubleText(value: number): string {
  if (!Number.isFinite(value)) return `CAST('${value}' AS DOUBLE)`;
  const text = Object.is(value, -0) ? "-0" : String(value);
  const withExponent = /[eE]/.test(text) ? text : `${text}e0`;
  return text.startsWith("-") ? `(${withExponent})` : withExponent;
}

/** The double nearest to a DECIMAL constant. */
export function decimalValue(value: SqlValue): number {
  const { scale = 0 } = value.type.type_info ?? {};
  const digits = typeof value.value === "object" ? wideValue(value) : value.value;
  return Number(`${digits}e-${scale}`);
}

/** The integer of a constant of up to 128 bits. */
export function wideValue({ value }: SqlValue): bigint {
  const raw = value as number | string | { upper: number | string; lower: number | string };
  return typeof raw === "object" ? (BigInt(raw.upper) << 64n) | BigInt.asUintN(64, BigInt(raw.lower)) : BigInt(raw);
}
