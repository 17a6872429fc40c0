// Operations on users, organizations, tokens and their permissions, and those of setup and sessions.
import { Type as t } from "@sinclair/typebox";
import { AuthorizationBody, AuthorizationUpdateBody } from "../authorizations.ts";
import { MemberBody } from "../members.ts";
import { OrganizationBody } from "../organizations.ts";
import { PasswordBody } from "../passwords.ts";
import { SecretKeys } from "../secrets.ts";
import { SetupBody } from "../setup.ts";
import { UserBody, UserUpdateBody } from "../users.ts";
import { done, flag, id, jsonOf, made, ok, requiring, type Tag, text, type V2Operation, type V2Operations } from "./described.ts";
import {
  AuthorizationShape,
  AuthorizationsShape,
  MemberShape,
  MembersShape,
  OrganizationShape,
  OrganizationsShape,
  PermissionsShape,
  SecretKeysShape,
  SetupAnswerShape,
  SetupShape,
  UserShape,
  UsersShape,
} from "./shapes.ts";

/** Parameters of lists in pages. */
export const PAGE = {
  limit: t.Optional(t.Integer({ minimum: 1, maximum: 100, default: 20, description: "Items of a page." })),
  offset: t.Optional(t.Integer({ minimum: 0, default: 0, description: "Items left out before the page." })),
  descending: flag("From the last to the first."),
};
const AFTER = { after: id("The last one of the page before; instead of an offset.") };
const password = jsonOf(requiring(PasswordBody, "password"));
const newPassword = { ...done("Changed; other sessions of the user are over."), 400: { description: "The password is too short." } };
const taken = { 422: { description: "The name is taken." } };

const SETUP: V2Operations = {
  "GET /api/v2/setup": {
    tag: "Setup and sessions",
    credentials: "none",
    summary: "Whether the server is still to be set up",
    answers: ok("The answer.", SetupShape),
  },
  "POST /api/v2/setup": {
    tag: "Setup and sessions",
    credentials: "none",
    summary: "Sets the server up",
    description: "Makes the first user, an organization, a bucket and an operator's token. Works once.",
    body: jsonOf(requiring(SetupBody, "username", "org", "bucket")),
    answers: { ...made("What was made.", SetupAnswerShape), 422: { description: "Set up already, or a member is missing." } },
  },
  "POST /api/v2/signin": {
    tag: "Setup and sessions",
    credentials: "basic",
    summary: "Begins a session",
    answers: { ...done("The header Set-Cookie has the session."), 403: { description: "The password must be changed first." } },
  },
  "POST /api/v2/signout": {
    tag: "Setup and sessions",
    summary: "Ends the session of the cookie",
    answers: done("It is over."),
  },
};

function authorizations(path: string, tag: Tag, what: string): V2Operations {
  const isLegacy = tag === "v1 clients";
  const filters = {
    orgID: id("Of this organization."),
    org: text(isLegacy ? "The name of an organization that there is; it leaves nothing out." : "Of the organization of this name."),
    userID: id("Of this user."),
    user: text(isLegacy ? "The name of a user that there is; it leaves nothing out." : "Of the user of this name."),
    ...(isLegacy ? { token: text("With this user name."), authID: id("This one alone.") } : { id: id("This one alone.") }),
  };
  const names = isLegacy ? (["orgID", "permissions", "token"] as const) : (["orgID", "permissions"] as const);
  return {
    [`GET ${path}`]: {
      tag,
      summary: `Lists ${what}`,
      description: "Those that the sender may read.",
      query: filters,
      answers: { ...ok("The list.", AuthorizationsShape), 404: { description: "No such organization or user." } },
    },
    [`POST ${path}`]: {
      tag,
      summary: `Makes one of the ${what}`,
      description: "With permissions that the sender has, too.",
      body: jsonOf(requiring(AuthorizationBody, ...names)),
      answers: { ...made("As made.", AuthorizationShape), 404: { description: "No such organization." }, ...taken },
    },
    [`GET ${path}/:authID`]: { tag, summary: `Shows one of the ${what}`, answers: ok("It.", AuthorizationShape) },
    [`PATCH ${path}/:authID`]: {
      tag,
      summary: `Changes the status or description of one of the ${what}`,
      body: jsonOf(AuthorizationUpdateBody),
      answers: ok("As changed.", AuthorizationShape),
    },
    [`DELETE ${path}/:authID`]: { tag, summary: `Deletes one of the ${what}`, answers: done("It is gone, and admits nobody.") },
  };
}

/** Members and owners of a resource. */
export function membersOf(path: string, tag: Tag, resource: string): V2Operations {
  const operations = (["member", "owner"] as const).flatMap((role): [string, V2Operation][] => [
    [`GET ${path}/${role}s`, { tag, summary: `Lists the ${role}s of ${resource}`, answers: ok("The list.", MembersShape) }],
    [
      `POST ${path}/${role}s`,
      {
        tag,
        summary: `Makes a user ${role === "owner" ? "an owner" : "a member"} of ${resource}`,
        body: jsonOf(requiring(MemberBody, "id")),
        answers: { ...made("The user, with the role.", MemberShape), 422: { description: "The user has a role already." } },
      },
    ],
    [`DELETE ${path}/${role}s/:userID`, { tag, summary: `Ends the role of ${role} of ${resource}`, answers: done("It has ended.") }],
  ]);
  return Object.fromEntries(operations);
}

const USERS: V2Operations = {
  "GET /api/v2/me": { tag: "Users", summary: "Shows who asks", answers: ok("The user.", UserShape) },
  "PUT /api/v2/me/password": {
    tag: "Users",
    summary: "Changes the own password",
    description: "The header Authorization has the name and the present password (Basic), the cookie a session.",
    body: password,
    answers: newPassword,
  },
  "GET /api/v2/users": {
    tag: "Users",
    summary: "Lists users",
    query: { ...PAGE, ...AFTER, name: text("The user of this name."), id: id("This one alone.") },
    answers: { ...ok("Those that the sender may read.", UsersShape), 404: { description: "No such user." } },
  },
  "POST /api/v2/users": {
    tag: "Users",
    summary: "Makes a user",
    body: jsonOf(requiring(UserBody, "name")),
    answers: { ...made("As made, without a password.", UserShape), ...taken },
  },
  "GET /api/v2/users/:userID": { tag: "Users", summary: "Shows a user", answers: ok("The user.", UserShape) },
  "PATCH /api/v2/users/:userID": {
    tag: "Users",
    summary: "Changes the name or status of a user",
    body: jsonOf(UserUpdateBody),
    answers: { ...ok("As changed.", UserShape), ...taken },
  },
  "DELETE /api/v2/users/:userID": { tag: "Users", summary: "Deletes a user with its tokens", answers: done("It is gone.") },
  "GET /api/v2/users/:userID/permissions": {
    tag: "Users",
    summary: "Lists what a user may do in a session",
    answers: ok("The permissions.", PermissionsShape),
  },
  "POST /api/v2/users/:userID/password": { tag: "Users", summary: "Sets the password of a user", body: password, answers: newPassword },
  "PUT /api/v2/users/:userID/password": {
    tag: "Users",
    summary: "Changes a password",
    description: "The header Authorization has the name and the present password (Basic), the cookie a session.",
    body: password,
    answers: newPassword,
  },
};

const ORGANIZATIONS: V2Operations = {
  "GET /api/v2/orgs": {
    tag: "Organizations",
    summary: "Lists organizations",
    query: { ...PAGE, org: text("The one of this name."), orgID: id("This one alone."), userID: id("Those that this user belongs to.") },
    answers: { ...ok("Those that the sender may read.", OrganizationsShape), 404: { description: "No such organization." } },
  },
  "POST /api/v2/orgs": {
    tag: "Organizations",
    summary: "Makes an organization",
    body: jsonOf(requiring(OrganizationBody, "name")),
    answers: { ...made("As made; the sender owns it.", OrganizationShape), ...taken },
  },
  "GET /api/v2/orgs/:orgID": { tag: "Organizations", summary: "Shows an organization", answers: ok("It.", OrganizationShape) },
  "PATCH /api/v2/orgs/:orgID": {
    tag: "Organizations",
    summary: "Changes the name or description of an organization",
    body: jsonOf(OrganizationBody),
    answers: { ...ok("As changed.", OrganizationShape), ...taken },
  },
  "DELETE /api/v2/orgs/:orgID": {
    tag: "Organizations",
    summary: "Deletes an organization with all that belongs to it",
    answers: done("It is gone."),
  },
  ...membersOf("/api/v2/orgs/:orgID", "Organizations", "an organization"),
  "GET /api/v2/orgs/:orgID/secrets": {
    tag: "Organizations",
    summary: "Lists the names of secrets",
    answers: ok("The names.", SecretKeysShape),
  },
  "PATCH /api/v2/orgs/:orgID/secrets": {
    tag: "Organizations",
    summary: "Stores secrets",
    description: "Values by name; scripts read them.",
    body: jsonOf(t.Record(t.String(), t.Union([t.String(), t.Null()]))),
    answers: done("They are stored."),
  },
  "POST /api/v2/orgs/:orgID/secrets/delete": {
    tag: "Organizations",
    summary: "Deletes secrets",
    body: jsonOf(SecretKeys),
    answers: done("They are gone."),
  },
  "DELETE /api/v2/orgs/:orgID/secrets/:secretID": {
    tag: "Organizations",
    summary: "Deletes a secret",
    answers: done("It is gone."),
  },
};

const LEGACY = "/private/legacy/authorizations";

export const ACCOUNTS: V2Operations = {
  ...SETUP,
  ...authorizations("/api/v2/authorizations", "Authorizations", "tokens"),
  ...USERS,
  ...ORGANIZATIONS,
  ...authorizations(LEGACY, "v1 clients", "user names of v1 clients"),
  [`POST ${LEGACY}/:authID/password`]: {
    tag: "v1 clients",
    summary: "Sets the password of a v1 client",
    body: password,
    answers: { ...done("It is set."), 400: { description: "The password is too short." } },
  },
};
