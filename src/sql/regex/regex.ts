// Translates regular expressions of the dialect (Rust's regex crate) to DuckDB's (RE2). Both are automata without look-around and
// back-references; they differ in the meaning of \d, \w and \s, in character escapes, in character sets and in replacements. Not
// translated: \b supports only ASCII letters.
import { TsdbError } from "../../model/errors.ts";
import { STATEMENT_LIMITS } from "../../model/query/statement-limits.ts";
import { type CharSet, charSet, classText, complement, difference, intersection, propertySet, union } from "./char-set.ts";

export interface Regex {
  /** For RE2. */
  readonly pattern: string;
  /** One per capture group, in order. */
  readonly groups: readonly RegexGroup[];
}

export interface RegexGroup {
  readonly name: string | null;
  /** True if the group may match the empty text: an empty match then does not mean that the group did not participate. */
  readonly mayBeEmpty: boolean;
}

/** The flags of the functions, without "g". */
const FLAGS = /^[imsUxuR]*$/;

const CHARS_MAX = STATEMENT_LIMITS.patternCharsMax;
/** Maximum nesting of groups and brackets. */
const DEPTH_MAX = 250;
/** Common ways to write "any character". */
const ANY = ["[\\s\\S]", "[\\S\\s]", "[\\d\\D]", "[\\D\\d]", "[\\w\\W]", "[\\W\\w]"];

const DIGIT = "\\p{Nd}";
const WORD = "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}";
const SPACE = "\\t-\\r\\x{85}\\p{Z}";

/** @throws TsdbError bad_query for patterns that the dialect rejects */
export function translateRegex(source: string, flags = ""): Regex {
  if (source.length > CHARS_MAX) throw regexError(`longer than ${CHARS_MAX} characters`);
  if (!FLAGS.test(flags)) throw regexError(`unsupported flags '${flags}'`);
  const translator = new Translator([...source], flags.includes("x"));
  const pattern = translator.run();
  const kept = [...new Set(flags)].filter((flag) => "imsU".includes(flag)).join("");
  return { pattern: kept === "" ? pattern : `(?${kept})${pattern}`, groups: translator.groups };
}

/** Translates a replacement (`$1`, `${name}`, `\1`, `$$`) to RE2's form `\1`. Unknown groups are empty. */
export function translateReplacement(text: string, groups: readonly RegexGroup[]): string {
  const group = (name: string): string => {
    const number = /^\d+$/.test(name) ? Number(name) : groups.findIndex((one) => one.name === name) + 1;
    const exists = name === "0" || (number > 0 && number <= groups.length);
    if (exists && number > 9) throw regexError("a replacement may use nine groups");
    return exists ? `\\${number}` : "";
  };
  return text.replace(/\$\$|\$\{([^}]*)\}|\$(\w+)|\\(\d+)|\\/g, (match, braced?: string, plain?: string, posix?: string) => {
    if (match === "$$") return "$";
    const name = braced ?? plain ?? posix;
    return name === undefined ? "" : group(name);
  });
}

function regexError(what: string): TsdbError {
  return new TsdbError("bad_query", `Execution error: Regular expression did not compile: ${what}`);
}

/** Long names of properties, of which RE2 supports the short ones. */
const PROPERTIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    letter: "L",
    mark: "M",
    number: "N",
    punctuation: "P",
    punct: "P",
    symbol: "S",
    separator: "Z",
    other: "C",
    lowercase_letter: "Ll",
    uppercase_letter: "Lu",
    titlecase_letter: "Lt",
    modifier_letter: "Lm",
    other_letter: "Lo",
    nonspacing_mark: "Mn",
    spacing_mark: "Mc",
    decimal_number: "Nd",
    letter_number: "Nl",
    other_number: "No",
    math_symbol: "Sm",
    currency_symbol: "Sc",
    control: "Cc",
    lowercase: "Ll",
    lower: "Ll",
    uppercase: "Lu",
    upper: "Lu",
    alphabetic: "L",
    alpha: "L",
    white_space: "Z",
  }),
);

const HEX = /^[0-9a-fA-F]+$/;

class Translator {
  readonly groups: { name: string | null; mayBeEmpty: boolean }[] = [];
  private at = 0;
  private depth = 0;

  constructor(
    private readonly chars: readonly string[],
    private verbose: boolean,
  ) {}

  run(): string {
    const text = this.sequence();
    if (this.at < this.chars.length) throw regexError("unopened group");
    return text;
  }

  private peek(offset = 0): string {
    return this.chars[this.at + offset] ?? "";
  }

  private looksAt(text: string): boolean {
    return [...text].every((char, i) => this.peek(i) === char);
  }

  /** Up to the end, or to the parenthesis that closes the group. */
  private sequence(): string {
    let out = "";
    const outer = this.verbose;
    this.enter();
    while (this.at < this.chars.length && this.peek() !== ")") out += this.item();
    this.depth--;
    this.verbose = outer;
    return out;
  }

  private enter(): void {
    if (++this.depth > DEPTH_MAX) throw regexError(`groups or brackets more than ${DEPTH_MAX} deep`);
  }

  private item(): string {
    const char = this.peek();
    if (this.verbose && this.skipsBlank(char)) return "";
    switch (char) {
      case "\\":
        return this.escape();
      case "[":
        return this.characterClass();
      case "(":
        return this.group();
      case "{":
        this.at++;
        // {,3}
        return this.peek() === "," ? "{0" : "{";
      default:
        this.at++;
        return char;
    }
  }

  private skipsBlank(char: string): boolean {
    if (char === "#") {
      while (this.at < this.chars.length && this.peek() !== "\n") this.at++;
      return true;
    }
    if (!/\s/.test(char)) return false;
    this.at++;
    return true;
  }

  private group(): string {
    this.at++;
    if (this.peek() !== "?") return `(${this.capture(null)})`;
    const named = /^\?P?<([A-Za-z_][\w.[\]]*)>/.exec(this.chars.slice(this.at, this.at + 100).join(""));
    if (named !== null) {
      this.at += named[0].length;
      // RE2 also numbers named groups, and its names are more restricted
      return `(${this.capture(named[1]!)})`;
    }
    const flags = /^\?([imsUxuR]*)(?:-([imsUxuR]+))?([:)])/.exec(this.chars.slice(this.at, this.at + 20).join(""));
    if (flags === null) throw regexError("look-around, including look-ahead and look-behind, is not supported");
    this.at += flags[0].length;
    const [, on = "", off = "", end] = flags;
    const known = (text: string): string => [...text].filter((flag) => "imsU".includes(flag)).join("");
    const head = `${known(on)}${known(off) === "" ? "" : `-${known(off)}`}`;
    const outer = this.verbose;
    if (on.includes("x")) this.verbose = true;
    if (off.includes("x")) this.verbose = false;
    if (end === ")") return head === "" ? "" : `(?${head})`;
    const body = this.sequence();
    this.verbose = outer;
    this.close();
    return `(?${head}:${body})`;
  }

  private capture(name: string | null): string {
    const index = this.groups.push({ name, mayBeEmpty: true }) - 1;
    const body = this.sequence();
    this.close();
    this.groups[index]!.mayBeEmpty = mayBeEmpty(body);
    return body;
  }

  private close(): void {
    if (this.peek() !== ")") throw regexError("unclosed group");
    this.at++;
  }

  /** An escape outside of brackets. */
  private escape(): string {
    const next = this.peek(1);
    const set = { d: DIGIT, D: "\\P{Nd}", w: `[${WORD}]`, W: `[^${WORD}]`, s: `[${SPACE}]`, S: `[^${SPACE}]` }[next];
    if (set !== undefined) {
      this.at += 2;
      return set;
    }
    if (next === "b" && this.peek(2) === "{") throw regexError("\\b{…} is not supported");
    if (/[bBAz]/.test(next)) {
      this.at += 2;
      return `\\${next}`;
    }
    return this.escapedCharacter();
  }

  /** An escape of one character or a property, in brackets or not. */
  private escapedCharacter(): string {
    const next = this.peek(1);
    this.at += 2;
    if (next === "p" || next === "P") return this.property(next);
    if (/[xuU]/.test(next)) return this.codePoint(next);
    if (/[afnrtv]/.test(next)) return next === "v" ? "\\x{b}" : `\\${next}`;
    if (next === "") throw regexError("incomplete escape sequence");
    if (/[0-9]/.test(next)) throw regexError("backreferences are not supported");
    if (/[A-Za-z<>]/.test(next)) throw regexError(`unrecognized escape sequence '\\${next}'`);
    return /[\w\s]|[^\0-\x7f]/.test(next) ? next : `\\${next}`;
  }

  private codePoint(kind: string): string {
    let digits: string;
    if (this.peek() === "{") {
      const close = this.chars.indexOf("}", this.at);
      digits = close < 0 ? "" : this.chars.slice(this.at + 1, close).join("");
      this.at = close + 1;
    } else {
      const count = kind === "x" ? 2 : kind === "u" ? 4 : 8;
      digits = this.chars.slice(this.at, this.at + count).join("");
      this.at += count;
      if (digits.length !== count) throw regexError("incomplete escape sequence");
    }
    if (!HEX.test(digits) || Number.parseInt(digits, 16) > 0x10ffff) throw regexError("invalid hexadecimal digit or code point");
    return `\\x{${Number.parseInt(digits, 16).toString(16)}}`;
  }

  private property(kind: string): string {
    if (this.peek() !== "{") return `\\${kind}${this.chars[this.at++] ?? ""}`;
    const close = this.chars.indexOf("}", this.at);
    if (close < 0) throw regexError("incomplete escape sequence");
    const name = this.chars.slice(this.at + 1, close).join("");
    this.at = close + 1;
    const plain = name.replace(/^(?:gc|general_category|sc|script)[=:]/i, "").trim();
    return `\\${kind}{${PROPERTIES.get(plain.toLowerCase().replace(/[ -]/g, "_")) ?? plain}}`;
  }

  /** `[…]`. Nested sets and intersections, which RE2 does not support, are expanded to a list of characters. */
  private characterClass(): string {
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

/** True if the body of a group may match the empty text, or if that is uncertain. */
function mayBeEmpty(body: string): boolean {
  try {
    return new RegExp(`^(?:${body.replace(/\\x\{/g, "\\u{").replace(/\\(p)([A-Z])/gi, "\\$1{$2}")})$`, "u").test("");
  } catch {
    return true;
  }
}
