// Levels of statuses.

const LEVELS = ["UNKNOWN", "OK", "INFO", "WARN", "CRIT", "ANY"] as const;
export type Level = (typeof LEVELS)[number];

/** Case-insensitive; unknown levels are `UNKNOWN`. */
export function readLevel(text: string): Level {
  const upper = text.toUpperCase();
  return LEVELS.find((level) => level === upper) ?? "UNKNOWN";
}

/** The name in scripts and statuses. */
export function levelName(level: Level): string {
  return level.toLowerCase();
}
