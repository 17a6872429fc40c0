// Parses Go's regular expressions (RE2's syntax) to a tree for the matcher. Sources have been checked (go-regex.ts), so errors are not
// detected here.
import { TsdbError } from "../../model/errors.ts";

/** A set of code points. */
export interface CharSet {
  /** Pairs of first and last code point, inclusive. */
  readonly ranges: readonly number[];
  /** Characters by Unicode property, or their complement. */
  readonly properties: readonly { readonly pattern: RegExp; readonly isNegated: boolean }[];
  readonly isNegated: boolean;
}

export type Assertion = "text start" | "text end" | "line start" | "line end" | "word boundary" | "no word boundary";

export type RegexNode =
  | { readonly kind: "set"; readonly set: CharSet }
  | { readonly kind: "assertion"; readonly assertion: Assertion }
  | { readonly kind: "sequence"; readonly parts: readonly RegexNode[] }
  | { readonly kind: "choice"; readonly branches: readonly RegexNode[] }
  /** A group whose place in the text is asked for, numbered from 1 by its opening parenthesis. */
  | { readonly kind: "capture"; readonly part: RegexNode; readonly index: number; readonly name: string | null }
  /** `most` null: unlimited. A lazy repetition matches the same texts, but prefers fewer. */
  | { readonly kind: "repeat"; readonly part: RegexNode; readonly least: number; readonly most: number | null; readonly isLazy: boolean };

const MAX_CODE = 0x10ffff;
const DIGITS = [0x30, 0x39];
const SPACES = [0x09, 0x0a, 0x0c, 0x0d, 0x20, 0x20];
const WORDS = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
const POSIX: Readonly<Record<string, readonly number[]>> = {
  alnum: [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a],
  alpha: [0x41, 0x5a, 0x61, 0x7a],
  ascii: [0, 0x7f],
  blank: [0x09, 0x09, 0x20, 0x20],
  cntrl: [0, 0x1f, 0x7f, 0x7f],
  digit: DIGITS,
  graph: [0x21, 0x7e],
  lower: [0x61, 0x7a],
  print: [0x20, 0x7e],
  punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
  space: [0x09, 0x0d, 0x20, 0x20],
  upper: [0x41, 0x5a],
  word: WORDS,
  xdigit: [0x30, 0x39, 0x41, 0x46, 0x61, 0x66],
};
const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };
/** In larger ranges, letters of the other case are not enumerated. */
const FOLDED_MAX = 4096;

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
  /** Repetitions are lazy, and greedy with `?`. */
  readonly U: boolean;
}

/** Parses a checked source. */
export function parseRegex(source: string): RegexNode {
  return new RegexParser(source).parse();
}

class RegexParser {
  private readonly chars: readonly string[];
  private at = 0;
  private captures = 0;
  private flags: Flags = { i: false, m: false, s: false, U: false };

  constructor(source: string) {
    this.chars = [...source];
  }

  parse(): RegexNode {
    const node = this.choice();
    if (this.at < this.chars.length) throw new TsdbError("bad_query", "error parsing regexp: unexpected )");
    return node;
  }

  private choice(): RegexNode {
    const before = this.flags;
    const branches = [this.sequence()];
    while (this.accept("|")) branches.push(this.sequence());
    this.flags = before;
    return branches.length === 1 ? branches[0]! : { kind: "choice", branches };
  }

  private sequence(): RegexNode {
    const parts: RegexNode[] = [];
    for (let char = this.chars[this.at]; char !== undefined && char !== "|" && char !== ")"; char = this.chars[this.at]) {
      const part = this.part();
      if (part !== null) parts.push(this.repeated(part));
    }
    return { kind: "sequence", parts };
  }

  /** Null: a flag group, or empty. */
  private part(): RegexNode | null {
    const char = this.chars[this.at++]!;
    switch (char) {
      case "(":
        return this.group();
      case "[":
        return { kind: "set", set: this.bracket() };
      case ".":
        return { kind: "set", set: { ranges: this.flags.s ? [] : [10, 10], properties: [], isNegated: true } };
      case "^":
        return { kind: "assertion", assertion: this.flags.m ? "line start" : "text start" };
      case "$":
        return { kind: "assertion", assertion: this.flags.m ? "line end" : "text end" };
      case "\\":
        return this.escape();
      default:
        return this.literal(char.codePointAt(0)!);
    }
  }

  private repeated(part: RegexNode): RegexNode {
    let node = part;
    for (;;) {
      const count = this.repetition();
      if (count === null) return node;
      node = { kind: "repeat", part: node, ...count, isLazy: this.accept("?") !== this.flags.U };
    }
  }

  private repetition(): { readonly least: number; readonly most: number | null } | null {
    if (this.accept("*")) return { least: 0, most: null };
    if (this.accept("+")) return { least: 1, most: null };
    if (this.accept("?")) return { least: 0, most: 1 };
    if (this.chars[this.at] !== "{") return null;
    const [whole, least, comma, most] = /^\{(\d+)(,(\d*))?\}/.exec(this.chars.slice(this.at, this.at + 12).join("")) ?? [];
    if (whole === undefined) return null;
    this.at += whole.length;
    return { least: Number(least), most: comma === undefined ? Number(least) : most === "" ? null : Number(most) };
  }

  private group(): RegexNode | null {
    const outer = this.flags;
    let name: string | null = null;
    let isCapture = true;
    if (this.accept("?")) {
      if (this.accept("P") || this.chars[this.at] === "<") {
        const from = this.at + 1;
        this.at = this.chars.indexOf(">", from) + 1;
        name = this.chars.slice(from, this.at - 1).join("");
      } else if (this.setFlags()) isCapture = false;
      else return null;
    }
    const index = isCapture ? ++this.captures : 0;
    const part = this.choice();
    this.accept(")");
    this.flags = outer;
    return isCapture ? { kind: "capture", part, index, name } : part;
  }

  /** Returns false for a group of flags only, which apply from here to the end of the enclosing group. */
  private setFlags(): boolean {
    let value = true;
    const flags = { ...this.flags };
    for (;;) {
      const char = this.chars[this.at++];
      if (char === "-") value = false;
      else if (char === "i" || char === "m" || char === "s" || char === "U") flags[char] = value;
      else {
        this.flags = flags;
        return char === ":";
      }
    }
  }

  private escape(): RegexNode | null {
    const char = this.chars[this.at]!;
    const assertion = ASSERTIONS[char];
    if (assertion !== undefined) {
      this.at++;
      return { kind: "assertion", assertion };
    }
    if (char === "Q") return this.quoted();
    if (char === "C") {
      this.at++;
      return { kind: "set", set: { ranges: [], properties: [], isNegated: true } };
    }
    const set = this.classEscape();
    if (set !== null) return { kind: "set", set };
    return this.literal(this.codeEscape());
  }

  private quoted(): RegexNode {
    this.at++;
    const parts: RegexNode[] = [];
    while (this.at < this.chars.length) {
      if (this.chars[this.at] === "\\" && this.chars[this.at + 1] === "E") {
        this.at += 2;
        break;
      }
      parts.push(this.literal(this.chars[this.at++]!.codePointAt(0)!));
    }
    // a repetition after it applies to its last character
    const last = parts.pop();
    return { kind: "sequence", parts: last === undefined ? parts : [...parts, this.repeated(last)] };
  }

  /** `\d`, `\pL` …; null: a character. */
  private classEscape(): CharSet | null {
    const char = this.chars[this.at]!;
    const ranges = { d: DIGITS, s: SPACES, w: WORDS }[char.toLowerCase()];
    if (ranges !== undefined) {
      this.at++;
      return { ranges, properties: [], isNegated: char !== char.toLowerCase() };
    }
    if (char !== "p" && char !== "P") return null;
    this.at++;
    let name = this.chars[this.at++]!;
    if (name === "{") {
      name = "";
      while (this.chars[this.at] !== "}") name += this.chars[this.at++]!;
      this.at++;
    }
    const isInverse = name.startsWith("^");
    return {
      ranges: [],
      properties: [{ pattern: propertyPattern(isInverse ? name.slice(1) : name), isNegated: (char === "P") !== isInverse }],
      isNegated: false,
    };
  }

  private codeEscape(): number {
    const char = this.chars[this.at++]!;
    if (char in CONTROLS) return CONTROLS[char]!;
    if (char === "x") return this.hexadecimal();
    if (/[0-7]/.test(char)) {
      let digits = char;
      while (digits.length < 3 && /[0-7]/.test(this.chars[this.at] ?? "")) digits += this.chars[this.at++]!;
      return Number.parseInt(digits, 8);
    }
    return char.codePointAt(0)!;
  }

  private hexadecimal(): number {
    let digits = "";
    if (this.accept("{")) {
      while (this.chars[this.at] !== "}") digits += this.chars[this.at++]!;
      this.at++;
    } else {
      digits = this.chars.slice(this.at, this.at + 2).join("");
      this.at += 2;
    }
    return Number.parseInt(digits, 16);
  }

  private bracket(): CharSet {
    const isNegated = this.accept("^");
    const ranges: number[] = [];
    const properties: CharSet["properties"][number][] = [];
    for (let isFirst = true; isFirst || this.chars[this.at] !== "]"; isFirst = false) {
      const own = this.bracketClass();
      if (own !== null) {
        if (own.isNegated) ranges.push(...complement(own.ranges));
        else ranges.push(...own.ranges);
        properties.push(...own.properties);
        continue;
      }
      const from = this.bracketCode();
      const isRange = this.chars[this.at] === "-" && this.chars[this.at + 1] !== "]" && this.chars[this.at + 1] !== undefined;
      if (isRange) this.at++;
      ranges.push(from, isRange ? this.bracketCode() : from);
    }
    this.at++;
    return { ranges: this.flags.i ? folded(ranges) : ranges, properties, isNegated };
  }

  private bracketClass(): CharSet | null {
    if (this.chars[this.at] === "\\") {
      this.at++;
      const set = this.classEscape();
      if (set === null) this.at--;
      return set;
    }
    const [whole, not, name] = /^\[:(\^?)(\w+):\]/.exec(this.chars.slice(this.at, this.at + 12).join("")) ?? [];
    if (whole === undefined) return null;
    this.at += whole.length;
    return { ranges: POSIX[name!] ?? [], properties: [], isNegated: not === "^" };
  }

  private bracketCode(): number {
    const char = this.chars[this.at++]!;
    return char === "\\" ? this.codeEscape() : char.codePointAt(0)!;
  }

  private literal(code: number): RegexNode {
    const ranges = [code, code];
    return { kind: "set", set: { ranges: this.flags.i ? folded(ranges) : ranges, properties: [], isNegated: false } };
  }

  private accept(char: string): boolean {
    if (this.chars[this.at] !== char) return false;
    this.at++;
    return true;
  }
}

const ASSERTIONS: Readonly<Record<string, Assertion>> = { A: "text start", z: "text end", b: "word boundary", B: "no word boundary" };

function propertyPattern(name: string): RegExp {
  try {
    return new RegExp(`^\\p{${name.length > 2 ? `Script=${name}` : name}}$`, "u");
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new TsdbError("bad_query", `error parsing regexp: invalid character class range: \`\\p{${name}}\``);
    throw error;
  }
}

function complement(ranges: readonly number[]): number[] {
  const pairs = Array.from({ length: ranges.length / 2 }, (_, i) => [ranges[2 * i]!, ranges[2 * i + 1]!] as const).sort(
    (a, b) => a[0] - b[0],
  );
  const others: number[] = [];
  let next = 0;
  for (const [first, last] of pairs) {
    if (first > next) others.push(next, first - 1);
    next = Math.max(next, last + 1);
  }
  if (next <= MAX_CODE) others.push(next, MAX_CODE);
  return others;
}

/** Adds the letters of the other case. */
function folded(ranges: readonly number[]): number[] {
  const all = [...ranges];
  for (let i = 0; i < ranges.length; i += 2) {
    const first = ranges[i]!;
    const last = Math.min(ranges[i + 1]!, ranges[i]! + FOLDED_MAX);
    for (let code = first; code <= last; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const char = String.fromCodePoint(code);
      for (const other of [char.toLowerCase(), char.toUpperCase()]) {
        const otherCode = other.codePointAt(0)!;
        if (otherCode !== code && other.length <= (otherCode > 0xffff ? 2 : 1)) all.push(otherCode, otherCode);
      }
    }
  }
  return all;
}
