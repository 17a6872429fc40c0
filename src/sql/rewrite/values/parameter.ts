// A statement's parameters as constants.
import { TsdbError } from "../../../model/errors.ts";
import { I64_MIN, U64_MAX } from "../../../model/rows/int64.ts";
import type { Typed } from "../../bind/kind.ts";
import type { SqlValue } from "../../parse/sql-value.ts";
import { type Parameter, stringConstant } from "../../parse/tree.ts";
import type { RewriteContext } from "../context.ts";
import { typedConstant } from "./constant.ts";

type ParameterValue = string | number | bigint | boolean | null;

/** A parameter's value; in a described statement the parameter itself. @throws TsdbError bad_query if it has no value */
export function rewriteParameter(node: Parameter, { params, open }: RewriteContext): Typed {
  const { identifier: name } = node;
  const value = Object.hasOwn(params, name) ? params[name] : undefined;
  if (value === undefined) {
    if (open !== undefined) return open.kept(node);
    throw new TsdbError("bad_query", `No value found for placeholder with name $${name}`, { parameter: name });
  }
  const constant = typedConstant({ class: "CONSTANT", type: "VALUE_CONSTANT", alias: "", value: sqlValue(value) });
  return isUnsigned(value) ? { ...constant, arrow: "UInt64" } : constant;
}

/** A non-negative integer is unsigned, which needs no other DuckDB type while it fits 63 bits. */
function isUnsigned(value: ParameterValue): boolean {
  return typeof value === "bigint" && value >= 0n && value <= U64_MAX;
}

/** A parameter's value as a constant. */
function sqlValue(value: ParameterValue): SqlValue {
  const of = (id: string, raw: number | string | boolean): SqlValue => ({ type: { id, type_info: null }, is_null: false, value: raw });
  if (value === null) return { type: { id: "NULL", type_info: null }, is_null: true };
  if (typeof value === "string") return stringConstant(value).value;
  if (typeof value === "boolean") return of("BOOLEAN", value);
  if (typeof value === "bigint" && value >= I64_MIN && value < 2n ** 64n)
    return of(value < 2n ** 63n ? "BIGINT" : "UBIGINT", String(value));
  return of("DOUBLE", Number(value));
}
