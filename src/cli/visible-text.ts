// Makes text safe for a terminal. Stored data comes from others: a control sequence in a value could clear the screen, write to the
// clipboard, or reorder the displayed characters.

/** Of the control characters only line ends and tabs are harmless. */
const ACTING = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** Replaces control characters by `\x1b` or `\u202e`; keeps line ends and tabs. An unpaired surrogate becomes U+FFFD. */
export function visible(text: string): string {
  return text.toWellFormed().replaceAll(ACTING, (character) => {
    if (character === "\n" || character === "\t") return character;
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** The same on one line: for errors that end the program. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll("\n", "\\n");
}

/** The same for UTF-8 in pieces, cut anywhere; invalid bytes become U+FFFD, since single bytes may be control characters too. */
export class VisibleBytes {
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  /** Adds a piece; returns the text of all complete characters. */
  add(piece: Uint8Array): string {
    return visible(this.decoder.decode(piece, { stream: true }));
  }

  /** The rest: U+FFFD for an incomplete character. */
  end(): string {
    return visible(this.decoder.decode());
  }
}
