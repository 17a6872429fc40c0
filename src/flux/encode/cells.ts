// Cells of annotated CSV.
import type { FluxColumn } from "../tables/column.ts";
import { timeText } from "../values/duration.ts";
import { floatText } from "../values/text.ts";

export const EOL = "\r\n";

/** Times that are kept: tables of windows have the same ones. */
const TIMES_MAX = 4096;
/** Of longer columns no texts are kept. */
const SHARED_MAX = 1024;

/** Texts of cells, one by one. */
export class CellTexts {
  private readonly times = new Map<bigint, string>();
  /** The texts of one column of times, which many tables share. */
  private shared: { readonly cells: BigInt64Array; readonly texts: (string | undefined)[] } | null = null;
  private readonly needsQuotes: RegExp;
  /** Times and numbers may need quotes too: the delimiter can be a part of them. */
  readonly quotesAll: boolean;

  constructor(delimiter: string) {
    this.needsQuotes = quoting(delimiter);
    this.quotesAll = /[-+.:\w]/.test(delimiter);
  }

  /** A null is empty. */
  of(column: FluxColumn, row: number): string {
    const at = row & column.mask;
    if (column.valid !== null && column.valid[at] === 0) return "";
    const text = this.textOf(column, at);
    return this.quotesAll || column.type === "string" ? this.quoted(text) : text;
  }

  private textOf({ cells, type }: FluxColumn, at: number): string {
    switch (type) {
      case "string":
        return (cells as string[])[at]!;
      case "float":
        return floatText((cells as Float64Array)[at]!);
      case "bool":
        return (cells as Uint8Array)[at] === 1 ? "true" : "false";
      case "time":
        return this.timeAt(cells as BigInt64Array, at);
      default:
        return String((cells as BigInt64Array)[at]);
    }
  }

  /** In quotes if it needs them. */
  quoted(text: string): string {
    if (!this.needsQuotes.test(text)) return text;
    // line ends within a cell are those of the file, as recorded
    return `"${text.replaceAll('"', '""').replaceAll("\r", "").replaceAll("\n", EOL)}"`;
  }

  private timeAt(cells: BigInt64Array, at: number): string {
    if (cells.length > SHARED_MAX) return this.time(cells[at]!);
    if (this.shared?.cells !== cells) this.shared = { cells, texts: [] };
    const { texts } = this.shared;
    let text = texts[at];
    if (text === undefined) {
      text = this.time(cells[at]!);
      texts[at] = text;
    }
    return text;
  }

  private time(ns: bigint): string {
    let text = this.times.get(ns);
    if (text === undefined) {
      text = timeText(ns);
      if (this.times.size >= TIMES_MAX) this.times.clear();
      this.times.set(ns, text);
    }
    return text;
  }
}

/** What Go's writer puts in quotes. */
function quoting(delimiter: string): RegExp {
  return new RegExp(`["\\r\\n]|^\\p{White_Space}|^\\\\\\.$|\\u{${delimiter.codePointAt(0)!.toString(16)}}`, "u");
}
