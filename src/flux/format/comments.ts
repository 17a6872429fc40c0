// Comments of a text by their places. Each stands before the next thing that begins a line.

export interface Comment {
  readonly from: number;
  /** Without its line end. */
  readonly text: string;
  /** Its line end; empty at the end of the text. */
  readonly end: "\n" | "";
}

/** The comments that are not printed yet, in the order of their positions. */
export class Comments {
  private readonly all: readonly Comment[];
  private next = 0;

  /** @param literals places of strings and regular expressions, in their order: slashes there begin nothing */
  constructor(text: string, literals: readonly { readonly from: number; readonly to: number }[]) {
    this.all = commentsOf(text, literals);
  }

  /** Those before the place that were not taken yet. */
  takeBefore(place: number): readonly Comment[] {
    const from = this.next;
    while (this.next < this.all.length && this.all[this.next]!.from < place) this.next++;
    return this.all.slice(from, this.next);
  }
}

/** All comments of a text. `literals`: ranges in which `//` does not begin one. */
export function commentsOf(text: string, literals: readonly { readonly from: number; readonly to: number }[]): Comment[] {
  const comments: Comment[] = [];
  let from = 0;
  for (const { from: start, to } of [...literals, { from: text.length, to: text.length }]) {
    collect(text.slice(from, start), from, comments);
    from = to;
  }
  return comments;
}

function collect(text: string, offset: number, comments: Comment[]): void {
  for (const { index, 0: whole, 1: line = "" } of text.matchAll(/\/\/([^\n]*)\n?/g)) {
    comments.push({ from: offset + index, text: `//${line.trimEnd()}`, end: whole.endsWith("\n") ? "\n" : "" });
  }
}
