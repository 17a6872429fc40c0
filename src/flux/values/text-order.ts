// The order of texts.

/** By bytes of UTF-8, which is by code points. */
export function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    const [a, b] = [left.charCodeAt(i), right.charCodeAt(i)];
    if (a === b) continue;
    // surrogates stand for code points above all others of two bytes
    const isHigh = (code: number) => code >= 0xd800 && code < 0xe000;
    if (isHigh(a) !== isHigh(b)) return isHigh(a) ? 1 : -1;
    return a < b ? -1 : 1;
  }
  return left.length < right.length ? -1 : 1;
}
