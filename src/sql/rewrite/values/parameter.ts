// A statement's parameters as constants.
import { TsdbError } from "../../../model/errors.ts";
import type { SqlValue } from "../../parse/sql-value.ts";
import { type Constant, type Parameter, stringConstant } from "../../parse/tree.ts";
import { ParameterValue } from "../../plan/trace.ts";
import type { RewriteContext } from "../context.ts";
import { U64_MAX } from "./constant.ts";

/** A parameter's value as a constant. @throws TsdbError bad_query when it has none */
export function parameterConstant({ identifier: name }: Parameter, { trace }: RewriteContext): Constant {
  const value = trace.param(name);
  if (value === undefined) {
    throw new TsdbError("bad_query", `No value found for placeholder with name $${name}`, { parameter: name });
  }
  const { type, is_null } = sqlValue(value);
  trace.parameterTypes.set(name, parameterType(value));
  const traced = is_null ? { type, is_null } : new ParameterValue(trace, name, type, isUnsigned(value), sqlValue);
  return { class: "CONSTANT", type: "VALUE_CONSTANT", alias: "", value: traced };
}

/** What of a parameter decides how a statement is rewritten. */
export function parameterType(value: string | number | bigint | boolean | null): string {
  return `${sqlValue(value).type.id}${isUnsigned(value) ? " UNSIGNED" : ""}`;
}

/** An integer without a minus is one without a sign, which needs no other type in DuckDB while 63 bits hold it. */
function isUnsigned(value: string | number | bigint | boolean | null): boolean {
  return typeof value === "bigint" && value >= 0n && value <= U64_MAX;
}

/** What a parameter is to a statement. */
function sqlValue(value: string | number | bigint | boolean | null): SqlValue {
  const of = (id: string, raw: number | string | boolean): SqlValue => ({ type: { id, type_info: null }, is_null: false, value: raw });
  if (value === null) return { type: { id: "NULL", type_info: null }, is_null: true };
  if (typeof value === "string") return stringConstant(value).value;
  if (typeof value === "boolean") return of("BOOLEAN", value);
  if (typeof value === "bigint" && value >= -(2n ** 63n) && value < 2n ** 64n)
    return of(value < 2n ** 63n ? "BIGINT" : "UBIGINT", String(value));
  return of("DOUBLE", Number(value));
}
