// Users: /api/v2/users and /api/v2/me.
import { Type as t } from "@sinclair/typebox";
import { readId } from "../../metadata/store/ids.ts";
import type { Status } from "../../metadata/store/kinds.ts";
import { TsdbError } from "../../model/errors.ts";
import { json, noContent } from "./app/answers.ts";
import { readPage } from "./app/paging.ts";
import { GivenId, JsonBodies } from "./app/params.ts";
import { V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";
import { shownUser } from "./shown.ts";

export const UserBody = t.Object({ name: t.Optional(t.String()), status: t.Optional(t.String()), oauthID: t.Optional(t.String()) });
const NewUserBody = t.Composite([UserBody, GivenId]);
export const UserUpdateBody = t.Object({ name: t.Optional(t.String()), status: t.Optional(t.String()) });

const USERS = "/api/v2/users";

export const userRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const line = () => services.line();
  return new V2Routes(services)
    .get("/api/v2/me", ({ principal }) => {
      principal.require({ action: "read", type: "users", id: principal.userID });
      return json(200, shownUser(line().users.get(principal.userID)));
    })
    .get(USERS, ({ principal, search }) => {
      const { users } = line();
      const page = readPage(search);
      const [id, name] = [search.id("id"), search.get("name")];
      const found = id !== undefined ? [users.get(id)] : name !== undefined ? [users.byName(name)] : users.list(page);
      const visible = found.filter((user) => principal.allows({ action: "read", type: "users", id: user.id }));
      return json(200, { links: { self: USERS }, users: visible.map(shownUser) });
    })
    .post(USERS, async ({ principal, request }) => {
      const { name = "", status = "", oauthID = "" } = await bodies.read(NewUserBody, request, "");
      principal.require({ action: "write", type: "users" });
      // of a name and a status that are both wrong the name is told
      line().users.checkName(name, null);
      const wanted = { name, status: status === "" ? "active" : readStatus(status), oauthID };
      return json(201, shownUser(await line().users.create(wanted)));
    })
    .get(`${USERS}/:userID`, ({ principal, params }) => {
      const id = readId(params["userID"]!);
      principal.require({ action: "read", type: "users", id });
      return json(200, shownUser(line().users.get(id)));
    })
    .patch(`${USERS}/:userID`, async ({ principal, params, request }) => {
      const id = readId(params["userID"]!);
      const { name, status } = await bodies.read(UserUpdateBody, request, "");
      const update = { ...(name === undefined ? {} : { name }), ...(status === undefined ? {} : { status: readStatus(status) }) };
      principal.require({ action: "write", type: "users", id });
      return json(200, shownUser(await line().users.update(id, update)));
    })
    .delete(`${USERS}/:userID`, async ({ principal, params }) => {
      const id = readId(params["userID"]!);
      principal.require({ action: "write", type: "users", id });
      await line().users.delete(id);
      return noContent();
    })
    .get(`${USERS}/:userID/permissions`, ({ principal, params }) => {
      const id = readId(params["userID"]!);
      principal.require({ action: "read", type: "users", id });
      return json(200, line().members.permissionsOf(id));
    });
};

function readStatus(status: string): Status {
  if (status === "active" || status === "inactive") return status;
  throw new TsdbError("bad_request", "invalid status: must be active or inactive");
}
