// What is answered about checks, notification endpoints and notification rules.
import { type TProperties, Type as t } from "@sinclair/typebox";
import { Id, LabelShape, Link, PageLinks, Time } from "./shapes.ts";

const text = t.Optional(t.String());
const StatusText = t.Union([t.Literal("active"), t.Literal("inactive")]);
const Level = t.Unsafe<string>({ type: "string", enum: ["UNKNOWN", "OK", "INFO", "WARN", "CRIT", "ANY"] });
const Secret = t.Optional(t.String({ description: "`secret: KEY` of the organization, or empty." }));

const Tag = t.Object({ key: t.String(), value: t.String() });
const nullable = <T extends TProperties[string]>(schema: T) => t.Union([schema, t.Null()]);
const Query = t.Object(
  { text: t.String(), editMode: t.String(), name: t.String(), builderConfig: t.Object({}, { description: "What an editor keeps." }) },
  { $id: "CheckQuery" },
);
const Threshold = t.Object(
  {
    type: t.Union([t.Literal("greater"), t.Literal("lesser"), t.Literal("range")]),
    level: Level,
    allValues: t.Boolean(),
    value: t.Optional(t.Number()),
    min: t.Optional(t.Number()),
    max: t.Optional(t.Number()),
    within: t.Optional(t.Boolean()),
  },
  { $id: "Threshold" },
);

const common = {
  id: Id,
  name: t.String(),
  description: text,
  orgID: Id,
  status: StatusText,
  createdAt: Time,
  updatedAt: Time,
  labels: t.Array(LabelShape),
  links: t.Record(t.String(), Link),
};
const run = {
  ownerID: Id,
  taskID: t.Optional(Id),
  cron: text,
  offset: text,
  latestCompleted: t.Optional(Time),
  latestScheduled: t.Optional(Time),
  lastRunStatus: text,
  lastRunError: text,
};

export const CheckShape = t.Object(
  {
    ...common,
    ...run,
    type: t.Union([t.Literal("threshold"), t.Literal("deadman"), t.Literal("custom")]),
    query: Query,
    statusMessageTemplate: text,
    every: text,
    tags: t.Optional(nullable(t.Array(Tag))),
    thresholds: t.Optional(nullable(t.Array(Threshold))),
    timeSince: text,
    staleTime: text,
    reportZero: t.Optional(t.Boolean()),
    level: t.Optional(Level),
  },
  { $id: "Check" },
);
export const ChecksShape = t.Object({ checks: t.Array(CheckShape), links: PageLinks }, { $id: "Checks" });
export const ScriptShape = t.Object({ flux: t.String({ description: "What its task runs." }) }, { $id: "AlertScript" });

const EndpointType = t.Unsafe<string>({ type: "string", enum: ["slack", "pagerduty", "http", "telegram"] });
export const EndpointShape = t.Object(
  {
    ...common,
    ...{ type: EndpointType, url: text, clientURL: text, channel: text },
    ...{ token: Secret, routingKey: Secret, username: Secret, password: Secret },
    headers: t.Optional(t.Record(t.String(), t.String())),
    ...{ authMethod: text, method: text, contentTemplate: text },
  },
  { $id: "NotificationEndpoint" },
);
export const EndpointsShape = t.Object(
  { notificationEndpoints: t.Array(EndpointShape), links: PageLinks },
  { $id: "NotificationEndpoints" },
);

export const RuleShape = t.Object(
  {
    ...common,
    ...run,
    type: EndpointType,
    endpointID: Id,
    every: t.String(),
    sleepUntil: t.Optional(Time),
    runbookLink: t.String(),
    tagRules: t.Optional(t.Array(t.Object({ key: t.String(), value: t.String(), operator: t.String() }))),
    statusRules: t.Optional(t.Array(t.Object({ currentLevel: Level, previousLevel: nullable(Level) }))),
    limit: t.Optional(t.Integer()),
    limitEvery: t.Optional(t.Integer()),
    ...{ channel: text, messageTemplate: text, parseMode: text },
    disableWebPagePreview: t.Optional(t.Boolean()),
  },
  { $id: "NotificationRule" },
);
export const RulesShape = t.Object({ notificationRules: t.Array(RuleShape), links: PageLinks }, { $id: "NotificationRules" });
