// Checks, endpoints and rules as requests describe them, before validation.
import type { Status } from "../metadata/store/kinds.ts";
import { TsdbError } from "../model/errors.ts";
import type { CheckQuery, CheckType, Tag, Threshold } from "./check.ts";
import type { EndpointType } from "./endpoint.ts";
import type { Level } from "./level.ts";
import type { StatusRule, TagRule } from "./rule.ts";
import type { Period } from "./scripts/period.ts";

export interface AlertDraft {
  /** Undefined: not given. */
  readonly orgID: string | undefined;
  readonly name: string;
  readonly description: string;
  readonly status: string;
  /** Ids of labels, as they were sent. */
  readonly labels: readonly string[];
}

export interface CheckDraft extends AlertDraft {
  readonly type: CheckType;
  readonly query: CheckQuery;
  readonly statusMessageTemplate: string;
  readonly cron: string;
  readonly every: Period | null;
  readonly offset: Period | null;
  readonly tags: readonly Tag[] | null;
  readonly thresholds: readonly Threshold[] | null;
  readonly timeSince: Period | null;
  readonly staleTime: Period | null;
  readonly reportZero: boolean;
  readonly level: Level;
}

/** The key of a secret, the secret itself, or neither. */
export type SecretDraft = { readonly key: string } | { readonly value: string } | null;

export interface EndpointDraft extends AlertDraft {
  readonly type: EndpointType;
  readonly url: string;
  readonly clientURL: string;
  readonly channel: string;
  readonly token: SecretDraft;
  readonly routingKey: SecretDraft;
  readonly username: SecretDraft;
  readonly password: SecretDraft;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly authMethod: string;
  readonly method: string;
  readonly contentTemplate: string;
}

export interface RuleDraft extends AlertDraft {
  readonly type: EndpointType;
  readonly endpointID: string | undefined;
  readonly every: Period | null;
  readonly offset: Period | null;
  readonly sleepUntil: string | null;
  readonly runbookLink: string;
  readonly tagRules: readonly TagRule[];
  readonly statusRules: readonly StatusRule[];
  readonly limit: number | null;
  readonly limitEvery: number | null;
  readonly channel: string;
  readonly messageTemplate: string;
  readonly parseMode: string;
  readonly disableWebPagePreview: boolean;
}

/** The properties that a PATCH may change. */
export interface AlertUpdate {
  readonly name?: string;
  readonly description?: string;
  readonly status?: string;
}

const SECRET = "secret: ";

/** `secret: KEY` names a secret of the organization; any other text is the secret itself. */
export function readSecret(text: string): SecretDraft {
  if (text === "") return null;
  if (!text.startsWith(SECRET)) return { value: text };
  return text === SECRET ? null : { key: text.slice(SECRET.length) };
}

/** The form that clients see. @param key "": none */
export function shownSecret(key: string): string {
  return key === "" ? "" : SECRET + key;
}

/** @throws TsdbError bad_request */
export function requireStatus(status: string, message = "invalid status: must be active or inactive"): Status {
  if (status !== "active" && status !== "inactive") throw new TsdbError("bad_request", message);
  return status;
}

/** @param what start of the error messages, as `Check` @throws TsdbError bad_request for properties that a PATCH cannot clear */
export function checkedUpdate({ name, description, status }: AlertUpdate, what: string) {
  if (name === "") throw new TsdbError("bad_request", `${what} Name can't be empty`);
  if (description === "") throw new TsdbError("bad_request", `${what} Description can't be empty`);
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(status === undefined ? {} : { status: requireStatus(status) }),
  };
}
