// Dates without dashes, as ISO 8601 has them too: 20240131.
import type { Typed } from "../../bind/kind.ts";
import { call, stringConstant } from "../../parse/tree.ts";

const COMPACT = "^(\\d{4})(\\d{2})(\\d{2})$";

/** A text, with dashes if it is a date without them; other values as they are. */
export function dashedDate(value: Typed): Typed {
  if (value.kind !== "string") return value;
  if (value.text === undefined)
    return { ...value, node: call("regexp_replace", [value.node, stringConstant(COMPACT), stringConstant("\\1-\\2-\\3")]) };
  const match = new RegExp(COMPACT).exec(value.text);
  if (match === null) return value;
  const text = match.slice(1).join("-");
  return { ...value, node: stringConstant(text), text };
}
