// Finds the end of a statement that is typed line by line: a semicolon outside of quotes and comments.

/** The complete statements in `text`, and the incomplete rest. */
export function splitStatements(text: string): { statements: string[]; rest: string } {
  const statements: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const end = skipped(text, at);
    if (end === -1) break;
    if (end > at) at = end - 1;
    else if (text[at] === ";") {
      const statement = text.slice(start, at).trim();
      if (!isBlank(statement)) statements.push(statement);
      start = at + 1;
    }
  }
  return { statements, rest: text.slice(start) };
}

/** True for whitespace and comments only; the last comment may be unterminated. */
export function isBlank(text: string): boolean {
  for (let at = 0; at < text.length; ) {
    if (/\s/.test(text[at]!)) at++;
    else if (!text.startsWith("--", at) && !text.startsWith("/*", at)) return false;
    else {
      const end = skipped(text, at);
      if (end === -1) return true;
      at = end;
    }
  }
  return true;
}

/** Position after the quoted text or comment that starts at `at`; `at` if none does, -1 if it is unterminated. */
function skipped(text: string, at: number): number {
  const quote = text[at]!;
  if (quote === "'" || quote === '"') {
    const end = text.indexOf(quote, at + 1);
    return end < 0 ? -1 : end + 1;
  }
  if (text.startsWith("--", at)) {
    const end = text.indexOf("\n", at);
    return end < 0 ? -1 : end;
  }
  if (text.startsWith("/*", at)) {
    const end = text.indexOf("*/", at + 2);
    return end < 0 ? -1 : end + 2;
  }
  return at;
}
