// Translates regular expressions of the dialect (Rust's regex crate) to DuckDB's (RE2). Both are automata without look-around and
// back-references; they differ in the meaning of \d, \w and \s, in character escapes, in character sets and in replacements. Not
// translated: \b supports only ASCII letters.
import { STATEMENT_LIMITS } from "../../model/query/statement-limits.ts";
import { ClassReader } from "./class-reader.ts";
import { DIGIT, regexError, SPACE, WORD } from "./pattern-reader.ts";

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

class Translator extends ClassReader {
  readonly groups: { name: string | null; mayBeEmpty: boolean }[] = [];

  run(): string {
    const text = this.sequence();
    if (this.at < this.chars.length) throw regexError("unopened group");
    return text;
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
}

/** True if the body of a group may match the empty text, or if that is uncertain. */
function mayBeEmpty(body: string): boolean {
  try {
    return new RegExp(`^(?:${body.replace(/\\x\{/g, "\\u{").replace(/\\(p)([A-Z])/gi, "\\$1{$2}")})$`, "u").test("");
  } catch {
    return true;
  }
}
