// Which log lines are wanted: a least level for all, and others for single parts of the server.

export const LEVELS = ["trace", "debug", "info", "warn", "error", "off"] as const;
export type LogLevel = (typeof LEVELS)[number];
export type LogFormat = "full" | "json";

export interface LogFilter {
  readonly level: LogLevel;
  /** By part: `wal`, `http`, `query` … */
  readonly parts: ReadonlyMap<string, LogLevel>;
}

/** `info`, `warn,wal=debug`; null when it cannot be read. Without a level of its own the rest is `info`. */
export function parseLogFilter(text: string): LogFilter | null {
  let level: LogLevel = "info";
  const parts = new Map<string, LogLevel>();
  for (const item of text.toLowerCase().split(",")) {
    const match = /^\s*(?:([a-z][\w-]*)\s*=\s*)?(\w+)\s*$/.exec(item);
    const wanted = LEVELS.find((each) => each === match?.[2]);
    if (wanted === undefined) return null;
    const part = match?.[1];
    if (part === undefined) level = wanted;
    else parts.set(part, wanted);
  }
  return { level, parts };
}
