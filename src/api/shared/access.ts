// Access control over HTTP: credentials of a request, the authorizer's decision, and the answers to refused requests.
import type { Authorizer, CallerOf, Denial } from "../../auth/authorizer.ts";
import { type Credentials, credentialsOf } from "../../auth/credentials.ts";
import type { AccessRule } from "../../model/access.ts";
import type { RequestTarget } from "../request/request-target.ts";
import { sizedResponse } from "./body-size.ts";
import { otherRoute } from "./other-route.ts";
import { errorMembers, JSON_TYPE, json, text } from "./respond.ts";

const REFUSALS: Readonly<Record<Denial, { readonly status: number; readonly message: string }>> = {
  malformed: {
    status: 400,
    message:
      "Authorization header was malformed, the request was not in the form of 'Authorization: <auth-scheme> <token>', " +
      "supported auth-schemes are Bearer, Token and Basic",
  },
  unauthenticated: { status: 401, message: "the request was not authenticated" },
  forbidden: { status: 403, message: "requestor is forbidden from requested resource" },
};

/** The access check of a route. */
export interface RouteAccess<R extends AccessRule = AccessRule> {
  readonly rule: R;
  /** True if `p` in the query string is a token and takes precedence over the header, as v1 clients send it. */
  readonly takesPassword: boolean;
  /** Headers of a refusal: clients identify the server by them. */
  readonly refusalHeaders?: Readonly<Record<string, string>>;
}

/** Observes checks, for tests: the rule that a request was checked for, and the route that ran. */
export interface AccessObserver {
  checked(request: Request, rule: AccessRule, isAdmitted: boolean): void;
  running(request: Request, route: string, rule: AccessRule): void;
}

const NOT_FOUND = "Not found";
const UNROUTED: RouteAccess<"any token"> = { rule: "any token", takesPassword: false };

/** Applies the authorizer to HTTP: returns a caller, or a 401 or 403 answer. */
export class AccessControl {
  constructor(
    private readonly authorizer: Authorizer,
    readonly observer?: AccessObserver,
  ) {}

  /** False: everything is allowed. */
  get isOn(): boolean {
    return this.authorizer.isOn;
  }

  /** The caller for the handler of a route, or the refusal. A promise for a signed token that was not seen before. */
  admit<R extends AccessRule>(
    request: Request,
    target: RequestTarget,
    access: RouteAccess<R>,
  ): CallerOf<R> | Response | Promise<CallerOf<R> | Response> {
    const { rule, takesPassword, refusalHeaders } = access;
    const { authorizer, observer } = this;
    const credentials = authorizer.needsToken(rule) ? credentialsIn(request, target, takesPassword) : "none";
    const decided = (caller: CallerOf<R> | Denial): CallerOf<R> | Response => {
      const isDenied = typeof caller === "string";
      observer?.checked(request, rule, !isDenied);
      return isDenied ? refusal(caller, refusalHeaders) : caller;
    };
    const caller = authorizer.authorize(rule, credentials);
    return caller instanceof Promise ? caller.then(decided) : decided(caller);
  }

  /** The answer for an unknown path: without a token nobody learns which paths exist. */
  notFound(request: Request, target: RequestTarget): Response | Promise<Response> {
    const admitted = this.admit(request, target, UNROUTED);
    if (admitted instanceof Promise) return admitted.then((caller) => (caller instanceof Response ? caller : nothingAt(target)));
    return admitted instanceof Response ? admitted : nothingAt(target);
  }
}

function nothingAt(target: RequestTarget): Response {
  const message = otherRoute(target.path);
  return message === null ? text(404, NOT_FOUND) : json(404, { error: NOT_FOUND, code: "not found", message });
}

function credentialsIn(request: Request, { search }: RequestTarget, takesPassword: boolean): Credentials {
  const password = takesPassword ? passwordIn(search) : null;
  return password === null ? credentialsOf(request.headers.get("authorization")) : { token: password };
}

/** The password of a v1 client, null if there is none. */
function passwordIn(search: string): string | null {
  return search.includes("p=") ? new URLSearchParams(search).get("p") : null;
}

function refusal(denial: Denial, headers: RouteAccess["refusalHeaders"]): Response {
  const { status } = REFUSALS[denial];
  // clients compare the start of these bodies, including spaces
  const body = JSON.stringify(errorMembers(REFUSALS[denial])).replace('{"error":', '{"error": ');
  return sizedResponse(body, { status, headers: { "content-type": JSON_TYPE, ...headers } });
}
