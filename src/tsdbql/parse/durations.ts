// Duration literals: `90m`, `1h30m`, `10ms`, `5u`. 64-bit nanoseconds, as in 1.x.
import { TsdbError } from "../../model/errors.ts";
import { I64_MAX } from "../../model/rows/int64.ts";

const UNITS_NS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  u: 1_000n,
  µ: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
  w: 604_800_000_000_000n,
};
const PART = /(\d+)(ns|ms|[uµsmhdw])/y;

/** @throws TsdbError bad_query: not a duration, or beyond 64 bits of nanoseconds */
export function parseDuration(text: string): bigint {
  let ns = 0n;
  PART.lastIndex = 0;
  while (PART.lastIndex < text.length) {
    const part = PART.exec(text);
    if (part === null) throw new TsdbError("bad_query", "invalid duration");
    const count = part[1]!.length > 20 ? I64_MAX + 1n : BigInt(part[1]!);
    if (count > I64_MAX) throw new TsdbError("bad_query", "invalid duration");
    ns += count * UNITS_NS[part[2]!]!;
    if (ns > I64_MAX) {
      throw new TsdbError("bad_query", `overflowed duration ${count}${part[2]}: choose a smaller duration or INF`);
    }
  }
  if (text === "") throw new TsdbError("bad_query", "invalid duration");
  return ns;
}

/** In the largest exact unit: `90m` for one and a half hours. */
export function formatDuration(ns: bigint): string {
  if (ns === 0n) return "0s";
  const unit = (["w", "d", "h", "m", "s", "ms", "u"] as const).find((name) => ns % UNITS_NS[name]! === 0n) ?? "ns";
  return `${ns / UNITS_NS[unit]!}${unit}`;
}
