// Documents of old interfaces: /api/v2/documents. There are none.
import { readId } from "../../../metadata/store/ids.ts";
import { TsdbError } from "../../../model/errors.ts";
import { json } from "../app/answers.ts";
import { V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";

export const documentRoutes = (services: V2Services): V2Routes =>
  new V2Routes(services).get("/api/v2/documents/:namespace", ({ principal, search }) => {
    const orgID = search.get("orgID");
    if (orgID === undefined) throw new TsdbError("bad_request", "invalid org id for permission: invalid ID");
    principal.require({ action: "read", type: "documents", orgID: readId(orgID) });
    return json(200, { documents: [] });
  });
