// What is wrong with a text that is no JSON, in the words of the reference: the first byte that cannot stand where it is.

type Step = (byte: number) => Step | string;

const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d, 0x0a]);
const ESCAPES: ReadonlySet<number> = new Set([...'bfnrt\\/"'].map(codeOf));
const LITERALS: Readonly<Record<string, string>> = { t: "true", f: "false", n: "null" };

/** Null: it is JSON. */
export function jsonProblem(bytes: Uint8Array): string | null {
  const scanner = new Scanner();
  for (const byte of bytes) {
    const problem = scanner.take(byte);
    if (problem !== null) return problem;
  }
  // a space ends numbers
  const problem = scanner.take(0x20);
  return problem ?? (scanner.isDone ? null : "unexpected end of JSON input");
}

/** Byte by byte: texts may be nested deeper than calls can be. */
class Scanner {
  private readonly open: ("key" | "member" | "item")[] = [];
  private step: Step = this.value;

  get isDone(): boolean {
    return this.step === this.afterValue && this.open.length === 0;
  }

  take(byte: number): string | null {
    const next = this.step.call(this, byte);
    if (typeof next === "string") return `invalid character ${quoted(byte)} ${next}`;
    this.step = next;
    return null;
  }

  private value(byte: number): Step | string {
    if (SPACES.has(byte)) return this.value;
    const char = String.fromCharCode(byte);
    if (char === "{") {
      this.open.push("key");
      return this.firstKey;
    }
    if (char === "[") {
      this.open.push("item");
      return this.firstItem;
    }
    if (char === '"') return this.text;
    if (char === "-") return this.sign;
    if (char === "0") return this.afterZero;
    if (isDigit(byte)) return this.digits;
    const literal = LITERALS[char];
    return literal === undefined ? "looking for beginning of value" : this.literal(literal, 1);
  }

  private firstItem(byte: number): Step | string {
    if (SPACES.has(byte)) return this.firstItem;
    return byte === codeOf("]") ? this.close() : this.value(byte);
  }

  private firstKey(byte: number): Step | string {
    if (SPACES.has(byte)) return this.firstKey;
    return byte === codeOf("}") ? this.close() : this.key(byte);
  }

  private key(byte: number): Step | string {
    if (SPACES.has(byte)) return this.key;
    return byte === codeOf('"') ? this.text : "looking for beginning of object key string";
  }

  private close(): Step {
    this.open.pop();
    return this.afterValue;
  }

  private afterValue(byte: number): Step | string {
    if (SPACES.has(byte)) return this.afterValue;
    const char = String.fromCharCode(byte);
    const { open } = this;
    switch (open.at(-1)) {
      case undefined:
        return "after top-level value";
      case "key":
        if (char !== ":") return "after object key";
        open[open.length - 1] = "member";
        return this.value;
      case "member":
        if (char === "}") return this.close();
        if (char !== ",") return "after object key:value pair";
        open[open.length - 1] = "key";
        return this.key;
      case "item":
        if (char === "]") return this.close();
        return char === "," ? this.value : "after array element";
    }
  }

  private text(byte: number): Step | string {
    if (byte === codeOf('"')) return this.afterValue;
    if (byte === codeOf("\\")) return this.escape;
    return byte < 0x20 ? "in string literal" : this.text;
  }

  private escape(byte: number): Step | string {
    if (byte === codeOf("u")) return this.hexadecimal(4);
    return ESCAPES.has(byte) ? this.text : "in string escape code";
  }

  private hexadecimal(left: number): Step {
    return (byte) => {
      if (!/[0-9a-fA-F]/.test(String.fromCharCode(byte))) return "in \\u hexadecimal character escape";
      return left === 1 ? this.text : this.hexadecimal(left - 1);
    };
  }

  private literal(word: string, at: number): Step {
    return (byte) => {
      if (byte !== word.charCodeAt(at)) return `in literal ${word} (expecting '${word[at]}')`;
      return at === word.length - 1 ? this.afterValue : this.literal(word, at + 1);
    };
  }

  private sign(byte: number): Step | string {
    if (byte === codeOf("0")) return this.afterZero;
    return isDigit(byte) ? this.digits : "in numeric literal";
  }

  private digits(byte: number): Step | string {
    return isDigit(byte) ? this.digits : this.afterZero(byte);
  }

  private afterZero(byte: number): Step | string {
    if (byte === codeOf(".")) return this.point;
    return isExponent(byte) ? this.exponent : this.afterValue(byte);
  }

  private point(byte: number): Step | string {
    return isDigit(byte) ? this.fraction : "after decimal point in numeric literal";
  }

  private fraction(byte: number): Step | string {
    if (isDigit(byte)) return this.fraction;
    return isExponent(byte) ? this.exponent : this.afterValue(byte);
  }

  private exponent(byte: number): Step | string {
    return byte === codeOf("+") || byte === codeOf("-") ? this.exponentSign : this.exponentSign(byte);
  }

  private exponentSign(byte: number): Step | string {
    return isDigit(byte) ? this.exponentDigits : "in exponent of numeric literal";
  }

  private exponentDigits(byte: number): Step | string {
    return isDigit(byte) ? this.exponentDigits : this.afterValue(byte);
  }
}

function codeOf(char: string): number {
  return char.charCodeAt(0);
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isExponent(byte: number): boolean {
  return byte === codeOf("e") || byte === codeOf("E");
}

const CONTROLS: Readonly<Record<number, string>> = { 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r" };

/** A byte is the character of its number. */
function quoted(byte: number): string {
  if (byte === codeOf("'")) return `'\\''`;
  if (byte === codeOf("\\")) return `'\\\\'`;
  if (byte < 0x20 || byte === 0x7f) return `'${CONTROLS[byte] ?? `\\x${byte.toString(16).padStart(2, "0")}`}'`;
  // neither shown nor space
  if ((byte >= 0x80 && byte <= 0xa0) || byte === 0xad) return `'\\u00${byte.toString(16)}'`;
  return `'${String.fromCharCode(byte)}'`;
}
