// Reads a regular expression of the dialect character by character: its escapes, in the form of RE2.
import { TsdbError } from "../../model/errors.ts";

/** Maximum nesting of groups and brackets. */
const DEPTH_MAX = 250;

/** Sets of the escapes \d, \w and \s, whose meaning in RE2 is ASCII only. */
export const DIGIT = "\\p{Nd}";
export const WORD = "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}";
export const SPACE = "\\t-\\r\\x{85}\\p{Z}";

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

/** The error for a pattern that the dialect rejects. */
export function regexError(what: string): TsdbError {
  return new TsdbError("bad_query", `Execution error: Regular expression did not compile: ${what}`);
}

/** The characters of one pattern, and the position in them. */
export class PatternReader {
  protected at = 0;
  protected depth = 0;

  constructor(
    protected readonly chars: readonly string[],
    protected verbose: boolean,
  ) {}

  protected peek(offset = 0): string {
    return this.chars[this.at + offset] ?? "";
  }

  protected looksAt(text: string): boolean {
    return [...text].every((char, i) => this.peek(i) === char);
  }

  protected enter(): void {
    if (++this.depth > DEPTH_MAX) throw regexError(`groups or brackets more than ${DEPTH_MAX} deep`);
  }

  /** An escape of one character or a property, in brackets or not. */
  protected escapedCharacter(): string {
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

  protected codePoint(kind: string): string {
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

  protected property(kind: string): string {
    if (this.peek() !== "{") return `\\${kind}${this.chars[this.at++] ?? ""}`;
    const close = this.chars.indexOf("}", this.at);
    if (close < 0) throw regexError("incomplete escape sequence");
    const name = this.chars.slice(this.at + 1, close).join("");
    this.at = close + 1;
    const plain = name.replace(/^(?:gc|general_category|sc|script)[=:]/i, "").trim();
    return `\\${kind}{${PROPERTIES.get(plain.toLowerCase().replace(/[ -]/g, "_")) ?? plain}}`;
  }
}
