// Credentials of v1 clients on port 8086: user and password in the query string, then the Authorization header. Sessions do not count.
import type { Principal } from "../../../metadata/access/principal.ts";
import { TsdbError } from "../../../model/errors.ts";
import { basicIn, UNAUTHORIZED } from "../app/admit.ts";
import type { OpenCall } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";

/** @throws TsdbError unauthenticated, too_many_requests, unavailable */
export async function admitV1({ line, limits }: V2Services, { request, search }: OpenCall): Promise<Principal> {
  const { v1Authentication } = line();
  const [user, password] = [search.get("u"), search.get("p")];
  let found: Principal | null;
  if (user !== undefined && password !== undefined) found = await v1Authentication.byPassword(user, password);
  else {
    const token = tokenIn(request);
    const basic = token === null ? basicIn(request) : null;
    if (token === null && basic === null) throw new TsdbError("unauthenticated", UNAUTHORIZED);
    found = basic === null ? v1Authentication.byToken(token!) : await v1Authentication.byPassword(basic.user, basic.password);
  }
  if (found === null) throw new TsdbError("unauthenticated", "Unauthorized");
  limits.spend(found);
  return found;
}

/** `Token <token>` or `Token <user>:<token>`, in this spelling and without blanks. Null: another scheme, or none. */
function tokenIn({ headers }: Request): string | null {
  const given = /^Token ([^ ]+)$/.exec(headers.get("authorization") ?? "")?.[1];
  return given === undefined ? null : given.slice(given.indexOf(":") + 1);
}
