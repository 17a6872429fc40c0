// Names of timestamp units. The v1 and v2 endpoints use short names, v3 long ones; each accepts the others too, like existing servers.
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

/** Some v1 and v2 clients send an empty value for the default. */
export const V2_PRECISIONS: Readonly<Record<string, Precision>> = { "": Precision.nanosecond, ...COMMON };

/** Includes both spellings of µ: the micro sign and the Greek letter. */
export const V1_PRECISIONS: Readonly<Record<string, Precision>> = {
  ...V2_PRECISIONS,
  "\u00b5": Precision.microsecond,
  "\u03bc": Precision.microsecond,
  m: Precision.minute,
  minute: Precision.minute,
  h: Precision.hour,
  hour: Precision.hour,
};
