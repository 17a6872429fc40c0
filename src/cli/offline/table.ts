// Lists of the offline commands, for people and for programs.
import { TsdbError } from "../../model/errors.ts";
import type { Terminal } from "../client/command.ts";
import type { Input } from "../client/options.ts";
import { visible } from "../visible-text.ts";

export type Row = Readonly<Record<string, string | number | null>>;

/** Rows of equal members: a table with a heading, or JSON. @throws TsdbError config for another format */
export function printRows(input: Input, terminal: Terminal, rows: readonly Row[]): void {
  const format = input.option("format")!;
  if (format === "json") terminal.out(`${JSON.stringify(rows, null, 2)}\n`);
  else if (format === "pretty") terminal.out(rows.length === 0 ? "none\n" : tableOf(rows));
  else throw new TsdbError("config", `--format must be pretty or json, got "${format}"`);
}

/** Rows as text, with aligned columns. */
export function tableOf(rows: readonly Row[]): string {
  const names = Object.keys(rows[0]!);
  const cells = [names, ...rows.map((row) => names.map((name) => visible(String(row[name] ?? "")).replaceAll("\n", " ")))];
  const widths = names.map((_, i) => Math.max(...cells.map((cell) => cell[i]!.length)));
  const line = (cell: readonly string[]) => cell.map((text, i) => (i === cell.length - 1 ? text : text.padEnd(widths[i]!))).join("  ");
  return `${cells.map(line).join("\n")}\n`;
}
