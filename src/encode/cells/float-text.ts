// Formats floats with the shortest digits that read back to the same bits, in the vendor's layout.
//
// Layout, with e = the exponent of the first digit: plain for -5 <= e < 16, always with a fraction (`1.0`, `0.00001`,
// `1000000000000000.0`), otherwise an exponent without plus or padding (`1e16`, `1.5e-7`). -0 is `-0.0`. JSON is plain for e < 10 only, and
// a single digit has a fraction before the exponent, too (`1.0e10`, `5.0e-324`). Floats of 32 bits are plain for -6 <= e < 13 where doubles
// are for -5 <= e < 16.
import type { ByteWriter } from "../byte-writer.ts";

const POWERS = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9] as const;
/** Below this, two different decimals are two different doubles: 15 digits always survive conversion to a double and back. */
const UNIQUE_MAX = 1e15;
const DECIMALS_MAX = 9;
/** Smallest value written without an exponent. */
const PLAIN_MIN = 1e-5;

export interface FloatLayout {
  /** Smallest exponent of the first digit that is written without an exponent. */
  readonly plainFrom: -5 | -6;
  /** Values from here on are written with an exponent. */
  readonly plainEnd: number;
  /** Inserted after a single digit before its exponent. */
  readonly digitEnd: "" | ".0";
}
export const PLAIN_LAYOUT: FloatLayout = { plainFrom: -5, plainEnd: 1e16, digitEnd: "" };
export const JSON_LAYOUT: FloatLayout = { plainFrom: -5, plainEnd: 1e10, digitEnd: ".0" };
/** Floats of 32 bits, but in JSON. */
export const SINGLE_LAYOUT: FloatLayout = { plainFrom: -6, plainEnd: 1e13, digitEnd: "" };
const SINGLE_NORMAL_MIN = 2 ** -126;
/** After this many consecutive values that were not short decimals, only every RETRY_EVERYth value is tried. */
const MISSES_MAX = 16;
const RETRY_EVERY = 16;

/** Formats the doubles of one column. Remembers the number of decimals of the column's values: measured data mostly have few, and for
 *  them division by a power of ten replaces the search for the shortest digits. */
export class DoubleText {
  private decimals = 2;
  private misses = 0;

  /** Below it a short decimal is written without an exponent. */
  private readonly shortMax: number;

  constructor(
    private readonly out: ByteWriter,
    private readonly layout: FloatLayout = PLAIN_LAYOUT,
  ) {
    this.shortMax = Math.min(UNIQUE_MAX, layout.plainEnd);
  }

  /** Writes a finite `value`. */
  write(value: number): void {
    const size = value < 0 ? -value : value;
    if (size < this.shortMax && (size >= PLAIN_MIN || size === 0) && (this.misses < MISSES_MAX || this.misses % RETRY_EVERY === 0)) {
      const scale = POWERS[this.decimals]!;
      const scaled = Math.round(size * scale);
      // scaled / scale is correctly rounded, like a reader's conversion of the decimal; equality means that it reads back as `size`.
      if (scaled < UNIQUE_MAX && scaled / scale === size) {
        this.misses = 0;
        if (value < 0 || Object.is(value, -0)) this.out.byte(0x2d);
        writeScaled(this.out, scaled, this.decimals);
        return;
      }
    }
    this.writeAny(value);
  }

  private writeAny(value: number): void {
    this.misses++;
    const text = doubleText(value, this.layout);
    this.out.ascii(text);
    if (text.length > 16 || text.includes("e")) return;
    const decimals = text.length - 1 - text.indexOf(".");
    if (decimals > DECIMALS_MAX) return;
    this.decimals = Math.max(this.decimals, decimals);
    this.misses = 0;
  }
}

/** `scaled` / 10^decimals, without trailing zeros except for the first decimal. */
function writeScaled(out: ByteWriter, scaled: number, decimals: number): void {
  const scale = POWERS[decimals]!;
  const whole = Math.floor(scaled / scale);
  let fraction = scaled - whole * scale;
  out.uint(whole);
  out.byte(0x2e);
  let digits = decimals;
  while (digits > 1) {
    const tenth = Math.floor(fraction / 10);
    if (tenth * 10 !== fraction) break;
    fraction = tenth;
    digits--;
  }
  out.padded(fraction, digits);
}

/** Formats a finite double in this module's layout. */
export function doubleText(value: number, layout = PLAIN_LAYOUT): string {
  const size = Math.abs(value);
  // In this range JavaScript's layout differs only in the fraction of integers.
  if (size >= PLAIN_MIN && size < layout.plainEnd) return Number.isInteger(value) ? `${value}.0` : String(value);
  return laidOut(String(size), value < 0 || Object.is(value, -0), layout);
}

/** The shortest text that reads back to the same 32-bit float. `value` is such a float. */
export function singleText(value: number, layout = SINGLE_LAYOUT): string {
  const size = Math.abs(value);
  // 6 digits always survive conversion to a normal 32-bit float, so starting there misses no shorter text; 9 always suffice.
  let digits = size < SINGLE_NORMAL_MIN ? 1 : 6;
  while (digits < 9 && Math.fround(Number(size.toPrecision(digits))) !== size) digits++;
  return laidOut(String(Number(size.toPrecision(digits))), value < 0 || Object.is(value, -0), layout);
}

/** `NaN`, `inf`, `-inf`: the vendor's words, for formats that allow them. */
export function nonFiniteText(value: number): string {
  return Number.isNaN(value) ? "NaN" : value > 0 ? "inf" : "-inf";
}

/** Rearranges JavaScript's text of a value >= 0: the same digits with other thresholds for the exponent. */
function laidOut(text: string, negative: boolean, { plainFrom, plainEnd, digitEnd }: FloatLayout): string {
  const sign = negative ? "-" : "";
  const mark = text.indexOf("e");
  const mantissa = mark < 0 ? text : text.slice(0, mark);
  const point = mantissa.indexOf(".");
  const wholeDigits = point < 0 ? mantissa.length : point;
  const all = point < 0 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1);
  const leading = all.search(/[1-9]/);
  if (leading < 0) return `${sign}0.0`;
  const digits = all.slice(leading).replace(/0+$/, "");
  const exponent = wholeDigits - 1 - leading + (mark < 0 ? 0 : Number(text.slice(mark + 1)));
  if (exponent < plainFrom || exponent >= Math.log10(plainEnd)) {
    return `${sign}${digits[0]}${digits.length > 1 ? `.${digits.slice(1)}` : digitEnd}e${exponent}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  if (digits.length <= exponent + 1) return `${sign}${digits.padEnd(exponent + 1, "0")}.0`;
  return `${sign}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}

/** A finite double without exponent and without a zero fraction: `-0`, `100000`, `0.0000001`. */
export function plainNumberText(value: number): string {
  const text = String(Math.abs(value));
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const mark = text.indexOf("e");
  if (mark < 0) return sign + text;
  const exponent = Number(text.slice(mark + 1));
  const [whole = "", fraction = ""] = text.slice(0, mark).split(".");
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${whole}${fraction}`;
  return `${sign}${whole}${fraction.padEnd(exponent, "0")}`;
}
