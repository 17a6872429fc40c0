// Text as a terminal may have it. What is stored was written by others: a control sequence in a value could empty the screen, put something
// into the clipboard, or show another order of characters than the one that is there.

/** Of the control characters only the line's end and the tab do what a reader expects. */
const ACTING = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** `text` with what a terminal would act upon as `\x1b` or `\u202e`; line ends and tabs stay. Half a surrogate pair becomes U+FFFD. */
export function visible(text: string): string {
  return text.toWellFormed().replaceAll(ACTING, (character) => {
    if (character === "\n" || character === "\t") return character;
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** On one line: of errors that end the program. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll("\n", "\\n");
}

/** The same for UTF-8 that comes in pieces, cut anywhere; bytes that are none become U+FFFD, since alone they may be control characters
 *  too. */
export class VisibleBytes {
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  /** What is whole so far. */
  add(piece: Uint8Array): string {
    return visible(this.decoder.decode(piece, { stream: true }));
  }

  /** The rest: U+FFFD for a character that has not come whole. */
  end(): string {
    return visible(this.decoder.decode());
  }
}
