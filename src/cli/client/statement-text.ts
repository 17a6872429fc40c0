// Where a statement that is typed line by line ends: at a semicolon outside of quotes and comments.

/** The statements that `text` has whole, and what is begun. */
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

/** Nothing but blanks and comments, the last of which need not end. */
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

/** Behind the quoted text or comment that begins at `at`; `at` when none does, -1 when it does not end. */
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
