// Texts in quotes as the vendor's server prints them in its messages.

/** A text in quotes as Go prints it: what is no printable character is escaped. */
export function goQuoted(text: string): string {
  const escaped = text.replace(/["\\]|(?! )[\p{C}\p{Z}]/gu, (character) => {
    const known = SHORT[character];
    if (known !== undefined) return known;
    const code = character.codePointAt(0)!;
    if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
  return `"${escaped}"`;
}

const SHORT: Readonly<Record<string, string>> = {
  ...{ '"': '\\"', "\\": "\\\\", "\x07": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v" },
};
