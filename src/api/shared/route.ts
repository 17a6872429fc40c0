// Registers routes. Each is declared with its access rule, and the check is part of the function that the router calls: no handler runs
// unchecked, however the router interpreted a request.
import type { Server } from "bun";
import type { CallerOf } from "../../auth/authorizer.ts";
import type { AccessRule } from "../../model/access.ts";
import type { DescribedRoute } from "../docs/operation.ts";
import { type RequestTarget, targetOf } from "../request/request-target.ts";
import type { AccessControl } from "./access.ts";
import { RouteList } from "./route-list.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "ALL";

/** The argument of a handler: a request that satisfies its route's rule. */
export interface Call<R extends AccessRule = AccessRule> {
  readonly request: Request;
  readonly target: RequestTarget;
  /** Null without a socket. */
  readonly server: Server<unknown> | null;
  /** Of the route's path: what stands for `{id}`, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly caller: CallerOf<R>;
}

/** A call of any route, for code that does not use the caller. */
export type AnyCall = Omit<Call, "caller">;

type Handler<R extends AccessRule> = (call: Call<R>) => Response | Promise<Response>;

/** The function registered with Elysia. Its context is destructured immediately: Elysia parses cookies, headers and query string for
 *  handlers that might use them. */
type Checked = (context: { readonly request: Request; readonly server: Server<unknown> | null }) => Response | Promise<Response>;

const CHECKED = new WeakSet<object>();

/** True if a route's handler checks access, as all handlers registered by `Routes` do. */
export function isChecked(handler: unknown): boolean {
  return typeof handler === "function" && CHECKED.has(handler);
}

/** The routes of one module. */
export class Routes {
  private readonly list = new RouteList();
  readonly plugin = this.list.plugin;

  constructor(private readonly access: AccessControl) {}

  get<R extends AccessRule>(path: string, about: DescribedRoute<R>, handle: Handler<R>): this {
    return this.add("GET", path, about, handle);
  }

  post<R extends AccessRule>(path: string, about: DescribedRoute<R>, handle: Handler<R>): this {
    return this.add("POST", path, about, handle);
  }

  put<R extends AccessRule>(path: string, about: DescribedRoute<R>, handle: Handler<R>): this {
    return this.add("PUT", path, about, handle);
  }

  patch<R extends AccessRule>(path: string, about: DescribedRoute<R>, handle: Handler<R>): this {
    return this.add("PATCH", path, about, handle);
  }

  delete<R extends AccessRule>(path: string, about: DescribedRoute<R>, handle: Handler<R>): this {
    return this.add("DELETE", path, about, handle);
  }

  head<R extends AccessRule>(path: string, about: DescribedRoute<R>, handle: Handler<R>): this {
    return this.add("HEAD", path, about, handle);
  }

  /** Handles all methods for which the path has no route of its own. */
  all<R extends AccessRule>(path: string, about: DescribedRoute<R>, handle: Handler<R>): this {
    return this.add("ALL", path, about, handle);
  }

  /** Everything below a path: `/a/*` is `/a/b` and `/a/b/c`. */
  below<R extends AccessRule>(method: "GET" | "POST", path: string, about: DescribedRoute<R>, handle: Handler<R>): this {
    const prefix = path.slice(0, -1);
    if (!isExact(path.slice(0, -2)) || !path.endsWith("/*")) throw new Error(`BUG: ${path} is not an exact path with /* behind it`);
    const read = (asked: string) => (asked.length > prefix.length && asked.startsWith(prefix) ? NO_PARAMETERS : null);
    return this.register(method, path, read, about, handle);
  }

  /** A path in which one segment or more stands for anything but nothing: `/a/{id}/b`. */
  pattern<R extends AccessRule>(method: Exclude<Method, "ALL" | "HEAD">, path: string, about: DescribedRoute<R>, handle: Handler<R>): this {
    if (!isExact(path.replaceAll(PARAMETER, "x")) || !path.includes("{")) throw new Error(`BUG: ${path} is not a path with parameters`);
    const pattern = new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(PARAMETER, "(?<$1>[^/]+)")}$`);
    return this.register(method, path.replaceAll(PARAMETER, ":$1"), (asked) => parametersOf(pattern.exec(asked)), about, handle);
  }

  private add<R extends AccessRule>(method: Method, path: string, about: DescribedRoute<R>, handle: Handler<R>): this {
    if (!isExact(path)) throw new Error(`BUG: ${path} is not an exact path`);
    return this.register(method, path, (asked) => (asked === path ? NO_PARAMETERS : null), about, handle);
  }

  private register<R extends AccessRule>(
    method: Method,
    path: string,
    read: (asked: string) => Readonly<Record<string, string>> | null,
    about: DescribedRoute<R>,
    handle: Handler<R>,
  ): this {
    const { access } = this;
    const run = (request: Request, server: Server<unknown> | null) => {
      const target = targetOf(request);
      // The router parses the URL itself; a request that it interpreted differently is not run.
      const parameters = read(target.path);
      if (parameters === null || (method !== "ALL" && request.method !== method)) return access.notFound(request, target);
      const answer = (caller: CallerOf<R> | Response) => {
        if (caller instanceof Response) return caller;
        access.observer?.running(request, `${method} ${path}`, about.access.rule);
        return handle({ request, target, server, parameters, caller });
      };
      const admitted = access.admit(request, target, about.access);
      return admitted instanceof Promise ? admitted.then(answer) : answer(admitted);
    };
    const checked: Checked = ({ request, server }) => run(request, server);
    CHECKED.add(checked);
    this.list.add(method, path, checked, about.detail);
    return this;
  }
}

const NO_PARAMETERS: Readonly<Record<string, string>> = {};
const PARAMETER = /\{(\w+)\}/g;

/** Null without a match, and for escapes that are no UTF-8. */
function parametersOf(match: RegExpExecArray | null): Readonly<Record<string, string>> | null {
  if (match === null) return null;
  try {
    return Object.fromEntries(Object.entries(match.groups ?? {}).map(([name, text]) => [name, decodeURIComponent(text)]));
  } catch {
    return null;
  }
}

function isExact(path: string): boolean {
  return /^(?:\/[\w.-]+)+$/.test(path);
}
