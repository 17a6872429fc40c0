// Names as DuckDB may see them. DuckDB compares identifiers without case even when they are quoted, and its tree no longer says what was
// quoted, so a capital letter is written as an escape mark and its small letter: "Host" and "host" stay two columns.

/** A private-use character: no key on a keyboard makes it, and in a user's own name it is doubled. */
const MARK = "\u{E000}";
// A NUL would end the name in DuckDB's interface; it is written as a zero.
const ENCODE = /[A-Z\u{E000}\0]/gu;
const INTERNAL = /\u{E000}1\.\d+/gu;
const DECODE = /\u{E000}([a-z0\u{E000}])/gu;

/** Injective: two different names stay different for a reader that ignores ASCII case. */
export function encodeName(name: string): string {
  return name.replace(ENCODE, (char) => (char === MARK ? MARK + MARK : char === "\0" ? `${MARK}0` : MARK + char.toLowerCase()));
}

/** A name that no user's name is, once encoded: for columns of ours beside theirs. */
export function internalName(text: string, index: number): string {
  return `${text}${MARK}1.${index}`;
}

/** A text of ours with blanks for what `internalName` appended. */
export function withoutInternalMarks(text: string): string {
  return text.replace(INTERNAL, (mark) => " ".repeat(mark.length));
}

/** Undoes `encodeName`, also in the middle of a text such as an error message. */
export function decodeNames(text: string): string {
  return text.includes(MARK)
    ? text.replace(DECODE, (_, char: string) => (char === MARK ? MARK : char === "0" ? "\0" : char.toUpperCase()))
    : text;
}

/** An unquoted identifier: ASCII letters become small, the rest stays. */
export function foldName(name: string): string {
  return name.replace(/[A-Z]/g, (char) => char.toLowerCase());
}

/** Surrogates and what lies above them change places: UTF-8 puts characters beyond U+FFFF last. */
const SURROGATES = 0xd800;
const ABOVE_SURROGATES = 0xe000;

/** The dialect's order of `*`: by name, byte for byte of UTF-8. */
export function compareNames(a: string, b: string): number {
  const count = Math.min(a.length, b.length);
  for (let i = 0; i < count; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  return unit < SURROGATES ? unit : unit < ABOVE_SURROGATES ? unit + 0x10000 : unit;
}

/** A quoted identifier for SQL text. */
export function ident(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A string literal for SQL text. A NUL byte cannot stand in SQL text, so it is put together from parts. */
export function stringLiteral(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes("\0") ? `(${quoted.split("\0").join("' || chr(0) || '")})` : quoted;
}
