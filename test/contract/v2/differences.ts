// Where this server keeps to other words than the OpenAPI file of the v2 line: the seed, which wins, recorded answers of the vendor's
// server, or intent. Whatever is not here is as the file says.
import { V1_RESULTS } from "../differences.ts";
import type { OperationForm } from "../extract.ts";
import type { StrictSchema } from "../schema.ts";
import type { VariantRules } from "../variants.ts";

/** Every error. */
export const ERROR: StrictSchema = {
  type: "object",
  properties: {
    code: {
      enum: [
        ...["internal error", "not implemented", "not found", "conflict", "invalid", "unprocessable entity", "empty value", "unavailable"],
        ...["forbidden", "too many requests", "unauthorized", "method not allowed", "request too large"],
      ],
    },
    message: { type: "string", minLength: 1 },
  },
  required: ["code", "message"],
  additionalProperties: false,
};

interface Listed {
  readonly status: number;
  readonly why: string;
}

/** Statuses that the file leaves out. */
const GENERAL: readonly Listed[] = [
  { status: 401, why: "seed: credentials that are missing or wrong" },
  { status: 403, why: "seed: insufficient permission" },
];
const OF_OPERATION: Readonly<Record<string, Listed>> = {
  "POST /api/v2/restore/sql": { status: 200, why: "as recorded" },
  "POST /api/v2/restore/shards/{shardID}": { status: 200, why: "as recorded" },
  "DELETE /api/v2/tasks/{taskID}/runs/{runID}": { status: 200, why: "as recorded" },
};

/** Operations without an error in the file: recorded are 400 for an invalid id, and 404 for an unknown organization. */
const UNLISTED_ERRORS: ReadonlySet<string> = new Set(["GET /api/v2/scrapers"]);

/** Operations that never succeed here. */
export const NEVER: Readonly<Record<string, number>> = {
  // it is set up already, before the first test
  "POST /api/v2/setup": 422,
};
/** The runtime has no traces. */
const TRACE = "GET /debug/pprof/trace";

/** What a good request is answered with, if that is not success. */
export function insteadOfSuccess(key: string): number | undefined {
  return key === TRACE ? 501 : NEVER[key];
}

/** Whether an operation of the file may have this status. `default` is for all errors: which of them there are says the own document. */
export function isListed(key: string, { answers }: OperationForm, status: number): boolean {
  if (Object.hasOwn(answers, String(status)) || OF_OPERATION[key]?.status === status) return true;
  if ((status === 400 || status === 404) && UNLISTED_ERRORS.has(key)) return true;
  return status >= 400 && (Object.hasOwn(answers, "default") || GENERAL.some((each) => each.status === status));
}

/** With any type. */
const SCRAPER: StrictSchema = {
  type: "object",
  properties: {
    ...Object.fromEntries(["id", "name", "type", "url", "orgID", "org", "bucketID", "bucket"].map((name) => [name, { type: "string" }])),
    allowInsecure: { type: "boolean" },
    links: { type: "object", additionalProperties: { type: "string" } },
  },
  required: ["id", "name", "type", "url", "links"],
  additionalProperties: false,
};

/** With any type. */
const SOURCE: StrictSchema = {
  type: "object",
  properties: {
    ...Object.fromEntries(
      ["id", "orgID", "name", "type", "url", "metaUrl", "telegraf", "defaultRP"].map((name) => [name, { type: "string" }]),
    ),
    ...Object.fromEntries(["token", "username"].map((name) => [name, { type: "string" }])),
    ...Object.fromEntries(["default", "insecureSkipVerify"].map((name) => [name, { type: "boolean" }])),
    links: { type: "object", additionalProperties: { type: "string" } },
  },
  required: ["id", "orgID", "default", "name", "url", "telegraf", "token", "defaultRP", "links"],
  additionalProperties: false,
};
const LINKS: StrictSchema = { type: "object", additionalProperties: { type: "string" } };
const CELL: StrictSchema = {
  type: "object",
  properties: {
    ...Object.fromEntries(["x", "y", "w", "h"].map((name) => [name, { type: "integer" }])),
    ...{ id: { type: "string" }, name: { type: "string" }, properties: { type: "object" }, links: LINKS },
  },
  required: ["id", "x", "y", "w", "h", "links"],
  additionalProperties: false,
};
/** With or without the properties of views. */
const DASHBOARD: StrictSchema = {
  type: "object",
  properties: {
    ...Object.fromEntries(["id", "orgID", "name", "description"].map((name) => [name, { type: "string" }])),
    ...{ meta: { type: "object" }, cells: { type: "array", items: CELL }, labels: { type: "array" }, links: LINKS },
  },
  required: ["id", "orgID", "name", "description", "meta", "cells", "labels", "links"],
  additionalProperties: false,
};
const CELLS: StrictSchema = {
  type: "object",
  properties: { cells: { type: "array", items: CELL }, links: LINKS },
  required: ["cells", "links"],
  additionalProperties: false,
};
const VIEW: StrictSchema = {
  type: "object",
  properties: { id: { type: "string" }, name: { type: "string" }, properties: { type: "object" }, links: LINKS },
  required: ["id", "name", "properties", "links"],
  additionalProperties: false,
};
const VARIABLE: StrictSchema = {
  type: "object",
  properties: {
    ...Object.fromEntries(["id", "orgID", "name", "description", "createdAt", "updatedAt"].map((name) => [name, { type: "string" }])),
    ...{ selected: { type: "array", nullable: true }, arguments: { type: "object" }, labels: { type: "array" }, links: LINKS },
  },
  required: ["id", "orgID", "name", "description", "selected", "arguments", "createdAt", "updatedAt", "labels", "links"],
  additionalProperties: false,
};
const TELEGRAF: StrictSchema = {
  type: "object",
  properties: {
    ...Object.fromEntries(["id", "orgID", "name", "description", "config"].map((name) => [name, { type: "string" }])),
    ...{ metadata: { type: "object" }, labels: { type: "array" }, links: { type: "object" } },
  },
  required: ["id", "orgID", "metadata", "labels", "links"],
  additionalProperties: false,
};
const TWO_FORMS = "the file's two forms of a dashboard fit the same dashboards";
const ANY_PROPERTIES = "the order: properties are kept as they come";
const ANY_METADATA = "as a 2.8 server: metadata are kept as they come";
/** Null where there are none. */
const listOf = (name: string): StrictSchema => ({
  type: "object",
  properties: { [name]: { type: "array", nullable: true } },
  required: [name],
  additionalProperties: false,
});

const REMOTE: StrictSchema = {
  type: "object",
  properties: {
    ...Object.fromEntries(["id", "orgID", "name", "description", "remoteURL"].map((name) => [name, { type: "string" }])),
    remoteOrgID: { type: "string", nullable: true },
    allowInsecureTLS: { type: "boolean" },
  },
  required: ["id", "orgID", "name", "remoteURL", "remoteOrgID", "allowInsecureTLS"],
  additionalProperties: false,
};

/** Bodies that are not as the file says, by operation and status: their type, or the schema of one in JSON. */
export const BODIES: Readonly<Record<string, { readonly type?: string; readonly schema?: StrictSchema; readonly why: string }>> = {
  "POST /api/v2/query 200": { type: "text/csv", why: "as recorded" },
  "POST /api/v2/restore/bucket/{bucketID} 200": { type: "application/octet-stream", why: "as recorded" },
  "POST /api/v2/scrapers 201": { schema: SCRAPER, why: "as recorded: a target may have any type" },
  "PATCH /api/v2/scrapers/{scraperTargetID} 200": { schema: SCRAPER, why: "as recorded: a target may have any type, or none" },
  "POST /api/v2/sources 201": { schema: SOURCE, why: "as recorded: a source may have any type" },
  "PATCH /api/v2/sources/{sourceID} 200": { schema: SOURCE, why: "as recorded: a source may have any type" },
  "POST /api/v2/dashboards 201": { schema: DASHBOARD, why: TWO_FORMS },
  "GET /api/v2/dashboards/{dashboardID} 200": { schema: DASHBOARD, why: TWO_FORMS },
  "PUT /api/v2/dashboards/{dashboardID}/cells 201": { schema: CELLS, why: "as recorded: the cells" },
  "GET /api/v2/dashboards/{dashboardID}/cells/{cellID}/view 200": { schema: VIEW, why: ANY_PROPERTIES },
  "PATCH /api/v2/dashboards/{dashboardID}/cells/{cellID}/view 200": { schema: VIEW, why: ANY_PROPERTIES },
  "POST /api/v2/variables 201": { schema: VARIABLE, why: "as recorded: `selected` is null if nothing is" },
  "PUT /api/v2/variables/{variableID} 200": { schema: VARIABLE, why: "as recorded: `selected` is null if nothing is" },
  "POST /api/v2/telegrafs 201": { schema: TELEGRAF, why: ANY_METADATA },
  "PUT /api/v2/telegrafs/{telegrafID} 200": { schema: TELEGRAF, why: ANY_METADATA },
  "GET /api/v2/remotes 200": { schema: listOf("remotes"), why: "as recorded: null without remotes" },
  "POST /api/v2/remotes 201": { schema: REMOTE, why: "as recorded: null without an organization" },
  "GET /api/v2/replications 200": { schema: listOf("replications"), why: "as recorded: null without replications" },
  "GET /api/v2/tasks/{taskID}/logs 200": {
    schema: {
      type: "object",
      properties: { events: { type: "array", nullable: true } },
      required: ["events"],
      additionalProperties: false,
    },
    why: "as recorded: null without runs",
  },
  "GET /query 200": { schema: V1_RESULTS, why: "the file's two forms of a result fit the same results" },
};

const ALERTS = ["checks/{checkID}", "notificationEndpoints/{endpointID}", "notificationRules/{ruleID}"];

/** Ids of nothing that are not answered by 404, by operation and parameter. */
export const UNKNOWN_ID: Readonly<Record<string, Listed>> = {
  ...Object.fromEntries(
    [
      "GET annotations/{annotationID}",
      "PUT annotations/{annotationID}",
      "DELETE annotations/{annotationID}",
      "PUT streams/{streamID}",
      "DELETE streams/{streamID}",
    ].map((key) => {
      const [method, path] = key.split(" ") as [string, string];
      return [`${method} /api/v2private/${path} ${/\w+ID/.exec(path)![0]}`, { status: 400, why: "as recorded" }];
    }),
  ),
  "GET /api/v2/users/{userID}/permissions userID": { status: 200, why: "as recorded: what a user of this id could do" },
  "POST /api/v2/users/{userID}/password userID": { status: 403, why: "as recorded" },
  ...Object.fromEntries(
    ["scrapers/{scraperTargetID}", "tasks/{taskID}", "variables/{variableID}", "telegrafs/{telegrafID}", ...ALERTS].map((path) => [
      `DELETE /api/v2/${path}/labels/{labelID} labelID`,
      { status: 204, why: "as recorded" },
    ]),
  ),
  "PUT /api/v2/users/{userID}/password userID": { status: 403, why: "as recorded: name and password are not those of this user" },
  ...Object.fromEntries(
    [
      "orgs/{orgID}",
      "buckets/{bucketID}",
      "scrapers/{scraperTargetID}",
      "tasks/{taskID}",
      "dashboards/{dashboardID}",
      "telegrafs/{telegrafID}",
      ...ALERTS,
    ].flatMap((path) =>
      ["members", "owners"].map((role): [string, Listed] => [
        `DELETE /api/v2/${path}/${role}/{userID} userID`,
        { status: 204, why: "as recorded: a user who has no role has none afterwards" },
      ]),
    ),
  ),
};

const LENIENT: VariantRules["lenient"] = [
  { what: / with a broken escape$/, why: "as on the vendor's server, what cannot be decoded is as absent" },
  { what: /pprof.*query\.(?:debug|gc|seconds)=/, why: "as recorded: what is no number is as absent" },
  { what: /=null$/, why: "null is absent, as the vendor's clients send it" },
  { what: /: query\.\w+ twice$/, why: "the first one counts" },
  { what: /: query\.\w+=""$/, why: "an empty one is absent: clients send those that they do not mean" },
  { what: /: query\.(?:descending|default)="(?:TRUE|1)"$/, why: "a boolean may be written so" },
  {
    what: /^(?:GET|POST) \/query: query\.(?:epoch|db)/,
    why: "as recorded: no unit is the default one, and a statement may name its database",
  },
  { what: /^POST \/write: query\.precision=/, why: "as recorded: an unknown unit is ns" },
  { what: /^POST \/api\/v2\/users: body\.status=""$/, why: "as recorded: as absent" },
  { what: /^POST \/api\/v2\/write: query\.(?:org|bucket)?$/, why: "as recorded: the organization's id will do; without a bucket 404" },
  { what: /authorizations(?:\/\{authID\})?: body\.status=""$/, why: "as recorded: as absent" },
  { what: /^PATCH \/api\/v2\/users\/\{userID\}: body\.name$/, why: "what is not there stays as it is" },
  { what: /^GET .*(?:checks|notificationRules): query\.(?:orgID)?$/, why: "as recorded: of all organizations" },
  { what: /^GET .*notificationEndpoints: query\.(?:orgID)?$/, why: "as recorded: 401" },
  { what: /replications.*: query\.validate=/, why: "as recorded: what is not true is false" },
  { what: /replications.*: body\.maxAgeSeconds=-1$/, why: "as recorded: no limit" },
  { what: /(?:scrapers|sources).*: body\.type=/, why: "as recorded: it may have any type" },
  { what: /dashboards.*: query\.(?:sortBy|include)=/, why: "as recorded: what is not known is ignored" },
  { what: /dashboards.*: body(?:\.cells\.0)?\.[xywh]=-1$/, why: "as recorded: a cell may lie anywhere" },
  { what: /^POST .*\/dashboards: body\.name$/, why: "as recorded: the name may be empty" },
  { what: /^PATCH .*\/dashboards\/\{dashboardID\}: body\.cells=\[\]$/, why: "as recorded: as absent" },
  { what: /dashboards.*\/view: body\.name$/, why: "what is not there stays as it is" },
  { what: /dashboards.*\/view: body\.properties\b/, why: ANY_PROPERTIES },
  { what: /^PATCH .*\/variables\/\{variableID\}: body\.(?:name|orgID|arguments)$/, why: "what is not there stays as it is" },
  { what: /^PATCH .*\/variables\/\{variableID\}: body\.orgID=/, why: "as a 2.8 server: what cannot change is not looked at" },
  { what: /^POST .*\/tasks: body\.status=""$/, why: "as recorded: as absent" },
  { what: /^GET .*\/tasks: query\.status=/, why: "as release 2.8.0: what is no status is as absent" },
  { what: /^POST \/api\/v2\/query: body\.type=""$/, why: "as absent" },
  {
    what: /buckets.*: body\.(?:schemaType|retentionRules\.0\.(?:type|everySeconds$|\w+=-1))/,
    why: "as recorded: no other type is known; 422 below 0",
  },
  { what: /^POST \/api\/v2\/query\/a\w+: body\.query$/, why: "as recorded: a script without a text is empty" },
  { what: /templates\/apply: body\.template\.contents=/, why: "as recorded: 422 for contents that are no list" },
  { what: /telegrafs.*: body\.metadata\.buckets/, why: ANY_METADATA },
  { what: /^POST \/api\/v2\/buckets: body\.name$/, why: "as recorded: the name may be empty" },
  { what: /etadata: body\.(?:organization|bucketID|defaultRetentionPolicy)/, why: "one of them is needed, or none" },
  {
    what: /etadata: body\.retentionPolicies\b.*\.(?:name|replicaN|subscriptions|endTime|shardOwners|shardGroups\.0\.id)\b/,
    why: "what restoring does not need is not read",
  },
  { what: /etadata: body\.retentionPolicies\b.*(?:=-1|1e\+300)$/, why: "422 for a duration below 0; numbers of shards are any" },
  { what: /etadata: body\.retentionPolicies\.0\.shardGroupDuration$/, why: "the server chooses one" },
];
const REQUIRED: VariantRules["required"] = {
  // a user name of a v1 client
  "POST /private/legacy/authorizations": ["orgID", "permissions", "token"],
  "POST /api/v2/restore/bucketMetadata": ["bucketName"],
  "POST /api/v2/scrapers": ["orgID", "bucketID"],
  "POST /api/v2/telegrafs": ["orgID"],
  "POST /api/v2/sources": ["orgID"],
  "POST /api/v2/remotes": ["orgID"],
  "POST /api/v2/replications": ["orgID", "remoteID", "localBucketID"],
  ...requiredOf("checks", "checkID", ["type", "name", "status", "every", "query"]),
  ...requiredOf("notificationEndpoints", "endpointID", ["type", "name", "status", "url"]),
  ...requiredOf("notificationRules", "ruleID", ["type", "name", "status", "every", "endpointID", "messageTemplate"]),
};

/** What a threshold check, a Slack endpoint and its rule need: the file has several forms, with what all of them need. The organization
 *  of an endpoint and of a rule stays. */
function requiredOf(name: string, id: string, members: readonly string[]): VariantRules["required"] {
  return { [`POST /api/v2/${name}`]: [...members, "orgID"], [`PUT /api/v2/${name}/{${id}}`]: members };
}

/** Without them the answer fits none of the file's forms, as recorded: null, or absent. */
function keptOf(name: string, id: string, members: readonly string[]): VariantRules["kept"] {
  return { [`POST /api/v2/${name}`]: members, [`PUT /api/v2/${name}/{${id}}`]: members };
}

const KEPT: VariantRules["kept"] = {
  ...keptOf("checks", "checkID", ["body.orgID", "body.tags", "body.thresholds"]),
  ...keptOf("notificationEndpoints", "endpointID", ["body.orgID"]),
  ...keptOf("notificationRules", "ruleID", ["body.orgID", "body.tagRules", "body.statusRules", "body.limit", "body.limitEvery"]),
  "POST /api/v2/tasks": ["body.orgID"],
  // a name is given once, an empty one too
  "POST /api/v2/remotes": ["body.name"],
  // the id or the name of the bucket
  "POST /api/v2/replications": ["body.name", "body.remoteBucketID"],
  // at least one member
  "PATCH /api/v2/dashboards/{dashboardID}": ["body.name"],
  "POST /api/v2/dashboards/{dashboardID}/cells": ["body.x"],
  "PATCH /api/v2/dashboards/{dashboardID}/cells/{cellID}": ["body.x"],
  // at least one member
  "PATCH /api/v2/tasks/{taskID}": ["body.status"],
  // one of two
  "DELETE /api/v2private/annotations": ["query.stream"],
  "POST /api/v2/stacks": ["body.orgID"],
  "POST /api/v2/stacks/{stack_id}/uninstall": ["query.orgID"],
  "POST /api/v2/templates/apply": ["body.orgID"],
  "POST /api/v2/templates/export": ["body.stackID"],
  "POST /api/v2/delete": ["query.orgID", "query.bucketID"],
  "POST /api/v2/dbrps": ["body.orgID"],
  "GET /api/v2/dbrps": ["query.orgID"],
  ...Object.fromEntries(["GET", "PATCH", "DELETE"].map((method) => [`${method} /api/v2/dbrps/{dbrpID}`, ["query.orgID"]])),
  "POST /api/v2/write": ["query.orgID"],
  "POST /api/v2/query": ["query.orgID"],
  "POST /api/v2/restore/bucketMetadata": ["body.organizationID", "body.retentionPolicies"],
  "POST /api/v2/restore/bucket-metadata": ["body.organizationID", "body.retentionPolicies"],
  // thirty seconds without
  "GET /debug/pprof/profile": ["query.seconds"],
  // what it asks for
  "POST /query": ["query.db"],
};
const LENIENT_BODIES: VariantRules["lenientBodies"] = [
  {
    what: /^(?!(?:POST|PUT) .*\/(?:checks|notification\w+)(?:\/\{\w+\})?:|POST \/api\/v2\/delete:).*: text behind the JSON$/,
    why: "a body is its first JSON value (app/first-value.ts)",
  },
  { what: /^PUT .*(?:telegrafs\/\{telegrafID\}|\/streams): "null" instead/, why: "as an object without members, which become empty" },
  { what: /^(?:PATCH|POST) .*: "null" instead of an object$/, why: "as recorded: as an object without members" },
  { what: /^POST \/query: (?:no body|an empty body)$/, why: "as recorded: no statement has no result" },
  { what: /\/tasks\/\{taskID\}\/runs: (?:no body|an empty body)$/, why: "as a 2.8 server: a run that is due now" },
  {
    what: /\/(?:write|restore\/.*): (?:no body|an empty body)$/,
    why: "as recorded: nothing is nothing",
  },
  { what: /: an unknown content encoding$/, why: "as a 2.8 server: ignored" },
];

/** Of bodies: JSON is bounded by what a resource may be; lines by --max-http-request-size; uploads are as large as a backup is. */
function bytesMaxOf(key: string): number | null {
  if (key.includes("/restore/")) return null;
  if (/\/api\/v2\/(?:query|templates\/)/.test(key)) return 4 << 20;
  return /\/(?:write|query)$/.test(key) ? 10 << 20 : 1 << 20;
}

/** How requests of an operation may vary. */
export const V2_RULES: VariantRules = {
  ...{ lenient: LENIENT, required: REQUIRED, lenientBodies: LENIENT_BODIES, kept: KEPT, bytesMax: bytesMaxOf },
  checksContentType: () => false,
  namesMembers: (each) => each === "PATCH /api/v2/orgs/{orgID}/secrets",
};
