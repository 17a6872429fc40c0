// Text of a statement as it is written, and which part of it came from where.
import type { QueryNode } from "../parse/tree.ts";

/** Writes a whole query. */
export type PrintQuery = (out: SqlWriter, node: QueryNode) => void;

export class SqlWriter {
  private written = "";
  /** Ascending: from `at` characters on, up to the next, the text stems from `location` in the statement. */
  private readonly marks: { readonly at: number; readonly location: number }[] = [];

  /** `printQuery`: print.ts's, which expressions need for their queries. `handles`: those of the statement's scans, by their places. */
  constructor(
    private readonly printQuery: PrintQuery,
    readonly handles: readonly number[],
  ) {}

  query(node: QueryNode): void {
    this.printQuery(this, node);
  }

  put(text: string): this {
    this.written += text;
    return this;
  }

  /** What follows stems from `location` in the statement. */
  mark(location: number | undefined): void {
    if (location !== undefined) this.marks.push({ at: this.written.length, location });
  }

  get text(): string {
    return this.written;
  }

  /** The location in the statement of a byte offset in the text; null when nothing before it is marked. */
  sourceOf(byteOffset: number): number | null {
    const char = Buffer.from(this.written, "utf8").subarray(0, byteOffset).toString("utf8").length;
    return this.marks.findLast(({ at }) => at <= char)?.location ?? null;
  }
}
