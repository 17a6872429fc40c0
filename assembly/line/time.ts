// Timestamps of every precision to nanoseconds.
import { PRECISION_AUTO, PRECISION_MICRO, PRECISION_MILLI, PRECISION_MINUTE, PRECISION_NANO, PRECISION_SECOND } from "../abi";

const SECOND_NS: i64 = 1000000000;

/** Nanoseconds of one unit; `auto` is decided by the size of the number, so that every time after 1970-02-27 and before 2128 is right. */
function unitNs(time: i64, precision: u32): i64 {
  if (precision == PRECISION_AUTO) {
    // the smallest i64 has no absolute value; as a u64 it is large, which is right
    const size = <u64>(time < 0 ? -time : time);
    if (size < 5000000000) return SECOND_NS;
    if (size < 5000000000000) return 1000000;
    return size < 5000000000000000 ? 1000 : 1;
  }
  if (precision == PRECISION_NANO) return 1;
  if (precision == PRECISION_MICRO) return 1000;
  if (precision == PRECISION_MILLI) return 1000000;
  if (precision == PRECISION_SECOND) return SECOND_NS;
  return precision == PRECISION_MINUTE ? 60 * SECOND_NS : 3600 * SECOND_NS;
}

/** Writes `time` in nanoseconds to `target`; false when that is no i64. */
export function scaleTime(time: i64, precision: u32, target: usize): bool {
  const unit = unitNs(time, precision);
  const most = i64.MAX_VALUE / unit;
  if (unit != 1 && (time > most || time < -most)) return false;
  store<i64>(target, time * unit);
  return true;
}
