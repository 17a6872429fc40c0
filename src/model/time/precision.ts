// Timestamp precision of a write. The numbers are shared with the kernel (assembly/abi.ts).
import {
  PRECISION_AUTO,
  PRECISION_HOUR,
  PRECISION_MICRO,
  PRECISION_MILLI,
  PRECISION_MINUTE,
  PRECISION_NANO,
  PRECISION_SECOND,
} from "../../../assembly/abi.ts";

export const Precision = {
  auto: PRECISION_AUTO,
  nanosecond: PRECISION_NANO,
  microsecond: PRECISION_MICRO,
  millisecond: PRECISION_MILLI,
  second: PRECISION_SECOND,
  minute: PRECISION_MINUTE,
  hour: PRECISION_HOUR,
} as const;
export type Precision = (typeof Precision)[keyof typeof Precision];

export const PRECISION_LABEL: Readonly<Record<Precision, string>> = {
  [PRECISION_AUTO]: "Auto",
  [PRECISION_NANO]: "Nanosecond",
  [PRECISION_MICRO]: "Microsecond",
  [PRECISION_MILLI]: "Millisecond",
  [PRECISION_SECOND]: "Second",
  [PRECISION_MINUTE]: "Minute",
  [PRECISION_HOUR]: "Hour",
};
