// Strings and line breaks of the v1 API's answers, as Go's encoders of JSON and CSV write them, byte for byte.

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has to escape them
const JSON_SPECIALS = /["\\<>&\u2028\u2029\u0000-\u001f]/g;
const LETTERS: Readonly<Record<string, string>> = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const CSV_SPECIALS = /[",\n\r]/;
/** Go's unicode.IsSpace. */
const LEADING_SPACE = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** With its quotes. */
export function v1JsonText(text: string): string {
  const escaped = (found: string) => LETTERS[found] ?? `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `"${text.replace(JSON_SPECIALS, escaped)}"`;
}

/** A cell, in quotes where they are needed. */
export function v1CsvText(text: string): string {
  const isPlain = text !== "\\." && !CSV_SPECIALS.test(text) && !LEADING_SPACE.test(text);
  return isPlain ? text : `"${text.replaceAll('"', '""')}"`;
}

/** JSON on one line, or with `pretty` a member a line, each level four blanks further in. */
export class V1Layout {
  readonly colon: string;
  private readonly breaks: readonly string[];

  constructor(readonly isPretty: boolean) {
    this.colon = isPretty ? ": " : ":";
    this.breaks = Array.from({ length: 9 }, (_, depth) => (isPretty ? `\n${"    ".repeat(depth)}` : ""));
  }

  /** What begins a line at this depth. */
  line(depth: number): string {
    return this.breaks[depth]!;
  }

  member(depth: number, name: string): string {
    return `${this.line(depth)}"${name}"${this.colon}`;
  }
}
