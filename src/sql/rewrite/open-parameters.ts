// Parameters without values in a described statement. Where a rule requires a constant, or depends on its argument's kind, a constant
// stands in: its value does not affect the result columns.
import type { ResultField, ResultType } from "../../model/query/result-batch.ts";
import type { Typed } from "../bind/kind.ts";
import type { FunctionCall, Parameter } from "../parse/tree.ts";
import { floatConstant, stringConstant } from "../parse/tree.ts";
import { timeConstant } from "./time/time-value.ts";

/** Expected arguments: an interval, a time, the name of a unit or zone, a fraction of 1. */
type Wanted = "stride" | "time" | "unit" | "zone" | "share";

const BIN: readonly Wanted[] = ["stride", "time", "time"];
/** Expected arguments by function; for aggregates the ORDER BY value is first. */
const ARGUMENTS: Readonly<Record<string, readonly (Wanted | null)[]>> = {
  date_bin: BIN,
  date_bin_gapfill: BIN,
  date_bin_wallclock: BIN,
  date_bin_wallclock_gapfill: BIN,
  date_part: ["unit", "time"],
  date_trunc: ["unit", "time"],
  to_local_time: ["time"],
  timezone: ["zone", "time"],
  tz: ["time", "zone"],
  approx_percentile_cont: [null, "share"],
  approx_percentile_cont_with_weight: [null, null, "share"],
  percentile_cont: [null, "share"],
  quantile_cont: [null, "share"],
};

const UTF8: ResultType = { kind: "utf8" };
const text = (value: string) => (): Typed => ({ node: stringConstant(value), kind: "string", text: value });

/** A type that drivers can bind, and the stand-in constant. Not all drivers support intervals, so a text is used; a long one yields few
 *  bins. */
const STAND_INS: Readonly<Record<Wanted, { readonly type: ResultType; readonly make: () => Typed }>> = {
  stride: { type: UTF8, make: text("10000 days") },
  time: { type: { kind: "timestamp", unit: "ns", zone: null }, make: () => timeConstant(0n) },
  unit: { type: UTF8, make: text("second") },
  zone: { type: UTF8, make: text("UTC") },
  share: { type: { kind: "float", bits: 64 }, make: () => ({ node: floatConstant(0.5), kind: "float", number: 0.5 }) },
};

/** DuckDB numbers parameters without gaps, even if some are removed before. */
const PREFIX = "p";

/** The open parameters of one statement. */
export class OpenParameters {
  /** Types of parameters that have a stand-in. */
  private readonly types = new Map<string, ResultType>();

  /** The parameter itself; DuckDB determines its type. */
  kept(node: Parameter): Typed {
    return { node: { ...node, identifier: PREFIX + node.identifier }, kind: "unknown" };
  }

  /** The argument of a call at a position, or its stand-in. */
  argument(call: FunctionCall, place: number, value: Typed): Typed {
    const { function_name: name, order_bys } = call;
    const wanted = Object.hasOwn(ARGUMENTS, name) ? ARGUMENTS[name]![place + Math.min(1, order_bys.orders.length)] : undefined;
    if (value.node.class !== "PARAMETER" || wanted === undefined || wanted === null) return value;
    const { type, make } = STAND_INS[wanted];
    this.types.set(nameOf(value.node.identifier), type);
    return make();
  }

  /** All parameters of a statement, in the order of `names`. `known`: those that DuckDB has seen. */
  fields(names: readonly string[], known: readonly ResultField[]): ResultField[] {
    const types = new Map(this.types);
    for (const { name, type } of known) if (type.kind !== "null" || !types.has(nameOf(name))) types.set(nameOf(name), type);
    const rank = (name: string) => names.indexOf(name);
    return [...types].map(([name, type]) => ({ name, type })).sort((a, b) => rank(a.name) - rank(b.name));
  }
}

function nameOf(identifier: string): string {
  return identifier.slice(PREFIX.length);
}
