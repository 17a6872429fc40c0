// Collects the text of a statement, and the origin of its parts.
import type { QueryNode } from "../parse/tree.ts";

/** Writes a whole query. */
export type PrintQuery = (out: SqlWriter, node: QueryNode) => void;

/** The text being printed. */
export class SqlWriter {
  private written = "";
  /** Ascending: the text from character `at` to the next mark originates from `location` in the statement. */
  private readonly marks: { readonly at: number; readonly location: number }[] = [];

  /** True if it may use columns that it does not name. */
  namesAll = false;

  /** True if DuckDB cannot run its plan a second time. */
  runsOnce = false;

  /** In lower case. */
  private readonly scanNames = new Set<string>();
  private readonly unqualified = new Set<string>();

  /** @param printQuery that of print.ts, needed for queries in expressions @param scanCalls those of the statement's scans, by index */
  constructor(
    private readonly printQuery: PrintQuery,
    readonly scanCalls: readonly string[],
  ) {}

  query(node: QueryNode): void {
    this.printQuery(this, node);
  }

  put(text: string): this {
    this.written += text;
    return this;
  }

  /** A scan has this name in its FROM clause. */
  namedScan(name: string): void {
    this.scanNames.add(name.toLowerCase());
  }

  /** A column, or a table, is referred to by its name alone. */
  refersTo(name: string): void {
    this.unqualified.add(name.toLowerCase());
  }

  /** Scans, in lower case, that the text may refer to as a value with all columns, if there is no column of this name. */
  get wholeRows(): readonly string[] {
    return [...this.scanNames].filter((name) => this.unqualified.has(name));
  }

  /** The following text originates from `location` in the statement. */
  mark(location: number | undefined): void {
    if (location !== undefined) this.marks.push({ at: this.written.length, location });
  }

  get text(): string {
    return this.written;
  }

  /** The location in the statement of a byte offset in the text; null if nothing before it is marked. */
  sourceOf(byteOffset: number): number | null {
    const char = Buffer.from(this.written, "utf8").subarray(0, byteOffset).toString("utf8").length;
    return this.marks.findLast(({ at }) => at <= char)?.location ?? null;
  }
}
