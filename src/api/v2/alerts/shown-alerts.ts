// Checks, endpoints and rules as clients see them.
import type { CheckSettings, Threshold } from "../../../alerts/check.ts";
import type { Check } from "../../../alerts/check-service.ts";
import { shownSecret } from "../../../alerts/draft.ts";
import type { Endpoint, EndpointSettings } from "../../../alerts/endpoint.ts";
import type { Rule, RuleSettings } from "../../../alerts/rule.ts";
import type { Label } from "../../../metadata/resources/labels.ts";
import type { TaskState } from "../../../metadata/resources/tasks.ts";
import { shownLabel } from "../shown.ts";

export const CHECKS = "/api/v2/checks";
export const ENDPOINTS = "/api/v2/notificationEndpoints";
export const RULES = "/api/v2/notificationRules";

interface Named {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

function head({ id, name, description }: Named): object {
  return { id, name, ...(description === "" ? {} : { description }) };
}

/** @param isScript whether its script is shown */
function linked(path: string, id: string, labels: readonly Label[], isScript: boolean): object {
  const self = `${path}/${id}`;
  const links = { self, labels: `${self}/labels`, members: `${self}/members`, owners: `${self}/owners` };
  return { labels: labels.map(shownLabel), links: isScript ? { ...links, query: `${self}/query` } : links };
}

/** How far the task has come. */
function runInfo({ latestCompleted, doneAhead, lastRunStatus, lastRunError }: TaskState): object {
  return {
    ...{ latestCompleted, latestScheduled: doneAhead.toSorted().at(-1) ?? latestCompleted },
    ...(lastRunStatus === null ? {} : { lastRunStatus }),
    ...(lastRunError === null ? {} : { lastRunError }),
  };
}

/** A check as JSON. */
export function shownCheck(check: Check, labels: readonly Label[], task: TaskState): object {
  const { ownerID, orgID, taskID, createdAt, updatedAt, status, settings } = check;
  return {
    ...head(check),
    ...{ ownerID, orgID, taskID },
    ...shownSettings(settings),
    ...{ createdAt, updatedAt },
    ...linked(CHECKS, check.id, labels, true),
    status,
    ...runInfo(task),
  };
}

/** What belongs to its type. */
export function shownSettings(settings: CheckSettings): object {
  const { type, query } = settings;
  if (type === "custom") return { query, type };
  const { statusMessageTemplate, cron, every, offset, tags } = settings;
  const common = { query, statusMessageTemplate, ...(cron === "" ? {} : { cron }), every, ...(offset === null ? {} : { offset }), tags };
  if (settings.type === "threshold") return { ...common, thresholds: shownThresholds(settings.thresholds), type };
  const { timeSince, staleTime, reportZero, level } = settings;
  return { ...common, timeSince, staleTime, reportZero, level, type };
}

/** No thresholds are null, as recorded. */
function shownThresholds(thresholds: readonly Threshold[] | null): readonly object[] | null {
  return thresholds === null || thresholds.length === 0 ? null : thresholds.map(shownThreshold);
}

function shownThreshold(threshold: Threshold): object {
  const { allValues, level, type } = threshold;
  if (type !== "range") return { allValues, level, value: threshold.value, type };
  const { min, max, within } = threshold;
  return { allValues, level, ...(min === 0 ? {} : { min }), ...(max === 0 ? {} : { max }), within, type };
}

/** An endpoint as JSON, with the keys of its secrets. */
export function shownEndpoint(endpoint: Endpoint, labels: readonly Label[]): object {
  const { orgID, status, createdAt, updatedAt, settings } = endpoint;
  return {
    ...head(endpoint),
    ...{ orgID, status, createdAt, updatedAt },
    ...shownEndpointSettings(settings),
    ...linked(ENDPOINTS, endpoint.id, labels, false),
  };
}

/** What belongs to its type. */
export function shownEndpointSettings(settings: EndpointSettings): object {
  const { type } = settings;
  switch (settings.type) {
    case "slack":
      return { url: settings.url, token: shownSecret(settings.tokenKey), type };
    case "pagerduty":
      return { clientURL: settings.clientURL, routingKey: shownSecret(settings.routingKeyKey), type };
    case "http": {
      const { url, headers, tokenKey, usernameKey, passwordKey, authMethod, method, contentTemplate } = settings;
      const secrets = { token: shownSecret(tokenKey), username: shownSecret(usernameKey), password: shownSecret(passwordKey) };
      const hasHeaders = headers !== null && Object.keys(headers).length > 0;
      return { url, ...(hasHeaders ? { headers } : {}), ...secrets, authMethod, method, contentTemplate, type };
    }
    case "telegram":
      return { token: shownSecret(settings.tokenKey), channel: settings.channel, type };
  }
}

/** A rule as JSON. */
export function shownRule(rule: Rule, labels: readonly Label[], task: TaskState): object {
  const { endpointID, orgID, ownerID, taskID, createdAt, updatedAt, status, settings } = rule;
  return {
    ...head(rule),
    ...{ endpointID, orgID, ownerID, taskID },
    ...shownRuleSettings(settings),
    ...{ createdAt, updatedAt },
    ...linked(RULES, rule.id, labels, true),
    status,
    ...runInfo(task),
  };
}

function shownRuleSettings(settings: RuleSettings): object {
  const { type, sleepUntil, every, offset, runbookLink, tagRules, statusRules, limit } = settings;
  return {
    ...(sleepUntil === null ? {} : { sleepUntil }),
    every,
    ...(offset === null ? {} : { offset }),
    runbookLink,
    ...(tagRules.length === 0 ? {} : { tagRules }),
    ...(statusRules.length === 0 ? {} : { statusRules }),
    ...(limit ?? {}),
    ...shownMessage(settings),
    type,
  };
}

function shownMessage({ type, channel, messageTemplate, parseMode, disableWebPagePreview }: RuleSettings): object {
  switch (type) {
    case "slack":
      return { channel, messageTemplate };
    case "pagerduty":
      return { messageTemplate };
    case "http":
      return {};
    case "telegram":
      return { messageTemplate, parseMode, disableWebPagePreview };
  }
}
