// Checks, notification endpoints and rules of templates.

import type { CheckSettings, Threshold } from "../../../../alerts/check.ts";
import { type Check, CheckService, type PreparedScript } from "../../../../alerts/check-service.ts";
import type { CheckDraft, EndpointDraft, RuleDraft, SecretDraft } from "../../../../alerts/draft.ts";
import { shownSecret } from "../../../../alerts/draft.ts";
import type { EndpointSettings } from "../../../../alerts/endpoint.ts";
import { EndpointService } from "../../../../alerts/endpoint-service.ts";
import type { StatusRule } from "../../../../alerts/rule.ts";
import { RuleService } from "../../../../alerts/rule-service.ts";
import { type Period, readPeriod } from "../../../../alerts/scripts/period.ts";
import type { V2Line } from "../../../../metadata/line.ts";
import { TsdbError } from "../../../../model/errors.ts";
import type { CheckSpec, EndpointSpec, RuleSpec } from "../../../../templates/kinds/alerts.ts";
import type { TemplateKind } from "../../../../templates/kinds.ts";
import { exportedPeriod, NO_DURATION } from "../../../../templates/periods.ts";
import type { Resource } from "../../../../templates/template.ts";
import { shownEndpointSettings, shownSettings } from "../../alerts/shown-alerts.ts";
import { type Adapter, described, idNumber, NO_TIMES, type Place } from "./adapter.ts";

/** Of a template without one. */
const NO_QUERY = {
  ...{ editMode: "", name: "" },
  builderConfig: { buckets: [], tags: [], functions: [], aggregateWindow: { period: "", fillValues: false } },
};

/** Threshold and deadman checks; those of users' own scripts have no form in templates. */
export function checkAdapter(line: V2Line): Adapter<CheckSpec> {
  const checks = new CheckService(line);
  const prepared = new Map<Resource<CheckSpec>, PreparedScript>();
  const kindOf = (id: string): TemplateKind => (checks.get(id).settings.type === "deadman" ? "CheckDeadman" : "CheckThreshold");
  const shown = ({ name, description, spec }: Resource<CheckSpec>, orgID: string, id: string | null) => ({
    ...(id === null ? {} : { id }),
    ...{ name, ...described(description), orgID, ...shownSettings(settingsOf(spec)), ...NO_TIMES },
  });
  return {
    find: (orgID, name) => named(line, "checks", orgID, name),
    orgOf: (id) => line.checks.find(id)?.orgID ?? null,
    list: (orgID) => line.checks.list(orgID).flatMap(({ id }) => (checks.get(id).settings.type === "custom" ? [] : [id])),
    prepare: (resource, id) => void prepared.set(resource, checks.prepare(checkDraft(resource), id)),
    create: (change, resource, { orgID, ownerID }) =>
      checks.planCreate(change, { ...checkDraft(resource), orgID }, ownerID, prepared.get(resource)).id,
    update: (change, resource, { ownerID }, id) =>
      void checks.planReplace(change, id, checkDraft(resource), ownerID, prepared.get(resource)),
    remove: (change, id) => checks.planDelete(change, id),
    old: (id) => oldCheck(checks.get(id)),
    kindOf,
    shown: (resource, { orgID, id, isOwn }) => shown(resource, orgID, isOwn ? id : null),
    summary: (resource, { orgID, id, isOwn }) => ({ check: shown(resource, orgID, isOwn ? id : null), status: resource.spec.status }),
    exported: (id) => {
      const { name, description, settings } = checks.get(id);
      if (settings.type === "custom")
        throw new TsdbError("unprocessable", `the check ${JSON.stringify(name)} has a script of its own, which templates cannot have`);
      const { query, statusMessageTemplate, every, offset, tags } = settings;
      const rest =
        settings.type === "threshold"
          ? { thresholds: (settings.thresholds ?? []).map(exportedThreshold) }
          : {
              ...{ level: settings.level, timeSince: exportedPeriod(settings.timeSince), staleTime: exportedPeriod(settings.staleTime) },
              ...(settings.reportZero ? { reportZero: true } : {}),
            };
      return {
        kind: kindOf(id),
        // as the vendor's: whether a check is active is not part of its export
        spec: {
          ...{ name, ...described(description), every: exportedPeriod(every), query: query.text, statusMessageTemplate, status: "active" },
          ...exportedOffset(offset),
          ...(tags === null || tags.length === 0 ? {} : { tags }),
          ...rest,
        },
      };
    },
  };
}

/** Endpoints of HTTP, PagerDuty and Slack; Telegram's have no form in templates. */
export function endpointAdapter(line: V2Line): Adapter<EndpointSpec> {
  const endpoints = new EndpointService(line);
  const old = (id: string) => {
    const { name, description, orgID, status, createdAt, updatedAt, settings } = endpoints.get(id);
    return { id, name, ...described(description), orgID, status, createdAt, updatedAt, ...shownEndpointSettings(settings) };
  };
  const shown: Adapter<EndpointSpec>["shown"] = ({ name, description, spec }, { id, isApplied }) => {
    if (isApplied) return { ...old(id!), ...NO_TIMES };
    const head = { ...(id === null ? {} : { id }), name, ...described(description), status: spec.status };
    return { ...head, ...NO_TIMES, ...shownEndpointSettings(unappliedSettings(spec)) };
  };
  return {
    find: (orgID, name) => named(line, "notificationEndpoints", orgID, name),
    orgOf: (id) => line.notificationEndpoints.find(id)?.orgID ?? null,
    list: (orgID) =>
      line.notificationEndpoints.list(orgID).flatMap(({ id }) => (endpoints.get(id).settings.type === "telegram" ? [] : [id])),
    create: (change, resource, { orgID }) => endpoints.planCreate(change, { ...endpointDraft(resource), orgID }).id,
    update: (change, resource, { after }, id) => void after.steps.push(endpoints.planReplace(change, id, endpointDraft(resource))),
    remove: (change, id, { steps }) => void steps.push(endpoints.planDelete(change, id)),
    old,
    kindOf: (id) => kindOfEndpoint(endpoints.get(id).settings),
    shown,
    summary: (resource, place) => ({ notificationEndpoint: shown(resource, place) }),
    exported: (id) => {
      const { name, description, status, settings } = endpoints.get(id);
      return { kind: kindOfEndpoint(settings), spec: { name, ...described(description), status, ...exportedSettings(settings) } };
    },
  };
}

/** Rules. */
export function ruleAdapter(line: V2Line): Adapter<RuleSpec> {
  const rules = new RuleService(line);
  const endpoints = new EndpointService(line);
  const endpointOf = (place: Pick<Place, "resourceOf">, name: string) =>
    place.resourceOf("NotificationEndpoint", name)?.spec as EndpointSpec;
  const common = ({ name, description, spec }: Resource<RuleSpec>) => ({ name, description, spec });
  return {
    // rules of one name are different rules
    find: () => null,
    orgOf: (id) => line.notificationRules.find(id)?.orgID ?? null,
    list: (orgID) =>
      line.notificationRules.list(orgID).flatMap(({ id }) => {
        const { settings, endpointID } = rules.get(id);
        return settings.type === "telegram" || line.notificationEndpoints.find(endpointID) === null ? [] : [id];
      }),
    create: (change, resource, place) => rules.planCreate(change, { ...ruleDraft(resource, place), orgID: place.orgID }, place.ownerID).id,
    update: (change, resource, place, id) => void rules.planReplace(change, id, ruleDraft(resource, place), place.ownerID),
    remove: (change, id) => rules.planDelete(change, id),
    old: (id) => {
      const { name, description, endpointID, settings } = rules.get(id);
      const { type, every, offset, messageTemplate, statusRules, tagRules } = settings;
      // as recorded: what was there before is named by the rule
      return {
        ...{ name, description, endpointID: idNumber(endpointID), endpointName: name, endpointType: type, every },
        ...{ offset: offset ?? NO_DURATION, messageTemplate, statusRules: shownStatusRules(statusRules) },
        tagRules: tagRules.length === 0 ? null : tagRules,
      };
    },
    kindOf: () => "NotificationRule",
    shown: (resource, place) => {
      const { name, description, spec } = common(resource);
      const { every, offset, messageTemplate, statusRules, tagRules } = spec;
      return {
        ...{ name, description, endpointID: idNumber(place.idOf("NotificationEndpoint", spec.endpointName)) },
        ...{
          endpointName: spec.endpointName,
          endpointType: endpointOf(place, spec.endpointName).type,
          every,
          offset: offset ?? NO_DURATION,
        },
        ...{ messageTemplate, statusRules: sortedStatusRules(statusRules), tagRules },
      };
    },
    summary: (resource, place) => {
      const { name, description, spec } = common(resource);
      const { every, offset, messageTemplate, status, statusRules, tagRules } = spec;
      return {
        ...{ id: idNumber(place.id), name, description, endpointID: idNumber(place.idOf("NotificationEndpoint", spec.endpointName)) },
        ...{ endpointTemplateMetaName: spec.endpointName, endpointType: endpointOf(place, spec.endpointName).type, every },
        ...{ offset: offset ?? NO_DURATION, messageTemplate, status, statusRules: sortedStatusRules(statusRules), tagRules },
      };
    },
    refersTo: (id) => ({ category: "NotificationEndpoint", id: rules.get(id).endpointID }),
    exported: (id, nameOf) => {
      const { name, description, endpointID, settings } = rules.get(id);
      const { every, offset, channel, messageTemplate, statusRules, tagRules } = settings;
      endpoints.get(endpointID);
      return {
        kind: "NotificationRule",
        spec: {
          ...{ name, ...described(description), endpointName: nameOf("NotificationEndpoint", endpointID), every: exportedPeriod(every) },
          ...exportedOffset(offset),
          ...(channel === "" ? {} : { channel }),
          ...(messageTemplate === "" ? {} : { messageTemplate }),
          statusRules: statusRules.map(({ currentLevel, previousLevel }) => ({
            currentLevel,
            ...(previousLevel === null ? {} : { previousLevel }),
          })),
          ...(tagRules.length === 0 ? {} : { tagRules }),
        },
      };
    },
  };
}

function named(line: V2Line, list: "checks" | "notificationEndpoints", orgID: string, name: string): string | null {
  return line[list].findByName(orgID, name);
}

function settingsOf(spec: CheckSpec): CheckSettings {
  const { query, statusMessageTemplate, every, offset, tags } = spec;
  const common = {
    query: { text: query, ...NO_QUERY },
    statusMessageTemplate,
    cron: "",
    every,
    offset,
    tags: tags.length === 0 ? null : tags,
  };
  if (spec.type === "threshold") return { type: spec.type, ...common, thresholds: spec.thresholds };
  const { timeSince, staleTime, reportZero, level } = spec;
  return { type: "deadman", ...common, timeSince: timeSince!, staleTime: staleTime!, reportZero, level };
}

function oldCheck({ id, name, description, ownerID, orgID, taskID, createdAt, updatedAt, settings }: Check): object {
  return { id, name, ...described(description), ownerID, orgID, taskID, ...shownSettings(settings), createdAt, updatedAt };
}

function checkDraft({ name, description, spec }: Resource<CheckSpec>): CheckDraft {
  const { type, query, status, statusMessageTemplate, every, offset, tags, thresholds, timeSince, staleTime, reportZero, level } = spec;
  return {
    ...{
      orgID: undefined,
      name,
      description,
      status,
      labels: [],
      type,
      statusMessageTemplate,
      cron: "",
      tags: tags.length === 0 ? null : tags,
      thresholds,
      reportZero,
      level,
    },
    query: { text: query, ...NO_QUERY },
    every: periodOf(every),
    offset: offset === null ? null : periodOf(offset),
    timeSince: timeSince === null ? null : periodOf(timeSince),
    staleTime: staleTime === null ? null : periodOf(staleTime),
  };
}

/** None for a negative one, as for release 2.8.0. */
function periodOf(text: string): Period {
  return text === "" || text.startsWith("-") ? { parts: [] } : readPeriod(text);
}

function exportedOffset(offset: string | null): { readonly offset?: string } {
  const shown = offset === null ? NO_DURATION : exportedPeriod(offset);
  return shown === NO_DURATION ? {} : { offset: shown };
}

function exportedThreshold({ level, allValues, ...rest }: Threshold): object {
  const head = { ...(allValues ? { allValues } : {}), level };
  if (rest.type !== "range") return { ...head, type: rest.type, value: rest.value };
  return { ...head, type: rest.within ? "inside_range" : "outside_range", min: rest.min, max: rest.max };
}

function endpointDraft({ name, description, spec }: Resource<EndpointSpec>): EndpointDraft {
  const { type, status, url, method, authMethod, token, username, password, routingKey } = spec;
  return {
    ...{
      orgID: undefined,
      name,
      description,
      status,
      labels: [],
      type,
      authMethod,
      method,
      contentTemplate: "",
      headers: null,
      channel: "",
    },
    ...(type === "pagerduty" ? { url: "", clientURL: url } : { url, clientURL: "" }),
    ...{
      token: token as SecretDraft,
      username: username as SecretDraft,
      password: password as SecretDraft,
      routingKey: routingKey as SecretDraft,
    },
  };
}

/** Before it is applied: it shows the secrets that its type has. A secret that the template itself has gets its key then. */
function unappliedSettings(spec: EndpointSpec): EndpointSettings {
  const { url, authMethod, method } = spec;
  const key = (secret: SecretDraft) => (secret !== null && "key" in secret ? secret.key : "");
  const tokenKey = key(spec.token);
  if (spec.type === "slack") return { type: "slack", url, tokenKey };
  if (spec.type === "pagerduty") return { type: "pagerduty", clientURL: url, routingKeyKey: key(spec.routingKey) };
  const isBasic = authMethod === "basic";
  const keys = {
    tokenKey: authMethod === "bearer" ? tokenKey : "",
    usernameKey: isBasic ? key(spec.username) : "",
    passwordKey: isBasic ? key(spec.password) : "",
  };
  return { type: "http", url, headers: null, ...keys, authMethod, method, contentTemplate: "" };
}

function kindOfEndpoint({ type }: EndpointSettings): TemplateKind {
  if (type === "http") return "NotificationEndpointHTTP";
  if (type === "slack") return "NotificationEndpointSlack";
  if (type === "pagerduty") return "NotificationEndpointPagerDuty";
  throw new TsdbError("unprocessable", "templates cannot have endpoints of Telegram");
}

function exportedSettings(settings: EndpointSettings): object {
  const secret = (name: string, key: string) => (key === "" ? {} : { [name]: { secretRef: { key } } });
  switch (settings.type) {
    case "slack":
      return { url: settings.url, ...secret("token", settings.tokenKey) };
    case "pagerduty":
      return { ...(settings.clientURL === "" ? {} : { url: settings.clientURL }), ...secret("routingKey", settings.routingKeyKey) };
    case "http": {
      const { url, method, authMethod: type, tokenKey, usernameKey, passwordKey } = settings;
      return { url, method, type, ...secret("token", tokenKey), ...secret("username", usernameKey), ...secret("password", passwordKey) };
    }
    case "telegram":
      return { token: shownSecret(settings.tokenKey), channel: settings.channel };
  }
}

/** @throws TsdbError unprocessable */
function ruleDraft({ name, description, spec }: Resource<RuleSpec>, { idOf, resourceOf }: Place): RuleDraft {
  const endpointID = idOf("NotificationEndpoint", spec.endpointName);
  if (endpointID === null) {
    throw new TsdbError(
      "unprocessable",
      `notification endpoint dependency does not exist; endpointName=${JSON.stringify(spec.endpointName)}`,
    );
  }
  const { status, every, offset, channel, messageTemplate, statusRules, tagRules } = spec;
  const { type } = resourceOf("NotificationEndpoint", spec.endpointName)!.spec as EndpointSpec;
  return {
    ...{ orgID: undefined, name, description, status, labels: [], type, endpointID, channel, messageTemplate, statusRules, tagRules },
    ...{ sleepUntil: null, runbookLink: "", limit: null, limitEvery: null, parseMode: "", disableWebPagePreview: false },
    every: periodOf(every),
    offset: offset === null ? null : periodOf(offset),
  };
}

function shownStatusRules(rules: readonly StatusRule[]): object[] {
  return rules.map(({ currentLevel, previousLevel }) => ({ currentLevel, previousLevel: previousLevel ?? "" }));
}

function sortedStatusRules(rules: readonly StatusRule[]): object[] {
  return shownStatusRules([...rules].sort((a, b) => (a.currentLevel < b.currentLevel ? -1 : a.currentLevel > b.currentLevel ? 1 : 0)));
}
