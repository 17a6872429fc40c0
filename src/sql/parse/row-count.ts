// Checks LIMIT and OFFSET. DuckDB rounds 1.5, parses '2' and accepts 50 % of the rows; the vendor's engine accepts only integers, and a
// client that pages by anything else would see rows twice or never.
import { TsdbError } from "../../model/errors.ts";
import type { Kind, Typed } from "../bind/kind.ts";
import { someNode } from "../rewrite/walk.ts";
import { castTo, type Expression } from "./tree.ts";

/** The vendor's type names, as far as a kind determines them. */
const TYPE_NAMES: Readonly<Record<Exclude<Kind, "integer">, string>> = {
  time: "Timestamp(ns)",
  coarse: "Timestamp",
  duration: "Duration(ns)",
  interval: "Interval(MonthDayNano)",
  date: "Date32",
  string: "Utf8",
  binary: "Binary",
  float: "Float64",
  boolean: "Boolean",
  list: "List",
  map: "Map",
  struct: "Struct",
  other: "another type",
  unknown: "an expression whose type is not known; CAST(… AS BIGINT) says it",
};

const WHOLE = /^Decimal128\(\d+, 0\)$/;

/** The rewritten `value` of a LIMIT or OFFSET. NULL means no limit. @throws TsdbError bad_query if it is not an integer */
export function rowCount({ node, kind, arrow }: Typed, clause: "LIMIT" | "OFFSET"): Expression {
  if (kind === "integer" || (node.class === "CONSTANT" && node.value.is_null)) return node;
  // a parameter plus a literal
  if (arrow !== undefined && WHOLE.test(arrow)) return castTo(node, "BIGINT");
  // a parameter without a value in a described statement
  if (kind === "unknown" && someNode(node, (each) => each.class === "PARAMETER")) return node;
  const type = arrow ?? TYPE_NAMES[kind];
  throw new TsdbError("bad_query", `Error during planning: Expected ${clause} to be an integer or null, but got ${type}`);
}

/** The error for `LIMIT 50%` and `LIMIT 50 PERCENT`. */
export function percentage(): TsdbError {
  return new TsdbError("bad_query", "Error during planning: Expected LIMIT to be a number of rows, but got a percentage of them");
}
