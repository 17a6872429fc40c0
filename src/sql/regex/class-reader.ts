// Character classes: `[…]` with nested sets, set operations and POSIX names.
import { type CharSet, charSet, classText, complement, difference, intersection, propertySet, union } from "./char-set.ts";
import { DIGIT, PatternReader, regexError, SPACE, WORD } from "./pattern-reader.ts";

/** Common ways to write "any character". */
const ANY = ["[\\s\\S]", "[\\S\\s]", "[\\d\\D]", "[\\D\\d]", "[\\w\\W]", "[\\W\\w]"];

/** Translates character classes to RE2's form. */
export class ClassReader extends PatternReader {
  /** `[…]`. Nested sets and intersections, which RE2 does not support, are expanded to a list of characters. */
  protected characterClass(): string {
    if (ANY.some((text) => this.looksAt(text))) {
      this.at += ANY[0]!.length;
      return "(?s:.)";
    }
    const start = this.at;
    const simple = this.simpleClass();
    if (simple !== null) return simple;
    this.at = start;
    return classText(this.nestedClass());
  }

  /** Returns null if it is not simple. */
  private simpleClass(): string | null {
    this.at++;
    let out = "[";
    if (this.peek() === "^") {
      this.at++;
      out += "^";
    }
    for (let first = true; this.at < this.chars.length; first = false) {
      const char = this.peek();
      if (char === "]" && !first) {
        this.at++;
        return `${out}]`;
      }
      const posix = char === "[" ? this.posixName() : "";
      if (posix !== "") out += posix;
      else if (char === "[" || this.looksAt("&&") || this.looksAt("~~") || (this.looksAt("--") && !first)) return null;
      else if (char === "\\") {
        const set = this.classEscape();
        if (set === null) return null;
        out += set;
      } else if (this.verbose && /\s/.test(char)) this.at++;
      else {
        out += char === "]" ? "\\]" : char;
        this.at++;
      }
    }
    throw regexError("unclosed character class");
  }

  /** `[:alpha:]`; "" for anything else. */
  private posixName(): string {
    const name = /^\[:\^?[a-z]+:\]/.exec(this.chars.slice(this.at, this.at + 16).join(""))?.[0] ?? "";
    this.at += name.length;
    return name;
  }

  private classEscape(): string | null {
    const next = this.peek(1);
    if (next === "W" || next === "S") return null;
    const set = { d: DIGIT, D: "\\P{Nd}", w: WORD, s: SPACE }[next];
    if (set === undefined) return this.escapedCharacter();
    this.at += 2;
    return set;
  }

  /** The characters of `[…]` with nested sets and set operations. */
  private nestedClass(): CharSet {
    this.enter();
    this.at++;
    const isNegated = this.peek() === "^";
    if (isNegated) this.at++;
    let result: CharSet | null = null;
    let operation = union;
    let operand: CharSet = [];
    const fold = (): CharSet => (result === null ? operand : operation(result, operand));
    for (let first = true; this.at < this.chars.length; first = false) {
      if (this.peek() === "]" && !first) {
        this.at++;
        this.depth--;
        return isNegated ? complement(fold()) : fold();
      }
      const next = OPERATIONS[this.peek() + this.peek(1)];
      if (next === undefined) operand = union(operand, this.nestedItem());
      else {
        result = fold();
        operation = next;
        operand = [];
        this.at += 2;
      }
    }
    throw regexError("unclosed character class");
  }

  private nestedItem(): CharSet {
    const char = this.peek();
    if (this.verbose && /\s/.test(char)) {
      this.at++;
      return [];
    }
    if (char === "[") {
      const posix = this.posixName();
      return posix === "" ? this.nestedClass() : posixSet(posix);
    }
    const set = this.nestedEscape();
    if (typeof set !== "number") return set;
    if (this.peek() !== "-" || this.peek(1) === "]" || this.looksAt("--")) return [[set, set]];
    this.at++;
    const last = this.nestedEscape();
    if (typeof last !== "number" || last < set) throw regexError("invalid character class range");
    return [[set, last]];
  }

  /** One character, or the set of an escape. */
  private nestedEscape(): number | CharSet {
    const char = this.peek();
    if (char !== "\\") {
      this.at++;
      return char.codePointAt(0)!;
    }
    const named = NAMED_SETS[this.peek(1).toLowerCase()];
    if (named !== undefined) {
      const isNegated = /[A-Z]/.test(this.peek(1));
      this.at += 2;
      const set = named();
      return isNegated ? complement(set) : set;
    }
    const text = this.escapedCharacter();
    const property = /^\\(p)\{?(\^?)(\w+)\}?$/i.exec(text);
    if (property !== null) {
      const set = propertySet(property[3]!);
      if (set === null) throw regexError(`Unicode property '${property[3]}' not found`);
      return (property[1] === "P") !== (property[2] === "^") ? complement(set) : set;
    }
    const code = /^\\x\{(\w+)\}$/.exec(text)?.[1];
    if (code !== undefined) return Number.parseInt(code, 16);
    return { "\\a": 7, "\\f": 12, "\\n": 10, "\\r": 13, "\\t": 9 }[text] ?? text.codePointAt(text.length > 1 ? 1 : 0)!;
  }
}

const OPERATIONS: Readonly<Record<string, (a: CharSet, b: CharSet) => CharSet>> = {
  "&&": intersection,
  "--": difference,
  "~~": (a, b) => difference(union(a, b), intersection(a, b)),
};

const sets = (...names: string[]): CharSet => names.reduce<CharSet>((all, name) => union(all, propertySet(name)!), []);

const NAMED_SETS: Readonly<Record<string, () => CharSet>> = {
  d: () => sets("Nd"),
  w: () => sets("L", "M", "Nd", "Nl", "Pc"),
  s: () =>
    union(sets("Z"), [
      [9, 13],
      [0x85, 0x85],
    ]),
};

const POSIX: ReadonlyMap<string, string> = new Map(
  Object.entries({
    alnum: "AZaz09",
    alpha: "AZaz",
    ascii: "\0\x7f",
    blank: "\t\t  ",
    cntrl: "\0\x1f\x7f\x7f",
    digit: "09",
    graph: "!~",
    lower: "az",
    print: " ~",
    punct: "!/:@[`{~",
    space: "\t\r  ",
    upper: "AZ",
    word: "AZaz09__",
    xdigit: "09AFaf",
  }),
);

function posixSet(name: string): CharSet {
  const isNegated = name[2] === "^";
  const ends = POSIX.get(name.slice(isNegated ? 3 : 2, -2));
  if (ends === undefined) throw regexError(`no class ${name}`);
  const ranges = Array.from({ length: ends.length / 2 }, (_, i) => [ends.charCodeAt(i * 2), ends.charCodeAt(i * 2 + 1)] as const);
  return isNegated ? complement(charSet(ranges)) : charSet(ranges);
}
