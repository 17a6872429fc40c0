// Who may ask what: credentials out of a request, checked before its route is asked, against the rule that the route declares.
import { credentialsOf } from "../auth/credentials.ts";
import type { AccessRule, Authenticator, Caller, DatabaseAction, SystemPage } from "../model/access.ts";
import { TsdbError } from "../model/errors.ts";
import { searchOf } from "./query-string.ts";
import { JSON_TYPE } from "./respond.ts";

// clients compare these bodies, blanks included
const MALFORMED =
  '{"error": "Authorization header was malformed, the request was not in the form of \'Authorization: <auth-scheme> <token>\', ' +
  'supported auth-schemes are Bearer, Token and Basic"}';
const UNAUTHENTICATED = '{"error": "the request was not authenticated"}';
const FORBIDDEN = '{"error": "requestor is forbidden from requested resource"}';
const UNAUTHORIZED = "unauthorized to perform requested action with the token";

/** Where `p` in the query string is a token: the two endpoints that v1 clients know. */
const PASSWORD_PATHS: ReadonlySet<string> = new Set(["/query", "/write"]);

/** The password of a v1 client's url, undefined when it has none. */
function passwordOf(url: string): string | undefined {
  const search = searchOf(url);
  return search.includes("p=") ? (new URLSearchParams(search).get("p") ?? undefined) : undefined;
}

const CALLER = Symbol("who sent it");

interface Known extends Request {
  [CALLER]?: Caller;
}

export class AccessControl {
  constructor(
    private readonly authenticator: Authenticator,
    /** Pages that nobody needs a token for. */
    private readonly openPages: ReadonlySet<SystemPage>,
  ) {}

  /** Without it, everybody may do everything. */
  get isOn(): boolean {
    return this.authenticator.isOn;
  }

  /** The refusal, or null: then the route may be asked. */
  refuse(request: Request, path: string, rule: AccessRule): Response | null {
    const { authenticator, openPages } = this;
    if (!authenticator.isOn || rule === "open" || openPages.has(rule as SystemPage)) return null;
    const password = PASSWORD_PATHS.has(path) ? passwordOf(request.url) : undefined;
    const credentials = password === undefined ? credentialsOf(request.headers.get("authorization")) : { token: password };
    if (credentials === "malformed") return refusal(400, MALFORMED);
    const caller = credentials === "none" ? null : authenticator.callerOf(credentials.token);
    if (caller === null) return refusal(401, UNAUTHENTICATED);
    if (rule === "admin" && !caller.isAdmin) return refusal(403, FORBIDDEN);
    const isPage = rule !== "admin" && rule !== "any token" && rule !== "database";
    if (isPage && !caller.allows("system", rule, "read")) return refusal(403, FORBIDDEN);
    (request as Known)[CALLER] = caller;
    return null;
  }

  /** Null: nobody is asked who he is. */
  callerOf(request: Request): Caller | null {
    if (!this.authenticator.isOn) return null;
    const caller = (request as Known)[CALLER];
    if (caller === undefined) throw new TsdbError("unauthenticated", "the request was not authenticated", {});
    return caller;
  }

  /** @throws TsdbError forbidden */
  require(request: Request, database: string, action: DatabaseAction): void {
    const caller = this.callerOf(request);
    if (caller === null || caller.allows("db", database, action)) return;
    throw new TsdbError("forbidden", UNAUTHORIZED, { database, action });
  }
}

function refusal(status: number, body: string): Response {
  return new Response(body, { status, headers: { "content-type": JSON_TYPE } });
}

/** What each route wants, found by method and path. */
export class AccessRules {
  private readonly exact = new Map<string, AccessRule>();
  /** Paths with a part that varies, by what comes before it. */
  private readonly byPrefix: { readonly method: string; readonly prefix: string; readonly rule: AccessRule }[] = [];

  add(method: string, path: string, rule: AccessRule): void {
    const varies = path.search(/[:*]/);
    if (varies < 0) this.exact.set(`${method} ${path}`, rule);
    else this.byPrefix.push({ method, prefix: path.slice(0, varies), rule });
  }

  /** What no route is known for needs a token all the same: who has none does not learn which paths there are. */
  find(method: string, path: string): AccessRule {
    const rule = this.exact.get(`${method} ${path}`) ?? this.exact.get(`ALL ${path}`);
    if (rule !== undefined) return rule;
    const found = this.byPrefix.find((each) => (each.method === method || each.method === "ALL") && path.startsWith(each.prefix));
    return found?.rule ?? "any token";
  }
}
