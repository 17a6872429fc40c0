// Sets of characters as ranges of code points, for set operations in character classes of the dialect's regular expressions.

/** Ascending and disjoint; both ends are inclusive. */
export type CharSet = readonly (readonly [first: number, last: number])[];

const LAST_CODE_POINT = 0x10ffff;

/** The ranges, sorted and merged. */
export function charSet(ranges: CharSet): CharSet {
  const sorted = [...ranges].sort(([a], [b]) => a - b);
  const joined: [number, number][] = [];
  for (const [first, last] of sorted) {
    const before = joined[joined.length - 1];
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else joined.push([first, last]);
  }
  return joined;
}

/** Characters of either set. */
export function union(a: CharSet, b: CharSet): CharSet {
  return charSet([...a, ...b]);
}

/** All other characters. */
export function complement(set: CharSet): CharSet {
  const out: [number, number][] = [];
  let next = 0;
  for (const [first, last] of set) {
    if (first > next) out.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= LAST_CODE_POINT) out.push([next, LAST_CODE_POINT]);
  return out;
}

/** Characters of both sets. */
export function intersection(a: CharSet, b: CharSet): CharSet {
  return complement(union(complement(a), complement(b)));
}

/** Characters of the first set that are not in the second. */
export function difference(a: CharSet, b: CharSet): CharSet {
  return intersection(a, complement(b));
}

/** A character class for RE2. */
export function classText(set: CharSet): string {
  if (set.length === 0) return `[^\\x{0}-\\x{${LAST_CODE_POINT.toString(16)}}]`;
  return `[${set.map(([first, last]) => `\\x{${first.toString(16)}}-\\x{${last.toString(16)}}`).join("")}]`;
}

/** All characters in order, without surrogates; created on first use. */
let everyCharacter = "";
const properties = new Map<string, CharSet | null>();

/** The characters with a Unicode property (`L`, `Greek`, `Alphabetic`); null for an unknown property. */
export function propertySet(name: string): CharSet | null {
  let set = properties.get(name);
  if (set === undefined) {
    set = computeProperty(name);
    // unknown names are not cached: they are unlimited
    if (set !== null) properties.set(name, set);
  }
  return set;
}

function computeProperty(name: string): CharSet | null {
  const pattern = /^[\w=]+$/.test(name) ? (patternOf(`\\p{${name}}+`) ?? patternOf(`\\p{Script=${name}}+`)) : null;
  if (pattern === null) return null;
  if (everyCharacter === "") {
    const parts: string[] = [];
    for (let code = 0; code <= LAST_CODE_POINT; code++) if (code < 0xd800 || code > 0xdfff) parts.push(String.fromCodePoint(code));
    everyCharacter = parts.join("");
  }
  const ranges: [number, number][] = [];
  for (const [text] of everyCharacter.matchAll(pattern)) ranges.push([text.codePointAt(0)!, lastCodePoint(text)]);
  return charSet(ranges);
}

function patternOf(source: string): RegExp | null {
  try {
    return new RegExp(source, "gu");
  } catch {
    return null;
  }
}

function lastCodePoint(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xdc00 && last <= 0xdfff ? text.codePointAt(text.length - 2)! : last;
}
