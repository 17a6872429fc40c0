// Quotes names and strings.
import { isWordChar, isWordStart, lookupWord } from "./tokens.ts";

/** A string literal in single quotes. */
export function quoteString(text: string): string {
  return `'${escaped(text, "'")}'`;
}

/** Names joined by dots; quoted where necessary, and always all but the last. */
export function quoteIdent(...names: readonly string[]): string {
  const last = names.length - 1;
  return names
    .map((name, i) => {
      const isQuoted = name === "" ? i === 0 || i === last : i < last || needsQuotes(name);
      return isQuoted ? `"${escaped(name, '"')}"` : name;
    })
    .join(".");
}

function needsQuotes(name: string): boolean {
  return lookupWord(name) !== "ident" || !isWordStart(name[0]!) || ![...name].every(isWordChar);
}

function escaped(text: string, quote: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll(quote, `\\${quote}`);
}
