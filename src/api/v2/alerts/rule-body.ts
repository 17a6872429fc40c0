// Bodies of notification rules.
import { type Static, Type as t } from "@sinclair/typebox";
import type { RuleDraft } from "../../../alerts/draft.ts";
import { ENDPOINT_TYPES } from "../../../alerts/endpoint.ts";
import { readLevel } from "../../../alerts/level.ts";
import { readOperator, type TagRule } from "../../../alerts/rule.ts";
import { readId } from "../../../metadata/store/ids.ts";
import { readBodyTime } from "../app/body-time.ts";
import { GivenTimes, IdText, type JsonBodies, PeriodText, TimeText } from "../app/params.ts";
import { readPeriodOf } from "./check-body.ts";
import { othersOf, readTypedBody } from "./typed-body.ts";

const text = t.Optional(t.String());
const TagRuleBody = t.Object({ key: text, value: text, operator: t.Optional(t.Union([t.String(), t.Null()], { "x-operator": true })) });
const StatusRuleBody = t.Object({ currentLevel: text, previousLevel: text });

export const RuleBody = t.Object({
  type: t.Optional(t.String({ description: "As the endpoint's." })),
  id: IdText,
  orgID: IdText,
  endpointID: IdText,
  ownerID: IdText,
  taskID: IdText,
  name: text,
  description: text,
  status: t.Optional(t.String({ description: "`active` or `inactive`." })),
  labels: t.Optional(t.Array(t.String(), { description: "Ids; those of no label are left out." })),
  every: PeriodText,
  offset: PeriodText,
  sleepUntil: TimeText,
  runbookLink: text,
  tagRules: t.Optional(t.Array(TagRuleBody)),
  statusRules: t.Optional(t.Array(StatusRuleBody)),
  limit: t.Optional(t.Integer()),
  limitEvery: t.Optional(t.Integer({ description: "Seconds." })),
  channel: text,
  messageTemplate: t.Optional(t.String({ description: "Text with `$` and a column in braces: `{ r.column }`." })),
  parseMode: text,
  disableWebPagePreview: t.Optional(t.Boolean()),
});

const OWN: Readonly<Record<string, readonly string[]>> = {
  slack: ["channel", "messageTemplate"],
  pagerduty: ["messageTemplate"],
  http: [],
  telegram: ["messageTemplate", "parseMode", "disableWebPagePreview"],
};
const BODY = {
  ...{ schema: t.Composite([RuleBody, GivenTimes]), types: ENDPOINT_TYPES, what: "notification", periods: ["every", "offset"] },
  nulls: { limit: 0, limitEvery: 0 },
  ignoredBy: othersOf(OWN),
};

/** @throws TsdbError bad_request; what reading throws */
export async function readRule(bodies: JsonBodies, request: Request): Promise<RuleDraft> {
  return draftOf(await readTypedBody(bodies, request, BODY));
}

/** Of a rule that replaces another one, and has its labels. @throws as `readRule` */
export async function readReplacement(bodies: JsonBodies, request: Request): Promise<RuleDraft> {
  return draftOf(await readTypedBody(bodies, request, { ...BODY, ignored: ["labels"] }));
}

function draftOf(body: Static<typeof RuleBody>): RuleDraft {
  const { name = "", description = "", status = "", labels = [], runbookLink = "", channel = "" } = body;
  const { messageTemplate = "", parseMode = "", disableWebPagePreview = false, limit = null, limitEvery = null } = body;
  return {
    orgID: body.orgID === undefined ? undefined : readId(body.orgID),
    endpointID: body.endpointID === undefined ? undefined : readId(body.endpointID),
    type: body.type as RuleDraft["type"],
    ...{
      name,
      description,
      status,
      labels,
      runbookLink,
      channel,
      messageTemplate,
      parseMode,
      disableWebPagePreview,
      limit,
      limitEvery,
    },
    every: readPeriodOf(body.every),
    offset: readPeriodOf(body.offset),
    sleepUntil: body.sleepUntil === undefined ? null : readBodyTime(body.sleepUntil),
    tagRules: (body.tagRules ?? []).map(tagRuleOf),
    statusRules: (body.statusRules ?? []).map(({ currentLevel = "", previousLevel }) => ({
      currentLevel: readLevel(currentLevel),
      previousLevel: previousLevel === undefined ? null : readLevel(previousLevel),
    })),
  };
}

function tagRuleOf({ key = "", value = "", operator = "equal" }: Static<typeof TagRuleBody>): TagRule {
  return { key, value, operator: readOperator(operator) };
}
