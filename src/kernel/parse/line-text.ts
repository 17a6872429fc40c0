// Locates lines in a body, for error records: the parser reports offsets, clients expect line numbers and the line's text.
import type { LineDialect } from "../../model/write.ts";

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const EQUALS = 0x3d;
const BACKSLASH = 0x5c;

/** Line numbers of ascending offsets, in one pass over the body. */
export function lineNumbersAt(body: Uint8Array, offsets: readonly number[]): number[] {
  let lineNumber = 1;
  let newline = body.indexOf(NEWLINE);
  return offsets.map((offset) => {
    while (newline >= 0 && newline < offset) {
      lineNumber++;
      newline = body.indexOf(NEWLINE, newline + 1);
    }
    return lineNumber;
  });
}

/** The line that begins at `offset`, without its line end; invalid UTF-8 becomes U+FFFD. */
export function lineTextAt(body: Uint8Array, offset: number, dialect: LineDialect = "v3"): string {
  const end = dialect === "v2" ? lineEndOfV2(body, offset) : lineEndAt(body, offset);
  // TextDecoder rejects shared memory, where bodies are: copy
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(body.slice(offset, end));
}

/** Offset of the end of the line that begins at `offset`, by the rules of assembly/line/check-v2.ts: a carriage return belongs to the line,
 *  and a quote that is not closed hides all that follows. */
function lineEndOfV2(body: Uint8Array, offset: number): number {
  let [isQuoted, inFields, open] = [false, false, 0];
  for (let at = offset; at < body.length; at++) {
    const c = body[at]!;
    if (c === BACKSLASH && at + 2 < body.length) {
      at++;
      continue;
    }
    if (c === SPACE) inFields = true;
    if (inFields && !isQuoted && c === EQUALS) open++;
    else if (inFields && !isQuoted && c === COMMA) open--;
    else if (inFields && c === QUOTE && open > 0) isQuoted = !isQuoted;
    else if (c === NEWLINE && !isQuoted) return at;
  }
  return body.length;
}

/** Offset of the end of the line that begins at `offset`: of its `\n` or `\r\n`, or the body's length. A line ends at the first newline
 *  outside a quoted string. A quoted string opens at `="` after the first space and closes at the next unescaped quote; an unterminated
 *  one does not hide its first newline, so that a missing quote costs one line only. */
export function lineEndAt(body: Uint8Array, offset: number): number {
  const newline = newlineAt(body, offset);
  return newline > offset && body[newline - 1] === RETURN ? newline - 1 : newline;
}

function newlineAt(body: Uint8Array, offset: number): number {
  let at = offset;
  while (body[at] === SPACE || body[at] === TAB) at++;
  let inFields = false;
  let quoted = false;
  let afterEquals = false;
  let newlineInQuotes = -1;
  for (; at < body.length; at++) {
    const c = body[at]!;
    if (c === NEWLINE) {
      if (!quoted) return at;
      if (newlineInQuotes < 0) newlineInQuotes = at;
    } else if (c === BACKSLASH) {
      if (body[at + 1] !== NEWLINE) at++;
    } else if (quoted) {
      quoted = c !== QUOTE;
    } else if (c === QUOTE && inFields && afterEquals) {
      quoted = true;
      newlineInQuotes = -1;
    } else if (c === SPACE) {
      inFields = true;
    }
    afterEquals = c === EQUALS && !quoted;
  }
  return quoted && newlineInQuotes >= 0 ? newlineInQuotes : body.length;
}
