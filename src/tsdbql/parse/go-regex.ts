// Checks whether Go compiles a regular expression (RE2's syntax, like the engine's), and if not, why, in Go's words, which 1.x prints.

const NESTING_MAX = 1000;
const REPEAT_MAX = 1000;
const POSIX = "alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit";
const POSIX_CLASS = new RegExp(`^\\[:\\^?(?:${POSIX}):\\]$`);
const REPEAT = /\{(\d+)(,(\d*))?\}/y;
const FLAG_LETTERS = "imsU";

/** Null: valid. */
export function goRegexError(source: string): string | null {
  try {
    new RegexChecker(source).check();
    return null;
  } catch (error) {
    if (error instanceof RegexSyntax) return `${error.why}: \`${error.part}\``;
    throw error;
  }
}

class RegexSyntax {
  constructor(
    readonly why: string,
    readonly part: string,
  ) {}
}

class RegexChecker {
  private at = 0;
  private depth = 0;
  /** Start of the repetition operator at the end of the newest part; -1: there is none. */
  private repeatFrom = -1;
  /** True if the newest part can be repeated. */
  private hasArgument = false;

  constructor(private readonly source: string) {}

  check(): void {
    const { source } = this;
    while (this.at < source.length) {
      const from = this.at;
      const char = source[from]!;
      if (char === "*" || char === "+" || char === "?") this.repeat(from, from + 1);
      else if (char === "{" && this.matchRepeat()) this.repeat(from, REPEAT.lastIndex);
      else {
        const hadArgument = this.hasArgument;
        this.hasArgument = char !== "(" && char !== "|";
        this.repeatFrom = -1;
        this.readPart(char);
        // flags alone are no part: a repetition applies to what precedes them
        if (char === "(" && source[this.at - 1] === ")") this.hasArgument = hadArgument;
      }
    }
    if (this.depth > 0) throw new RegexSyntax("missing closing )", source);
  }

  private readPart(char: string): void {
    switch (char) {
      case "(":
        this.openGroup();
        break;
      case ")":
        if (this.depth === 0) throw new RegexSyntax("unexpected )", this.source);
        this.depth--;
        this.at++;
        break;
      case "[":
        this.readClass();
        break;
      case "\\":
        this.readEscape();
        break;
      default:
        this.at++;
    }
  }

  /** True if `{` starts a count; a count that is too large is rejected. */
  private matchRepeat(): boolean {
    REPEAT.lastIndex = this.at;
    const found = REPEAT.exec(this.source);
    if (found === null) return false;
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : found[3] === "" ? -1 : Number(found[3]);
    if (min > REPEAT_MAX || max > REPEAT_MAX || (max >= 0 && min > max)) throw new RegexSyntax("invalid repeat count", found[0]);
    return true;
  }

  private repeat(from: number, end: number): void {
    this.at = this.source[end] === "?" ? end + 1 : end;
    if (this.repeatFrom !== -1) {
      throw new RegexSyntax("invalid nested repetition operator", this.source.slice(this.repeatFrom, this.at));
    }
    if (!this.hasArgument) throw new RegexSyntax("missing argument to repetition operator", this.source.slice(from, this.at));
    this.repeatFrom = from;
  }

  private openGroup(): void {
    if (this.source.startsWith("(?P<", this.at)) this.readName();
    else if (this.source.startsWith("(?", this.at)) {
      this.readFlags();
      return;
    } else this.at++;
    this.deepen();
  }

  private deepen(): void {
    if (++this.depth > NESTING_MAX) throw new RegexSyntax("expression nests too deeply", this.source);
  }

  private readName(): void {
    const end = this.source.indexOf(">", this.at);
    if (end === -1) throw new RegexSyntax("invalid named capture", this.source.slice(this.at));
    const name = this.source.slice(this.at + 4, end);
    if (!/^\w+$/.test(name)) throw new RegexSyntax("invalid named capture", this.source.slice(this.at, end + 1));
    this.at = end + 1;
  }

  /** `(?i)`, `(?i-s:` and the like. */
  private readFlags(): void {
    const from = this.at;
    let [isNegative, hasFlag] = [false, false];
    for (let end = from + 2; end < this.source.length; end++) {
      const char = this.source[end]!;
      if (FLAG_LETTERS.includes(char)) hasFlag = true;
      else if (char === "-" && !isNegative) [isNegative, hasFlag] = [true, false];
      else if ((char === ":" || char === ")") && (hasFlag || !isNegative)) {
        this.at = end + 1;
        if (char === ":") this.deepen();
        return;
      } else throw this.perlError(from, end + String.fromCodePoint(this.source.codePointAt(end)!).length);
    }
    throw this.perlError(from, this.source.length);
  }

  private perlError(from: number, end: number): RegexSyntax {
    return new RegexSyntax("invalid or unsupported Perl syntax", this.source.slice(from, end));
  }

  private readClass(): void {
    const from = this.at;
    const { source } = this;
    this.at += source[from + 1] === "^" ? 2 : 1;
    for (let isFirst = true; source[this.at] !== "]" || isFirst; isFirst = false) {
      if (source.startsWith("[:", this.at) && this.readPosixClass()) continue;
      if (this.readPropertyClass() || this.readPerlClass()) continue;
      const rangeFrom = this.at;
      const low = this.readClassChar(from);
      if (source[this.at] !== "-" || source[this.at + 1] === "]" || this.at + 1 >= source.length) continue;
      this.at++;
      if (this.readClassChar(from) < low) throw new RegexSyntax("invalid character class range", source.slice(rangeFrom, this.at));
    }
    this.at++;
  }

  private readPosixClass(): boolean {
    const end = this.source.indexOf(":]", this.at + 2);
    if (end === -1) return false;
    const name = this.source.slice(this.at, end + 2);
    if (!POSIX_CLASS.test(name)) throw new RegexSyntax("invalid character class range", name);
    this.at = end + 2;
    return true;
  }

  /** `\pL`, `\P{Greek}`. */
  private readPropertyClass(): boolean {
    const { source, at } = this;
    if (source[at] !== "\\" || (source[at + 1] !== "p" && source[at + 1] !== "P") || at + 2 >= source.length) return false;
    let [name, end] = [source[at + 2]!, at + 3];
    if (name === "{") {
      const close = source.indexOf("}", at);
      if (close === -1) throw new RegexSyntax("invalid character class range", source.slice(at));
      name = source.slice(at + 3, close).replace(/^\^/, "");
      end = close + 1;
    }
    if (!isProperty(name)) throw new RegexSyntax("invalid character class range", source.slice(at, end));
    this.at = end;
    return true;
  }

  private readPerlClass(): boolean {
    if (this.source[this.at] !== "\\" || !/[dDsSwW]/.test(this.source[this.at + 1] ?? "")) return false;
    this.at += 2;
    return true;
  }

  /** Returns its code point. */
  private readClassChar(classFrom: number): number {
    const code = this.source.codePointAt(this.at);
    if (code === undefined) throw new RegexSyntax("missing closing ]", this.source.slice(classFrom));
    if (code === 0x5c) return this.readCharEscape();
    this.at += String.fromCodePoint(code).length;
    return code;
  }

  /** Outside of a character class. */
  private readEscape(): void {
    const { source, at } = this;
    const char = source[at + 1] ?? "";
    if (char === "C") throw new RegexSyntax("invalid escape sequence", "\\C");
    if (char === "Q") {
      const end = source.indexOf("\\E", at);
      this.at = end === -1 ? source.length : end + 2;
    } else if (char !== "" && "AbBz".includes(char)) this.at += 2;
    else if (!this.readPropertyClass() && !this.readPerlClass()) this.readCharEscape();
  }

  /** One character, given by a name, a number or itself. */
  private readCharEscape(): number {
    const from = this.at;
    const rest = this.source.slice(from, from + 16);
    const number = /^\\(?:x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|(0[0-7]{0,2}|[1-7][0-7]{1,2}))/.exec(rest);
    if (number !== null) {
      if (number[1] !== undefined && Number.parseInt(number[1], 16) > 0x10ffff) throw this.hexError(from);
      this.at += number[0].length;
      return number[3] === undefined ? Number.parseInt(number[1] ?? number[2]!, 16) : Number.parseInt(number[3], 8);
    }
    const code = this.source.codePointAt(from + 1);
    if (code === undefined) throw new RegexSyntax("trailing backslash at end of expression", "");
    const char = String.fromCodePoint(code);
    this.at += 1 + char.length;
    if (char === "x") throw this.hexError(from);
    if (code < 0x80 && !/\w/.test(char)) return code;
    const named = "afnrtv".indexOf(char);
    if (char.length === 1 && named !== -1) return [7, 12, 10, 13, 9, 11][named]!;
    throw new RegexSyntax("invalid escape sequence", this.source.slice(from, this.at));
  }

  /** Quotes the text up to the first character that is not a digit of the number. */
  private hexError(from: number): RegexSyntax {
    const rest = this.source.slice(from + 2);
    const read = rest.startsWith("{")
      ? /^\{(0*(?:10[0-9A-Fa-f]{4}|[0-9A-Fa-f]{1,5})?).?/su.exec(rest)
      : /^(?:[0-9A-Fa-f].?|.)?/su.exec(rest);
    return new RegexSyntax("invalid escape sequence", `\\x${read![0]}`);
  }
}

/** A general category by its letters, or a script by its name. */
function isProperty(name: string): boolean {
  if (name === "Any") return true;
  const property = /^[A-Z][a-z]?$/.test(name) ? `gc=${name}` : `sc=${name}`;
  if (!/^\w+=[A-Z]\w*$/.test(property) && !/^gc=[A-Z]/.test(property)) return false;
  try {
    new RegExp(`\\p{${property}}`, "u");
    return true;
  } catch {
    return false;
  }
}
