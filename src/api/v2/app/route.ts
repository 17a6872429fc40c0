// Registers routes of port 8086. The check of who asks is part of what the router runs for a route, as on port 8181 (shared/route.ts).
import type { Server } from "bun";
import type { Principal } from "../../../metadata/access/principal.ts";
import { type RequestTarget, targetOf } from "../../request/request-target.ts";
import { failureOf } from "../../shared/errors.ts";
import { RouteList } from "../../shared/route-list.ts";
import { admit } from "./admit.ts";
import { errorAnswer } from "./errors.ts";
import { SearchParams } from "./params.ts";
import type { V2Services } from "./services.ts";
import { placeOf } from "./trace.ts";

export type V2Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "ALL";

/** `open`: nobody is asked. `signed in`: a token or a session. `own credentials`: the handler checks those that it takes. */
export type V2Rule = "open" | "signed in" | "own credentials";

export interface OpenCall {
  readonly request: Request;
  readonly target: RequestTarget;
  /** Null without a socket. */
  readonly server: Server<unknown> | null;
  /** The parts of the path that the route names, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly search: SearchParams;
}

export interface V2Call extends OpenCall {
  readonly principal: Principal;
}

type OpenHandler = (call: OpenCall) => Response | Promise<Response>;
/** The principal of a signed-in route, otherwise null. */
type Handler = (call: OpenCall, principal: Principal | null) => Response | Promise<Response>;
type V2Handler = (call: V2Call) => Response | Promise<Response>;
type Checked = (context: { readonly request: Request; readonly server: Server<unknown> | null }) => Response | Promise<Response>;

const ROUTE = Symbol("the route that ran");

interface Routed extends Request {
  [ROUTE]?: string;
}

/** The pattern of the route that ran for a request; undefined for none. */
export function routeOf(request: Request): string | undefined {
  return (request as Routed)[ROUTE];
}

const RULES = new WeakMap<object, V2Rule>();

/** The rule of a route's handler; undefined for handlers that `V2Routes` has not registered. */
export function ruleOf(handler: unknown): V2Rule | undefined {
  return typeof handler === "function" ? RULES.get(handler) : undefined;
}

/** The routes of one file. */
export class V2Routes {
  private readonly list = new RouteList();
  readonly plugin = this.list.plugin;

  constructor(private readonly services: V2Services) {}

  get(path: string, handle: V2Handler): this {
    return this.signedIn("GET", path, handle);
  }

  post(path: string, handle: V2Handler): this {
    return this.signedIn("POST", path, handle);
  }

  put(path: string, handle: V2Handler): this {
    return this.signedIn("PUT", path, handle);
  }

  patch(path: string, handle: V2Handler): this {
    return this.signedIn("PATCH", path, handle);
  }

  delete(path: string, handle: V2Handler): this {
    return this.signedIn("DELETE", path, handle);
  }

  /** For any method that the path has no route of its own for. */
  all(path: string, handle: V2Handler): this {
    return this.signedIn("ALL", path, handle);
  }

  /** Nobody is asked who asks. */
  open(method: V2Method, path: string, handle: OpenHandler): this {
    return this.add(method, path, "open", handle);
  }

  /** The handler checks credentials of another kind. */
  ownCredentials(method: V2Method, path: string, handle: OpenHandler): this {
    return this.add(method, path, "own credentials", handle);
  }

  private signedIn(method: V2Method, path: string, handle: V2Handler): this {
    return this.add(method, path, "signed in", ({ request, target, server, params, search }, principal) =>
      handle({ request, target, server, params, search, principal: principal! }),
    );
  }

  private add(method: V2Method, path: string, rule: V2Rule, handle: Handler): this {
    const match = matcherOf(path);
    const { services } = this;
    const failed = (request: Request, error: unknown): Response => {
      if (failureOf(error).isOurs) services.report(error, placeOf(request, path));
      return errorAnswer(error);
    };
    const run = (request: Request, server: Server<unknown> | null): Response | Promise<Response> => {
      const target = targetOf(request);
      const params = match(target.path);
      // The router has read the URL by itself; a request that it took for another one does not run.
      if (params === null || (method !== "ALL" && request.method !== method)) {
        throw new Error(`BUG: the router took ${request.method} ${target.path} for ${method} ${path}`);
      }
      (request as Routed)[ROUTE] = path;
      try {
        const principal = rule === "signed in" ? admit(services, request) : null;
        if (principal instanceof Response) return principal;
        const answered = handle({ request, target, server, params, search: new SearchParams(target.search) }, principal);
        return answered instanceof Promise ? answered.catch((error) => failed(request, error)) : answered;
      } catch (error) {
        return failed(request, error);
      }
    };
    const checked: Checked = ({ request, server }) => run(request, server);
    RULES.set(checked, rule);
    this.list.add(method, path, checked);
    return this;
  }
}

/** Reads the parameters out of a path, or null where it is another one. A part that is no valid percent-encoding stays as it is. */
export function matcherOf(pattern: string): (path: string) => Readonly<Record<string, string>> | null {
  const parts = pattern.split("/");
  const isExact = !pattern.includes(":");
  return (path) => {
    if (isExact) return path === pattern ? {} : null;
    const given = path.split("/");
    if (given.length !== parts.length) return null;
    const params: Record<string, string> = {};
    for (const [i, part] of parts.entries()) {
      if (part.startsWith(":")) {
        if (given[i] === "") return null;
        params[part.slice(1)] = decoded(given[i]!);
      } else if (part !== given[i]) return null;
    }
    return params;
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
