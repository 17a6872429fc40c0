// Parameters without a value, which a statement that is described keeps. Where a rule takes nothing but a constant, or chooses by the kind
// of its argument, a constant stands in: what it is decides nothing of the answer's columns.
import type { ResultField, ResultType } from "../../model/query/result-batch.ts";
import type { Typed } from "../bind/kind.ts";
import type { FunctionCall, Parameter } from "../parse/tree.ts";
import { floatConstant, stringConstant } from "../parse/tree.ts";
import { timeConstant } from "./time/time-value.ts";

/** What an argument is: an interval, a time, the name of a unit, of a zone, a share of 1. */
type Wanted = "stride" | "time" | "unit" | "zone" | "share";

const BIN: readonly Wanted[] = ["stride", "time", "time"];
/** The arguments of functions; of an aggregate the value that ORDER BY names comes first. */
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

/** A type that drivers can bind, and the constant. Not every driver makes intervals, and a text is as good; a long one makes few bins. */
const STAND_INS: Readonly<Record<Wanted, { readonly type: ResultType; readonly make: () => Typed }>> = {
  stride: { type: UTF8, make: text("10000 days") },
  time: { type: { kind: "timestamp", unit: "ns", zone: null }, make: () => timeConstant(0n) },
  unit: { type: UTF8, make: text("second") },
  zone: { type: UTF8, make: text("UTC") },
  share: { type: { kind: "float", bits: 64 }, make: () => ({ node: floatConstant(0.5), kind: "float", number: 0.5 }) },
};

/** DuckDB numbers names without gaps, also where parameters are left out before it sees them. */
const PREFIX = "p";

export class OpenParameters {
  /** Those that have a stand-in. */
  private readonly types = new Map<string, ResultType>();

  /** The parameter for DuckDB, which says its type. */
  kept(node: Parameter): Typed {
    return { node: { ...node, identifier: PREFIX + node.identifier }, kind: "unknown" };
  }

  /** The argument of a call at a place, or what stands in for it. */
  argument(call: FunctionCall, place: number, value: Typed): Typed {
    const { function_name: name, order_bys } = call;
    const wanted = Object.hasOwn(ARGUMENTS, name) ? ARGUMENTS[name]![place + Math.min(1, order_bys.orders.length)] : undefined;
    if (value.node.class !== "PARAMETER" || wanted === undefined || wanted === null) return value;
    const { type, make } = STAND_INS[wanted];
    this.types.set(nameOf(value.node.identifier), type);
    return make();
  }

  /** All of a statement, in the order of `names`. `known`: those that DuckDB has seen. */
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
