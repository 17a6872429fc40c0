// Notification endpoints as stored. Secrets are among the organization's secrets; an endpoint has their keys.
import type { StoredAlert } from "../metadata/resources/alert-records.ts";

export const ENDPOINT_TYPES = ["slack", "pagerduty", "http", "telegram"] as const;
export type EndpointType = (typeof ENDPOINT_TYPES)[number];

export interface SlackSettings {
  readonly type: "slack";
  readonly url: string;
  /** "": none. */
  readonly tokenKey: string;
}
export interface PagerDutySettings {
  readonly type: "pagerduty";
  readonly clientURL: string;
  readonly routingKeyKey: string;
}
export interface HttpSettings {
  readonly type: "http";
  readonly url: string;
  /** Null: not given. Stored and shown, never sent. */
  readonly headers: Readonly<Record<string, string>> | null;
  readonly tokenKey: string;
  readonly usernameKey: string;
  readonly passwordKey: string;
  readonly authMethod: string;
  readonly method: string;
  readonly contentTemplate: string;
}
export interface TelegramSettings {
  readonly type: "telegram";
  readonly tokenKey: string;
  readonly channel: string;
}
export type EndpointSettings = SlackSettings | PagerDutySettings | HttpSettings | TelegramSettings;

export interface NamedEndpoint {
  readonly id: string;
  readonly name: string;
  readonly settings: EndpointSettings;
}

export type Endpoint = Omit<StoredAlert<"notification_endpoint">, "settings"> & { readonly settings: EndpointSettings };

/** The stored record with typed settings. */
export function endpointOf(record: StoredAlert<"notification_endpoint">): Endpoint {
  return { ...record, settings: record.settings as EndpointSettings };
}
