// What triggers and their plugins have logged lately: the rows of system.processing_engine_logs. The server's log gets the same lines.
import type { PluginLogLevel } from "../plugins/plugin-call.ts";

export interface TriggerLogEntry {
  readonly timeMs: number;
  readonly databaseId: number;
  readonly trigger: string;
  readonly level: PluginLogLevel;
  readonly text: string;
}

/** Of one trigger, so that none displaces the lines of others. */
const ENTRIES_MAX = 1000;
/** Of all of them. */
const TEXT_CHARACTERS_MAX = 16 << 20;
const LINE_CHARACTERS_MAX = 8 << 10;
const RETENTION_MS = 7 * 86_400_000;

/** Lines of the last seven days, of each trigger at most the newest 1000, of all together at most 16 Mi characters. */
export class TriggerLog {
  private entries: TriggerLogEntry[] = [];
  /** By database and name: a trigger that is made again goes on with the lines of the one before. */
  private readonly counts = new Map<string, number>();
  private characters = 0;

  constructor(private readonly nowMs: () => number) {}

  /** Returns the line as it is kept: not longer than a line may be. */
  add(entry: Omit<TriggerLogEntry, "timeMs">): TriggerLogEntry {
    const { text } = entry;
    const isLong = text.length > LINE_CHARACTERS_MAX;
    const kept = { ...entry, timeMs: this.nowMs(), text: isLong ? `${text.slice(0, LINE_CHARACTERS_MAX)}…` : text };
    const key = keyOf(kept);
    if ((this.counts.get(key) ?? 0) >= ENTRIES_MAX) this.remove(this.entries.findIndex((each) => keyOf(each) === key));
    while (this.characters + kept.text.length > TEXT_CHARACTERS_MAX) this.remove(0);
    this.entries.push(kept);
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    this.characters += kept.text.length;
    return kept;
  }

  /** Of a database, in the order in which they came. */
  of(databaseId: number): TriggerLogEntry[] {
    const sinceMs = this.nowMs() - RETENTION_MS;
    while (this.entries.length > 0 && this.entries[0]!.timeMs < sinceMs) this.remove(0);
    return this.entries.filter((entry) => entry.databaseId === databaseId);
  }

  private remove(index: number): void {
    const [entry] = this.entries.splice(index, 1);
    const key = keyOf(entry!);
    const left = this.counts.get(key)! - 1;
    if (left === 0) this.counts.delete(key);
    else this.counts.set(key, left);
    this.characters -= entry!.text.length;
  }
}

function keyOf({ databaseId, trigger }: TriggerLogEntry): string {
  return `${databaseId}/${trigger}`;
}
