// Selects log lines: a minimum level for all components, and exceptions for single ones.

const LEVELS = ["trace", "debug", "info", "warn", "error", "off"] as const;
export type LogLevel = (typeof LEVELS)[number];
export type LogFormat = "full" | "json" | "logfmt";
export type LogDestination = "stdout" | "stderr";

export interface LogFilter {
  readonly level: LogLevel;
  /** Levels by component: `wal`, `http`, `query` …; names of other servers' modules, as `iox_query::query_log`, select nothing. */
  readonly parts: ReadonlyMap<string, LogLevel>;
}

/** Parses `info`, `warn,wal=debug`; null if invalid. Without a general level, it is `info`. */
export function parseLogFilter(text: string): LogFilter | null {
  let level: LogLevel = "info";
  const parts = new Map<string, LogLevel>();
  for (const item of text.toLowerCase().split(",")) {
    const match = /^\s*(?:([a-z][\w:-]*)\s*=\s*)?(\w+)\s*$/.exec(item);
    const wanted = LEVELS.find((each) => each === match?.[2]);
    if (wanted === undefined) return null;
    const part = match?.[1];
    if (part === undefined) level = wanted;
    else parts.set(part, wanted);
  }
  return { level, parts };
}
