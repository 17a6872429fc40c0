// Checks, notification endpoints and rules in templates.
import type { Tag, Threshold } from "../../alerts/check.ts";
import { type Level, readLevel } from "../../alerts/level.ts";
import { type StatusRule, TAG_OPERATORS, type TagRule } from "../../alerts/rule.ts";
import type { Status } from "../../metadata/store/kinds.ts";
import { oneOf } from "../issue.ts";
import type { TemplateKind } from "../kinds.ts";
import { readDuration, readEvery } from "../periods.ts";
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

const EVERY_SECONDS_MIN = 5;
const LEVELS: ReadonlySet<string> = new Set(["OK", "INFO", "WARN", "CRIT"]);
const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT"]);

/** Errors are collected in the reader. */
export function readCheck(spec: SpecReader, kind: TemplateKind): CheckSpec {
  const type = kind === "CheckDeadman" ? "deadman" : "threshold";
  const query = spec.script("query");
  if (query === "") spec.issue("query", "is required");
  const statusMessageTemplate = spec.text("statusMessageTemplate");
  if (statusMessageTemplate === "") spec.issue("statusMessageTemplate", "is required");
  const thresholds = type === "threshold" ? spec.list("thresholds").flatMap(readThreshold) : [];
  if (type === "threshold" && !spec.has("thresholds")) spec.issue("thresholds", "a threshold check needs a threshold");
  return {
    ...{ category: "Check", type, query, statusMessageTemplate, thresholds },
    status: readStatus(spec),
    every: readEvery(spec, EVERY_SECONDS_MIN),
    offset: readDuration(spec, "offset") ?? "0s",
    tags: spec.list("tags").map((tag) => ({ key: required(tag, "key"), value: required(tag, "value") })),
    timeSince: type === "deadman" ? (readDuration(spec, "timeSince") ?? "0s") : null,
    staleTime: type === "deadman" ? (readDuration(spec, "staleTime") ?? "0s") : null,
    reportZero: type === "deadman" && spec.boolean("reportZero"),
    level: type === "deadman" ? readKnownLevel(spec, "level") : "UNKNOWN",
  };
}

/** Errors are collected in the reader. */
export function readEndpoint(spec: SpecReader, kind: TemplateKind): EndpointSpec {
  const type = kind === "NotificationEndpointHTTP" ? "http" : kind === "NotificationEndpointSlack" ? "slack" : "pagerduty";
  const url = spec.text("url");
  if (type !== "pagerduty" && !/^https?:\/\/./.test(url)) spec.issue("url", "wanted a URL of http or https");
  const authMethod = type === "http" ? spec.text("type").toLowerCase() : "";
  const method = type === "http" ? spec.text("method").toUpperCase() : "";
  const [token, username, password, routingKey] = (["token", "username", "password", "routingKey"] as const).map((name) =>
    spec.secret(name),
  );
  const endpoint = { token: token!, username: username!, password: password!, routingKey: routingKey! };
  if (type === "pagerduty" && endpoint.routingKey === null) spec.issue("routingKey", "is required");
  if (type === "http") {
    if (!METHODS.has(method)) spec.issue("method", `wanted ${oneOf(METHODS)}`);
    if (!["none", "basic", "bearer"].includes(authMethod)) spec.issue("type", "wanted one of basic, bearer, none");
    if (authMethod === "basic" && endpoint.username === null) spec.issue("username", "is required");
    if (authMethod === "basic" && endpoint.password === null) spec.issue("password", "is required");
    if (authMethod === "bearer" && endpoint.token === null) spec.issue("token", "is required");
  }
  return { category: "NotificationEndpoint", type, status: readStatus(spec), url, method, authMethod, ...endpoint };
}

/** Errors are collected in the reader. */
export function readRule(spec: SpecReader): RuleSpec {
  const endpointName = spec.text("endpointName");
  if (endpointName === "") spec.issue("endpointName", "is required");
  const statusRules = spec.list("statusRules").map((rule) => ({
    currentLevel: readKnownLevel(rule, "currentLevel", true),
    previousLevel: rule.text("previousLevel") === "" ? null : readKnownLevel(rule, "previousLevel", true),
  }));
  if (statusRules.length === 0) spec.issue("statusRules", "a rule needs a status rule");
  return {
    ...{ category: "NotificationRule", endpointName, statusRules },
    status: readStatus(spec),
    channel: spec.text("channel"),
    every: readEvery(spec, EVERY_SECONDS_MIN),
    offset: readDuration(spec, "offset") ?? "0s",
    messageTemplate: spec.text("messageTemplate"),
    tagRules: spec.list("tagRules").map((rule) => {
      const text = rule.text("operator").toLowerCase();
      const operator = TAG_OPERATORS.find((each) => each === text);
      if (operator === undefined) rule.issue("operator", `wanted ${oneOf(TAG_OPERATORS)}`);
      return { key: required(rule, "key"), value: required(rule, "value"), operator: operator ?? "equal" };
    }),
  };
}

/** Default: active. */
export function readStatus(spec: SpecReader): Status {
  const status = spec.text("status") || "active";
  if (status !== "active" && status !== "inactive") {
    spec.issue("status", "wanted active or inactive");
    return "active";
  }
  return status;
}

function readThreshold(spec: SpecReader): Threshold[] {
  const type = spec.text("type").toLowerCase();
  const limit = { level: readKnownLevel(spec, "level"), allValues: spec.boolean("allValues") };
  if (type === "greater" || type === "lesser") return [{ ...limit, type, value: spec.number("value") }];
  if (type === "inside_range" || type === "outside_range") {
    const [min, max] = [spec.number("min"), spec.number("max")];
    if (min > max) spec.issue("min", "is greater than max");
    return [{ ...limit, type: "range", min, max, within: type === "inside_range" }];
  }
  spec.issue("type", "wanted one of greater, lesser, inside_range, outside_range");
  return [];
}

function readKnownLevel(spec: SpecReader, name: string, allowsAny = false): Level {
  const level = readLevel(spec.text(name));
  if (!LEVELS.has(level) && !(allowsAny && level === "ANY"))
    spec.issue(name, `wanted ${oneOf([...LEVELS, ...(allowsAny ? ["ANY"] : [])])}`);
  return level;
}

function required(spec: SpecReader, name: string): string {
  const text = spec.text(name);
  if (text === "") spec.issue(name, "is required");
  return text;
}
