// Strings and indentation in the v1 API's answers, byte for byte like Go's JSON and CSV encoders.

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has to escape them
const JSON_SPECIALS = /["\\<>&\u2028\u2029\u0000-\u001f]/g;
const LETTERS: Readonly<Record<string, string>> = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const CSV_SPECIALS = /[",\n\r]/;
/** Go's unicode.IsSpace. */
const LEADING_SPACE = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** Includes the quotes. */
export function v1JsonText(text: string): string {
  const escaped = (found: string) => LETTERS[found] ?? `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `"${text.replace(JSON_SPECIALS, escaped)}"`;
}

/** A cell, quoted if needed. */
export function v1CsvText(text: string): string {
  const isPlain = text !== "\\." && !CSV_SPECIALS.test(text) && !LEADING_SPACE.test(text);
  return isPlain ? text : `"${text.replaceAll('"', '""')}"`;
}

/** JSON on one line, or with `pretty` one member per line, indented by four spaces per level. */
export class V1Layout {
  readonly colon: string;
  private readonly breaks: readonly string[];

  constructor(readonly isPretty: boolean) {
    this.colon = isPretty ? ": " : ":";
    this.breaks = Array.from({ length: 9 }, (_, depth) => (isPretty ? `\n${"    ".repeat(depth)}` : ""));
  }

  /** The start of a line at this depth. */
  line(depth: number): string {
    return this.breaks[depth]!;
  }

  member(depth: number, name: string): string {
    return `${this.line(depth)}"${name}"${this.colon}`;
  }
}
