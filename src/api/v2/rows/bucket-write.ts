// POST /api/v2/write on port 8086: lines for a bucket.
import type { V2Line } from "../../../metadata/line.ts";
import type { Bucket } from "../../../metadata/resources/buckets.ts";
import type { Organization } from "../../../metadata/resources/organizations.ts";
import { parseId, readId } from "../../../metadata/store/ids.ts";
import { TsdbError } from "../../../model/errors.ts";
import { goQuoted } from "../../../model/query/go-quoted.ts";
import type { SearchParams } from "../app/params.ts";
import { V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { BucketLines, type LineTarget, UNITS } from "./bucket-lines.ts";

export const bucketWriteRoutes = (services: V2Services): V2Routes => {
  const lines = new BucketLines(services);
  const targets = new WriteTargets();
  return new V2Routes(services).post("/api/v2/write", ({ request, principal, search }) =>
    lines.take(request, principal, () => targets.get(services.line(), search)),
  );
};

const TARGETS_MAX = 1000;

/** Where a body goes. Clients send the same few query strings: what was found for one is kept until a record or a database changes. */
class WriteTargets {
  private readonly known = new Map<string, LineTarget>();
  private version = -1;

  /** @throws TsdbError bad_request, not_found */
  get(line: V2Line, search: SearchParams): LineTarget {
    const { version } = line.metadata;
    if (version !== this.version || this.known.size >= TARGETS_MAX) {
      this.known.clear();
      this.version = version;
    }
    const found = this.known.get(search.text) ?? targetOf(line, search);
    this.known.set(search.text, found);
    return found;
  }
}

/** @throws TsdbError bad_request, not_found */
function targetOf(line: V2Line, search: SearchParams): LineTarget {
  const name = search.get("precision") ?? "ns";
  if (!Object.hasOwn(UNITS, name)) {
    throw new TsdbError("bad_request", "invalid precision; valid precision units are ns, us, ms, and s");
  }
  const bucket = search.get("bucket");
  if (bucket === undefined) throw new TsdbError("not_found", "bucket not found");
  return { bucket: bucketOf(line, rowsOrganizationOf(line, search), bucket), unit: UNITS[name]! };
}

/** The organization whose rows are written or deleted: an unknown `org` that may be an id is told as one.
 *  @throws TsdbError bad_request, not_found */
export function rowsOrganizationOf(line: V2Line, search: SearchParams): Organization {
  try {
    return organizationOf(line, search);
  } catch (error) {
    const isKnownAsName = search.get("orgID") !== undefined || parseId(search.get("org") ?? "") === null;
    if (isKnownAsName || !(error instanceof TsdbError) || error.kind !== "not_found") throw error;
    throw new TsdbError("not_found", "organization not found", {}, { cause: error });
  }
}

/** By `orgID`, or by `org`, which is an id or a name. @throws TsdbError bad_request, not_found */
export function organizationOf({ organizations }: V2Line, search: SearchParams): Organization {
  const [org, orgID] = [search.get("org"), search.get("orgID")];
  if (orgID !== undefined) return organizations.get(readId(orgID));
  if (org === undefined) throw new TsdbError("bad_request", "Please provide either orgID or org");
  const id = parseId(org);
  return (id === null ? null : organizations.find(id)) ?? organizations.byName(org);
}

/** By an id of any organization or a name within this one. @throws TsdbError not_found */
function bucketOf({ buckets }: V2Line, { id: orgID }: Organization, text: string): Bucket {
  const id = parseId(text);
  const found = (id === null ? null : buckets.find(id)) ?? buckets.findByName(orgID, text);
  if (found === null) throw new TsdbError("not_found", `bucket ${goQuoted(text)} not found`);
  return found;
}
