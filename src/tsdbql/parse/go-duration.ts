// Formats durations like Go, as 1.x does in its lists.
import { SECOND_NS } from "../../model/time/time-units.ts";

/** `168h0m0s`, `1.5s`, `20ms`, `0s`; not negative. */
export function goDuration(ns: bigint): string {
  if (ns === 0n) return "0s";
  if (ns < 1_000n) return `${ns}ns`;
  if (ns < 1_000_000n) return `${decimal(ns, 3)}µs`;
  if (ns < SECOND_NS) return `${decimal(ns, 6)}ms`;
  const minutes = ns / (60n * SECOND_NS);
  const seconds = `${decimal(ns % (60n * SECOND_NS), 9)}s`;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** `value` / 10^digits, without trailing zeros. */
function decimal(value: bigint, digits: number): string {
  const unit = 10n ** BigInt(digits);
  const fraction = String(value % unit)
    .padStart(digits, "0")
    .replace(/0+$/, "");
  return fraction === "" ? String(value / unit) : `${value / unit}.${fraction}`;
}
