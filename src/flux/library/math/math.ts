// Package `math`.
import type { FluxColumnType } from "../../values/column-type.ts";
import { FluxError } from "../../values/flux-error.ts";
import { FluxRecord, Null, UInt, type Value } from "../../values/value.ts";
import type { LibraryPackage, NativeBody, NativeCall } from "../native-call.ts";
import { answeringNulls, type NullAnswer } from "../null-arguments.ts";
import { besselJ, besselY, erf, erfc, erfInverse, gamma, logGamma } from "./special.ts";

const ofX =
  (f: (x: number) => number): NativeBody =>
  (call) =>
    f(call.float("x"));
const ofXY =
  (f: (x: number, y: number) => number): NativeBody =>
  (call) =>
    f(call.float("x"), call.float("y"));

const BITS = new DataView(new ArrayBuffer(8));

function bitsOf(value: number): bigint {
  BITS.setFloat64(0, value);
  return BITS.getBigUint64(0);
}

function fromBits(bits: bigint): number {
  BITS.setBigUint64(0, BigInt.asUintN(64, bits));
  return BITS.getFloat64(0);
}

function copySign(x: number, y: number): number {
  const isMinus = y < 0 || Object.is(y, -0);
  return isMinus ? -Math.abs(x) : Math.abs(x);
}

/** Away from zero at a half. */
function round(x: number): number {
  if (!Number.isFinite(x)) return x;
  const whole = Math.trunc(x);
  return Math.abs(x - whole) >= 0.5 ? whole + Math.sign(x) : copySign(whole, x);
}

function roundToEven(x: number): number {
  if (!Number.isFinite(x)) return x;
  const whole = Math.trunc(x);
  const rest = Math.abs(x - whole);
  const goesUp = rest > 0.5 || (rest === 0.5 && whole % 2 !== 0);
  return copySign(goesUp ? whole + Math.sign(x) : whole, x);
}

/** x = fraction · 2^exponent with the fraction from 0.5 to 1. */
function parted(x: number): { readonly fraction: number; readonly exponent: number } {
  if (x === 0 || !Number.isFinite(x)) return { fraction: x, exponent: 0 };
  let exponent = Math.max(-1023, Math.floor(Math.log2(Math.abs(x))) + 1);
  let fraction = x * 2 ** -exponent;
  while (Math.abs(fraction) < 0.5) {
    fraction *= 2;
    exponent--;
  }
  while (Math.abs(fraction) >= 1) {
    fraction /= 2;
    exponent++;
  }
  return { fraction, exponent };
}

function remainder(x: number, y: number): number {
  if (!Number.isFinite(x) || Number.isNaN(y) || y === 0) return Number.NaN;
  if (!Number.isFinite(y)) return x;
  const rest = x % y;
  const half = Math.abs(y) / 2;
  const isOdd = Math.trunc(x / y) % 2 !== 0;
  if (Math.abs(rest) > half || (Math.abs(rest) === half && isOdd)) return rest - copySign(Math.abs(y), rest);
  return copySign(rest, rest === 0 ? x : rest);
}

function nextAfter(x: number, y: number): number {
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN;
  if (x === y) return x;
  if (x === 0) return copySign(5e-324, y);
  const isUp = y > x === x > 0;
  return fromBits(bitsOf(x) + (isUp ? 1n : -1n));
}

const LEAST_INT = -(1n << 63n);

function exponentOf(x: number): bigint {
  if (x === 0) return -2147483648n;
  if (!Number.isFinite(x)) return 2147483647n;
  return BigInt(parted(x).exponent - 1);
}

const max = (x: number, y: number): number =>
  x === Number.POSITIVE_INFINITY || y === Number.POSITIVE_INFINITY ? Number.POSITIVE_INFINITY : Math.max(x, y);
const min = (x: number, y: number): number =>
  x === Number.NEGATIVE_INFINITY || y === Number.NEGATIVE_INFINITY ? Number.NEGATIVE_INFINITY : Math.min(x, y);

const CONSTANTS: Readonly<Record<string, { readonly value: Value }>> = {
  pi: { value: Math.PI },
  e: { value: Math.E },
  phi: { value: (1 + Math.sqrt(5)) / 2 },
  sqrt2: { value: Math.SQRT2 },
  sqrte: { value: Math.sqrt(Math.E) },
  sqrtpi: { value: Math.sqrt(Math.PI) },
  sqrtphi: { value: 1.272019649514069 },
  ln2: { value: Math.LN2 },
  log2e: { value: 1 / Math.LN2 },
  ln10: { value: Math.LN10 },
  log10e: { value: 1 / Math.LN10 },
  maxfloat: { value: Number.MAX_VALUE },
  smallestNonzeroFloat: { value: Number.MIN_VALUE },
  maxint: { value: (1n << 63n) - 1n },
  minint: { value: LEAST_INT },
  maxuint: { value: new UInt((1n << 64n) - 1n) },
};

const OTHER_RESULTS: Readonly<Record<string, FluxColumnType>> = {
  ...{ isInf: "bool", isNaN: "bool", signbit: "bool", ilogb: "int", float64bits: "uint" },
};
const OTHER_ARGUMENTS: Readonly<Record<string, FluxColumnType>> = { n: "int", exp: "int", sign: "int", b: "uint" };
const OF_TWO: readonly string[] = ["atan2", "copysign", "dim", "jn", "mMax", "mMin", "mod", "nextafter", "pow", "remainder", "yn"];
const OF_RECORDS: readonly string[] = ["frexp", "lgamma", "modf", "sincos"];

/** Nulls of a column give nulls; what has no type is no argument. */
const nullAnswer: NullAnswer = (name, argument, { type }) => {
  const wanted = OTHER_ARGUMENTS[argument] ?? "float";
  const isOfRecord = OF_RECORDS.includes(name);
  if (isOfRecord && (type === "invalid" || type === wanted)) throw new FluxError(`${name} does not support null values`);
  if (type === wanted) return Null.of(OTHER_RESULTS[name] ?? "float");
  const shown = argument === "x" && !isOfRecord && !OF_TWO.includes(name) ? "argument" : `argument ${argument}`;
  throw new FluxError(`cannot convert ${shown} of type ${type} to ${wanted}`);
};

export const MATH: LibraryPackage = {
  path: "math",
  name: "math",
  source: `
builtin pi : float
builtin e : float
builtin phi : float
builtin sqrt2 : float
builtin sqrte : float
builtin sqrtpi : float
builtin sqrtphi : float
builtin ln2 : float
builtin log2e : float
builtin ln10 : float
builtin log10e : float
builtin maxfloat : float
builtin smallestNonzeroFloat : float
builtin maxint : int
builtin minint : int
builtin maxuint : uint
builtin abs : (x: float) => float
builtin acos : (x: float) => float
builtin acosh : (x: float) => float
builtin asin : (x: float) => float
builtin asinh : (x: float) => float
builtin atan : (x: float) => float
builtin atan2 : (y: float, x: float) => float
builtin atanh : (x: float) => float
builtin cbrt : (x: float) => float
builtin ceil : (x: float) => float
builtin copysign : (x: float, y: float) => float
builtin cos : (x: float) => float
builtin cosh : (x: float) => float
builtin dim : (x: float, y: float) => float
builtin erf : (x: float) => float
builtin erfc : (x: float) => float
builtin erfcinv : (x: float) => float
builtin erfinv : (x: float) => float
builtin exp : (x: float) => float
builtin exp2 : (x: float) => float
builtin expm1 : (x: float) => float
builtin float64bits : (f: float) => uint
builtin float64frombits : (b: uint) => float
builtin floor : (x: float) => float
builtin frexp : (f: float) => {frac: float, exp: int}
builtin gamma : (x: float) => float
builtin hypot : (p: float, q: float) => float
builtin ilogb : (x: float) => int
builtin mInf : (sign: int) => float
builtin isInf : (f: float, sign: int) => bool
builtin isNaN : (f: float) => bool
builtin j0 : (x: float) => float
builtin j1 : (x: float) => float
builtin jn : (n: int, x: float) => float
builtin ldexp : (frac: float, exp: int) => float
builtin lgamma : (x: float) => {lgamma: float, sign: int}
builtin log : (x: float) => float
builtin log10 : (x: float) => float
builtin log1p : (x: float) => float
builtin log2 : (x: float) => float
builtin logb : (x: float) => float
builtin mMax : (x: float, y: float) => float
builtin mMin : (x: float, y: float) => float
builtin mod : (x: float, y: float) => float
builtin modf : (f: float) => {int: float, frac: float}
builtin NaN : () => float
builtin nextafter : (x: float, y: float) => float
builtin pow : (x: float, y: float) => float
builtin pow10 : (n: int) => float
builtin remainder : (x: float, y: float) => float
builtin round : (x: float) => float
builtin roundtoeven : (x: float) => float
builtin signbit : (x: float) => bool
builtin sin : (x: float) => float
builtin sincos : (x: float) => {sin: float, cos: float}
builtin sinh : (x: float) => float
builtin sqrt : (x: float) => float
builtin tan : (x: float) => float
builtin tanh : (x: float) => float
builtin trunc : (x: float) => float
builtin y0 : (x: float) => float
builtin y1 : (x: float) => float
builtin yn : (n: int, x: float) => float
`,
  natives: answeringNulls(
    {
      ...CONSTANTS,
      abs: ofX(Math.abs),
      acos: ofX(Math.acos),
      acosh: ofX(Math.acosh),
      asin: ofX(Math.asin),
      asinh: ofX(Math.asinh),
      atan: ofX(Math.atan),
      atan2: (call) => Math.atan2(call.float("y"), call.float("x")),
      atanh: ofX(Math.atanh),
      cbrt: ofX(Math.cbrt),
      ceil: ofX(Math.ceil),
      copysign: ofXY(copySign),
      cos: ofX(Math.cos),
      cosh: ofX(Math.cosh),
      dim: ofXY((x, y) => (x - y <= 0 ? 0 : x - y)),
      erf: ofX(erf),
      erfc: ofX(erfc),
      erfinv: ofX(erfInverse),
      erfcinv: ofX((x) => erfInverse(1 - x)),
      exp: ofX(Math.exp),
      exp2: ofX((x) => 2 ** x),
      expm1: ofX(Math.expm1),
      float64bits: (call) => new UInt(bitsOf(call.float("f"))),
      float64frombits: (call) => fromBits(call.uint("b")),
      floor: ofX(Math.floor),
      frexp: (call) => {
        const { fraction, exponent } = parted(call.float("f"));
        return FluxRecord.of({ frac: fraction, exp: BigInt(exponent) });
      },
      gamma: ofX(gamma),
      hypot: (call) => Math.hypot(call.float("p"), call.float("q")),
      ilogb: (call) => exponentOf(call.float("x")),
      mInf: (call) => (call.int("sign") >= 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY),
      isInf: (call) => {
        const [f, sign] = [call.float("f"), call.int("sign")];
        return (sign >= 0 && f === Number.POSITIVE_INFINITY) || (sign <= 0 && f === Number.NEGATIVE_INFINITY);
      },
      isNaN: (call) => Number.isNaN(call.float("f")),
      j0: ofX((x) => besselJ(0, x)),
      j1: ofX((x) => besselJ(1, x)),
      jn: (call: NativeCall) => besselJ(call.int("n"), call.float("x")),
      ldexp: (call) => (call.float("frac") === 0 ? call.float("frac") : call.float("frac") * 2 ** call.int("exp")),
      lgamma: (call) => {
        const { value, sign } = logGamma(call.float("x"));
        return FluxRecord.of({ lgamma: value, sign: BigInt(sign) });
      },
      log: ofX(Math.log),
      log10: ofX(Math.log10),
      log1p: ofX(Math.log1p),
      log2: ofX(Math.log2),
      logb: ofX((x) => (x === 0 ? Number.NEGATIVE_INFINITY : Number.isFinite(x) ? parted(x).exponent - 1 : Math.abs(x))),
      mMax: ofXY(max),
      mMin: ofXY(min),
      mod: ofXY((x, y) => x % y),
      modf: (call) => {
        const f = call.float("f");
        const int = Math.trunc(f);
        // what is left of a whole number has its sign
        const frac = f === int ? Math.abs(f - int) * (f < 0 || Object.is(f, -0) ? -1 : 1) : f - int;
        return FluxRecord.of({ int, frac: Number.isFinite(f) ? frac : Number.NaN });
      },
      NaN: () => Number.NaN,
      nextafter: ofXY(nextAfter),
      pow: ofXY((x, y) => (x === 1 ? 1 : x === -1 && !Number.isFinite(y) && !Number.isNaN(y) ? 1 : x ** y)),
      pow10: (call) => Number(`1e${call.int("n")}`),
      remainder: ofXY(remainder),
      round: ofX(round),
      roundtoeven: ofX(roundToEven),
      signbit: (call) => call.float("x") < 0 || Object.is(call.float("x"), -0),
      sin: ofX(Math.sin),
      sincos: (call) => FluxRecord.of({ sin: Math.sin(call.float("x")), cos: Math.cos(call.float("x")) }),
      sinh: ofX(Math.sinh),
      sqrt: ofX(Math.sqrt),
      tan: ofX(Math.tan),
      tanh: ofX(Math.tanh),
      trunc: ofX(Math.trunc),
      y0: ofX((x) => besselY(0, x)),
      y1: ofX((x) => besselY(1, x)),
      yn: (call: NativeCall) => besselY(call.int("n"), call.float("x")),
    },
    nullAnswer,
  ),
};
