// Timestamps of seconds, milliseconds and microseconds. What is computed of them keeps their unit, rounded down.
import type { TimeUnit } from "../../../model/query/result-batch.ts";
import { SECOND_NS } from "../../../model/time/time-units.ts";
import type { Typed } from "../../bind/kind.ts";
import { floorDiv } from "../../parse/time-text.ts";
import { bigintConstant, call, castTo, type Expression, operator } from "../../parse/tree.ts";
import { nanosecondsOf } from "./time-macro.ts";
import { asTime, timeConstant, timeOfNs } from "./time-value.ts";

const UNIT_NS: Readonly<Record<TimeUnit, bigint>> = { s: SECOND_NS, ms: 1_000_000n, us: 1_000n, ns: 1n };
const TYPES: Readonly<Record<Exclude<TimeUnit, "ns">, string>> = { s: "TIMESTAMP_S", ms: "TIMESTAMP_MS", us: "TIMESTAMP" };

/** A timestamp of a number of units since 1970. */
export function timeOfUnits(units: bigint | Expression, unit: TimeUnit): Typed {
  if (unit === "ns") return typeof units === "bigint" ? timeConstant(units) : timeOfNs(units);
  const perUs = UNIT_NS[unit] / 1_000n;
  const us = typeof units === "bigint" ? bigintConstant(units * perUs) : operator("*", units, bigintConstant(perUs));
  const value: Typed = { node: castTo(call("make_timestamp", [us]), TYPES[unit]), kind: "coarse", unit };
  return typeof units === "bigint" ? { ...value, timeNs: units * UNIT_NS[unit] } : value;
}

/** A timestamp of a unit, rounded down. */
export function inUnit(value: Typed, unit: TimeUnit): Typed {
  if (unit === "ns" || value.unit === unit) return value;
  const time = asTime(value);
  const size = UNIT_NS[unit];
  if (time.timeNs !== undefined) return timeOfUnits(floorDiv(time.timeNs, size), unit);
  return timeOfUnits(call("__floor_div", [nanosecondsOf(time.node), bigintConstant(size)]), unit);
}

/** `value`, computed of `from`, in its unit. */
export function inUnitOf(value: Typed, from: Typed): Typed {
  return from.kind === "coarse" ? inUnit(value, from.unit ?? "us") : value;
}
