// Which integer encoding is smallest, judged by a sample: up to 64 neighbouring values, or four stretches of 16 of a longer column.
// Looked at in groups of eight, of which the widest value counts: near to what a block is packed at, while a jump spoils one group of
// many.
import { INTS_DELTA, INTS_DELTA2, INTS_FRAME, INTS_PLAIN } from "../abi";
import { zigzag } from "./delta";
import { bitsOf, sampleWork } from "./work";

/** The usual difference between neighbours, left by chooseEncoding for encodeDelta. */
export let deltaReference: i64 = 0;

const SAMPLE_WHOLE: u32 = 64;
const STRETCHES: u32 = 4;
const STRETCH_VALUES: u32 = 16;
const GROUP_VALUES: u32 = 8;
const MEDIAN_OF: u32 = 9;
// first and reference, which frame does not have
const DELTA_HEAD_BITS: u64 = 128;

let frameBits: u32 = 0;
let deltaBits: u32 = 0;
let referredBits: u32 = 0;
let delta2Bits: u32 = 0;

/** An INTS_ number for u64[count], count >= 2, whose values less `base` reach `range`. */
export function chooseEncoding(values: u32, count: u32, base: u64, range: u64): u32 {
  // frame costs at most what the range needs: with so little there is nothing to win
  if (count < 4 || <u64>bitsOf(range) * count <= DELTA_HEAD_BITS) return INTS_FRAME;
  deltaReference = medianDelta(values, count);
  frameBits = 0;
  deltaBits = 0;
  referredBits = 0;
  delta2Bits = 0;
  let sampled: u32 = 0;
  if (count <= SAMPLE_WHOLE) {
    sampled = sampleStretch(values, count, base);
  } else {
    const step = (count - STRETCH_VALUES) / (STRETCHES - 1);
    for (let i: u32 = 0; i < STRETCHES; i++) sampled += sampleStretch(values + ((i * step) << 3), STRETCH_VALUES, base);
  }
  // a median of few is inexact, and one beside 0 makes differences around 0 wider
  if (referredBits + (sampled >> 2) < deltaBits) deltaBits = referredBits;
  else deltaReference = 0;
  const frame = (<u64>frameBits * count) / sampled;
  const delta = (<u64>deltaBits * count) / sampled + DELTA_HEAD_BITS;
  const delta2 = (<u64>delta2Bits * count) / sampled + DELTA_HEAD_BITS;
  const least = min(frame, min(delta, delta2));
  if (least >= <u64>count * PLAIN_FROM_BITS) return INTS_PLAIN;
  // equal costs: the faster decoding
  if (least == frame) return INTS_FRAME;
  return least == delta ? INTS_DELTA : INTS_DELTA2;
}

// No encoding pays above.
const PLAIN_FROM_BITS: u64 = 63;

/** Adds up the widths of the values from the third on, so that all encodings see the same number. */
function sampleStretch(values: u32, count: u32, base: u64): u32 {
  let last = load<i64>(values, 8);
  let lastDelta = last - load<i64>(values);
  for (let i: u32 = 2; i < count; ) {
    const from = i;
    let frame: u64 = 0;
    let delta: u64 = 0;
    let referred: u64 = 0;
    let delta2: u64 = 0;
    for (const end = min(i + GROUP_VALUES, count); i < end; i++) {
      const value = load<i64>(values + (i << 3));
      const difference = value - last;
      frame |= <u64>value - base;
      delta |= zigzag(difference);
      referred |= zigzag(difference - deltaReference);
      delta2 |= zigzag(difference - lastDelta);
      last = value;
      lastDelta = difference;
    }
    const size = i - from;
    frameBits += bitsOf(frame) * size;
    deltaBits += bitsOf(delta) * size;
    referredBits += bitsOf(referred) * size;
    delta2Bits += bitsOf(delta2) * size;
  }
  return count - 2;
}

/** Median of up to 9 differences, evenly spaced. */
function medianDelta(values: u32, count: u32): i64 {
  const sorted = sampleWork();
  const size = min(count - 1, MEDIAN_OF);
  const step = (count - 1) / size;
  for (let i: u32 = 0; i < size; i++) {
    const at = values + ((i * step) << 3);
    const difference = load<i64>(at, 8) - load<i64>(at);
    let slot = sorted + (i << 3);
    for (; slot > sorted && load<i64>(slot - 8) > difference; slot -= 8) store<i64>(slot, load<i64>(slot - 8));
    store<i64>(slot, difference);
  }
  return load<i64>(sorted + ((size >> 1) << 3));
}
