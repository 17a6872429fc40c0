// Scraper targets: /api/v2/scrapers.
import { Type as t } from "@sinclair/typebox";
import type { Principal } from "../../metadata/access/principal.ts";
import type { Scraper } from "../../metadata/resources/scrapers.ts";
import { readId } from "../../metadata/store/ids.ts";
import { TsdbError } from "../../model/errors.ts";
import { json, noContent } from "./app/answers.ts";
import { listAnswer } from "./app/list-answer.ts";
import { GivenId, JsonBodies, type SearchParams } from "./app/params.ts";
import { type V2Call, V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";
import { addLabelRoutes, seen } from "./labels.ts";
import { addMemberRoutes } from "./members.ts";

export const ScraperBody = t.Object({
  orgID: t.Optional(t.String()),
  bucketID: t.Optional(t.String()),
  name: t.Optional(t.String()),
  type: t.Optional(t.String()),
  url: t.Optional(t.String()),
  allowInsecure: t.Optional(t.Boolean()),
});
const WholeScraperBody = t.Composite([ScraperBody, GivenId]);

const SCRAPERS = "/api/v2/scrapers";
const ITEM = `${SCRAPERS}/:scraperTargetID`;

export const scraperRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const line = () => services.line();
  const shown = (scraper: Scraper) => shownScraper(services, scraper);
  const routes = new V2Routes(services)
    .get(SCRAPERS, ({ principal, search }) => {
      const visible = listed(services, search).filter((scraper) => principal.allows(needOf("read", scraper)));
      return listAnswer("configurations", visible.values().map(shown), { links: { self: SCRAPERS } });
    })
    .post(SCRAPERS, async ({ principal, request }) => {
      const { orgID, bucketID, ...body } = read(await bodies.read(WholeScraperBody, request, ""));
      if (orgID === null) throw new TsdbError("bad_request", "invalid org id for permission: invalid ID");
      principal.require({ action: "write", type: "scrapers", orgID });
      if (bucketID === null) throw new TsdbError("bad_request", "invalid id for permission: invalid ID");
      requireBucket(services, principal, bucketID, orgID);
      return json(201, shown(await line().scrapers.create({ orgID, bucketID, ...body })));
    })
    .get(ITEM, ({ principal, params }) => {
      const scraper = line().scrapers.get(readId(params["scraperTargetID"]!));
      principal.require(needOf("read", scraper));
      return json(200, shown(scraper));
    })
    .patch(ITEM, async ({ principal, params, request }) => {
      const id = readId(params["scraperTargetID"]!);
      const { orgID, bucketID, ...body } = read(await bodies.read(WholeScraperBody, request, ""));
      const before = line().scrapers.get(id);
      principal.require(needOf("write", before));
      // the target is replaced, but for where it belongs and writes to
      const after = { id, ...body, orgID: orgID ?? before.orgID, bucketID: bucketID ?? before.bucketID };
      if (after.orgID !== before.orgID) principal.require({ action: "write", type: "scrapers", orgID: after.orgID });
      requireBucket(services, principal, after.bucketID, after.orgID);
      return json(200, shown(await line().scrapers.replace(after)));
    })
    .delete(ITEM, async ({ principal, params }) => {
      const scraper = line().scrapers.get(readId(params["scraperTargetID"]!));
      principal.require(needOf("write", scraper));
      await line().scrapers.delete(scraper.id);
      return noContent();
    });
  const find = ({ params }: V2Call): Scraper => line().scrapers.get(readId(params["scraperTargetID"]!));
  const parent = seen(find, needOf, () => "scraper target is not found");
  const place = { path: SCRAPERS, type: "scrapers", param: "scraperTargetID", find, parent } as const;
  addLabelRoutes(routes, services, { ...place, decidesOnLabels: true });
  return addMemberRoutes(routes, services, { ...place, need: needOf, hasLogs: true });
};

/** Those that the filters mean. @throws TsdbError bad_request, not_found for an unknown name of an organization */
function listed(services: V2Services, search: SearchParams): Scraper[] {
  const { scrapers, organizations } = services.line();
  const ids = new Set(search.all("id").map(readId));
  const org = search.get("org");
  const orgID = search.id("orgID") ?? (org === undefined ? undefined : organizations.byName(org).id);
  const found = scrapers.list({ orgID, name: search.get("name") });
  return ids.size === 0 ? found : found.filter(({ id }) => ids.has(id));
}

/** A body; ids that it has not are null. @throws TsdbError bad_request */
function read({ name = "", type = "", url = "", allowInsecure = false, orgID, bucketID }: Partial<Omit<Scraper, "id">>) {
  const idOf = (text: string | undefined) => (text === undefined ? null : readId(text));
  return { name, type, url, allowInsecure, orgID: idOf(orgID), bucketID: idOf(bucketID) };
}

function needOf(action: "read" | "write", { id, orgID }: { readonly id: string; readonly orgID: string }) {
  return { action, type: "scrapers", id, orgID } as const;
}

/** The right for the bucket's own organization counts, whichever the target names. @throws TsdbError */
function requireBucket(services: V2Services, principal: Principal, id: string, orgID: string): void {
  principal.require({ action: "write", type: "buckets", id, orgID: services.line().buckets.find(id)?.orgID ?? orgID });
}

/** With the names of what is there. */
function shownScraper(services: V2Services, scraper: Scraper): object {
  const { id, name, type, url, orgID, bucketID, allowInsecure } = scraper;
  const { organizations, buckets } = services.line();
  const self = `${SCRAPERS}/${id}`;
  const [organization, bucket] = [organizations.find(orgID), buckets.find(bucketID)];
  return {
    ...{ id, name, type, url },
    ...(organization === null ? {} : { orgID }),
    ...(bucket === null ? {} : { bucketID }),
    ...(allowInsecure ? { allowInsecure } : {}),
    ...(organization === null ? {} : { org: organization.name }),
    ...(bucket === null ? {} : { bucket: bucket.name }),
    links: {
      self,
      ...(bucket === null ? {} : { bucket: `/api/v2/buckets/${bucketID}` }),
      ...(organization === null ? {} : { organization: `/api/v2/orgs/${orgID}` }),
      ...{ members: `${self}/members`, owners: `${self}/owners` },
    },
  };
}
