// Whole numbers as decimal digits. Every function writes at `at` and gives the end; callers leave room.

/** "00" .. "99", a u16 each. */
const PAIRS = memory.data<u16>([
  0x3030, 0x3130, 0x3230, 0x3330, 0x3430, 0x3530, 0x3630, 0x3730, 0x3830, 0x3930, 0x3031, 0x3131, 0x3231, 0x3331, 0x3431, 0x3531, 0x3631,
  0x3731, 0x3831, 0x3931, 0x3032, 0x3132, 0x3232, 0x3332, 0x3432, 0x3532, 0x3632, 0x3732, 0x3832, 0x3932, 0x3033, 0x3133, 0x3233, 0x3333,
  0x3433, 0x3533, 0x3633, 0x3733, 0x3833, 0x3933, 0x3034, 0x3134, 0x3234, 0x3334, 0x3434, 0x3534, 0x3634, 0x3734, 0x3834, 0x3934, 0x3035,
  0x3135, 0x3235, 0x3335, 0x3435, 0x3535, 0x3635, 0x3735, 0x3835, 0x3935, 0x3036, 0x3136, 0x3236, 0x3336, 0x3436, 0x3536, 0x3636, 0x3736,
  0x3836, 0x3936, 0x3037, 0x3137, 0x3237, 0x3337, 0x3437, 0x3537, 0x3637, 0x3737, 0x3837, 0x3937, 0x3038, 0x3138, 0x3238, 0x3338, 0x3438,
  0x3538, 0x3638, 0x3738, 0x3838, 0x3938, 0x3039, 0x3139, 0x3239, 0x3339, 0x3439, 0x3539, 0x3639, 0x3739, 0x3839, 0x3939,
]);

const DASH: u8 = 0x2d;
const ZERO: u8 = 0x30;
const EIGHT_DIGITS: u64 = 100_000_000;

/** `value` < 100 as two digits. */
// @ts-ignore: decorator
@inline
export function putPair(at: u32, value: u32): void {
  store<u16>(at, load<u16>(PAIRS + (<usize>value << 1)));
}

/** Writes a signed integer. Returns the end of its digits. */
// @ts-ignore: decorator
@inline
export function writeInteger(at: u32, value: i64): u32 {
  if (value >= 0) return writeUnsigned(at, <u64>value);
  store<u8>(at, DASH);
  // of the least i64 the negation is itself, and as u64 its size
  return writeUnsigned(at + 1, <u64>-value);
}

/** Writes an unsigned integer. Returns the end of its digits. */
export function writeUnsigned(at: u32, value: u64): u32 {
  if (value < 10) {
    store<u8>(at, ZERO + <u8>value);
    return at + 1;
  }
  if (value < 100) {
    putPair(at, <u32>value);
    return at + 2;
  }
  if (value < EIGHT_DIGITS) return writePadded(at, <u32>value, digitCount(<u32>value));
  const high = value / EIGHT_DIGITS;
  return writePadded(writeUnsigned(at, high), <u32>(value - high * EIGHT_DIGITS), 8);
}

/** `value` with exactly `digits` digits, zeros in front. */
export function writePadded(at: u32, value: u32, digits: u32): u32 {
  let end = at + digits;
  const after = end;
  while (digits >= 2) {
    const rest = value / 100;
    end -= 2;
    putPair(end, value - rest * 100);
    value = rest;
    digits -= 2;
  }
  if (digits != 0) store<u8>(end - 1, ZERO + <u8>value);
  return after;
}

/** Decimal digits of a number below 10^9. */
export function digitCount(value: u32): u32 {
  if (value < 10_000) return value < 100 ? (value < 10 ? 1 : 2) : value < 1000 ? 3 : 4;
  if (value < 1_000_000) return value < 100_000 ? 5 : 6;
  if (value < 100_000_000) return value < 10_000_000 ? 7 : 8;
  return 9;
}
