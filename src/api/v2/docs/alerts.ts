// Operations on checks, notification endpoints and notification rules.
import type { TObject, TSchema } from "@sinclair/typebox";
import { Type as t } from "@sinclair/typebox";
import { CheckBody } from "../alerts/check-body.ts";
import { AlertUpdateBody } from "../alerts/checks.ts";
import { EndpointBody } from "../alerts/endpoint-body.ts";
import { RuleBody } from "../alerts/rule-body.ts";
import { LabelIdBody } from "../labels.ts";
import { membersOf, PAGE } from "./accounts.ts";
import { CheckShape, ChecksShape, EndpointShape, EndpointsShape, RuleShape, RulesShape, ScriptShape } from "./alert-shapes.ts";
import { done, id, jsonOf, made, ok, requiring, text, type V2Operations } from "./described.ts";
import { LabelsShape, OneLabelShape } from "./shapes.ts";

const tag = "Checks and notifications";

interface Described {
  readonly path: string;
  readonly param: string;
  /** `a check`, `checks`. */
  readonly one: string;
  readonly many: string;
  readonly about: string;
  readonly body: TObject;
  readonly shape: TSchema;
  readonly list: TSchema;
  readonly query: Readonly<Record<string, TSchema>>;
  readonly hasScript: boolean;
}

const ofOrganization = {
  orgID: id("Of this organization; goes before `org`."),
  org: text("Of the organization of this name."),
};

const CHECKS: Described = {
  ...{ path: "/api/v2/checks", param: "checkID", one: "a check", many: "checks" },
  about:
    "Every `every` the check's script reads the rows since its last run and writes statuses with levels to the bucket `_monitoring`. " +
    "A threshold check compares one field, a deadman check tells what reports no more, a custom check is a script of the user's.",
  ...{ body: CheckBody, shape: CheckShape, list: ChecksShape, hasScript: true },
  query: { ...ofOrganization, sortBy: text("Kept in the links; the order is that of creation.") },
};
const ENDPOINTS: Described = {
  ...{ path: "/api/v2/notificationEndpoints", param: "endpointID", one: "a notification endpoint", many: "notification endpoints" },
  about: "Where notifications go. Secrets in the body are kept with the organization's secrets, encrypted; answers have their keys.",
  ...{ body: EndpointBody, shape: EndpointShape, list: EndpointsShape, hasScript: false },
  query: { ...ofOrganization, user: id("Of this user's organizations; needed where no organization is given.") },
};
const RULES: Described = {
  ...{ path: "/api/v2/notificationRules", param: "ruleID", one: "a notification rule", many: "notification rules" },
  about: "Every `every` the rule's script sends the statuses that it chooses to its endpoint, and logs them in the bucket `_monitoring`.",
  ...{ body: RuleBody, shape: RuleShape, list: RulesShape, hasScript: true },
  query: {
    ...ofOrganization,
    tag: t.Optional(t.String({ description: "`KEY:VALUE`; may be repeated: rules that send statuses with these tags." })),
    checkID: text("Ignored."),
  },
};

/** By `METHOD path`. */
export const ALERTS: V2Operations = { ...operationsOf(CHECKS), ...operationsOf(ENDPOINTS), ...operationsOf(RULES) };

function operationsOf({ path, param, one, many, about, body, shape, list, query, hasScript }: Described): V2Operations {
  const item = `${path}/:${param}`;
  const unnamed = { 404: { description: "No organization of this name." } };
  const refused = { 422: { description: "The organization has one of this name." } };
  return {
    [`GET ${path}`]: {
      ...{ tag, summary: `Lists ${many}`, query: { ...PAGE, ...query } },
      answers: { ...ok("Those that the sender may read.", list), ...unnamed },
    },
    [`POST ${path}`]: {
      ...{ tag, summary: `Makes ${one}`, description: about },
      body: jsonOf(requiring(body, "orgID", "type", "name", "status")),
      answers: { ...made("As made.", shape), ...refused, 404: { description: "No such organization or endpoint." } },
    },
    [`GET ${item}`]: { tag, summary: `Shows ${one}`, answers: ok("As it is.", shape) },
    [`PUT ${item}`]: {
      ...{ tag, summary: `Replaces ${one}`, description: "The organization stays. The sender becomes the owner." },
      body: jsonOf(requiring(body, "orgID", "type", "name", "status")),
      answers: { ...ok("As changed.", shape), ...refused },
    },
    [`PATCH ${item}`]: {
      ...{ tag, summary: `Changes ${one}` },
      body: jsonOf(AlertUpdateBody),
      answers: { ...ok("As changed.", shape), ...refused },
    },
    [`DELETE ${item}`]: { tag, summary: `Deletes ${one}`, answers: done("It is gone; its secrets and what it wrote stay.") },
    ...(hasScript
      ? { [`GET ${item}/query`]: { tag, summary: `Shows the script of ${one}`, answers: ok("The script.", ScriptShape) } }
      : {}),
    [`GET ${item}/labels`]: { tag, summary: `Lists the labels of ${one}`, answers: ok("The list.", LabelsShape) },
    [`POST ${item}/labels`]: {
      ...{ tag, summary: `Puts a label on ${one}` },
      body: jsonOf(requiring(LabelIdBody, "labelID")),
      answers: { ...made("The label.", OneLabelShape), 422: { description: "It has the label." } },
    },
    [`DELETE ${item}/labels/:labelID`]: { tag, summary: `Takes a label off ${one}`, answers: done("It is off.") },
    ...membersOf(item, tag, one),
  };
}
