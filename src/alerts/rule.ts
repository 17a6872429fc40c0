// Notification rules as stored: which statuses are sent to an endpoint, and how often.
import type { StoredAlert } from "../metadata/resources/alert-records.ts";
import { TsdbError } from "../model/errors.ts";
import type { EndpointType } from "./endpoint.ts";
import type { Level } from "./level.ts";

export const TAG_OPERATORS = ["equal", "notequal", "equalregex", "notequalregex"] as const;

export interface TagRule {
  readonly key: string;
  readonly value: string;
  readonly operator: (typeof TAG_OPERATORS)[number];
}

/** Messages start with `head`. @throws TsdbError bad_request for an unknown operator */
export function readOperator(text: string | null, head = ""): TagRule["operator"] {
  const known = TAG_OPERATORS.find((each) => each === text);
  if (known === undefined) throw new TsdbError("bad_request", `${head}unrecognized operator`);
  return known;
}

export interface StatusRule {
  readonly currentLevel: Level;
  /** Null: any previous level. */
  readonly previousLevel: Level | null;
}

export interface RuleSettings {
  /** Same as the endpoint's. */
  readonly type: EndpointType;
  readonly every: string;
  /** Null: none. */
  readonly offset: string | null;
  /** RFC 3339; null: not given. */
  readonly sleepUntil: string | null;
  readonly runbookLink: string;
  readonly tagRules: readonly TagRule[];
  readonly statusRules: readonly StatusRule[];
  readonly limit: { readonly limit: number; readonly limitEvery: number } | null;
  /** Slack only. */
  readonly channel: string;
  /** All types but HTTP. */
  readonly messageTemplate: string;
  /** Telegram only. */
  readonly parseMode: string;
  readonly disableWebPagePreview: boolean;
}

export interface NamedRule {
  readonly id: string;
  readonly name: string;
  readonly settings: RuleSettings;
}

export type Rule = Omit<StoredAlert<"notification_rule">, "settings"> & { readonly settings: RuleSettings };

/** The stored record with typed settings. */
export function ruleOf(record: StoredAlert<"notification_rule">): Rule {
  return { ...record, settings: record.settings as RuleSettings };
}
