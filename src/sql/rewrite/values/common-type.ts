// The type that several values of which one is chosen have in common, and the values brought to it.
import type { Kind, Typed } from "../../bind/kind.ts";
import { sameType } from "../../bind/type-notes.ts";
import { castTo, castToDecimal, type Expression } from "../../parse/tree.ts";
import { wideConstant } from "../rewriter.ts";
import { textOf } from "./cast.ts";

export interface Unified {
  readonly nodes: Expression[];
  readonly kind: Kind;
  /** As in TypeNote. */
  readonly arrow?: string;
}

/** The kind several values share, as far as it is known; NULLs do not count. */
export function commonKind(kinds: readonly Kind[]): Kind {
  const known = kinds.filter((kind) => kind !== "unknown");
  const [first] = known;
  if (first === undefined) return "unknown";
  if (known.every((kind) => kind === first)) return first;
  return known.every(isNumeric) ? "float" : "unknown";
}

const isNumeric = (kind: Kind): boolean => kind === "integer" || kind === "float";

/** Values of which one is chosen, brought to one kind: texts, if one of them is a text; integers are 64 bits wide. */
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
  const [width, scale] = decimal;
  const nodes = values.map((value) => (isNumber(value) ? castToDecimal(wideConstant(value), width, scale) : value.node));
  return { nodes, kind: "float", arrow: `Decimal128(${width}, ${scale})` };
}

type Digits = readonly [width: number, scale: number];

/** Integers with and without a sign. */
const WHOLE: Digits = [20, 0];
/** Such and a float. */
const FRACTIONS: Digits = [35, 15];

/** The digits of a common decimal, value by value: integers with a sign and without one become one; after that a float does not make it a
 *  float. Null: another type. */
function commonDecimal(values: readonly Typed[]): Digits | null {
  let common: "signed" | "unsigned" | "float" | Digits | null = null;
  for (const value of values) {
    const type = numberType(value);
    if (type === null) {
      if (value.kind !== "unknown") return null;
    } else if (common === null) common = type;
    else if (Array.isArray(common)) common = type === "float" || common === FRACTIONS ? FRACTIONS : WHOLE;
    else if (common !== type) common = common === "float" || type === "float" ? "float" : WHOLE;
  }
  return Array.isArray(common) ? (common as unknown as Digits) : null;
}

function numberType(value: Typed): "signed" | "unsigned" | "float" | Digits | null {
  const { arrow } = sameType(value);
  if (arrow === "Decimal128(20, 0)") return WHOLE;
  if (value.kind === "float") return arrow === undefined ? "float" : null;
  if (value.kind !== "integer") return null;
  return arrow === "UInt64" ? "unsigned" : arrow?.startsWith("UInt") ? null : "signed";
}
