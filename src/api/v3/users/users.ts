// /api/v3/users and /api/v3/roles: users, and which roles they have.
import { t } from "elysia";
import { operation } from "../../docs/operation.ts";
import { BodyReader } from "../../request/body.ts";
import { readJsonBody } from "../../request/json-body.ts";
import type { AppServices } from "../../services.ts";
import { Routes } from "../../shared/route.ts";
import { answer, answered, BODY_BYTES_MAX, failed, idIn, Role, shownRole, shownUser, UNAVAILABLE, User } from "./user-route.ts";

const PATH = "/api/v3/users";
const ROLES_MAX = 100;

const displayName = t.Optional(t.Union([t.String(), t.Null()], { description: "Null: none." }));
const roleIds = t.Array(t.Integer({ minimum: 0 }), { maxItems: ROLES_MAX, description: "All roles of the user." });
const InviteBody = t.Object({
  username: t.Optional(t.String({ description: "A to Z, digits, . _ @ + -; at most 64. Needed without an oauthId." })),
  displayName,
  password: t.Optional(
    t.String({ description: "For the first sign-in, which asks for a new one. Absent, without an oauthId: one is made." }),
  ),
  oauthId: t.Optional(t.String({ description: "Subject of the identity provider." })),
  roleIds: t.Optional(roleIds),
});
const RenameBody = t.Object({ displayName });
const RolesBody = t.Object({ roleIds });
const Users = t.Object({ items: t.Array(User) });
const Roles = t.Object({ items: t.Array(Role) });
const Permissions = t.Object({
  permissions: t.Array(
    t.Object({
      resourceType: t.String({ description: "`database`, `token`, `user`, `role` or `admin_token`." }),
      actions: t.Array(t.String()),
      identifiers: t.Optional(t.Array(t.String(), { description: "Of databases: their names." })),
      allResources: t.Optional(t.Boolean({ description: "Of databases: all but the server's own." })),
    }),
  ),
});

const Id = t.Object({ id: t.Integer({ description: "Number of the user." }) });
const NO_USER = { 404: failed("No user has the id.") };
const body = (schema: ReturnType<typeof t.Object>) => ({ body: { "application/json": schema } });

/** What the documentation says of each route. */
const OPERATIONS = {
  list: operation({
    tag: "Users",
    access: "user:read",
    summary: "List users",
    answers: { 200: answered("Without deleted ones.", Users), ...UNAVAILABLE },
  }),
  create: operation({
    ...{ tag: "Users", access: "user:create", summary: "Create a user", ...body(InviteBody) },
    answers: {
      200: answered("The user, with the password for the first sign-in if it was made.", User),
      409: failed("The username or the oauthId is taken."),
      422: failed("There are as many users as there may be."),
      429: failed("The server is hashing as many passwords as it may."),
      ...UNAVAILABLE,
    },
  }),
  show: operation({
    ...{ tag: "Users", access: "user:read", summary: "Show a user", path: Id },
    answers: { 200: answered("The user; a deleted one while it is remembered.", User), ...NO_USER, ...UNAVAILABLE },
  }),
  rename: operation({
    ...{ tag: "Users", access: "user:update", summary: "Change the display name of a user", path: Id, ...body(RenameBody) },
    answers: { 200: answered("The user.", User), ...NO_USER, ...UNAVAILABLE },
  }),
  delete: operation({
    ...{ tag: "Users", access: "user:delete", summary: "Delete a user", path: Id },
    description: "The user's sign-ins end.",
    answers: { 200: answered("The user.", User), ...NO_USER, 405: failed("The last admin stays."), ...UNAVAILABLE },
  }),
  requireReset: operation({
    ...{ tag: "Users", access: "user:update", summary: "Require a new password", path: Id },
    description: "The user's sign-ins end, and the next one needs a new password: POST /api/v3/authorize/reset-password.",
    answers: { 200: answered("The user.", User), ...NO_USER, ...UNAVAILABLE },
  }),
  rolesOfUser: operation({
    ...{ tag: "Users", access: "user:read", summary: "List the roles of a user", path: Id },
    answers: { 200: answered("The roles.", Roles), ...NO_USER, ...UNAVAILABLE },
  }),
  setRoles: operation({
    ...{ tag: "Users", access: "user:update", summary: "Set the roles of a user", path: Id, ...body(RolesBody) },
    description: "They count from the next request on, for tokens that the user has too.",
    answers: { 200: answered("The roles.", Roles), ...NO_USER, ...UNAVAILABLE },
  }),
  findByOauthId: operation({
    ...{ tag: "Users", access: "user:read", summary: "Find a user by the subject of the identity provider" },
    path: t.Object({ oauth_id: t.String() }),
    answers: {
      200: answered("The user.", User),
      404: failed("No user has the subject, or the server was started without an identity provider."),
      ...UNAVAILABLE,
    },
  }),
  listRoles: operation({
    tag: "Users",
    access: "role:read",
    summary: "List roles",
    answers: { 200: answered("All roles.", Roles), ...UNAVAILABLE },
  }),
  findRole: operation({
    ...{ tag: "Users", access: "role:read", summary: "Find a role by its name", path: t.Object({ roleName: t.String() }) },
    answers: { 200: answered("The role.", Role), 404: failed("No role has the name."), ...UNAVAILABLE },
  }),
  permissions: operation({
    ...{ tag: "Users", access: "role:read", summary: "Show the permissions of a role", path: t.Object({ id: t.Integer() }) },
    answers: { 200: answered("The permissions.", Permissions), 404: failed("No role has the id."), ...UNAVAILABLE },
  }),
};

/** Only with the extended edition, and with users. */
export const userRoutes = (services: AppServices) => {
  const routes = new Routes(services.access);
  if (services.edition !== "enterprise" || services.accounts === null) return routes;
  const reader = new BodyReader(Math.min(services.maxRequestBytes, BODY_BYTES_MAX), services.now);
  return routes
    .get(PATH, OPERATIONS.list, (call) =>
      answer(services, call, ({ users }) => ({
        items: users()
          .list(call.caller)
          .map((user) => shownUser(user)),
      })),
    )
    .post(PATH, OPERATIONS.create, (call) =>
      answer(services, call, async ({ users }) => {
        const asked = await readJsonBody(InviteBody, call.request, reader);
        const { username = null, displayName = null, password = null, oauthId = null, roleIds = [] } = asked;
        const { user, temporaryPassword } = await users().invite(call.caller, { username, displayName, password, oauthId, roleIds });
        return shownUser(user, { temporaryPassword });
      }),
    )
    .pattern("GET", `${PATH}/{id}`, OPERATIONS.show, (call) =>
      answer(services, call, ({ users }) => shownUser(users().get(call.caller, idIn(call)))),
    )
    .pattern("PATCH", `${PATH}/{id}`, OPERATIONS.rename, (call) =>
      answer(services, call, async ({ users }) => {
        const { displayName } = await readJsonBody(RenameBody, call.request, reader);
        return shownUser(await users().rename(call.caller, idIn(call), displayName));
      }),
    )
    .pattern("DELETE", `${PATH}/{id}`, OPERATIONS.delete, (call) =>
      answer(services, call, async ({ users }) => shownUser(await users().remove(call.caller, idIn(call)))),
    )
    .pattern("POST", `${PATH}/{id}/require-password-reset`, OPERATIONS.requireReset, (call) =>
      answer(services, call, async ({ users }) => shownUser(await users().requireReset(call.caller, idIn(call)))),
    )
    .pattern("GET", `${PATH}/{id}/roles`, OPERATIONS.rolesOfUser, (call) =>
      answer(services, call, ({ users }) => ({ items: users().rolesOf(call.caller, idIn(call)).map(shownRole) })),
    )
    .pattern("PUT", `${PATH}/{id}/roles`, OPERATIONS.setRoles, (call) =>
      answer(services, call, async ({ users }) => {
        const { roleIds } = await readJsonBody(RolesBody, call.request, reader);
        return { items: (await users().setRoles(call.caller, idIn(call), roleIds)).map(shownRole) };
      }),
    )
    .pattern("GET", "/api/v3/users_by_oauth_id/{oauth_id}", OPERATIONS.findByOauthId, (call) =>
      answer(services, call, ({ users, requireProvider }) => {
        requireProvider();
        return shownUser(users().ofOauth(call.caller, call.parameters["oauth_id"]!));
      }),
    )
    .get("/api/v3/roles", OPERATIONS.listRoles, (call) =>
      answer(services, call, ({ users }) => ({ items: users().roles(call.caller).map(shownRole) })),
    )
    .pattern("GET", "/api/v3/roles_by_name/{roleName}", OPERATIONS.findRole, (call) =>
      answer(services, call, ({ users }) => shownRole(users().roleNamed(call.caller, call.parameters["roleName"]!))),
    )
    .pattern("GET", "/api/v3/roles/{id}/permissions", OPERATIONS.permissions, (call) =>
      answer(services, call, ({ users }) => ({ permissions: users().role(call.caller, idIn(call)).permissions })),
    );
};
