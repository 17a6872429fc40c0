// Levels of statuses.

const LEVELS = ["UNKNOWN", "OK", "INFO", "WARN", "CRIT", "ANY"] as const;
export type Level = (typeof LEVELS)[number];

/** In any case; what is not known is `UNKNOWN`. */
export function readLevel(text: string): Level {
  const upper = text.toUpperCase();
  return LEVELS.find((level) => level === upper) ?? "UNKNOWN";
}

/** As scripts and statuses have it. */
export function levelName(level: Level): string {
  return level.toLowerCase();
}
