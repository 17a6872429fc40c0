// Lists of checks, endpoints and rules.
import type { Principal } from "../../../metadata/access/principal.ts";
import type { ListedAlert } from "../../../metadata/resources/alert-records.ts";
import type { Page } from "../../../metadata/resources/page.ts";
import { parseId, readId } from "../../../metadata/store/ids.ts";
import type { ResourceType } from "../../../metadata/store/kinds.ts";
import { TsdbError } from "../../../model/errors.ts";
import type { GivenPage } from "../app/paging.ts";
import type { SearchParams } from "../app/params.ts";
import type { V2Services } from "../app/services.ts";

/** What is asked of the sender for one of them. */
export function alertNeed(type: ResourceType) {
  return (action: "read" | "write", { id, orgID }: ListedAlert) => ({ action, type, id, orgID });
}

/** The organization of a list; undefined: all. @throws TsdbError bad_request, not_found for an unknown name */
export function listedOrganization(services: V2Services, search: SearchParams): string | undefined {
  const orgID = search.get("orgID");
  if (orgID !== undefined) {
    try {
      return readId(orgID);
    } catch (error) {
      throw new TsdbError("bad_request", `orgID is invalid: ${(error as Error).message}`);
    }
  }
  const org = search.get("org");
  return org === undefined ? undefined : services.line().organizations.byName(org).id;
}

/** Those of the page that the sender may read. As on the vendor's server, `after` is shown in links and leaves nothing out. */
export function pageOf<T extends ListedAlert>(all: readonly T[], principal: Principal, type: ResourceType, page: Page): T[] {
  const need = alertNeed(type);
  const visible = all.filter((each) => principal.allows(need("read", each)));
  if (page.isDescending) visible.reverse();
  return visible.slice(page.offset, page.offset + page.limit);
}

/** As on the vendor's server, a negative offset makes pages of checks and endpoints shorter. */
export function shortenedPage(page: GivenPage): Page {
  return { ...page, limit: Math.max(0, page.limit + Math.min(0, Number(page.givenOffset))) };
}

/** Those ids of labels that are labels which the sender may read: the answer shows them. */
export function readableLabels(services: V2Services, principal: Principal, ids: readonly string[]): string[] {
  return ids.filter((each) => {
    const id = parseId(each);
    const label = id === null ? null : services.line().labels.find(id);
    return label !== null && principal.allows({ action: "read", type: "labels", id: label.id, orgID: label.orgID });
  });
}
