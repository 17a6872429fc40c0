// Progress of loading: a bar that is redrawn on a terminal, a line at the end elsewhere.

const BAR_CHARACTERS = 24;
const REDRAW_MS = 50;

export interface Progress {
  /** 0 … 1. */
  readonly done: number;
  readonly rowCount: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly what: string;
}

/** `[#####.....]  12,345 rows  1.2 MB  345,678 rows/s  weather` */
export function progressLine({ done, rowCount, bytes, seconds, what }: Progress): string {
  const full = Math.round(Math.max(0, Math.min(1, done)) * BAR_CHARACTERS);
  const bar = "#".repeat(full) + ".".repeat(BAR_CHARACTERS - full);
  const rate = seconds > 0 ? Math.round(rowCount / seconds) : 0;
  const numbers = `${rowCount.toLocaleString("en")} rows  ${(bytes / 1e6).toFixed(1)} MB  ${rate.toLocaleString("en")} rows/s`;
  return `[${bar}]  ${numbers}  ${what}`;
}

/** Draws on `stream`; only the last state when it is not a terminal. */
export class ProgressBar {
  private drawnMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly stream: { isTTY?: boolean; write(text: string): unknown }) {}

  draw(progress: Progress, nowMs: number): void {
    if (this.stream.isTTY !== true || nowMs - this.drawnMs < REDRAW_MS) return;
    this.drawnMs = nowMs;
    this.stream.write(`\r\x1b[2K${progressLine(progress)}`);
  }

  finish(progress: Progress): void {
    this.stream.write(`${this.stream.isTTY === true ? "\r\x1b[2K" : ""}${progressLine(progress)}\n`);
  }
}
