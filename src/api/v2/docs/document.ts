// The OpenAPI document of port 8086.
import type { TProperties, TSchema } from "@sinclair/typebox";
import type { OpenApi, Operation, Parameter } from "../../docs/openapi.ts";
import { V2_VERSION } from "../../shared/aliases.ts";
import { ACCOUNTS } from "./accounts.ts";
import { ALERTS } from "./alerts.ts";
import { type AnswerSource, jsonOf, type V2Operation, type V2Operations } from "./described.ts";
import { NOTEBOOKS } from "./notebooks.ts";
import { PAGES } from "./pages.ts";
import { REPLICATION } from "./replication.ts";
import { BUCKETS_AND_ROWS } from "./rows.ts";
import { SCRAPERS } from "./scrapers.ts";
import { ErrorShape } from "./shapes.ts";
import { SOURCES } from "./sources.ts";
import { SYSTEM } from "./system.ts";
import { TASK_OPERATIONS } from "./tasks.ts";
import { TEMPLATES } from "./templates.ts";

/** What every route does, by `METHOD path`. */
const V2_OPERATIONS: V2Operations = {
  ...ACCOUNTS,
  ...BUCKETS_AND_ROWS,
  ...SCRAPERS,
  ...TASK_OPERATIONS,
  ...PAGES,
  ...SOURCES,
  ...NOTEBOOKS,
  ...REPLICATION,
  ...ALERTS,
  ...TEMPLATES,
  ...SYSTEM,
};

const TRACE: Parameter = {
  name: "Zap-Trace-Span",
  in: "header",
  required: false,
  description: "Of a trace that the request belongs to: stands in the log beside what goes wrong.",
  schema: { type: "string" },
};
const SECURITY: Readonly<Record<NonNullable<V2Operation["credentials"]> | "token", readonly object[]>> = {
  none: [],
  basic: [{ basic: [] }],
  v1: [{ token: [] }, { basic: [] }, { user: [], password: [] }],
  token: [{ token: [] }, { session: [] }],
};
const SECURITY_SCHEMES = {
  token: { type: "apiKey", in: "header", name: "Authorization", description: "`Token` or `Bearer`, a blank, and the token." },
  session: { type: "apiKey", in: "cookie", name: "influxdb-oss-session" },
  basic: { type: "http", scheme: "basic" },
  user: { type: "apiKey", in: "query", name: "u" },
  password: { type: "apiKey", in: "query", name: "p" },
};

/** The document of `operations`. Schemas that have an `$id` become components. */
export function v2OpenApi(operations: V2Operations = V2_OPERATIONS): OpenApi {
  const components = new Components();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [key, source] of Object.entries(operations)) {
    const [method, route] = key.split(" ") as [string, string];
    const path = route.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] ??= {};
    paths[path][method.toLowerCase()] = operationOf(source, route, components);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "tsdb, the bucket-based API",
      version: V2_VERSION.slice(1),
      description: "Organizations, buckets and tokens; line protocol in, Flux and InfluxQL out.",
    },
    paths,
    components: { schemas: components.schemas(), securitySchemes: SECURITY_SCHEMES },
  };
}

function operationOf(source: V2Operation, route: string, components: Components): Operation {
  const { tag, summary, description, credentials, query, headers, body, answers } = source;
  return {
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    security: SECURITY[credentials ?? "token"],
    parameters: [
      ...[...route.matchAll(/:(\w+)/g)].map(([, name]) => pathParameter(name!, components)),
      ...parameters("query", query, components),
      ...parameters("header", headers, components),
      TRACE,
    ],
    ...(body === undefined ? {} : { requestBody: { content: components.contents(body) } }),
    responses: Object.fromEntries(
      Object.entries({ ...commonAnswers(source, route), ...answers }).map(([status, answer]) => {
        // an error without a body of its own has the common one
        const shown = answer.content ?? (Number(status) >= 400 ? jsonOf(ErrorShape) : undefined);
        return [status, { description: answer.description, ...(shown === undefined ? {} : { content: components.contents(shown) }) }];
      }),
    ),
  };
}

/** Answers of all routes of this kind. */
function commonAnswers({ credentials, query, body }: V2Operation, route: string): Record<number, AnswerSource> {
  const answers: Record<number, AnswerSource> = {};
  const isRead = query !== undefined || body !== undefined || route.includes(":");
  if (isRead || credentials !== "none") answers[400] = { description: "The request cannot be read; the message says where." };
  if (credentials !== "none") answers[401] = { description: "No credentials, or wrong ones." };
  if (credentials === undefined || credentials === "v1") {
    answers[403] = { description: "Not permitted." };
    answers[429] = { description: "More requests than --v2-max-requests-per-minute; the header Retry-After says when to try again." };
  }
  if (route.includes(":")) answers[404] = { description: "There is none, or the sender may not see it." };
  if (body !== undefined) answers[413] = { description: "The body is too large, as sent or decompressed." };
  answers[500] = { description: "A fault of the server's; its log says which." };
  answers[503] = { description: "The server is starting, or has too much to do." };
  return answers;
}

function pathParameter(name: string, components: Components): Parameter {
  const isId = name.endsWith("ID") && !["secretID", "shardID"].includes(name);
  const schema = isId ? { type: "string", pattern: "^[0-9a-f]{16}$" } : components.plain({ type: "string" } as unknown as TSchema);
  return { name, in: "path", required: true, schema };
}

function parameters(place: "query" | "header", properties: TProperties | undefined, components: Components): Parameter[] {
  return Object.entries(properties ?? {}).map(([name, property]) => {
    const { description, ...schema } = components.plain(property);
    const isOptional = Object.getOwnPropertySymbols(property).some((each) => each.description === "TypeBox.Optional");
    return { name, in: place, required: !isOptional, ...(description === undefined ? {} : { description: String(description) }), schema };
  });
}

/** Schemas as JSON, and those that they refer to. */
class Components {
  private readonly found = new Map<string, Readonly<Record<string, unknown>>>();

  contents(bodies: Readonly<Record<string, TSchema>>): Record<string, { schema: Readonly<Record<string, unknown>> }> {
    return Object.fromEntries(Object.entries(bodies).map(([type, schema]) => [type, { schema: this.plain(schema) }]));
  }

  /** TypeBox's own marks are symbols, which JSON leaves out. */
  plain(schema: TSchema): Readonly<Record<string, unknown>> {
    return this.shown(schema) as Readonly<Record<string, unknown>>;
  }

  schemas(): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
    return Object.fromEntries([...this.found].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  private shown(node: unknown): unknown {
    if (Array.isArray(node)) return node.map((each) => this.shown(each));
    if (typeof node !== "object" || node === null) return node;
    const { $id: name, ...members } = node as Readonly<Record<string, unknown>>;
    if (typeof name !== "string") return this.membersOf(members);
    if (!this.found.has(name)) this.found.set(name, this.membersOf(members));
    return { $ref: `#/components/schemas/${name}` };
  }

  private membersOf(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, this.shown(member)]));
  }
}
