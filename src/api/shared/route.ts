// Registers routes. Each is declared with its access rule, and the check is part of what the router runs for it: no handler runs unchecked,
// whichever path the router took a request for.
import type { Server } from "bun";
import { type AnyElysia, Elysia } from "elysia";
import type { CallerOf } from "../../auth/authorizer.ts";
import type { AccessRule } from "../../model/access.ts";
import type { DescribedRoute } from "../docs/operation.ts";
import { type RequestTarget, targetOf } from "../request/request-target.ts";
import type { AccessControl } from "./access.ts";

export type Method = "GET" | "POST" | "PUT" | "DELETE" | "HEAD" | "ALL";

/** What a handler gets: a request that its route's rule admits. */
export interface Call<R extends AccessRule = AccessRule> {
  readonly request: Request;
  readonly target: RequestTarget;
  /** Null without a socket. */
  readonly server: Server<unknown> | null;
  readonly caller: CallerOf<R>;
}

/** A call of a route with another rule, for code that does not look at the caller. */
export type AnyCall = Omit<Call, "caller">;

type Handler<R extends AccessRule> = (call: Call<R>) => Response | Promise<Response>;

/** What Elysia is given for a route. Its context is taken apart at once: Elysia parses cookies, headers and query string for a handler that
 *  might look at them. */
type Checked = (context: { readonly request: Request; readonly server: Server<unknown> | null }) => Response | Promise<Response>;

const CHECKED = new WeakSet<object>();

/** Whether the handler of a route checks access, as each that `Routes` has registered does. */
export function isChecked(handler: unknown): boolean {
  return typeof handler === "function" && CHECKED.has(handler);
}

/** The routes of one file. */
export class Routes {
  readonly plugin: AnyElysia;

  constructor(
    name: string,
    private readonly access: AccessControl,
  ) {
    this.plugin = new Elysia({ name });
  }

  get<R extends AccessRule>(path: string, about: DescribedRoute<R>, handle: Handler<R>): this {
    return this.add("GET", path, about, handle);
  }

  post<R extends AccessRule>(path: string, about: DescribedRoute<R>, handle: Handler<R>): this {
    return this.add("POST", path, about, handle);
  }

  put<R extends AccessRule>(path: string, about: DescribedRoute<R>, handle: Handler<R>): this {
    return this.add("PUT", path, about, handle);
  }

  delete<R extends AccessRule>(path: string, about: DescribedRoute<R>, handle: Handler<R>): this {
    return this.add("DELETE", path, about, handle);
  }

  head<R extends AccessRule>(path: string, about: DescribedRoute<R>, handle: Handler<R>): this {
    return this.add("HEAD", path, about, handle);
  }

  /** Any method that the path has no route of its own for. */
  all<R extends AccessRule>(path: string, about: DescribedRoute<R>, handle: Handler<R>): this {
    return this.add("ALL", path, about, handle);
  }

  private add<R extends AccessRule>(method: Method, path: string, about: DescribedRoute<R>, handle: Handler<R>): this {
    if (!/^(?:\/[\w.-]+)+$/.test(path)) throw new Error(`BUG: ${path} is not an exact path`);
    const { access } = this;
    const run = (request: Request, server: Server<unknown> | null) => {
      const target = targetOf(request);
      // The router has read the URL by itself; a request that it took for another one does not run.
      if (target.path !== path || (method !== "ALL" && request.method !== method)) return access.notFound(request, target);
      const caller = access.admit(request, target, about.access);
      if (caller instanceof Response) return caller;
      access.observer?.running(request, `${method} ${path}`, about.access.rule);
      return handle({ request, target, server, caller });
    };
    const checked: Checked = ({ request, server }) => run(request, server);
    CHECKED.add(checked);
    // Handlers read bodies themselves, bounded.
    this.plugin.route(method, path, checked as never, { parse: "none", detail: about.detail });
    return this;
  }
}
