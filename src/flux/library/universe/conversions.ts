// `bool`, `int`, `float`, …: values of one type from another.

import type { FluxColumnType } from "../../values/column-type.ts";
import { durationNs, durationText, parseDuration, parseTime } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import { parseFloatText } from "../../values/number-text.ts";
import { displayText, fixedText, fullTimeText, quotedText, stringOf } from "../../values/text.ts";
import {
  Bytes,
  Dictionary,
  Duration,
  Dynamic,
  FluxArray,
  FluxFunction,
  FluxRecord,
  isNull,
  kindOf,
  Null,
  Time,
  UInt,
  type Value,
} from "../../values/value.ts";
import type { NativeBody } from "../native-call.ts";

const INT_TEXT = /^[+-]?\d+$/;

function badText(text: string, type: string, cause = ""): FluxError {
  return new FluxError(`cannot convert string ${quotedText(text)} to ${type} due to invalid syntax${cause}`);
}

function badType(value: Value, type: string): FluxError {
  return new FluxError(`cannot convert ${typeText(value)} to ${type}`);
}

/** The value as an integer. @throws FluxError if it cannot be converted */
function toInt(value: Value): bigint {
  if (typeof value === "bigint") return value;
  if (typeof value === "string") {
    const parsed = INT_TEXT.test(value) ? BigInt(value.replace(/^\+/, "")) : null;
    if (parsed === null || BigInt.asIntN(64, parsed) !== parsed) throw badText(value, "int");
    return parsed;
  }
  if (typeof value === "number") return truncated(value);
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (value instanceof UInt) return BigInt.asIntN(64, value.value);
  if (value instanceof Time) return value.ns;
  if (value instanceof Duration) return truncated(durationNs(value));
  throw badType(value, "int");
}

/** As the reference's processor does it: what does not fit is the least integer. */
function truncated(value: number | bigint): bigint {
  const isSmall = value < 2 ** 63 && value >= -(2 ** 63);
  return isSmall ? BigInt(typeof value === "number" ? Math.trunc(value) : value) : -(1n << 63n);
}

/** The value as an unsigned integer. @throws FluxError if it cannot be converted */
function toUInt(value: Value): UInt {
  if (value instanceof UInt) return value;
  if (typeof value === "string") {
    const parsed = /^\d+$/.test(value) ? BigInt(value) : null;
    if (parsed === null || BigInt.asUintN(64, parsed) !== parsed) throw badText(value, "uint");
    return new UInt(parsed);
  }
  if (typeof value === "number") {
    if (value >= 2 ** 63 && value < 2 ** 64) return new UInt(BigInt(Math.trunc(value)));
    return new UInt(BigInt.asUintN(64, truncated(value)));
  }
  if (typeof value === "bigint" || typeof value === "boolean" || value instanceof Time || value instanceof Duration) {
    return new UInt(BigInt.asUintN(64, toInt(value)));
  }
  throw badType(value, "uint");
}

/** The value as a float. @throws FluxError if it cannot be converted */
function toFloat(value: Value): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "string") {
    const parsed = parseFloatText(value);
    if (typeof parsed === "string") throw badText(value, "float");
    return parsed;
  }
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value instanceof UInt) return Number(value.value);
  throw badType(value, "float");
}

/** The value as a boolean. @throws FluxError if it cannot be converted */
function toBool(value: Value): boolean {
  if (typeof value === "boolean") return value;
  if (value === "true") return true;
  if (value === "false") return false;
  if (typeof value === "string") throw new FluxError(`cannot convert string ${quotedText(value)} to bool`);
  const number = value instanceof UInt ? value.value : value;
  if (number === 1 || number === 1n) return true;
  if (number === 0 || number === 0n) return false;
  if (typeof number === "number") throw new FluxError(`cannot convert float ${fixedText(number)} to bool, must be 0 or 1`);
  if (typeof number === "bigint") throw new FluxError(`cannot convert ${kindOf(value)} ${number} to bool, must be 0 or 1`);
  throw badType(value, "bool");
}

/** The value as a time. @throws FluxError if it cannot be converted */
function toTime(value: Value): Time {
  if (value instanceof Time) return value;
  if (typeof value === "bigint") return new Time(value);
  if (value instanceof UInt) return new Time(BigInt.asIntN(64, value.value));
  if (typeof value !== "string") throw badType(value, "time");
  const parsed = parseTime(value);
  if (parsed === null) throw badText(value, "time", value.includes("T") ? ": cannot parse date time" : ": cannot parse date");
  return parsed;
}

/** The value as a duration. @throws FluxError if it cannot be converted */
function toDuration(value: Value): Duration {
  if (value instanceof Duration) return value;
  if (typeof value === "bigint") return new Duration(0n, value);
  if (value instanceof UInt) return new Duration(0n, BigInt.asIntN(64, value.value));
  if (typeof value !== "string") throw badType(value, "duration");
  if (value === "") return new Duration(0n, 0n);
  const parsed = parseDuration(value);
  if (parsed === null) throw badText(value, "duration");
  return parsed;
}

/** The type of a value as the language writes it. */
export function typeText(value: Value): string {
  if (value instanceof FluxArray) return `[${value.like === null ? "invalid" : typeText(value.like)}]`;
  if (value instanceof FluxRecord) {
    const members = [...value.entries()].map(([label, each]) => `${label}: ${typeText(each)}`);
    return `{${members.sort().join(", ")}}`;
  }
  if (value instanceof Dictionary) {
    const { like } = value;
    return like === null ? "[invalid: invalid]" : `[${typeText(like.key)}: ${typeText(like.value)}]`;
  }
  if (value instanceof FluxFunction) return value.typeText;
  return kindOf(value) === "invalid" ? "null" : kindOf(value);
}

/** The value as a string. @throws FluxError if it cannot be converted */
function toText(value: Value): string {
  // nine digits here, as recorded
  if (value instanceof Time) return fullTimeText(value.ns);
  const text = stringOf(value);
  if (text !== null) return text;
  if (value instanceof Bytes) {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(value.bytes);
    } catch {
      throw new FluxError("cannot convert bytes to string due to invalid utf-8 encoding");
    }
  }
  throw badType(value, "string");
}

/** A dynamic value converts as what it holds, and a null stays one. */
function conversion(type: FluxColumnType | "duration", convert: (value: Value) => Value): NativeBody {
  return (call) => {
    const given = call.value("v");
    const value = given instanceof Dynamic ? (given.value ?? Null.of("invalid")) : given;
    if (type === "float" && value instanceof Time && call.run.isInColumns) return Number(value.ns);
    return isNull(value) ? Null.computed(type === "duration" || !call.run.isInRows ? "invalid" : type) : convert(value);
  };
}

export const CONVERSIONS: Readonly<Record<string, NativeBody>> = {
  bool: conversion("bool", toBool),
  int: conversion("int", toInt),
  uint: conversion("uint", toUInt),
  float: conversion("float", toFloat),
  string: conversion("string", toText),
  time: conversion("time", toTime),
  duration: conversion("duration", toDuration),
  bytes: (call) => {
    const given = call.value("v");
    const value = given instanceof Dynamic ? (given.value ?? Null.of("invalid")) : given;
    if (typeof value === "string") return new Bytes(new TextEncoder().encode(value));
    if (isNull(value)) throw new FluxError("cannot convert null to bytes");
    throw badType(value, "bytes");
  },
  display: (call) => {
    const value = call.value("v");
    return value instanceof Duration ? durationText(value) : displayText(value);
  },
};
