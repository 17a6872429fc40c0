// Rows that deletions hide: of all series or of some, within a range of times.
import { EXCLUSION_BYTES } from "../abi";

/** Drawn in abi.ts. */
@unmanaged
export class Exclusion {
  minTime: i64;
  maxTime: i64;
  /** u8 per series, not 0 = hidden; 0 = all are. */
  series: u32;
  pad: u32;
}

if (offsetof<Exclusion>() != EXCLUSION_BYTES) ERROR("abi.ts: EXCLUSION_BYTES drifted");

/** The exclusion with this index. */
// @ts-ignore: decorator
@inline
export function exclusionAt(exclusions: u32, index: u32): Exclusion {
  return changetype<Exclusion>(exclusions + index * EXCLUSION_BYTES);
}

/** True if rows of the series are hidden. */
// @ts-ignore: decorator
@inline
export function hides(exclusion: Exclusion, series: u32): bool {
  return exclusion.series == 0 || load<u8>(exclusion.series + series) != 0;
}

/** Keeps those of `count` rows that the exclusion does not hide. Returns how many. */
export function keepVisible(exclusion: Exclusion, series: u32, times: u32, rows: u32, count: u32): u32 {
  const hidden = exclusion.series;
  const minTime = <u64>exclusion.minTime;
  const span = <u64>exclusion.maxTime - minTime;
  const end = rows + (count << 2);
  let out = rows;
  for (let at = rows; at < end; at += 4) {
    const row = load<u32>(at);
    store<u32>(out, row);
    const isHidden = hidden == 0 ? 1 : <u32>(load<u8>(hidden + load<u32>(series + (row << 2))) != 0);
    out += (1 ^ (isHidden & <u32>(load<u64>(times + (row << 3)) - minTime <= span))) << 2;
  }
  return (out - rows) >> 2;
}
