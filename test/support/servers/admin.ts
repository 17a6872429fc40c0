// A proven admin for tests that call services without a request: the caller that a server without authorization assigns to every request.
import { type AdminCaller, Authorizer, NO_AUTH } from "../../../src/auth/authorizer.ts";

const proven = new Authorizer(NO_AUTH).authorize("admin", "none");
if (typeof proven === "string" || proven instanceof Promise) throw new Error(`BUG: ${String(proven)}`);

export const ADMIN: AdminCaller = proven;
