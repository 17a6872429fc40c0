// What was typed into the shell, entry by entry: a statement is one, however many lines it has. In the file a line that begins with a tab
// goes on with the entry above it.
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { visible } from "../visible-text.ts";
import type { Terminal } from "./command.ts";

export const HISTORY_ENTRIES_MAX = 2000;

/** The shell's history, kept in a file. Without a usable file it lasts as long as the shell. */
export class History {
  private readonly path: string;
  private readonly entries_: string[];
  /** Lines of the entry that is typed. */
  private lines: string[] = [];

  constructor(environment: Terminal["environment"]) {
    this.path = environment["TSDB_HISTORY_FILE"] ?? join(homedir(), ".local/state/tsdb/history");
    this.entries_ = entriesIn(this.path);
  }

  /** The newest first and each once, as a terminal may show them. */
  get entries(): string[] {
    const newest = this.entries_.slice(-HISTORY_ENTRIES_MAX).reverse();
    return [...new Set(newest.map(visible))];
  }

  /** A line that was typed. `isLast`: nothing is missing behind it. */
  add(line: string, isLast: boolean): void {
    this.lines.push(line);
    if (!isLast) return;
    // what begins with a tab would go on with the entry before
    const entry = this.lines.join("\n").trim();
    this.lines = [];
    if (entry === "" || entry === this.entries_.at(-1)) return;
    this.entries_.push(entry);
    try {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      appendFileSync(this.path, `${entry.replaceAll("\n", "\n\t")}\n`, { mode: 0o600 });
    } catch {
      // a shell without a history is a shell
    }
  }

  /** Forgets the lines of an entry that is not whole. */
  abandon(): void {
    this.lines = [];
  }
}

function entriesIn(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return [];
  }
  const entries = text.split(/\n(?!\t)/).map((entry) => entry.replaceAll("\n\t", "\n"));
  return entries.filter(Boolean).slice(-HISTORY_ENTRIES_MAX);
}
