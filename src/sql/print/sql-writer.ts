// Text of a statement as it is written: which part of it came from where, and which parts differ from statement to statement of a shape.
import type { QueryNode } from "../parse/tree.ts";

/** Gives what stands in its place in the latest statement. `handles`: those of the statement's scans, by their places. */
type Slot = (handles: readonly number[]) => string;
/** Writes a part of the text anew. */
type Again = (out: SqlWriter) => void;

/** A location stands before what stems from it. */
type Part = string | { readonly location: number } | { readonly slot: Slot } | { readonly again: Again };

/** Writes a whole query. */
export type PrintQuery = (out: SqlWriter, node: QueryNode) => void;

export class SqlWriter {
  private readonly parts: Part[] = [];
  private compiled: readonly (string | Slot)[] | null = null;

  /** `printQuery`: print.ts's, which expressions need for the queries in them. */
  constructor(private readonly printQuery: PrintQuery) {}

  query(node: QueryNode): void {
    this.printQuery(this, node);
  }

  put(text: string): this {
    this.parts.push(text);
    return this;
  }

  slot(slot: Slot): void {
    this.parts.push({ slot });
  }

  again(again: Again): void {
    this.parts.push({ again });
  }

  /** What follows stems from `location` in the statement. */
  mark(location: number | undefined): void {
    if (location !== undefined) this.parts.push({ location });
  }

  /** The text for the latest statement. */
  toString(handles: readonly number[] = []): string {
    this.compiled ??= this.compile();
    let text = "";
    for (const part of this.compiled) text += typeof part === "string" ? part : part(handles);
    return text;
  }

  /** The location in the statement of a byte offset in the text; null when nothing before it is marked. */
  sourceOf(byteOffset: number, handles: readonly number[] = []): number | null {
    const char = Buffer.from(this.toString(handles), "utf8").subarray(0, byteOffset).toString("utf8").length;
    return this.lastLocation({ left: char }, handles);
  }

  /** The last location before `at.left` characters of the text, from which those of this text are taken. */
  private lastLocation(at: { left: number }, handles: readonly number[]): number | null {
    let found: number | null = null;
    for (const part of this.parts) {
      if (at.left < 0) break;
      if (typeof part === "string") at.left -= part.length;
      else if ("slot" in part) at.left -= part.slot(handles).length;
      else if ("location" in part) found = part.location;
      else found = this.written(part.again).lastLocation(at, handles) ?? found;
    }
    return found;
  }

  private written(again: Again): SqlWriter {
    const writer = new SqlWriter(this.printQuery);
    again(writer);
    return writer;
  }

  /** Neighbours that never change as one text. */
  private compile(): (string | Slot)[] {
    const compiled: (string | Slot)[] = [];
    let text = "";
    for (const part of this.parts) {
      if (typeof part === "string") text += part;
      else if (!("location" in part)) {
        compiled.push(text, "slot" in part ? part.slot : (handles) => this.written(part.again).toString(handles));
        text = "";
      }
    }
    compiled.push(text);
    return compiled;
  }
}
