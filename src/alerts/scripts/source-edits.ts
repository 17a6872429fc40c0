// Changes of a text at places of its tree.

export interface SourceEdit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The edits overlap nowhere. Of several insertions at one place the first given comes first. */
export function edited(text: string, edits: readonly SourceEdit[]): string {
  let made = "";
  let done = 0;
  for (const { from, to, text: replacement } of edits.toSorted((a, b) => a.from - b.from)) {
    made += text.slice(done, from) + replacement;
    done = to;
  }
  return made + text.slice(done);
}
