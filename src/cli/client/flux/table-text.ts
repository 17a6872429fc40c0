// Annotated CSV as tables for people: each with its result and its key, columns side by side.
import { csvRows } from "../../../flux/library/csv/parse-csv.ts";

/** Rows that decide how wide columns are. */
const WIDTH_ROWS = 1000;
const CELL_LENGTH_MAX = 80;
const NUMBERS: ReadonlySet<string> = new Set(["long", "unsignedLong", "double"]);

/** @param pieces with the annotations datatype, group and default */
export async function* tableText(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const writer = new TableWriter();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  for await (const piece of pieces) {
    text += decoder.decode(piece, { stream: true });
    const end = endOfRows(text);
    if (end === 0) continue;
    const shown = writer.rows(text.slice(0, end));
    text = text.slice(end);
    if (shown !== "") yield Buffer.from(shown);
  }
  const rest = writer.rows(text) + writer.end();
  if (rest !== "") yield Buffer.from(rest);
}

/** Behind the last whole row: a line end within quotes is none. */
function endOfRows(text: string): number {
  let end = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) isQuoted = !isQuoted;
    else if (code === 10 && !isQuoted) end = at + 1;
  }
  return end;
}

class TableWriter {
  private annotations = new Map<string, readonly string[]>();
  private header: readonly string[] | null = null;
  private table = "";
  private waiting: (readonly string[])[] = [];
  private widths: readonly number[] = [];

  /** What can be shown after these rows. */
  rows(csv: string): string {
    let text = "";
    for (const cells of csvRows(csv)) text += this.row(cells);
    return text;
  }

  end(): string {
    const text = this.flushed();
    this.header = null;
    this.annotations = new Map();
    this.table = "";
    return text;
  }

  private row(cells: readonly string[]): string {
    if (cells.length === 0) return this.header === null || this.table !== "" ? this.end() : this.emptyTable();
    if (cells[0]!.startsWith("#")) {
      const before = this.header === null ? "" : this.end();
      this.annotations.set(cells[0]!.slice(1), cells);
      return before;
    }
    if (this.header === null) {
      this.header = cells;
      return "";
    }
    if (this.header[1] === "error") return `error: ${cells[1]}\n`;
    const id = cells[2] ?? "";
    const before = id === this.table ? "" : this.flushed();
    this.table = id;
    this.waiting.push(cells);
    return before + (this.widths.length > 0 || this.waiting.length >= WIDTH_ROWS ? this.lines() : "");
  }

  private emptyTable(): string {
    const cells = this.annotations.get("default");
    if (this.header?.[1] === "error" || cells === undefined) return this.end();
    this.table = cells[2] ?? "";
    const text = `${this.title(cells)}  (no rows)\n\n`;
    this.end();
    return text;
  }

  private flushed(): string {
    if (this.waiting.length === 0 && this.widths.length === 0) return "";
    const text = this.lines();
    this.widths = [];
    return `${text}\n`;
  }

  private lines(): string {
    const shown = this.shownColumns();
    let text = "";
    if (this.widths.length === 0) {
      const [first] = this.waiting;
      if (first === undefined) return "";
      this.widths = shown.map((i) => Math.max(...[this.header!, ...this.waiting].map((cells) => lengthOf(cells[i] ?? ""))));
      text += this.title(first);
      const names = shown.map((i, k) => this.padded(this.header![i]!, i, k));
      text += `  ${names.join("  ").trimEnd()}\n  ${this.widths.map((width) => "-".repeat(width)).join("  ")}\n`;
    }
    for (const cells of this.waiting)
      text += `  ${shown
        .map((i, k) => this.padded(cells[i] ?? "", i, k))
        .join("  ")
        .trimEnd()}\n`;
    this.waiting = [];
    return text;
  }

  private title(cells: readonly string[]): string {
    const groups = this.annotations.get("group") ?? [];
    const key = this.header!.flatMap((label, i) => (i > 2 && groups[i] === "true" ? [`${label}=${oneLine(cells[i] ?? "")}`] : []));
    const result = cells[1] || this.annotations.get("default")?.[1] || "_result";
    return `${result}, table ${cells[2] ?? ""}${key.length === 0 ? "" : `: ${key.join(" ")}`}\n`;
  }

  /** Columns beside the key, which stands in the title. */
  private shownColumns(): number[] {
    const groups = this.annotations.get("group") ?? [];
    const all = this.header!.map((_, i) => i).slice(3);
    const others = all.filter((i) => groups[i] !== "true");
    return others.length === 0 ? all : others;
  }

  private padded(cell: string, column: number, k: number): string {
    const text = oneLine(cell);
    const width = this.widths[k]!;
    const pad = " ".repeat(Math.max(0, width - Bun.stringWidth(text)));
    return NUMBERS.has(this.annotations.get("datatype")?.[column] ?? "") ? pad + text : text + pad;
  }
}

function lengthOf(cell: string): number {
  return Bun.stringWidth(oneLine(cell));
}

function oneLine(cell: string): string {
  const text = cell.replace(/\r?\n/g, "\\n");
  return text.length <= CELL_LENGTH_MAX ? text : `${text.slice(0, CELL_LENGTH_MAX - 1)}…`;
}
