// What port 8086 answers. Schemas with an `$id` are components of the document, referred to by name.
import { type TSchema, Type as t } from "@sinclair/typebox";
import { RESOURCE_TYPES } from "../../../metadata/store/kinds.ts";
import { ERROR_CODES } from "../app/errors.ts";

export const Id = t.String({ $id: "Id", pattern: "^[0-9a-f]{16}$", description: "16 hexadecimal digits, never changed." });
export const Time = t.String({
  $id: "Time",
  description: "RFC 3339 in UTC.",
  pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?Z$",
});
const StatusText = t.Union([t.Literal("active"), t.Literal("inactive")]);
export const Link = t.String({ description: "Path below this server's address." });
const Self = t.Object({ self: Link });

export const ErrorShape = t.Object(
  {
    code: t.Unsafe<string>({ type: "string", enum: ERROR_CODES, description: "Also in the header X-Platform-Error-Code." }),
    message: t.String(),
  },
  { $id: "Error" },
);

const userMembers = { id: Id, name: t.String(), oauthID: t.Optional(t.String()), status: StatusText, links: Self };
export const UserShape = t.Object(userMembers, { $id: "User" });
export const UsersShape = t.Object({ links: Self, users: t.Array(UserShape) }, { $id: "Users" });
const Role = t.Union([t.Literal("member"), t.Literal("owner")]);
const MemberLinks = t.Object({ self: Link, logs: t.Optional(Link) });
export const MemberShape = t.Object({ role: Role, ...userMembers, links: MemberLinks }, { $id: "Member" });
export const MembersShape = t.Object({ links: Self, users: t.Array(MemberShape) }, { $id: "Members" });

export const OrganizationShape = t.Object(
  {
    id: Id,
    name: t.String(),
    description: t.String(),
    createdAt: Time,
    updatedAt: Time,
    links: t.Record(t.String(), Link),
  },
  { $id: "Organization" },
);
export const OrganizationsShape = t.Object({ links: Self, orgs: t.Array(OrganizationShape) }, { $id: "Organizations" });

export const LabelShape = t.Object(
  { id: Id, orgID: Id, name: t.String(), properties: t.Optional(t.Record(t.String(), t.String())) },
  { $id: "Label" },
);
export const LabelsShape = t.Object({ links: Self, labels: t.Array(LabelShape) }, { $id: "Labels" });
export const OneLabelShape = t.Object({ links: Self, label: LabelShape }, { $id: "LabelAnswer" });

export const ScraperShape = t.Object(
  {
    ...{ id: Id, name: t.String(), type: t.String(), url: t.String() },
    ...{ orgID: t.Optional(Id), org: t.Optional(t.String()), bucketID: t.Optional(Id), bucket: t.Optional(t.String()) },
    allowInsecure: t.Optional(t.Boolean()),
    links: t.Record(t.String(), Link),
  },
  { $id: "ScraperTarget" },
);
export const ScrapersShape = t.Object({ links: Self, configurations: t.Array(ScraperShape) }, { $id: "ScraperTargets" });

export const RemoteShape = t.Object(
  {
    ...{ id: Id, orgID: Id, name: t.String(), description: t.Optional(t.String()), remoteURL: t.String() },
    remoteOrgID: t.Union([Id, t.Null()]),
    allowInsecureTLS: t.Boolean({ description: "The certificate of the remote is not checked." }),
  },
  { $id: "Remote" },
);
export const RemotesShape = t.Object({ remotes: t.Union([t.Array(RemoteShape), t.Null()]) }, { $id: "Remotes" });
export const ReplicationShape = t.Object(
  {
    ...{ id: Id, orgID: Id, name: t.String(), description: t.Optional(t.String()), remoteID: Id, localBucketID: Id },
    remoteBucketID: t.Union([Id, t.Null()]),
    remoteBucketName: t.String({ description: "Counts where there is no `remoteBucketID`." }),
    RemoteBucketName: t.String({ description: "The same, as other servers spell it." }),
    maxQueueSizeBytes: t.Integer({ description: "Of the queue's files, which are compressed. Rows without room are not sent." }),
    currentQueueSizeBytes: t.Integer({ description: "An empty queue has 8: its position." }),
    remainingBytesToBeSynced: t.Integer(),
    latestResponseCode: t.Optional(t.Integer({ description: "Absent before the first attempt since the start; 0: no answer came." })),
    latestErrorMessage: t.Optional(t.String()),
    dropNonRetryableData: t.Boolean(),
    maxAgeSeconds: t.Integer({ description: "Older rows are not sent; 0 or less: all are." }),
  },
  { $id: "Replication" },
);
export const ReplicationsShape = t.Object({ replications: t.Union([t.Array(ReplicationShape), t.Null()]) }, { $id: "Replications" });

const RetentionRule = t.Object(
  {
    type: t.Literal("expire"),
    everySeconds: t.Integer({ description: "How long rows are kept; 0: for ever." }),
    shardGroupDurationSeconds: t.Integer(),
  },
  { $id: "RetentionRule" },
);
export const BucketShape = t.Object(
  {
    id: Id,
    orgID: Id,
    type: t.Union([t.Literal("user"), t.Literal("system")]),
    name: t.String(),
    description: t.Optional(t.String()),
    rp: t.Optional(t.String()),
    retentionRules: t.Array(RetentionRule),
    createdAt: t.Optional(Time),
    updatedAt: t.Optional(Time),
    links: t.Record(t.String(), Link),
    labels: t.Array(LabelShape),
  },
  { $id: "Bucket" },
);
export const PageLinks = t.Object({ self: Link, prev: t.Optional(Link), next: t.Optional(Link) }, { $id: "PageLinks" });
export const BucketsShape = t.Object({ links: PageLinks, buckets: t.Array(BucketShape) }, { $id: "Buckets" });

const ResourceTypeName = t.Unsafe<string>({ type: "string", enum: [...RESOURCE_TYPES] });
const PermissionShape = t.Object(
  {
    action: t.Union([t.Literal("read"), t.Literal("write")]),
    resource: t.Object({
      type: ResourceTypeName,
      id: t.Optional(Id),
      orgID: t.Optional(Id),
      name: t.Optional(t.String()),
      org: t.Optional(t.String()),
    }),
  },
  { $id: "Permission" },
);
const authorizationMembers = {
  id: Id,
  token: t.Optional(t.String({ description: "Hidden where the server keeps hashes alone, except from the one who makes it." })),
  status: StatusText,
  description: t.String(),
  orgID: Id,
  userID: Id,
  permissions: t.Array(PermissionShape),
  links: t.Object({ self: Link, user: Link }),
  createdAt: Time,
  updatedAt: Time,
};
export const AuthorizationShape = t.Object({ ...authorizationMembers, org: t.String(), user: t.String() }, { $id: "Authorization" });
export const AuthorizationsShape = t.Object({ links: Self, authorizations: t.Array(AuthorizationShape) }, { $id: "Authorizations" });
export const PermissionsShape = t.Array(PermissionShape);

export const MappingShape = t.Object(
  {
    id: Id,
    orgID: Id,
    bucketID: Id,
    database: t.String(),
    retention_policy: t.String(),
    default: t.Boolean(),
    virtual: t.Boolean({ description: "Of the bucket's name, not made by a client." }),
  },
  { $id: "Mapping" },
);
export const MappingsShape = t.Object({ content: t.Array(MappingShape) }, { $id: "Mappings" });
export const OneMappingShape = t.Object({ content: MappingShape }, { $id: "MappingAnswer" });

export const SecretKeysShape = t.Object(
  { links: t.Object({ org: Link, self: Link }), secrets: t.Array(t.String()) },
  { $id: "SecretKeys" },
);

export const SetupShape = t.Object({ allowed: t.Boolean({ description: "True until the server is set up." }) });
export const SetupAnswerShape = t.Object(
  { user: UserShape, org: OrganizationShape, bucket: BucketShape, auth: t.Object(authorizationMembers) },
  { $id: "SetupAnswer" },
);

export const HealthShape = t.Object(
  {
    name: t.String(),
    message: t.String(),
    checks: t.Array(t.Object({})),
    status: t.Union([t.Literal("pass"), t.Literal("fail")]),
    version: t.String(),
    commit: t.String(),
  },
  { $id: "Health" },
);
export const ReadyShape = t.Object(
  {
    status: t.Union([t.Literal("ready"), t.Literal("starting")]),
    started: Time,
    up: t.String({ description: "A duration, for example `1m32.4s`." }),
  },
  { $id: "Readiness" },
);

const ShardMapping = t.Object({ oldId: t.Integer(), newId: t.Integer() });
export const RestoredBucketShape = t.Object({ id: Id, name: t.String(), shardMappings: t.Array(ShardMapping) }, { $id: "RestoredBucket" });

export const SuggestionShape = t.Object({ name: t.String(), params: t.Record(t.String(), t.String()) }, { $id: "Suggestion" });
export const SuggestionsShape = t.Object({ funcs: t.Array(SuggestionShape) });
const ScriptFault = t.Object({ line: t.Integer(), column: t.Integer(), character: t.Integer(), message: t.String() });
export const AnalysisShape = t.Object({ errors: t.Array(ScriptFault) }, { $id: "Analysis" });
export const AstShape = t.Object({ ast: t.Object({}, { description: "A package of files, each with its statements." }) }, { $id: "Ast" });

/** Any text. */
export const TextShape: TSchema = t.String();
export const BytesShape: TSchema = t.String({ contentEncoding: "binary" });
