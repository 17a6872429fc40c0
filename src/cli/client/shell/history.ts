// The shell's history, entry by entry: a statement is one entry, however many lines it has. In the file, a line that starts with a tab
// continues the previous one.
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { visible } from "../../visible-text.ts";
import type { Terminal } from "../command.ts";

export const HISTORY_ENTRIES_MAX = 2000;

/** The shell's history in a file. Without a usable file it is kept in memory. */
export class History {
  private readonly path: string;
  private readonly entries_: string[];
  /** Lines of the entry being typed. */
  private lines: string[] = [];

  /** @param name of the file, unless the environment names one */
  constructor(environment: Terminal["environment"], name = "history") {
    this.path = environment["TSDB_HISTORY_FILE"] ?? join(homedir(), ".local/state/tsdb", name);
    this.entries_ = entriesIn(this.path);
  }

  /** Newest first, each once, in a form that terminals can display. */
  get entries(): string[] {
    const newest = this.entries_.slice(-HISTORY_ENTRIES_MAX).reverse();
    return [...new Set(newest.map(visible))];
  }

  /** Adds a typed line. `isLast`: it completes the entry. */
  add(line: string, isLast: boolean): void {
    this.lines.push(line);
    if (!isLast) return;
    // an entry must not start with a tab, which would continue the previous one
    const entry = this.lines.join("\n").trim();
    this.lines = [];
    if (entry === "" || entry === this.entries_.at(-1)) return;
    this.entries_.push(entry);
    try {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      appendFileSync(this.path, `${entry.replaceAll("\n", "\n\t")}\n`, { mode: 0o600 });
    } catch {
      // the shell works without a history
    }
  }

  /** Discards the lines of an incomplete entry. */
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
