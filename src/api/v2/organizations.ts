// Organizations: /api/v2/orgs.
import { Type as t } from "@sinclair/typebox";
import { readId } from "../../metadata/store/ids.ts";
import { TsdbError } from "../../model/errors.ts";
import { json, noContent } from "./app/answers.ts";
import { readPage } from "./app/paging.ts";
import { GivenId, GivenTimes, JsonBodies, type SearchParams } from "./app/params.ts";
import { type V2Call, V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";
import { addMemberRoutes } from "./members.ts";
import { shownOrganization } from "./shown.ts";

export const OrganizationBody = t.Object({ name: t.Optional(t.String()), description: t.Optional(t.String()) });
const NewOrganizationBody = t.Composite([OrganizationBody, GivenId, GivenTimes]);

const ORGS = "/api/v2/orgs";

export const organizationRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const line = () => services.line();
  const routes = new V2Routes(services)
    .get(ORGS, ({ principal, search }) => {
      const page = readPage(search);
      const [id, userID, name] = [idOrNothing(search, "orgID"), idOrNothing(search, "userID"), search.get("org")];
      // a sender that may not see all organizations has pages of those of its user
      const isWhole = id === undefined && name === undefined && userID === undefined;
      const member = isWhole && !principal.allows({ action: "read", type: "orgs" }) ? principal.userID : userID;
      const filter = {
        ...(id === undefined ? {} : { id }),
        ...(name === undefined ? {} : { name }),
        ...(member === undefined ? {} : { userID: member }),
      };
      const found = line().organizations.list(filter, page);
      const visible = found.filter((each) => principal.allows({ action: "read", type: "orgs", id: each.id }));
      return json(200, { links: { self: ORGS }, orgs: visible.map(shownOrganization) });
    })
    .post(ORGS, async ({ principal, request }) => {
      const { name = "", description = "" } = await bodies.read(NewOrganizationBody, request);
      principal.require({ action: "write", type: "orgs" });
      return json(201, shownOrganization(await line().organizations.create({ name, description, ownerID: principal.userID })));
    })
    .get(`${ORGS}/:orgID`, ({ principal, params }) => {
      const id = readId(params["orgID"]!);
      principal.require({ action: "read", type: "orgs", id });
      return json(200, shownOrganization(line().organizations.get(id)));
    })
    .patch(`${ORGS}/:orgID`, async ({ principal, params, request }) => {
      const id = readId(params["orgID"]!);
      const { name, description } = await bodies.read(OrganizationBody, request);
      principal.require({ action: "write", type: "orgs", id });
      const update = { ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) };
      return json(200, shownOrganization(await line().organizations.update(id, update)));
    })
    .delete(`${ORGS}/:orgID`, async ({ principal, params }) => {
      const id = readId(params["orgID"]!);
      principal.require({ action: "write", type: "orgs", id });
      await line().organizations.delete(id);
      return noContent();
    });
  return addMemberRoutes(routes, services, {
    path: ORGS,
    type: "orgs",
    parent: (call) => parentOrganization(services, call),
  });
};

/** A text that is no id is as absent. */
function idOrNothing(search: SearchParams, name: string): string | undefined {
  try {
    return search.id(name);
  } catch {
    return undefined;
  }
}

/** The organization that a path below /api/v2/orgs is about: an organization that the sender may not see does not exist.
 *  @throws TsdbError bad_request, not_found */
export function parentOrganization(
  services: V2Services,
  { params, principal }: Pick<V2Call, "params" | "principal">,
): { readonly id: string; readonly orgID: string } {
  const id = parentId(params["orgID"]!);
  const organization = services.line().organizations.find(id);
  if (organization === null || !principal.allows({ action: "read", type: "orgs", id }))
    throw new TsdbError("not_found", "404 page not found");
  return { id, orgID: id };
}

/** @throws TsdbError bad_request */
export function parentId(text: string): string {
  try {
    return readId(text);
  } catch (error) {
    throw new TsdbError("bad_request", `corrupt ID provided: ${(error as Error).message}`);
  }
}
