// Names of timestamp units. The v1 and v2 endpoints know short names, v3 long ones; each takes the other's, as existing servers do.
import { Precision } from "../../model/time/precision.ts";

const COMMON = {
  s: Precision.second,
  second: Precision.second,
  ms: Precision.millisecond,
  millisecond: Precision.millisecond,
  us: Precision.microsecond,
  u: Precision.microsecond,
  microsecond: Precision.microsecond,
  ns: Precision.nanosecond,
  n: Precision.nanosecond,
  nanosecond: Precision.nanosecond,
} as const satisfies Record<string, Precision>;

export const V3_PRECISIONS: Readonly<Record<string, Precision>> = { auto: Precision.auto, ...COMMON };

/** An empty value is what some v1 and v2 clients send for the default. */
export const V2_PRECISIONS: Readonly<Record<string, Precision>> = { "": Precision.nanosecond, ...COMMON };

/** Both spellings of the Greek letter: the micro sign and the small mu. */
export const V1_PRECISIONS: Readonly<Record<string, Precision>> = {
  ...V2_PRECISIONS,
  "\u00b5": Precision.microsecond,
  "\u03bc": Precision.microsecond,
  m: Precision.minute,
  minute: Precision.minute,
  h: Precision.hour,
  hour: Precision.hour,
};
