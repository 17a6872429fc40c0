// Operations on buckets and their rows: labels and mappings of buckets, writing, asking, deleting, backup and restore.
import { Type as t } from "@sinclair/typebox";
import { BucketBody, BucketUpdateBody } from "../buckets.ts";
import { LabelBody, LabelIdBody, LabelUpdateBody } from "../labels.ts";
import { MappingBody, MappingUpdateBody } from "../mappings.ts";
import { Manifest } from "../restore.ts";
import { DeleteBody } from "../rows/delete.ts";
import { membersOf, PAGE } from "./accounts.ts";
import { BYTES_TYPE, done, flag, id, jsonOf, made, ok, requiring, text, type V2Operation, type V2Operations } from "./described.ts";
import {
  AnalysisShape,
  AstShape,
  BucketShape,
  BucketsShape,
  BytesShape,
  LabelsShape,
  MappingShape,
  MappingsShape,
  OneLabelShape,
  OneMappingShape,
  RestoredBucketShape,
  SuggestionShape,
  SuggestionsShape,
  TextShape,
} from "./shapes.ts";

const organization = { org: text("The organization: a name or an id."), orgID: id("The organization's id; goes before `org`.") };
const taken = { 422: { description: "The name is taken, or a member has a value that cannot be." } };
const quota = { 403: { description: "Not permitted, or more than the organization may have." } };

const BUCKETS: V2Operations = {
  "GET /api/v2/buckets": {
    tag: "Buckets",
    summary: "Lists buckets",
    query: {
      ...PAGE,
      after: id("The last one of the page before; instead of an offset."),
      ...{ org: text("Of the organization of this name."), orgID: id("Of this organization.") },
      ...{ name: text("Of this name."), id: id("This one alone.") },
    },
    answers: { ...ok("Those that the sender may read.", BucketsShape), 404: { description: "No such bucket or organization." } },
  },
  "POST /api/v2/buckets": {
    tag: "Buckets",
    summary: "Makes a bucket",
    description: "Without retention rules it keeps rows as long as --v2-default-bucket-retention says.",
    body: jsonOf(requiring(BucketBody, "orgID", "name")),
    answers: { ...made("As made.", BucketShape), ...taken, ...quota, 404: { description: "No such organization." } },
  },
  "GET /api/v2/buckets/:bucketID": { tag: "Buckets", summary: "Shows a bucket", answers: ok("The bucket.", BucketShape) },
  "PATCH /api/v2/buckets/:bucketID": {
    tag: "Buckets",
    summary: "Changes a bucket",
    body: jsonOf(BucketUpdateBody),
    answers: { ...ok("As changed.", BucketShape), ...taken, ...quota },
  },
  "DELETE /api/v2/buckets/:bucketID": {
    tag: "Buckets",
    summary: "Deletes a bucket with its rows",
    answers: done("It is gone."),
  },
  "GET /api/v2/buckets/:bucketID/labels": {
    tag: "Buckets",
    summary: "Lists the labels of a bucket",
    answers: ok("The list.", LabelsShape),
  },
  "POST /api/v2/buckets/:bucketID/labels": {
    tag: "Buckets",
    summary: "Puts a label on a bucket",
    body: jsonOf(requiring(LabelIdBody, "labelID")),
    answers: { ...made("The label.", OneLabelShape), 422: { description: "The bucket has the label." } },
  },
  "DELETE /api/v2/buckets/:bucketID/labels/:labelID": {
    tag: "Buckets",
    summary: "Takes a label off a bucket",
    answers: done("It is off."),
  },
  ...membersOf("/api/v2/buckets/:bucketID", "Buckets", "a bucket"),
};

const LABELS: V2Operations = {
  "GET /api/v2/labels": {
    tag: "Labels",
    summary: "Lists labels",
    query: { orgID: id("Of this organization."), name: text("Of this name.") },
    answers: ok("Those that the sender may read.", LabelsShape),
  },
  "POST /api/v2/labels": {
    tag: "Labels",
    summary: "Makes a label",
    body: jsonOf(requiring(LabelBody, "orgID", "name")),
    answers: { ...made("As made.", OneLabelShape), ...taken, 404: { description: "No such organization." } },
  },
  "GET /api/v2/labels/:labelID": { tag: "Labels", summary: "Shows a label", answers: ok("The label.", OneLabelShape) },
  "PATCH /api/v2/labels/:labelID": {
    tag: "Labels",
    summary: "Changes a label",
    description: "A property with an empty value is removed.",
    body: jsonOf(LabelUpdateBody),
    answers: { ...ok("As changed.", OneLabelShape), ...taken },
  },
  "DELETE /api/v2/labels/:labelID": { tag: "Labels", summary: "Deletes a label", answers: done("It is gone.") },
};

const MAPPINGS: V2Operations = {
  "GET /api/v2/dbrps": {
    tag: "v1 clients",
    summary: "Lists the buckets of v1 databases and retention policies",
    query: {
      ...organization,
      ...{ id: id("This mapping alone."), bucketID: id("Of this bucket.") },
      ...{ db: text("Of this database."), rp: text("Of this retention policy."), default: flag("Defaults of their databases, or others.") },
    },
    answers: { ...ok("Those whose buckets the sender may read.", MappingsShape), 404: { description: "No such organization." } },
  },
  "POST /api/v2/dbrps": {
    tag: "v1 clients",
    summary: "Maps a v1 database and retention policy to a bucket",
    body: jsonOf(requiring(MappingBody, "bucketID", "database", "retention_policy")),
    answers: { ...made("As made.", MappingShape), ...taken, 404: { description: "No such organization or bucket." } },
  },
  "GET /api/v2/dbrps/:dbrpID": {
    tag: "v1 clients",
    summary: "Shows a mapping",
    query: organization,
    answers: ok("The mapping.", OneMappingShape),
  },
  "PATCH /api/v2/dbrps/:dbrpID": {
    tag: "v1 clients",
    summary: "Changes a mapping",
    query: organization,
    body: jsonOf(MappingUpdateBody),
    answers: { ...ok("As changed.", OneMappingShape), ...taken },
  },
  "DELETE /api/v2/dbrps/:dbrpID": {
    tag: "v1 clients",
    summary: "Deletes a mapping",
    query: organization,
    answers: done("It is gone."),
  },
};

const lines = { "text/plain": t.String({ description: "Line protocol, a row a line; also compressed by gzip." }) };
const writeAnswers: V2Operation["answers"] = {
  ...done("All rows are stored."),
  400: { description: "Lines that cannot be read, or fields of another type; rows of other lines are stored." },
  404: { description: "No such organization or bucket." },
  422: { description: "Rows older than the bucket keeps them." },
};
const units = (...names: string[]) =>
  t.Optional(t.Unsafe<string>({ type: "string", enum: names, default: "ns", description: "Unit of the times." }));

const DIALECT = t.Object({
  header: flag("A line with the names of the columns."),
  delimiter: text("One character between values."),
  annotations: t.Optional(t.Array(t.Unsafe<string>({ type: "string", enum: ["datatype", "group", "default"] }))),
  commentPrefix: text("Before annotations."),
  dateTimeFormat: t.Optional(t.Unsafe<string>({ type: "string", enum: ["RFC3339", "RFC3339Nano"] })),
});
const QUERY_BODY = t.Object({
  query: t.Optional(t.String({ description: "The script, or the statement." })),
  type: t.Optional(t.Unsafe<string>({ type: "string", enum: ["flux", "influxql"], default: "flux" })),
  dialect: t.Optional(DIALECT),
  now: text("The time that now() is, RFC 3339."),
  extern: t.Optional(t.Object({}, { description: "A file of the syntax tree, run before the script." })),
  ast: t.Optional(t.Object({}, { description: "The syntax tree of the script, instead of its text." })),
  bucket: text("The bucket of an InfluxQL statement: a name or an id."),
});
const script = { "application/json": QUERY_BODY, "application/vnd.flux": t.String({ description: "The script alone." }) };
const scriptText = jsonOf(t.Object({ query: text("The script.") }));
const v1Statements = {
  db: text("The database that a mapping names."),
  rp: text("Its retention policy; default: the database's default."),
  q: text("Statements of InfluxQL, with semicolons between them."),
  epoch: text("Times as numbers of this unit: ns, u, ms, s, m or h."),
  u: text("User name."),
  p: text("Password."),
};
const v1Answers: V2Operation["answers"] = {
  200: {
    description: "Results; an error of one statement is in its result.",
    content: { "application/json": t.Object({}), "text/csv": TextShape },
  },
};

const ROWS: V2Operations = {
  "POST /api/v2/write": {
    tag: "Write, query, delete",
    summary: "Writes rows to a bucket",
    query: { ...organization, bucket: t.String({ description: "A name or an id." }), precision: units("ns", "us", "ms", "s") },
    body: lines,
    answers: writeAnswers,
  },
  "POST /api/v2/delete": {
    tag: "Write, query, delete",
    summary: "Deletes rows of a bucket",
    description: "Those from `start` to `stop` whose tags match the predicate: comparisons by = or != with AND between them.",
    query: { ...organization, bucket: text("A name or an id."), bucketID: id("The bucket's id; goes before `bucket`.") },
    body: jsonOf(requiring(DeleteBody, "start", "stop")),
    answers: { ...done("They are gone."), 404: { description: "No such organization or bucket." } },
  },
  "POST /api/v2/query": {
    tag: "Write, query, delete",
    summary: "Runs a Flux script, or an InfluxQL statement over one bucket",
    query: organization,
    headers: { prefer: text("return-no-content: nothing is answered; return-no-content-with-error: errors alone.") },
    body: script,
    answers: {
      200: { description: "Tables as annotated CSV.", content: { "text/csv": TextShape, "application/csv": TextShape } },
      204: { description: "The script has run; the header Prefer asked for no content." },
      404: { description: "No such bucket." },
    },
  },
  "POST /api/v2/query/ast": {
    tag: "Write, query, delete",
    summary: "Parses a script",
    body: scriptText,
    answers: ok("Its syntax tree.", AstShape),
  },
  "POST /api/v2/query/analyze": {
    tag: "Write, query, delete",
    summary: "Tells what is wrong with a script",
    body: script,
    answers: ok("Faults, if there are any.", AnalysisShape),
  },
  "GET /api/v2/query/suggestions": {
    tag: "Write, query, delete",
    summary: "Lists functions of scripts",
    answers: ok("Names, with parameters and their types.", SuggestionsShape),
  },
  "GET /api/v2/query/suggestions/:name": {
    tag: "Write, query, delete",
    summary: "Shows a function of scripts",
    answers: ok("Its parameters.", SuggestionShape),
  },
  "POST /write": {
    tag: "v1 clients",
    credentials: "v1",
    summary: "Writes rows to the bucket of a v1 database",
    query: {
      ...{ db: t.String({ description: "The database that a mapping names." }), rp: v1Statements.rp, u: v1Statements.u, p: v1Statements.p },
      precision: units("ns", "n", "us", "u", "ms", "s", "m", "h"),
    },
    body: lines,
    answers: writeAnswers,
  },
  "GET /query": {
    tag: "v1 clients",
    credentials: "v1",
    summary: "Runs statements of InfluxQL",
    query: { ...v1Statements, q: t.String({ description: "Statements, with semicolons between them." }) },
    answers: v1Answers,
  },
  "HEAD /query": {
    tag: "v1 clients",
    credentials: "v1",
    summary: "Runs statements of InfluxQL, and shows the headers of their answer",
    query: { ...v1Statements, q: t.String({ description: "Statements, with semicolons between them." }) },
    answers: v1Answers,
  },
  "POST /query": {
    tag: "v1 clients",
    credentials: "v1",
    summary: "Runs statements of InfluxQL, also such that delete",
    query: v1Statements,
    body: { "application/x-www-form-urlencoded": t.Object(v1Statements), "application/vnd.influxql": t.String() },
    answers: v1Answers,
  },
};

const bytes = (description: string): V2Operation["answers"] => ({ 200: { description, content: { [BYTES_TYPE]: BytesShape } } });
const gzipLevel = {
  "Gzip-Compression-Level": t.Optional(
    t.Unsafe<string>({ type: "string", enum: ["default", "full", "speedy", "none"], description: "For clients that accept gzip." }),
  ),
};
const sent = { [BYTES_TYPE]: BytesShape };
const manifest: V2Operation = {
  tag: "Backup and restore",
  summary: "Makes the bucket of a backup",
  body: jsonOf(requiring(Manifest, "bucketName")),
  answers: {
    ...made("The bucket, and numbers for its shards.", RestoredBucketShape),
    ...taken,
    404: { description: "No such organization." },
  },
};
const oldManifest: V2Operation = {
  tag: "Backup and restore",
  summary: "Maps shards of a backup to those of a bucket",
  description: "For clients of version 2.0.",
  body: sent,
  answers: bytes("New numbers by old ones, as JSON."),
};

const BACKUP: V2Operations = {
  "GET /api/v2/backup/kv": { tag: "Backup and restore", summary: "Downloads the metadata", answers: bytes("As restore takes them.") },
  "GET /api/v2/backup/metadata": {
    tag: "Backup and restore",
    summary: "Downloads the metadata with a manifest of all buckets",
    headers: gzipLevel,
    answers: { 200: { description: "Parts kv, sql and buckets.", content: { "multipart/mixed": BytesShape } } },
  },
  "GET /api/v2/backup/shards/:shardID": {
    tag: "Backup and restore",
    summary: "Downloads the rows of a shard",
    headers: gzipLevel,
    query: { since: text("Files changed since this time, RFC 3339.") },
    answers: { ...bytes("The shard."), 422: { description: "The durations of shards were changed since the metadata were downloaded." } },
  },
  "POST /api/v2/restore/kv": {
    tag: "Backup and restore",
    summary: "Replaces all metadata",
    body: sent,
    answers: ok("The operator's token, if it is a new one.", t.Object({ token: t.Optional(t.String()) })),
  },
  "POST /api/v2/restore/sql": {
    tag: "Backup and restore",
    summary: "Takes the part sql of a backup",
    description: "It is checked; its content is in the part kv, too.",
    body: sent,
    answers: { 200: { description: "It is in order." } },
  },
  "POST /api/v2/restore/shards/:shardID": {
    tag: "Backup and restore",
    summary: "Uploads the rows of a shard",
    body: sent,
    answers: { 200: { description: "They are stored." } },
  },
  "POST /api/v2/restore/bucketMetadata": manifest,
  "POST /api/v2/restore/bucket-metadata": manifest,
  "POST /api/v2/restore/bucket/:bucketID": oldManifest,
  "POST /api/v2/restore/buckets/:bucketID": oldManifest,
};

export const BUCKETS_AND_ROWS: V2Operations = { ...ROWS, ...BUCKETS, ...LABELS, ...MAPPINGS, ...BACKUP };
