// Resources as clients see them.
import type { Permission } from "../../metadata/access/permissions.ts";
import type { V2Line } from "../../metadata/line.ts";
import { type Authorization, phcHashOf } from "../../metadata/resources/authorizations.ts";
import type { Bucket } from "../../metadata/resources/buckets.ts";
import type { Label } from "../../metadata/resources/labels.ts";
import type { Role } from "../../metadata/resources/members.ts";
import type { Organization } from "../../metadata/resources/organizations.ts";
import type { User } from "../../metadata/resources/users.ts";

export const AUTHORIZATIONS = "/api/v2/authorizations";
export const LEGACY_AUTHORIZATIONS = "/private/legacy/authorizations";

/** A user as JSON, with its links. */
export function shownUser({ id, name, status, oauthID }: User): object {
  return { links: { self: `/api/v2/users/${id}` }, id, name, ...(oauthID === "" ? {} : { oauthID }), status };
}

/** @param logs users of some resources have a link to their log */
export function shownMember(user: User, role: Role, logs = false): object {
  const self = `/api/v2/users/${user.id}`;
  return { role, ...shownUser(user), ...(logs ? { links: { logs: `${self}/logs`, self } } : {}) };
}

/** An organization as JSON, with its links. They have the name as it is, as recorded. */
export function shownOrganization({ id, name, description, createdAt, updatedAt }: Organization): object {
  const self = `/api/v2/orgs/${id}`;
  const query = `org=${name}`;
  return {
    links: {
      buckets: `/api/v2/buckets?${query}`,
      dashboards: `/api/v2/dashboards?${query}`,
      labels: `${self}/labels`,
      logs: `${self}/logs`,
      members: `${self}/members`,
      owners: `${self}/owners`,
      secrets: `${self}/secrets`,
      self,
      tasks: `/api/v2/tasks?${query}`,
    },
    ...{ id, name, description, createdAt, updatedAt },
  };
}

/** A label as JSON. */
export function shownLabel({ id, orgID, name, properties }: Label): object {
  return { id, orgID, name, ...(Object.keys(properties).length === 0 ? {} : { properties }) };
}

/** A bucket as JSON, with its rules, labels and links. */
export function shownBucket(bucket: Bucket, labels: readonly Label[]): object {
  const { id, orgID, type, description, name, rp, retentionSeconds, shardSeconds, createdAt, updatedAt } = bucket;
  const self = `/api/v2/buckets/${id}`;
  return {
    ...{ id, orgID, type },
    ...(description === "" ? {} : { description }),
    name,
    ...(rp === "" ? {} : { rp }),
    retentionRules:
      retentionSeconds === 0 && shardSeconds === 0
        ? []
        : [{ type: "expire", everySeconds: retentionSeconds, shardGroupDurationSeconds: shardSeconds }],
    ...(createdAt === null ? {} : { createdAt, updatedAt }),
    links: {
      labels: `${self}/labels`,
      members: `${self}/members`,
      org: `/api/v2/orgs/${orgID}`,
      owners: `${self}/owners`,
      self,
      write: `/api/v2/write?org=${orgID}&bucket=${id}`,
    },
    labels: labels.map(shownLabel),
  };
}

/** An authorization as JSON, with the names that it refers to and its links. */
export function shownAuthorization(line: V2Line, authorization: Authorization, path = AUTHORIZATIONS): object {
  const { id, token, status, description, orgID, org, userID, user, permissions, createdAt, updatedAt } = authorization;
  return {
    ...{ id, token, status, description, orgID, org, userID, user },
    permissions: permissions.map((permission) => shownPermission(line, permission)),
    links: { self: `${path}/${id}`, user: `/api/v2/users/${userID}` },
    ...{ createdAt, updatedAt },
  };
}

/** Of setup: without the names, which the answer has beside it. */
export function shownOperator(line: V2Line, authorization: Authorization): object {
  const { org: _, user: __, ...shown } = shownAuthorization(line, authorization) as Record<string, unknown>;
  return line.authorizations.keepsHashesOnly ? { ...shown, hashedToken: phcHashOf(authorization.token) } : shown;
}

/** With the names of what is there; one whose resource is gone has no names at all. */
function shownPermission({ organizations, buckets, users }: V2Line, { action, resource }: Permission): object {
  const { type, id, orgID } = resource;
  const shown = { type, ...(id === undefined ? {} : { id }), ...(orgID === undefined ? {} : { orgID }) };
  const names = { orgs: organizations, buckets, users } as const;
  const found = id !== undefined && type in names ? names[type as keyof typeof names].find(id) : undefined;
  if (found === null) return { action, resource: shown };
  const org = orgID === undefined ? undefined : organizations.find(orgID)?.name;
  return { action, resource: { ...shown, ...(found === undefined ? {} : { name: found.name }), ...(org === undefined ? {} : { org }) } };
}
