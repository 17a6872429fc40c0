// Checks, notification endpoints and rules in templates.
import type { Tag, Threshold } from "../../alerts/check.ts";
import { type Level, readLevel } from "../../alerts/level.ts";
import { type StatusRule, TAG_OPERATORS, type TagRule } from "../../alerts/rule.ts";
import type { Status } from "../../metadata/store/kinds.ts";
import { near } from "../../model/errors.ts";
import type { TemplateKind } from "../kinds.ts";
import { NO_DURATION, readDuration, readWholeDuration } from "../periods.ts";
import type { SecretValue, SpecReader } from "../spec-reader.ts";

export interface CheckSpec {
  readonly category: "Check";
  readonly type: "threshold" | "deadman";
  readonly status: Status;
  readonly query: string;
  readonly statusMessageTemplate: string;
  readonly every: string;
  /** Null: none. */
  readonly offset: string;
  readonly tags: readonly Tag[];
  readonly thresholds: readonly Threshold[];
  readonly timeSince: string | null;
  readonly staleTime: string | null;
  readonly reportZero: boolean;
  readonly level: Level;
}

export interface EndpointSpec {
  readonly category: "NotificationEndpoint";
  readonly type: "http" | "pagerduty" | "slack";
  readonly status: Status;
  readonly url: string;
  readonly method: string;
  readonly authMethod: string;
  readonly token: SecretValue;
  readonly username: SecretValue;
  readonly password: SecretValue;
  readonly routingKey: SecretValue;
}

export interface RuleSpec {
  readonly category: "NotificationRule";
  readonly status: Status;
  /** The name in the endpoint's metadata. */
  readonly endpointName: string;
  readonly channel: string;
  readonly every: string;
  readonly offset: string;
  readonly messageTemplate: string;
  readonly statusRules: readonly StatusRule[];
  readonly tagRules: readonly TagRule[];
}

/** A member of a row in a message, as scripts have it. */
const MEMBER = (name: string) => `$\{ r.${name} }`;
const LEVELS: readonly string[] = ["CRIT", "WARN", "INFO", "OK"];
const METHODS: ReadonlySet<string> = new Set(["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"]);
const AUTH_METHODS: readonly string[] = ["basic", "bearer", "none"];

/** Errors are collected in the reader. */
export function readCheck(spec: SpecReader, kind: TemplateKind): CheckSpec {
  const type = kind === "CheckDeadman" ? "deadman" : "threshold";
  const every = readWholeDuration(spec, "every");
  if (every === NO_DURATION) spec.issue("every", "duration value must be provided that is >= 5s (seconds)");
  const query = spec.script("query").trim();
  if (query === "") spec.issue("query", "must provide a non zero value");
  const statusMessageTemplate = spec.text("statusMessageTemplate");
  if (statusMessageTemplate === "") {
    spec.issue("statusMessageTemplate", `must provide a template; ex. "Check: ${MEMBER("_check_name")} is: ${MEMBER("_level")}"`);
  }
  const status = readStatus(spec);
  const thresholds = type === "threshold" ? readThresholds(spec) : [];
  return {
    ...{ category: "Check", type, query, statusMessageTemplate, thresholds, status, every },
    offset: readWholeDuration(spec, "offset"),
    tags: spec.list("tags").map((tag) => ({ key: tag.text("key"), value: tag.text("value") })),
    timeSince: type === "deadman" ? readWholeDuration(spec, "timeSince") : null,
    staleTime: type === "deadman" ? readWholeDuration(spec, "staleTime") : null,
    reportZero: type === "deadman" && spec.boolean("reportZero"),
    level: type === "deadman" ? readLevel(spec.word("level").toUpperCase()) : "UNKNOWN",
  };
}

/** Errors are collected in the reader. */
export function readEndpoint(spec: SpecReader, kind: TemplateKind): EndpointSpec {
  const type = kind === "NotificationEndpointHTTP" ? "http" : kind === "NotificationEndpointSlack" ? "slack" : "pagerduty";
  const url = spec.text("url");
  if (!isUrl(url)) spec.issue("url", "must be valid url");
  const status = readStatus(spec, () => "not a valid status; valid statues are one of [active, inactive]");
  const authMethod = type === "http" ? spec.word("type") : "";
  const method = type === "http" ? spec.word("method").toUpperCase() : "";
  const [token, username, password, routingKey] = (["token", "username", "password", "routingKey"] as const).map((name) =>
    spec.secret(name),
  );
  const require = (name: string, reason: string) => {
    if (!spec.has(name)) spec.issue(name, reason);
  };
  if (type === "pagerduty") require("routingKey", "must be provide");
  if (type === "http") {
    if (!METHODS.has(method)) spec.issue("method", "http method must be a valid HTTP verb");
    const [empty, given] = ["must provide non empty string", JSON.stringify(near(authMethod))];
    if (authMethod === "basic") {
      require("password", empty);
      require("username", empty);
    } else if (authMethod === "bearer") require("token", empty);
    else if (authMethod !== "none") spec.issue("type", `invalid type provided ${given}; valid type is 1 in [${AUTH_METHODS.join(", ")}]`);
  }
  const secrets = { token: token!, username: username!, password: password!, routingKey: routingKey! };
  return { category: "NotificationEndpoint", type, status, url, method, authMethod, ...secrets };
}

/** Errors are collected in the reader. @param endpoints names in their metadata */
export function readRule(spec: SpecReader, endpoints: ReadonlySet<string>): RuleSpec {
  const endpointName = spec.name("endpointName");
  if (!spec.has("endpointName")) spec.issue("endpointName", "must be provided");
  else if (!endpoints.has(endpointName)) {
    spec.issue("endpointName", `notification endpoint ${JSON.stringify(endpointName)} does not exist in pkg`);
  }
  const every = readDuration(spec, "every");
  if (every === NO_DURATION) spec.issue("every", "must be provided");
  const status = readStatus(spec, (given) => wanted(["active", "inactive"], given));
  const statusRules = spec.list("statusRules").map((rule, i) => ({
    currentLevel: knownLevel(rule, "currentLevel", (reason) => spec.issue(["statusRules", "currentLevel"], reason, i)),
    previousLevel:
      rule.text("previousLevel") === ""
        ? null
        : knownLevel(rule, "previousLevel", (reason) => spec.issue(["statusRules", "previousLevel"], reason, i)),
  }));
  if (statusRules.length === 0) spec.issue("statusRules", "must provide at least 1");
  return {
    ...{ category: "NotificationRule", endpointName, statusRules, status, every },
    channel: spec.text("channel"),
    offset: readDuration(spec, "offset"),
    messageTemplate: spec.text("messageTemplate"),
    tagRules: spec.list("tagRules").map((rule, i) => {
      const text = rule.word("operator");
      const operator = TAG_OPERATORS.find((each) => each === text);
      if (operator === undefined) spec.issue(["tagRules", "operator"], wanted(["equal"], text), i);
      return { key: rule.text("key"), value: rule.text("value"), operator: operator ?? "equal" };
    }),
  };
}

/** Default: active. */
export function readStatus(spec: SpecReader, reasonOf = (_given: string): string => "must be 1 of [active, inactive]"): Status {
  const status = spec.word("status") || "active";
  if (status === "active" || status === "inactive") return status;
  spec.issue("status", reasonOf(status));
  return "active";
}

function readThresholds(spec: SpecReader): Threshold[] {
  const given = spec.list("thresholds");
  if (given.length === 0) spec.issue("thresholds", "must provide at least 1 threshold entry");
  return given.flatMap((each, i): Threshold[] => {
    // as recorded, the list is not in the path
    const issue = (name: string, reason: string) => spec.issue(name, reason, i);
    const limit = { level: knownLevel(each, "level", (reason) => issue("level", reason)), allValues: each.boolean("allValues") };
    const type = each.word("type");
    if (type === "greater" || type === "lesser") return [{ ...limit, type, value: each.number("value") }];
    if (type !== "inside_range" && type !== "outside_range") {
      issue("type", wanted(["Lesser", "Greater", "Inside_Range", "Outside_Range"], type));
      return [];
    }
    const [min, max] = [each.number("min"), each.number("max")];
    if (min > max) issue("min", "min must be < max");
    return [{ ...limit, type: "range", min, max, within: type === "inside_range" }];
  });
}

function knownLevel(spec: SpecReader, name: string, issue: (reason: string) => void): Level {
  const given = spec.word(name).toUpperCase();
  if (!LEVELS.includes(given) && given !== "ANY") issue(wanted(LEVELS, given));
  return readLevel(given);
}

function wanted(values: readonly string[], given: string): string {
  return `must be 1 in [${values.join(", ")}]; got=${JSON.stringify(near(given))}`;
}

/** As release 2.8.0 parses them: any reference of RFC 3986 that is not empty, also a relative one. */
function isUrl(text: string): boolean {
  if (text === "" || /\p{Cc}/u.test(text) || /^[^?]*%(?![0-9A-Fa-f]{2})/.test(text) || text.startsWith(":")) return false;
  const [, authority] = /^(?:[A-Za-z][A-Za-z\d+.-]*:)?\/\/([^/?#]*)/.exec(text) ?? [];
  if (authority === undefined) return true;
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  return !/[ "<>\\^`{|}]/.test(host) && (host.startsWith("[") ? /^\[[^\]]*\](?::\d*)?$/.test(host) : /^[^:[\]]*(?::\d*)?$/.test(host));
}
