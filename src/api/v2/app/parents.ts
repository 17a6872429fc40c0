// The resource that labels, members or owners belong to: when a request looks it up, and who may list what it has.
import { readId } from "../../../metadata/store/ids.ts";
import type { V2Call } from "./route.ts";

interface Found {
  readonly orgID: string;
}

/** How the resource of a call is found: if the sender may see it, and (`find`) in any case. */
interface ParentLookup<T extends Found> {
  readonly parent: (call: V2Call) => T;
  readonly find?: (call: V2Call) => T;
}

/** The resource whose labels, members or owners a call lists. @throws TsdbError bad_request, not_found */
export function listedOf<T extends Found>({ parent, find }: ParentLookup<T>, call: V2Call): T {
  const found = find?.(call);
  return found !== undefined && call.principal.isOf(found.orgID) ? found : parent(call);
}

/** What is checked before the rest of a request is read: that the resource exists, or, of resources with a `find`, its id alone.
 *  @throws TsdbError bad_request, not_found */
export function checkParent<T extends Found>({ parent, find }: ParentLookup<T>, id: string, call: V2Call): void {
  if (find === undefined) parent(call);
  else readId(id);
}
