// The OpenAPI document of the registered routes.
import { EDITIONS, type Edition } from "../shared/aliases.ts";

/** The description stored with a route; Elysia's route list contains more. */
export interface DocumentedRoute {
  readonly method: string;
  readonly path: string;
  readonly hooks: { readonly detail?: unknown };
}

export interface Operation {
  readonly hide?: boolean;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters: readonly Parameter[];
  readonly security?: readonly object[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Readonly<Record<string, Content>> }>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "header" | "path";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface Content {
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>>; readonly securitySchemes: object };
}

/** What stands behind a path of which a route has everything below. */
const PATH_PARAMETER = "{request_path}";

/** The OpenAPI document of documented routes. */
export function openApi(routes: readonly DocumentedRoute[], edition: Edition): OpenApi {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const { method, path, hooks } of routes) {
    const operation = hooks.detail as Operation | undefined;
    if (operation === undefined || operation.hide === true) continue;
    const shown = path.replace("*", PATH_PARAMETER).replaceAll(/:(\w+)/g, "{$1}");
    paths[shown] ??= {};
    paths[shown][method.toLowerCase()] = operation;
  }
  const { version, build } = EDITIONS[edition];
  return {
    openapi: "3.1.0",
    info: { title: `tsdb ${build}`, version, description: "A time-series database: line protocol in, SQL out." },
    paths,
  };
}
