// Literals as values: their kind, and their width in DuckDB.
import { I64_MAX, U64_MAX } from "../../../model/rows/int64.ts";
import { kindOfType, type Typed } from "../../bind/kind.ts";
import { type Constant, castTo, type Expression } from "../../parse/tree.ts";
import { decimalValue, wideValue } from "../../print/value-text.ts";
import { typed } from "../typed.ts";

/** A literal as a value. */
export function typedConstant(node: Constant): Typed {
  const { value } = node;
  if (value.is_null) return typed(node, "unknown");
  if (value.type.id === "VARCHAR") return { node, kind: "string", text: String(value.value) };
  const kind = kindOfType(value.type);
  if (kind === "boolean") return { node, kind, boolean: value.value === true };
  if (kind !== "integer" && kind !== "float") return typed(node, kind);
  if (value.type.id === "HUGEINT" && kind === "integer") return largeConstant(node, wideValue(value));
  if (typeof value.value === "object") return typed(node, kind);
  if (value.type.id === "DECIMAL") return { node, kind: "float", number: decimalValue(value) };
  const arrow = value.type.id === "UBIGINT" ? { arrow: "UInt64" } : {};
  return { node, kind, ...arrow, number: kind === "integer" ? BigInt(value.value as number | string) : Number(value.value) };
}

/** An integer literal beyond 64 bits is a float. */
function largeConstant(node: Constant, number: bigint): Typed {
  if (number >= 0n && number <= U64_MAX) return { node, kind: "integer", arrow: "UInt64" };
  const value = { type: { id: "DOUBLE", type_info: null }, is_null: false, value: Number(number) };
  return { node: { ...node, value }, kind: "float", number: Number(number) };
}

/** An integer literal has 64 bits in the dialect, rather than DuckDB's 32; beyond the signed range it is unsigned. */
export function wideConstant(value: Typed): Expression {
  const { node } = value;
  if (node.class !== "CONSTANT" || value.kind !== "integer") return node;
  if (node.value.type.id === "INTEGER" || node.value.type.id === "BIGINT") return castTo(node, "BIGINT");
  const { number } = value;
  if (typeof number !== "bigint" || number > U64_MAX) return node;
  return castTo(node, number > I64_MAX ? "UBIGINT" : "BIGINT");
}

/** DuckDB's types of integers that are noted with a type of their own. */
const NOTED_TYPES: Readonly<Record<string, string>> = { Int8: "TINYINT", Int16: "SMALLINT", Int32: "INTEGER", UInt64: "UBIGINT" };

/** Values within a list, of which an answer shows DuckDB's type: integers are of their noted type, if they share one. */
export function listMembers(values: readonly Typed[]): Expression[] {
  const [first] = values;
  const type = first?.kind === "integer" ? NOTED_TYPES[first.arrow ?? ""] : undefined;
  if (type === undefined || values.some(({ kind, arrow }) => kind !== "integer" || arrow !== first!.arrow)) return values.map(wideConstant);
  return values.map(({ node }) => castTo(node, type));
}
