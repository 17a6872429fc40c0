// What stands below an organization, a bucket or a dashboard: which one it is and whether the sender sees it is told before whether there
// is such a path or such a method.
import type { Principal } from "../../../metadata/access/principal.ts";
import { parentBucket } from "../buckets.ts";
import { parentOrganization } from "../organizations.ts";
import { parentDashboard } from "../pages/dashboards.ts";
import type { V2Call } from "./route.ts";
import type { V2Services } from "./services.ts";

interface Parent {
  readonly path: RegExp;
  /** Of its id. */
  readonly param: string;
  /** @throws TsdbError bad_request, not_found */
  readonly find: (services: V2Services, call: Pick<V2Call, "params" | "principal">) => unknown;
}

const PARENTS: readonly Parent[] = [
  { path: /^\/api\/v2\/orgs\/([^/]*)\/(?:members|owners|secrets)(?:\/|$)/, param: "orgID", find: parentOrganization },
  { path: /^\/api\/v2\/buckets\/([^/]*)\/(?:members|owners|labels)(?:\/|$)/, param: "bucketID", find: parentBucket },
  { path: /^\/api\/v2\/dashboards\/([^/]*)\/(?:members|owners|labels)(?:\/|$)/, param: "dashboardID", find: parentDashboard },
];

/** @throws TsdbError bad_request, not_found */
export function requireParent(services: V2Services, principal: Principal, path: string): void {
  for (const { path: pattern, param, find } of PARENTS) {
    const id = pattern.exec(path)?.[1];
    if (id !== undefined) find(services, { params: { [param]: id }, principal });
  }
}
