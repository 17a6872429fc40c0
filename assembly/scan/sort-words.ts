// Sorts 64-bit words, alone or with a word beside each: digit by digit from the lowest, which takes as long for any values.

const DIGIT_BITS: u32 = 8;
const DIGITS: u32 = 1 << DIGIT_BITS;
/** Up to so many elements are inserted one by one. */
const INSERTION_MAX: u32 = 24;

/** Sorts elements of 2^log2 bytes (3 or 4) by their first word, unsigned, of which none exceeds `most`. `spare` has room for all of
 *  them, `counts` for 8 KiB. Returns where they are: at `words` or at `spare`. */
export function sortWords(words: u32, count: u32, log2: u32, most: u64, spare: u32, counts: u32): u32 {
  if (count <= INSERTION_MAX) {
    insertWords(words, count, log2);
    return words;
  }
  const digits: u32 = (63 - <u32>clz(most | 1)) / DIGIT_BITS + 1;
  countDigits(words, count, log2, digits, counts);
  let source = words;
  let target = spare;
  for (let digit: u32 = 0; digit < digits; digit++) {
    const ends = counts + digit * (DIGITS << 2);
    const shift = <u64>(digit * DIGIT_BITS);
    // all words have this digit
    if (load<u32>(ends + (<u32>((load<u64>(source) >> shift) & (DIGITS - 1)) << 2)) == count) continue;
    let sum: u32 = 0;
    for (let at = ends; at < ends + (DIGITS << 2); at += 4) {
      const here = load<u32>(at);
      store<u32>(at, sum);
      sum += here;
    }
    if (log2 == 3) scatterWords(source, count, shift, ends, target);
    else scatterPairs(source, count, shift, ends, target);
    const swapped = source;
    source = target;
    target = swapped;
  }
  return source;
}

function countDigits(words: u32, count: u32, log2: u32, digits: u32, counts: u32): void {
  memory.fill(counts, 0, digits * (DIGITS << 2));
  for (let i: u32 = 0; i < count; i++) {
    let word = load<u64>(words + (i << log2));
    let at = counts;
    for (let digit: u32 = 0; digit < digits; digit++, at += DIGITS << 2) {
      const place = at + (<u32>(word & (DIGITS - 1)) << 2);
      store<u32>(place, load<u32>(place) + 1);
      word >>= DIGIT_BITS;
    }
  }
}

function scatterWords(source: u32, count: u32, shift: u64, ends: u32, target: u32): void {
  for (const end = source + (count << 3); source < end; source += 8) {
    const word = load<u64>(source);
    const at = ends + (<u32>((word >> shift) & (DIGITS - 1)) << 2);
    const place = load<u32>(at);
    store<u32>(at, place + 1);
    store<u64>(target + (place << 3), word);
  }
}

function scatterPairs(source: u32, count: u32, shift: u64, ends: u32, target: u32): void {
  for (const end = source + (count << 4); source < end; source += 16) {
    const at = ends + (<u32>((load<u64>(source) >> shift) & (DIGITS - 1)) << 2);
    const place = load<u32>(at);
    store<u32>(at, place + 1);
    v128.store(target + (place << 4), v128.load(source));
  }
}

function insertWords(words: u32, count: u32, log2: u32): void {
  const step: u32 = 1 << log2;
  for (let at = words + step, end = words + (count << log2); at < end; at += step) {
    const word = load<u64>(at);
    const beside = log2 == 4 ? load<u64>(at, 8) : 0;
    let place = at;
    while (place > words && load<u64>(place - step) > word) {
      store<u64>(place, load<u64>(place - step));
      if (log2 == 4) store<u64>(place, load<u64>(place - step, 8), 8);
      place -= step;
    }
    store<u64>(place, word);
    if (log2 == 4) store<u64>(place, beside, 8);
  }
}
