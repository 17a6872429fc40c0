// Texts with places where they may break, laid out so that lines are not too long (P. Wadler, "A prettier printer", 1998), with choices
// between layouts of which the first counts that keeps within its lines.

export type Document =
  | string
  | readonly Document[]
  /** The end of a line, which keeps groups around it from being on one line. */
  | { readonly kind: "break" }
  | { readonly kind: "indent"; readonly content: Document }
  /** On one line if it fits. */
  | { readonly kind: "group"; readonly content: Document }
  /** By whether the group around it is on one line. */
  | { readonly kind: "by group"; readonly broken: Document; readonly flat: Document }
  | { readonly kind: "choice"; readonly first: Document; readonly other: Document }
  /** Where this is reached, a layout cannot be chosen. */
  | { readonly kind: "impossible" };

const INDENT = 4;
const WIDTH = 100;
/** Choices tried for a document. Beyond them the last layout of each is taken: choices within choices would take exponential time. */
const TRIES_MAX = 10_000;

/** The end of a line. */
export const BREAK: Document = { kind: "break" };
/** A space, or the end of a line. */
export const LINE: Document = { kind: "by group", broken: BREAK, flat: " " };
/** Nothing, or the end of a line. */
export const SOFT_LINE: Document = { kind: "by group", broken: BREAK, flat: "" };
export const LAST_COMMA: Document = { kind: "by group", broken: ",", flat: "" };
/** Holds for layouts that have the group around it on one line. */
export const ON_ONE_LINE: Document = { kind: "by group", broken: { kind: "impossible" }, flat: "" };

/** The content, with its line breaks indented by one level. */
export function indented(...content: readonly Document[]): Document {
  return { kind: "indent", content };
}

/** The content on one line if it fits, else with its own lines broken. */
export function group(...content: readonly Document[]): Document {
  return { kind: "group", content };
}

/** The first of the layouts, in their order, whose lines are within the width; else the last. */
export function firstFitting(layouts: readonly Document[]): Document {
  return layouts.reduce((first, other) => ({ kind: "choice", first, other }));
}

/** Between each two of the documents. */
export function separated(documents: readonly Document[], ...separator: readonly Document[]): Document[] {
  return documents.flatMap((each, i) => (i === 0 ? [each] : [...separator, each]));
}

/** Whether a document is nothing, in every layout. */
export function isNothing(document: Document): boolean {
  return document === "" || (isList(document) && document.every(isNothing));
}

function isList(document: Document): document is readonly Document[] {
  return Array.isArray(document);
}

/** What is still to be laid out, from its first part on. */
interface Rest {
  readonly document: Document;
  readonly indent: number;
  readonly isFlat: boolean;
  readonly next: Rest | null;
}

/** A place in the text. */
interface Place {
  readonly column: number;
  /** Spaces that the present line begins with, where nothing follows them yet; those of an empty line are left out. */
  readonly waiting: number;
}

interface Written extends Place {
  readonly text: string;
  /** Whether all lines are within the width. */
  readonly fits: boolean;
}

/** The document as text, with groups broken that do not fit into a line of so many columns. */
export function laidOut(document: Document, width = WIDTH): string {
  const start: Rest = { document: group(document), indent: 0, isFlat: false, next: null };
  return new Layout(width).run(start, null, { column: 0, waiting: 0 })!.text;
}

class Layout {
  private tries = 0;

  constructor(private readonly width: number) {}

  /** Lays out what is before `end`. Null: it is impossible. */
  run(start: Rest, end: Rest | null, from: Place): Written | null {
    let { column, waiting } = from;
    let [text, fits] = ["", true];
    const write = (part: string) => {
      if (part === "") return;
      text += " ".repeat(waiting) + part;
      waiting = 0;
      column += part.length;
      if (column > this.width) fits = false;
    };
    for (let rest: Rest | null = start; rest !== end; ) {
      const { document, indent, isFlat, next } = rest as Rest;
      const then = (other: Document): Rest => ({ document: other, indent, isFlat, next });
      if (typeof document === "string") {
        write(document);
        rest = next;
      } else if (isList(document))
        rest = document.reduceRight<Rest | null>((tail, each): Rest => ({ document: each, indent, isFlat, next: tail }), next);
      else if (document.kind === "break") {
        text += "\n";
        [column, waiting] = [indent, indent];
        rest = next;
      } else if (document.kind === "indent") rest = { ...then(document.content), indent: indent + INDENT };
      else if (document.kind === "by group") rest = then(isFlat ? document.flat : document.broken);
      else if (document.kind === "group") {
        rest = { ...then(document.content), isFlat: isFlat || hasRoom(document.content, next, this.width - column) };
      } else if (document.kind === "impossible") return null;
      else {
        const first = this.tries++ < TRIES_MAX ? this.run(then(document.first), next, { column, waiting }) : null;
        rest = first?.fits ? next : then(document.other);
        if (first?.fits) {
          text += first.text;
          ({ column, waiting } = first);
        }
      }
    }
    return { text, column, waiting, fits };
  }
}

/** Whether the content on one line, and what follows it up to the next place where a line may end, has room. */
function hasRoom(content: Document, following: Rest | null, room: number): boolean {
  const stack: Document[] = [content];
  let left = room;
  let isFlat = true;
  for (let rest = following; left >= 0; ) {
    let document = stack.pop();
    if (document === undefined) {
      if (rest === null) return true;
      isFlat = false;
      document = rest.document;
      rest = rest.next;
    }
    if (typeof document === "string") left -= document.length;
    else if (isList(document)) stack.push(...document.toReversed());
    else if (document.kind === "break") return !isFlat;
    else if (document.kind === "indent" || document.kind === "group") stack.push(document.content);
    else if (document.kind === "by group") stack.push(isFlat ? document.flat : document.broken);
    else if (document.kind === "choice") stack.push(document.other);
    else return false;
  }
  return false;
}
