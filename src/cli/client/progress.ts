// A progress line on a terminal.
import type { Terminal } from "./command.ts";

const WIDTH = 24;
const REDRAW_MS = 100;

/** One line that is drawn over itself, at most every 100 ms. Nothing without a terminal. */
export class ProgressLine {
  private drawnMs = 0;

  constructor(private readonly terminal: Terminal) {}

  /** @param text called when the line is due */
  redraw(text: () => string): void {
    const nowMs = performance.now();
    if (!this.terminal.isOutputTerminal || nowMs - this.drawnMs < REDRAW_MS) return;
    this.drawnMs = nowMs;
    this.show(text());
  }

  /** The same at once; an empty text removes the line. */
  show(text: string): void {
    if (this.terminal.isOutputTerminal) this.terminal.control(`\r${text}\x1b[K`);
  }
}

/** What has been written of a file; `end` writes a summary. Sizes are bytes. */
export class Progress {
  private readonly line: ProgressLine;
  private readonly startMs = performance.now();

  /** @param total bytes, if known */
  constructor(
    private readonly terminal: Terminal,
    private readonly total: number | undefined,
    private readonly isQuiet: boolean,
  ) {
    this.line = new ProgressLine(terminal);
  }

  show(bytes: number, lines: number): void {
    if (!this.isQuiet) this.line.redraw(() => this.text(bytes, lines));
  }

  /** Prints a summary on a line of its own. */
  end(bytes: number, lines: number): void {
    if (this.isQuiet) return;
    this.line.show("");
    const seconds = (performance.now() - this.startMs) / 1000;
    const rate = Math.round(lines / Math.max(seconds, 0.001)).toLocaleString("en-US");
    this.terminal.error(
      `${lines.toLocaleString("en-US")} ${lines === 1 ? "line" : "lines"}, ${megabytes(bytes)}, ${seconds.toFixed(1)} s, ${rate} lines/s\n`,
    );
  }

  private text(bytes: number, lines: number): string {
    const counts = `${lines.toLocaleString("en-US")} lines  ${megabytes(bytes)}`;
    if (this.total === undefined || this.total === 0) return counts;
    return `${bar(bytes / this.total)}  ${counts}`;
  }
}

/** A share from 0 to 1, as a bar and in per cent. */
export function bar(share: number): string {
  const done = Math.min(1, share);
  return `[${"#".repeat(Math.round(done * WIDTH)).padEnd(WIDTH)}] ${Math.floor(done * 100)} %`;
}

/** Bytes in megabytes. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
