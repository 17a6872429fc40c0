// The routes of one module, until an app takes them.
import type { AnyElysia } from "elysia";

/** Routes in the order in which they were added. */
export class RouteList {
  private readonly routes: (readonly [method: string, path: string, handler: unknown, hook: object])[] = [];
  /** For `use`. A function, not an app of its own: Elysia registers the routes of such an app twice. */
  readonly plugin = (app: AnyElysia): AnyElysia => {
    for (const [method, path, handler, hook] of this.routes) app.route(method, path, handler as never, hook);
    return app;
  };

  /** Handlers read bodies themselves, with a limit. */
  add(method: string, path: string, handler: unknown, detail?: object): void {
    this.routes.push([method, path, handler, { parse: "none", ...(detail === undefined ? {} : { detail }) }]);
  }
}
