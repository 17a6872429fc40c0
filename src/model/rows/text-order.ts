// The order of texts: by bytes of UTF-8, which is by code points. The engine compares code units, which is many times faster, and the same
// unless a surrogate meets a unit above them.

/** Surrogates, and the units above them. */
const HIGH = /[\ud800-\uffff]/;

const compareUnits = (left: string, right: string): number => (left === right ? 0 : left < right ? -1 : 1);

/** True if the order of their code units may not be that of the texts. */
export function needComparison(texts: Iterable<string>): boolean {
  for (const text of texts) if (HIGH.test(text)) return true;
  return false;
}

/** `compareTexts` for these texts, as fast as they allow. */
export function comparisonFor(texts: Iterable<string>): (left: string, right: string) => number {
  return needComparison(texts) ? compareTexts : compareUnits;
}

/** By bytes of UTF-8. */
export function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return HIGH.test(left) && HIGH.test(right) ? comparePoints(left, right) : left < right ? -1 : 1;
}

/** Of different texts. */
function comparePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    const a = left.charCodeAt(i);
    const b = right.charCodeAt(i);
    if (a === b) continue;
    // surrogates stand for code points above all others of two bytes
    const isHigh = (code: number) => code >= 0xd800 && code < 0xe000;
    if (isHigh(a) !== isHigh(b)) return isHigh(a) ? 1 : -1;
    return a < b ? -1 : 1;
  }
  return left.length < right.length ? -1 : 1;
}
