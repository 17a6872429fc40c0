// The common type of alternative values, and their conversion to it.
import { commonDecimal, decimalNote, isUnsigned64 } from "../../bind/decimals.ts";
import type { Kind, Typed } from "../../bind/kind.ts";
import type { Scope } from "../../bind/scope.ts";
import { castTo, castToDecimal, type Expression } from "../../parse/tree.ts";
import { rewriteCast, textOf } from "./cast.ts";
import { wideConstant } from "./constant.ts";

export interface Unified {
  readonly nodes: Expression[];
  readonly kind: Kind;
  /** As in TypeNote. */
  readonly arrow?: string;
}

/** The common kind of several values, as far as known; NULLs are ignored. */
export function commonKind(kinds: readonly Kind[]): Kind {
  const known = kinds.filter((kind) => kind !== "unknown");
  const [first] = known;
  if (first === undefined) return "unknown";
  if (known.every((kind) => kind === first)) return first;
  return known.every(isNumeric) ? "float" : "unknown";
}

const isNumeric = (kind: Kind): boolean => kind === "integer" || kind === "float";

/** Texts beside numbers as numbers of their type, where the dialect reads them so: coalesce, greatest, least, nullif.
 *  @throws TsdbError bad_query for an invalid constant */
export function asNumbers(values: readonly Typed[], scope: Scope): readonly Typed[] {
  const numbers = values.filter(({ kind }) => isNumeric(kind));
  if (numbers.length === 0 || !values.some(({ kind }) => kind === "string")) return values;
  const type = numbers.some(({ kind }) => kind === "float") ? "DOUBLE" : numbers.every(isUnsigned64) ? "UBIGINT" : "BIGINT";
  return values.map((value) => (value.kind === "string" ? rewriteCast(castTo(value.node, type), value, scope) : value));
}

/** Converts alternative values to one kind: texts, if one of them is a text; integers have 64 bits. */
export function unify(values: readonly Typed[]): Unified {
  const isNumber = ({ kind }: Typed): boolean => isNumeric(kind);
  const areTexts = values.some(({ kind }) => kind === "string") && values.some(isNumber);
  if (areTexts) {
    const nodes = values.map((value) =>
      isNumber(value) ? castTo(textOf({ ...value, node: wideConstant(value) }), "VARCHAR") : value.node,
    );
    return { nodes, kind: "string" };
  }
  const decimal = commonDecimal(values);
  if (decimal === null) return { nodes: values.map(wideConstant), kind: commonKind(values.map(({ kind }) => kind)) };
  const { width, scale } = decimal;
  const nodes = values.map((value) => (isNumber(value) ? castToDecimal(wideConstant(value), width, scale) : value.node));
  return { nodes, ...decimalNote(decimal) };
}
