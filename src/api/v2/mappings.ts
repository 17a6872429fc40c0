// Mappings of v1 databases and retention policies to buckets: /api/v2/dbrps. Their permissions are those of the buckets.
import { Type as t } from "@sinclair/typebox";
import type { Principal } from "../../metadata/access/principal.ts";
import type { V2Line } from "../../metadata/line.ts";
import { mappingNeeds } from "../../metadata/resources/buckets.ts";
import { checkMapping, type Mapping, type MappingUpdate } from "../../metadata/resources/mappings.ts";
import { readId } from "../../metadata/store/ids.ts";
import { TsdbError } from "../../model/errors.ts";
import { goQuoted } from "../../model/query/go-quoted.ts";
import { json, noContent } from "./app/answers.ts";
import { readBoolean } from "./app/paging.ts";
import { JsonBodies, type SearchParams } from "./app/params.ts";
import { V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";

export const MappingBody = t.Object({
  orgID: t.Optional(t.String()),
  org: t.Optional(t.String()),
  bucketID: t.Optional(t.String()),
  database: t.Optional(t.String()),
  retention_policy: t.Optional(t.String()),
  default: t.Optional(t.Boolean()),
});
export const MappingUpdateBody = t.Object({ default: t.Optional(t.Boolean()), retention_policy: t.Optional(t.String()) });

const DBRPS = "/api/v2/dbrps";
const HEAD = "invalid json structure: ";

export const mappingRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const line = () => services.line();
  /** The mapping that the path names and the sender may see, and whether the sender may change it. */
  const found = (params: Readonly<Record<string, string>>, search: SearchParams) => {
    const id = readId(params["dbrpID"]!);
    return line().mappings.get(organizationId(line(), search.get("orgID"), search.get("org")), id);
  };
  return new V2Routes(services)
    .get(DBRPS, ({ principal, search }) => {
      const orgID = organizationId(line(), search.get("orgID"), search.get("org"));
      const isWanted = filterOf(search);
      const all = line().mappings.list(orgID).filter(isWanted);
      return json(200, { content: all.filter((mapping) => isReadable(line(), principal, mapping)).map(shownMapping) });
    })
    .post(DBRPS, async ({ principal, request }) => {
      const { database = "", bucketID: givenID = "", ...body } = await bodies.read(MappingBody, request, HEAD);
      const orgID = organizationId(line(), body.orgID, body.org);
      const bucketID = named(givenID, "bucket ID");
      principal.require({ action: "write", type: "buckets", id: bucketID, orgID });
      const { retention_policy: retentionPolicy = "", default: isDefault = false } = body;
      checkMapping({ database, retentionPolicy });
      const bucket = line().buckets.find(bucketID);
      if (bucket?.orgID !== orgID) throw new TsdbError("not_found", "bucket not found");
      requireRead(line(), principal, { bucketID, orgID });
      return json(201, shownMapping(await line().mappings.create({ orgID, bucketID, database, retentionPolicy, isDefault })));
    })
    .get(`${DBRPS}/:dbrpID`, ({ principal, params, search }) => {
      const mapping = found(params, search);
      requireRead(line(), principal, mapping);
      return json(200, { content: shownMapping(mapping) });
    })
    .patch(`${DBRPS}/:dbrpID`, async ({ principal, params, search, request }) => {
      const mapping = found(params, search);
      const { default: isDefault, retention_policy: retentionPolicy } = await bodies.read(MappingUpdateBody, request, HEAD);
      requireRead(line(), principal, mapping);
      requireWrite(principal, mapping);
      const update: MappingUpdate = {
        ...(isDefault === undefined ? {} : { isDefault }),
        ...(retentionPolicy === undefined ? {} : { retentionPolicy }),
      };
      return json(200, { content: shownMapping(await line().mappings.update(mapping.orgID, mapping.id, update)) });
    })
    .delete(`${DBRPS}/:dbrpID`, async ({ principal, params, search }) => {
      const mapping = found(params, search);
      requireWrite(principal, mapping);
      await line().mappings.delete(mapping.orgID, mapping.id);
      return noContent();
    });
};

/** An id goes before a name. @throws TsdbError bad_request, not_found for an unknown name */
function organizationId({ organizations }: V2Line, orgID: string | undefined, org: string | undefined): string {
  if (orgID !== undefined && orgID !== "") return named(orgID, "org ID");
  if (org === undefined || org === "") throw new TsdbError("bad_request", "either 'org' or 'orgID' must be provided");
  const found = organizations.findByName(org);
  if (found === null) throw new TsdbError("not_found", `invalid org ${goQuoted(org)}: organization not found`);
  return found.id;
}

/** @throws TsdbError bad_request that says which id it is */
function named(text: string, what: string): string {
  try {
    return readId(text);
  } catch (error) {
    throw new TsdbError("bad_request", `invalid ${what} ${goQuoted(text)}: ${(error as Error).message}`);
  }
}

/** @throws TsdbError bad_request */
function filterOf(search: SearchParams): (mapping: Mapping) => boolean {
  const id = (name: string, what: string) => {
    const text = search.get(name);
    return text === undefined ? undefined : named(text, what);
  };
  const wanted = {
    ...{ id: id("id", "DBRP ID"), bucketID: id("bucketID", "bucket ID"), isDefault: readDefault(search) },
    ...{ database: search.get("db"), retentionPolicy: search.get("rp") },
  };
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined) as [keyof typeof wanted, string | boolean][];
  return (mapping) => given.every(([member, value]) => mapping[member] === value);
}

function readDefault(search: SearchParams): boolean | undefined {
  try {
    return readBoolean(search, "default");
  } catch {
    throw new TsdbError("bad_request", "invalid default parameter");
  }
}

function isReadable({ buckets }: V2Line, principal: Principal, { bucketID }: Pick<Mapping, "bucketID">): boolean {
  const bucket = buckets.find(bucketID);
  return bucket !== null && mappingNeeds(bucket).every((need) => principal.allows(need));
}

function requireRead(line: V2Line, principal: Principal, mapping: Pick<Mapping, "bucketID" | "orgID">): void {
  const { bucketID: id, orgID } = mapping;
  if (!isReadable(line, principal, mapping)) principal.refuse({ action: "read", type: "buckets", id, orgID });
}

function requireWrite(principal: Principal, { bucketID: id, orgID }: Mapping): void {
  principal.require({ action: "write", type: "buckets", id, orgID });
}

function shownMapping({ id, database, retentionPolicy, isDefault, isVirtual, orgID, bucketID }: Mapping): object {
  return { id, database, retention_policy: retentionPolicy, default: isDefault, virtual: isVirtual, orgID, bucketID };
}
