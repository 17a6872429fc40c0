// Operations on sources.
import { Type as t } from "@sinclair/typebox";
import { SourceBody } from "../sources/sources.ts";
import { done, jsonOf, made, ok, requiring, text, type V2Operations } from "./described.ts";
import { Id, LabelShape, Link, Time } from "./shapes.ts";

const tag = "Sources";
const Links = t.Record(t.String(), Link);
const SOURCE = "/api/v2/sources/:sourceID";
const SourceShape = t.Object(
  {
    ...{ id: Id, orgID: Id, default: t.Boolean(), name: t.String(), type: t.Optional(t.String()), url: t.String() },
    ...{ insecureSkipVerify: t.Optional(t.Boolean()), telegraf: t.String(), token: t.String(), username: t.Optional(t.String()) },
    ...{ metaUrl: t.Optional(t.String()), defaultRP: t.String(), links: Links },
  },
  { $id: "Source" },
);
const SourcesShape = t.Object({ sources: t.Array(SourceShape), links: Links }, { $id: "Sources" });
const SourceHealthShape = t.Object(
  { name: t.String(), message: t.String(), status: t.Union([t.Literal("pass"), t.Literal("fail")]), checks: t.Array(t.Unknown()) },
  { $id: "SourceHealth" },
);
const SourceBucketShape = t.Object(
  {
    ...{ id: t.Optional(t.String()), orgID: t.Optional(t.String()), name: t.String(), type: t.Optional(t.String()) },
    ...{ description: t.Optional(t.String()), rp: t.Optional(t.String()) },
    retentionRules: t.Array(t.Object({ type: t.String(), everySeconds: t.Integer(), shardGroupDurationSeconds: t.Optional(t.Integer()) })),
    ...{ createdAt: t.Optional(Time), updatedAt: t.Optional(Time), links: t.Optional(Links), labels: t.Optional(t.Array(LabelShape)) },
  },
  { $id: "SourceBucket" },
);
const SourceBucketsShape = t.Object({ links: Links, buckets: t.Array(SourceBucketShape) }, { $id: "SourceBuckets" });

/** By `METHOD path`. */
export const SOURCES: V2Operations = {
  "GET /api/v2/sources": {
    ...{ tag, summary: "Lists sources", description: "One is built in: this server." },
    query: { org: text("Not looked at: the list has the sources of all organizations.") },
    answers: ok("Those that the sender may read.", SourcesShape),
  },
  "POST /api/v2/sources": {
    ...{ tag, summary: "Makes a source", body: jsonOf(requiring(SourceBody, "orgID")) },
    answers: made("As made.", SourceShape),
  },
  [`GET ${SOURCE}`]: { tag: "Sources", summary: "Shows a source", answers: ok("The source.", SourceShape) },
  [`PATCH ${SOURCE}`]: {
    ...{ tag, summary: "Changes a source" },
    description:
      "Secrets are for the server that they were given for: with the address of another one they are gone, unless they are given again.",
    body: jsonOf(SourceBody),
    answers: ok("As changed.", SourceShape),
  },
  [`DELETE ${SOURCE}`]: { tag: "Sources", summary: "Deletes a source; 403 for the built-in one", answers: done("It is gone.") },
  [`GET ${SOURCE}/health`]: {
    ...{ tag, summary: "Asks a source whether it is well", description: "It has ten seconds." },
    answers: { ...ok("It is.", SourceHealthShape), 503: { description: "It is not.", content: jsonOf(SourceHealthShape) } },
  },
  [`GET ${SOURCE}/buckets`]: {
    ...{ tag, summary: "Asks a source for its buckets" },
    description:
      "Of a v1 server each retention policy of a database is one. 400 if the source does not answer as wanted within ten seconds.",
    query: { org: text("Of the organization of this name.") },
    answers: {
      ...ok("All of them; of this server those that the sender may read.", SourceBucketsShape),
      404: { description: "No organization of this name." },
    },
  },
};
