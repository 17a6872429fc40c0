// The part of a rule's script that depends on its endpoint: packages, secrets, the sender, and the mapping of statuses.
import { TsdbError } from "../../model/errors.ts";
import type { EndpointSettings, HttpSettings, PagerDutySettings, SlackSettings, TelegramSettings } from "../endpoint.ts";
import type { RuleSettings } from "../rule.ts";
import { quoted, record, templateLiteral } from "./script-text.ts";

const SECRETS = "influxdata/influxdb/secrets";
const EXPERIMENTAL = "experimental";

export interface Sender {
  readonly imports: readonly string[];
  /** Statements after the task option; the last one defines the sender. */
  readonly statements: readonly string[];
  /** The endpoint argument of `monitor.notify`. */
  readonly call: string;
}

/** @throws TsdbError bad_request if the types of endpoint and rule differ, or a template is not a string */
export function senderOf(endpoint: EndpointSettings, rule: RuleSettings): Sender {
  if (endpoint.type !== rule.type) {
    throw new TsdbError("bad_request", `the notification rule is of type ${rule.type}, its endpoint of type ${endpoint.type}`);
  }
  switch (endpoint.type) {
    case "slack":
      return slackSender(endpoint, rule);
    case "pagerduty":
      return pagerDutySender(endpoint);
    case "http":
      return httpSender(endpoint);
    case "telegram":
      return telegramSender(endpoint, rule);
  }
}

function slackSender({ url, tokenKey }: SlackSettings, { channel, messageTemplate }: RuleSettings): Sender {
  const color = `if r["_level"] == "crit" then "danger" else if r["_level"] == "warn" then "warning" else "good"`;
  const message = record([
    ["channel", quoted(channel)],
    ["text", templateLiteral(messageTemplate)],
    ["color", color],
  ]);
  const given = [...(tokenKey === "" ? [] : ["token: slack_secret"]), `url: ${quoted(url)}`];
  return {
    imports: ["slack", SECRETS, EXPERIMENTAL],
    statements: [...secretOf("slack_secret", tokenKey), `slack_endpoint = slack["endpoint"](${given.join(", ")})`],
    call: `slack_endpoint(mapFn: (r) => (${message}))`,
  };
}

/** The template of the rule is not sent, and not read, as recorded: the message is that of the check. */
function pagerDutySender({ clientURL, routingKeyKey }: PagerDutySettings): Sender {
  const event = record([
    ["routingKey", "pagerduty_secret"],
    ["client", `"influxdata"`],
    ["clientURL", quoted(clientURL)],
    ["class", "r._check_name"],
    ["group", `r["_source_measurement"]`],
    ["severity", `pagerduty["severityFromLevel"](level: r["_level"])`],
    ["eventAction", `pagerduty["actionFromLevel"](level: r["_level"])`],
    ["source", `notification["_notification_rule_name"]`],
    ["summary", `r["_message"]`],
    ["timestamp", `time(v: r["_source_timestamp"])`],
  ]);
  return {
    imports: ["pagerduty", SECRETS, EXPERIMENTAL],
    statements: [...secretOf("pagerduty_secret", routingKeyKey), `pagerduty_endpoint = pagerduty["endpoint"]()`],
    call: `pagerduty_endpoint(mapFn: (r) => (${event}))`,
  };
}

function httpSender({ url, authMethod, tokenKey, usernameKey, passwordKey }: HttpSettings): Sender {
  const headers = [`"Content-Type": "application/json"`];
  if (authMethod === "bearer") headers.push(`"Authorization": "Bearer " + ${secretCall(tokenKey)}`);
  if (authMethod === "basic") {
    headers.push(`"Authorization": http["basicAuth"](u: ${secretCall(usernameKey)}, p: ${secretCall(passwordKey)})`);
  }
  const isSecret = headers.length > 1;
  const body = `body = {r with _version: 1}\n\nreturn {headers: headers, data: json["encode"](v: body)}`;
  return {
    imports: ["http", "json", EXPERIMENTAL, ...(isSecret ? [SECRETS] : [])],
    statements: [`headers = {${headers.join(", ")}}`, `endpoint = http["endpoint"](url: ${quoted(url)})`],
    call: `endpoint(mapFn: (r) => { ${body} })`,
  };
}

function telegramSender({ tokenKey, channel }: TelegramSettings, rule: RuleSettings): Sender {
  const { messageTemplate, parseMode, disableWebPagePreview } = rule;
  const message = record([
    ["channel", quoted(channel)],
    ["text", templateLiteral(messageTemplate)],
    ["silent", `if r["_level"] == "crit" then true else if r["_level"] == "warn" then true else false`],
  ]);
  const given = [
    ...(tokenKey === "" ? [] : ["token: telegram_secret"]),
    ...(parseMode === "" ? [] : [`parseMode: ${quoted(parseMode)}`]),
    `disableWebPagePreview: ${disableWebPagePreview}`,
  ];
  return {
    imports: ["contrib/sranka/telegram", SECRETS, EXPERIMENTAL],
    statements: [...secretOf("telegram_secret", tokenKey), `telegram_endpoint = telegram["endpoint"](${given.join(", ")})`],
    call: `telegram_endpoint(mapFn: (r) => (${message}))`,
  };
}

function secretOf(name: string, key: string): string[] {
  return key === "" ? [] : [`${name} = ${secretCall(key)}`];
}

function secretCall(key: string): string {
  return `secrets["get"](key: ${quoted(key)})`;
}
