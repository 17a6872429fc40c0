// Timestamps as text, laid out as src/encode/cells/clock-text.ts does: ISO 8601, a fraction of 0, 3, 6 or 9 digits, no zone; or as the v1
// API
// does.
import { copyBlocks } from "./copy";
import { putPair, writePadded, writeUnsigned } from "./digits";

const DASH: u8 = 0x2d;
const PLUS: u8 = 0x2b;
const COLON: u8 = 0x3a;
const POINT: u8 = 0x2e;
const LETTER_T: u8 = 0x54;
const LETTER_Z: u8 = 0x5a;

const DAY_SECONDS: i64 = 86_400;

// `column` is | units in a second u64 | digits of a unit u32 | bytes of the date u32 | day of the date i64 | date, 32 bytes |: the date of
// the value before is kept, because neighbours mostly share it.
const DIGITS: usize = 8;
const DATE_BYTES: usize = 12;
const DATE_DAY: usize = 16;
const DATE: u32 = 24;

/** Writes at most 64 bytes at `at` and gives the end. */
export function writeTimestamp(at: u32, value: i64, column: u32): u32 {
  const fraction = writeSeconds(at, value, column);
  return clockEnd + writeFraction(clockEnd, fraction, load<u32>(column, DIGITS), 1000, 3);
}

/** RFC 3339 as Go writes it: no zeros at the end of the fraction, `Z` for the zone. */
export function writeRfc3339(at: u32, value: i64, column: u32): u32 {
  const fraction = writeSeconds(at, value, column);
  const end = clockEnd + writeFraction(clockEnd, fraction, load<u32>(column, DIGITS), 10, 1);
  store<u8>(end, LETTER_Z);
  return end + 1;
}

/** Where `writeSeconds` ended. */
let clockEnd: u32 = 0;

/** Date and time of day without the fraction, whose units are returned. */
function writeSeconds(at: u32, value: i64, column: u32): u32 {
  const perSecond = load<i64>(column);
  const seconds = floorDivide(value, perSecond);
  const day = floorDivide(seconds, DAY_SECONDS);
  if (load<u32>(column, DATE_BYTES) == 0 || load<i64>(column, DATE_DAY) != day) keepDate(column, day);
  copyBlocks(column + DATE, 32, at);
  at += load<u32>(column, DATE_BYTES);
  const ofDay = <u32>(seconds - day * DAY_SECONDS);
  const minutes = ofDay / 60;
  const hours = minutes / 60;
  putPair(at, hours);
  store<u8>(at, COLON, 2);
  putPair(at + 3, minutes - hours * 60);
  store<u8>(at, COLON, 5);
  putPair(at + 6, ofDay - minutes * 60);
  clockEnd = at + 8;
  return <u32>(value - seconds * perSecond);
}

/** A point and the fraction, without groups of `step` zeros at its end. Returns the bytes written: none for 0. */
// @ts-ignore: decorator
@inline
function writeFraction(at: u32, fraction: u32, digits: u32, group: u32, step: u32): u32 {
  if (fraction == 0) return 0;
  for (let rest = fraction / group; rest * group == fraction; rest = fraction / group) {
    fraction = rest;
    digits -= step;
  }
  store<u8>(at, POINT);
  writePadded(at + 1, fraction, digits);
  return digits + 1;
}

function floorDivide(value: i64, by: i64): i64 {
  const quotient = value / by;
  return quotient * by > value ? quotient - 1 : quotient;
}

/** Years outside 0 .. 9999 carry a sign. Source: Howard Hinnant, "chrono-compatible low-level date algorithms", civil_from_days. */
function keepDate(column: u32, day: i64): void {
  const shifted = day + 719_468; // days since 0000-03-01
  const era = floorDivide(shifted, 146_097);
  const dayOfEra = <u32>(shifted - era * 146_097);
  const yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
  const dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const marchMonth = (5 * dayOfYear + 2) / 153;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = era * 400 + <i64>yearOfEra + (month <= 2 ? 1 : 0);
  let at = column + DATE;
  if (year < 0 || year > 9999) store<u8>(at++, year < 0 ? DASH : PLUS);
  const size = <u64>abs(year);
  at = size < 10_000 ? writePadded(at, <u32>size, 4) : writeUnsigned(at, size);
  store<u8>(at, DASH);
  putPair(at + 1, month);
  store<u8>(at, DASH, 3);
  putPair(at + 4, dayOfYear - (153 * marchMonth + 2) / 5 + 1);
  store<u8>(at, LETTER_T, 6);
  store<u32>(column, at + 7 - (column + DATE), DATE_BYTES);
  store<i64>(column, day, DATE_DAY);
}
