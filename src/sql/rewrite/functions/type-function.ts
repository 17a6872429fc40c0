// Type functions with the vendor's type names, and version().

import { near, TsdbError } from "../../../model/errors.ts";
import { VERSION } from "../../../model/version.ts";
import { parseArrowType } from "../../bind/arrow-type.ts";
import { isAggregate } from "../../bind/functions.ts";
import type { Typed } from "../../bind/kind.ts";
import { DICTIONARY, isDictionary, isNullConstant, NULL_TYPE, withMarkOf } from "../../bind/type-notes.ts";
import { bigintConstant, type Cast, call, castTo, operator, stringConstant } from "../../parse/tree.ts";
import { expectArguments, isNotNull, type RuleInput, type Rules, whenThen, wide } from "../rule.ts";
import { localIn } from "../time/common-zone.ts";
import { bin } from "../time/time-bin.ts";
import { inUnit } from "../time/time-unit.ts";
import { asTime } from "../time/time-value.ts";
import { inZone } from "../time/time-zone.ts";
import { ofUnits, rewriteCast, textOf } from "../values/cast.ts";
import { someNode } from "../walk.ts";
import { bytesOf } from "./binary-function.ts";

/** The vendor's name of a value's type if it is known here; null: only DuckDB knows it. */
function knownType(value: Typed): string | null {
  if (value.arrow !== undefined) return value.arrow;
  const { node } = value;
  if (isNullConstant(value)) return NULL_TYPE;
  if (isDictionary(value)) return DICTIONARY;
  if (value.kind === "time" && value.zone !== undefined) return `Timestamp(ns, "${value.zone}")`;
  if (value.kind === "duration") return "Duration(ns)";
  return value.kind === "integer" && node.class === "CONSTANT" && typeof value.number === "bigint" && value.number < 2n ** 63n
    ? "Int64"
    : null;
}

/** arrow_typeof(x): one text for all rows. */
function arrowTypeof(input: RuleInput): Typed {
  expectArguments(input, 1);
  const [value] = input.args;
  const known = knownType(value!);
  const text = stringConstant(known ?? "");
  if (known === null) return { node: call("__arrow_type", [call("typeof", [wide(value!)])]), kind: "string" };
  // an aggregate argument must keep reducing rows
  const isOneRow = someNode(value!.node, (part) => part.class === "FUNCTION" && isAggregate(part.function_name));
  if (isOneRow) return { node: whenThen([[isNotNull(call("count_star", [])), text]]), kind: "string" };
  return { node: text, kind: "string", text: known };
}

/** arrow_cast(x, 'type') */
function arrowCast(input: RuleInput): Typed {
  expectArguments(input, 2);
  const [value, name] = input.args;
  const type = name!.text === undefined ? null : parseArrowType(name!.text);
  if (type === null) {
    const got = near(name!.text ?? "not a constant");
    const message = `Execution error: Unsupported type '${got}'. Must be a supported arrow type name such as 'Int32' or 'Timestamp(ns)'`;
    throw new TsdbError("bad_query", message);
  }
  const { unitNs } = type;
  if (type.name.startsWith("Time32") && value!.kind === "integer")
    throw new TsdbError("bad_query", `This feature is not implemented: Unsupported CAST from Int64 to ${type.name}`);
  if (type.name.startsWith("Duration"))
    return { node: operator("*", castTo(wide(value!), "BIGINT"), bigintConstant(unitNs!)), kind: "duration", arrow: type.name };
  // what is computed of a bound parameter was described before its unit was known, as nanoseconds
  const isBound = value!.node.class === "CONSTANT" && value!.node.query_location === undefined;
  const keepsUnit = type.zone === undefined && type.name.startsWith("Timestamp") && !isBound;
  if (type.unit !== undefined && (value!.kind === "integer" || value!.kind === "float")) {
    const time = ofUnits(value!, type.unit);
    return keepsUnit ? time : { ...inZone(asTime(time), type.zone), arrow: type.name };
  }
  // a text without a zone is in the type's zone
  if (type.zone !== undefined && value!.text !== undefined)
    return { ...inZone(bin(asTime(value!, type.zone), unitNs!, 0n), type.zone), arrow: type.name };
  if (type.type.id === "BLOB") return { node: bytesOf(value!), kind: "binary", arrow: type.name };
  if (type.type.id === "VARCHAR" && value!.kind === "binary") return { node: textOf(value!), kind: "string", arrow: type.name };
  const node: Cast = { ...castTo(value!.node, type.type.id), cast_type: type.type };
  // a text or a time without a zone is local time in the type's zone
  const source =
    type.zone === undefined ? value! : value!.text === undefined ? localIn(value!, type.zone, input.scope) : asTime(value!, type.zone);
  const made = rewriteCast(node, source, input.scope);
  if (keepsUnit) return withMarkOf(inUnit(made, type.unit!), value);
  const cast = withMarkOf({ ...made, arrow: type.name }, value);
  if (unitNs === undefined || cast.kind !== "time") return cast;
  return withMarkOf({ ...inZone(bin(cast, unitNs, 0n), type.zone), arrow: type.name }, value);
}

/** The version of the server. */
function version(input: RuleInput): Typed {
  expectArguments(input, 0);
  return { node: stringConstant(ENGINE), kind: "string", text: ENGINE };
}

const ARCHITECTURE: Readonly<Record<string, string>> = { x64: "x86_64", arm64: "aarch64" };
const ENGINE = `tsdb ${VERSION} (DuckDB), ${ARCHITECTURE[process.arch] ?? process.arch} on ${process.platform}`;

export const TYPE_RULES: Rules = { arrow_cast: arrowCast, arrow_typeof: arrowTypeof, version };
