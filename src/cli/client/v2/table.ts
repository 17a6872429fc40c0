// Tables of the v2 commands: columns separated by tabs, as many as align them, so that people read them and programs cut them.
import { visibleLine } from "../../visible-text.ts";

/** A resource as the server shows it. */
export type Row = Readonly<Record<string, unknown>>;
/** Headers, and the property that each shows or how it is found. */
export type Columns = Readonly<Record<string, string | ((row: Row) => unknown)>>;

const TAB = 8;

/** Text of a table; without rows its headers alone. */
export function tableOf(columns: Columns, rows: readonly Row[], hasHeaders: boolean): string {
  const names = Object.keys(columns);
  const body = rows.map((row) => names.map((name) => cellText(shownValue(columns[name]!, row))));
  const all = hasHeaders ? [names, ...body] : body;
  const widths = names.map((_, i) => Math.max(0, ...all.map((cells) => Bun.stringWidth(cells[i]!))));
  const tabs = (text: string, i: number) => {
    const end = (Math.floor(widths[i]! / TAB) + 1) * TAB;
    return "\t".repeat(Math.ceil((end - Bun.stringWidth(text)) / TAB));
  };
  return all.map((cells) => `${cells.map((text, i) => (i === cells.length - 1 ? text : text + tabs(text, i))).join("")}\n`).join("");
}

function shownValue(column: Columns[string], row: Row): unknown {
  return typeof column === "string" ? row[column] : column(row);
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return visibleLine(Array.isArray(value) ? `[${value.join(" ")}]` : String(value)).replaceAll("\t", " ");
}

/** Seconds as `720h0m0s`; 0 is for ever. */
export function durationText(seconds: number, ever = "infinite"): string {
  if (seconds === 0) return ever;
  return `${Math.floor(seconds / 3600)}h${Math.floor(seconds / 60) % 60}m${seconds % 60}s`;
}
