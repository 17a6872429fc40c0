// User names and passwords of v1 clients: /private/legacy/authorizations. Their `token` is the user name.
import { checkPassword } from "../../metadata/access/passwords.ts";
import { readId } from "../../metadata/store/ids.ts";
import { TsdbError } from "../../model/errors.ts";
import { json, noContent } from "./app/answers.ts";
import { found, listAnswer } from "./app/list-answer.ts";
import { JsonBodies } from "./app/params.ts";
import { V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";
import {
  AuthorizationBody,
  AuthorizationUpdateBody,
  canRead,
  needsOfAuthorization,
  readFilter,
  readNew,
  readUpdate,
  requireAll,
  requireGiven,
  requireOwn,
} from "./authorizations.ts";
import { PasswordBody } from "./passwords.ts";
import { LEGACY_AUTHORIZATIONS, shownAuthorization } from "./shown.ts";

export const legacyAuthorizationRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const line = () => services.line();
  const shown = (each: Parameters<typeof shownAuthorization>[1]) => shownAuthorization(line(), each, LEGACY_AUTHORIZATIONS);
  return new V2Routes(services)
    .get(LEGACY_AUTHORIZATIONS, ({ principal, search }) => {
      const { legacyAuthorizations } = line();
      // the contract has `authID`, release 2.8.0 takes `id`
      const id = search.id("id") ?? search.id("authID");
      // names are looked up and leave nothing out, as on the vendor's server
      readFilter(services, search, true);
      const [orgID, userID] = [search.id("orgID"), search.id("userID")];
      const username = search.get("token");
      const one = id !== undefined ? legacyAuthorizations.get(id) : username !== undefined ? legacyAuthorizations.byName(username) : null;
      const all = one === null ? legacyAuthorizations.heads({ orgID, userID }) : [one];
      const visible = all.filter((authorization) => canRead(principal, authorization));
      const items = found(visible, (each) => line().legacyAuthorizations.find(each), shown);
      return listAnswer("authorizations", items, { links: { self: LEGACY_AUTHORIZATIONS } });
    })
    .post(LEGACY_AUTHORIZATIONS, async ({ principal, request }) => {
      const body = await bodies.read(AuthorizationBody, request, "invalid json structure: ");
      const wanted = readNew(body, principal);
      const username = body.token ?? "";
      if (username === "") throw new TsdbError("bad_request", "token required for v1 user authorization type");
      requireAll(principal, needsOfAuthorization("write", wanted));
      requireGiven(principal, wanted.permissions);
      requireOwn(wanted);
      return json(201, shown(await line().legacyAuthorizations.create({ ...wanted, username })));
    })
    .get(`${LEGACY_AUTHORIZATIONS}/:authID`, ({ principal, params }) => {
      const found = line().legacyAuthorizations.get(readId(params["authID"]!));
      requireAll(principal, needsOfAuthorization("read", found));
      return json(200, shown(found));
    })
    .patch(`${LEGACY_AUTHORIZATIONS}/:authID`, async ({ principal, params, request }) => {
      const id = readId(params["authID"]!);
      const body = await bodies.read(AuthorizationUpdateBody, request, "");
      const found = line().legacyAuthorizations.get(id);
      requireAll(principal, [...needsOfAuthorization("read", found), ...needsOfAuthorization("write", found)]);
      const update = readUpdate(body, "unknown authorization status");
      return json(200, shown(await line().legacyAuthorizations.update(id, update)));
    })
    .delete(`${LEGACY_AUTHORIZATIONS}/:authID`, async ({ principal, params }) => {
      const id = readId(params["authID"]!);
      requireAll(principal, needsOfAuthorization("write", line().legacyAuthorizations.get(id)));
      await line().legacyAuthorizations.delete(id);
      return noContent();
    })
    .post(`${LEGACY_AUTHORIZATIONS}/:authID/password`, async ({ principal, params, request }) => {
      const { legacyAuthorizations, passwords } = line();
      const id = readId(params["authID"]!);
      const { password = "" } = await bodies.read(PasswordBody, request, "");
      requireAll(principal, needsOfAuthorization("write", legacyAuthorizations.get(id)));
      checkPassword(password, { strong: false });
      await legacyAuthorizations.setPassword(id, await passwords.hash(password));
      return noContent();
    });
};
