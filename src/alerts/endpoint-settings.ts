// Reads and validates an endpoint's settings from a request, and extracts its secrets, which are stored separately.
import { TsdbError } from "../model/errors.ts";
import { urlFault } from "../outgoing/go-url.ts";
import { type EndpointDraft, requireStatus, type SecretDraft } from "./draft.ts";
import type { EndpointSettings } from "./endpoint.ts";

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT"]);
const AUTH_METHODS: ReadonlySet<string> = new Set(["none", "basic", "bearer"]);

export interface CheckedEndpoint {
  readonly settings: EndpointSettings;
  /** Secrets by their keys. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** @throws TsdbError bad_request */
export function endpointSettings(draft: EndpointDraft, id: string): CheckedEndpoint {
  const secrets = new Map<string, string>();
  const keyOf = (secret: SecretDraft, suffix: string): string => {
    if (secret === null) return "";
    if ("key" in secret) return secret.key;
    secrets.set(`${id}-${suffix}`, secret.value);
    return `${id}-${suffix}`;
  };
  if (draft.name === "") throw refused("Notification Endpoint Name can't be empty");
  requireStatus(draft.status, "invalid status");
  const settings = settingsOf(draft, keyOf);
  requireWhole(settings);
  return { settings, secrets };
}

function settingsOf(draft: EndpointDraft, keyOf: (secret: SecretDraft, suffix: string) => string): EndpointSettings {
  const { type, url, clientURL, channel, headers, authMethod, method, contentTemplate } = draft;
  switch (type) {
    case "slack":
      return { type, url, tokenKey: keyOf(draft.token, "token") };
    case "pagerduty":
      return { type, clientURL, routingKeyKey: keyOf(draft.routingKey, "routing-key") };
    case "http":
      return {
        ...{ type, url, headers, authMethod, method, contentTemplate },
        tokenKey: keyOf(draft.token, "token"),
        usernameKey: keyOf(draft.username, "username"),
        passwordKey: keyOf(draft.password, "password"),
      };
    case "telegram":
      return { type, channel, tokenKey: keyOf(draft.token, "token") };
  }
}

function requireWhole(settings: EndpointSettings): void {
  switch (settings.type) {
    case "slack":
      if (settings.url === "") throw refused("slack endpoint URL must be provided");
      requireUrl(settings.url, "slack");
      return;
    case "pagerduty":
      if (settings.routingKeyKey === "") throw refused("pagerduty routing key is invalid");
      return;
    case "http": {
      const { url, method, authMethod, usernameKey, passwordKey, tokenKey } = settings;
      if (url === "") throw refused("http endpoint URL is empty");
      requireUrl(url, "http");
      if (!METHODS.has(method)) throw refused("invalid http http method");
      if (!AUTH_METHODS.has(authMethod)) throw refused("invalid http auth method");
      if (authMethod === "basic" && (usernameKey === "" || passwordKey === "")) {
        throw refused("invalid http username/password for basic auth");
      }
      if (authMethod === "bearer" && tokenKey === "") throw refused("invalid http token for bearer auth");
      return;
    }
    case "telegram":
      if (settings.tokenKey === "") throw refused("empty telegram bot token");
      if (settings.channel === "") throw refused("empty telegram channel");
  }
}

/** Rejects an address that cannot be parsed; whether it can be reached shows only when something is sent. */
function requireUrl(url: string, what: string): void {
  const fault = urlFault(url);
  if (fault !== null) throw refused(`${what} endpoint URL is invalid: ${fault}`);
}

function refused(message: string): TsdbError {
  return new TsdbError("bad_request", message);
}
