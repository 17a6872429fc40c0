// Texts with places where they may break, laid out so that lines are not too long (P. Wadler, "A prettier printer", 1998).

/** A group is on one line if it fits, else all its own lines break. */
export type Document =
  | string
  | readonly Document[]
  | { readonly kind: "line"; readonly flat: string }
  | { readonly kind: "break" }
  | { readonly kind: "indent"; readonly content: Document }
  | { readonly kind: "group"; readonly content: Document; readonly isBroken: boolean }
  /** Shown in a broken group alone. */
  | { readonly kind: "if broken"; readonly text: string };

const INDENT = 4;
const WIDTH = 100;

/** A space, or the end of a line. */
export const LINE: Document = { kind: "line", flat: " " };
/** Nothing, or the end of a line. */
export const SOFT_LINE: Document = { kind: "line", flat: "" };
/** The end of a line, which breaks the groups around it. */
export const BREAK: Document = { kind: "break" };
export const LAST_COMMA: Document = { kind: "if broken", text: "," };

/** The content, with its line breaks indented by one level. */
export function indented(...content: readonly Document[]): Document {
  return { kind: "indent", content };
}

/** @param isBroken whether it is to break even if it fits */
export function group(content: Document, isBroken = false): Document {
  return { kind: "group", content, isBroken: isBroken || hasBreak(content) };
}

function hasBreak(document: Document): boolean {
  if (typeof document === "string") return false;
  if (isList(document)) return document.some(hasBreak);
  if (document.kind === "group") return document.isBroken;
  return document.kind === "break" || (document.kind === "indent" && hasBreak(document.content));
}

/** Between each two of the documents. */
export function separated(documents: readonly Document[], ...separator: readonly Document[]): Document[] {
  return documents.flatMap((each, i) => (i === 0 ? [each] : [...separator, each]));
}

function isList(document: Document): document is readonly Document[] {
  return Array.isArray(document);
}

interface Item {
  readonly document: Document;
  readonly indent: number;
  readonly isFlat: boolean;
}

/** The document as text, with groups broken that do not fit into a line. */
export function laidOut(document: Document): string {
  const lines = new Lines();
  const rest: Item[] = [{ document, indent: 0, isFlat: false }];
  for (let item = rest.pop(); item !== undefined; item = rest.pop()) {
    const { document: each, indent, isFlat } = item;
    if (typeof each === "string") lines.text(each);
    else if (isList(each)) pushAll(rest, each, indent, isFlat);
    else if (each.kind === "indent") rest.push({ document: each.content, indent: indent + INDENT, isFlat });
    else if (each.kind === "break") lines.end(indent);
    else if (each.kind === "if broken") lines.text(isFlat ? "" : each.text);
    else if (each.kind === "line") {
      if (isFlat) lines.text(each.flat);
      else lines.end(indent);
    } else {
      const flat: Item = { document: each.content, indent, isFlat: true };
      rest.push(!each.isBroken && fits(flat, rest, WIDTH - lines.column) ? flat : { ...flat, isFlat: false });
    }
  }
  return lines.all;
}

function pushAll(rest: Item[], documents: readonly Document[], indent: number, isFlat: boolean): void {
  for (let i = documents.length - 1; i >= 0; i--) rest.push({ document: documents[i]!, indent, isFlat });
}

/** Whether the item, and what follows it up to the next end of a line, has room. */
function fits(item: Item, rest: readonly Item[], room: number): boolean {
  const stack: Item[] = [item];
  let left = room;
  let next = rest.length;
  while (left >= 0) {
    const top = stack.pop() ?? rest[--next];
    if (top === undefined) return true;
    const { document: each, isFlat } = top;
    if (typeof each === "string") {
      const end = each.indexOf("\n");
      left -= end < 0 ? each.length : end;
      if (end >= 0) return left >= 0;
    } else if (isList(each)) pushAll(stack, each, 0, isFlat);
    else if (each.kind === "indent") stack.push({ ...top, document: each.content });
    else if (each.kind === "group") stack.push({ ...top, document: each.content, isFlat: isFlat && !each.isBroken });
    else if (each.kind === "break") return true;
    else if (each.kind === "if broken") left -= isFlat ? 0 : each.text.length;
    else if (isFlat) left -= each.flat.length;
    else return true;
  }
  return false;
}

class Lines {
  all = "";
  column = 0;
  /** Spaces that the present line begins with; those of an empty line are left out. */
  private waiting = 0;

  text(text: string): void {
    if (text === "") return;
    this.all += " ".repeat(this.waiting) + text;
    this.waiting = 0;
    const end = text.lastIndexOf("\n");
    this.column = end < 0 ? this.column + text.length : text.length - end - 1;
  }

  end(indent: number): void {
    this.all += "\n";
    this.column = indent;
    this.waiting = indent;
  }
}
