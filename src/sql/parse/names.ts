// Encodes names for DuckDB. DuckDB compares identifiers case-insensitively even if quoted, and its tree does not show what was quoted, so a
// capital letter is written as an escape mark followed by the small letter: "Host" and "host" stay distinct.

/** A private-use character, doubled in users' names. */
const MARK = "\u{E000}";
// NUL would end the name in DuckDB's interface; it is written as a zero.
const ENCODE = /[A-Z\u{E000}\0]/gu;
const ENCODED = /[A-Z\u{E000}\0]/u;
const INTERNAL = /\u{E000}1\.\d+/gu;
const DECODE = /\u{E000}([a-z0\u{E000}])/gu;

/** Injective under ASCII case folding. */
export function encodeName(name: string): string {
  if (!ENCODED.test(name)) return name;
  return name.replace(ENCODE, (char) => (char === MARK ? MARK + MARK : char === "\0" ? `${MARK}0` : MARK + char.toLowerCase()));
}

/** A name that no encoded user name equals: for our own columns. */
export function internalName(text: string, index: number): string {
  return `${text}${MARK}1.${index}`;
}

/** Removes the marks of `internalName` from a text, replacing them by spaces. */
export function withoutInternalMarks(text: string): string {
  return text.replace(INTERNAL, (mark) => " ".repeat(mark.length));
}

/** Inverts `encodeName`, also within a text such as an error message. */
export function decodeNames(text: string): string {
  return text.includes(MARK)
    ? text.replace(DECODE, (_, char: string) => (char === MARK ? MARK : char === "0" ? "\0" : char.toUpperCase()))
    : text;
}

/** Folds an unquoted identifier: ASCII letters become small. */
export function foldName(name: string): string {
  return name.replace(/[A-Z]/g, (char) => char.toLowerCase());
}

/** A quoted identifier for SQL text. */
export function ident(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A string literal for SQL text. NUL bytes are not allowed in SQL text, so such a text is concatenated from parts. */
export function stringLiteral(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes("\0") ? `(${quoted.split("\0").join("' || chr(0) || '")})` : quoted;
}
