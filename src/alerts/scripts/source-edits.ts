// Edits of a text at positions of its tree.

export interface SourceEdit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The edits must not overlap. Insertions at the same position are applied in the given order. */
export function edited(text: string, edits: readonly SourceEdit[]): string {
  let made = "";
  let done = 0;
  for (const { from, to, text: replacement } of edits.toSorted((a, b) => a.from - b.from)) {
    made += text.slice(done, from) + replacement;
    done = to;
  }
  return made + text.slice(done);
}
