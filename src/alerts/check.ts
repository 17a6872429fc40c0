// Checks as stored: common properties, and those of each type.
import type { Level } from "./level.ts";

export const CHECK_TYPES = ["threshold", "deadman", "custom"] as const;
export type CheckType = (typeof CHECK_TYPES)[number];

export interface Tag {
  readonly key: string;
  readonly value: string;
}

/** A query, and how an editor shows it. */
export interface CheckQuery {
  readonly text: string;
  readonly editMode: string;
  readonly name: string;
  readonly builderConfig: Readonly<Record<string, unknown>>;
}

interface Limit {
  readonly level: Level;
  readonly allValues: boolean;
}
/** The condition of one level. */
export type Threshold =
  | (Limit & { readonly type: "greater" | "lesser"; readonly value: number })
  | (Limit & { readonly type: "range"; readonly min: number; readonly max: number; readonly within: boolean });

/** Common settings of checks with a generated script. Durations are stored as they were given. */
interface GeneratedSettings {
  readonly query: CheckQuery;
  readonly statusMessageTemplate: string;
  readonly cron: string;
  readonly every: string;
  /** Null: none. */
  readonly offset: string | null;
  /** Null: not given. */
  readonly tags: readonly Tag[] | null;
}
export interface ThresholdSettings extends GeneratedSettings {
  readonly type: "threshold";
  /** Null: not given. */
  readonly thresholds: readonly Threshold[] | null;
}
export interface DeadmanSettings extends GeneratedSettings {
  readonly type: "deadman";
  readonly timeSince: string;
  readonly staleTime: string;
  readonly reportZero: boolean;
  readonly level: Level;
}
/** The script is the query. */
export interface CustomSettings {
  readonly type: "custom";
  readonly query: CheckQuery;
}
export type CheckSettings = ThresholdSettings | DeadmanSettings | CustomSettings;

export interface NamedCheck {
  readonly id: string;
  readonly name: string;
  readonly settings: CheckSettings;
}
