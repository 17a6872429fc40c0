// What editors ask about scripts: POST /api/v2/query/ast and /analyze, GET /api/v2/query/suggestions. No rows are read.
import { Type as t } from "@sinclair/typebox";
import { near, TsdbError } from "../../model/errors.ts";
import type { FluxTask } from "../../model/query/flux.ts";
import type { QueryAnswer } from "../../model/query/query.ts";
import { decoded } from "./app/decoded.ts";
import { JsonBodies } from "./app/params.ts";
import { type V2Call, V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";
import { WITHOUT_ROWS } from "./scripts.ts";

const SCRIPT_BYTES_MAX = 4 << 20;
const HEAD = "invalid json: ";
const Body = t.Object({ query: t.Optional(t.String()), type: t.Optional(t.String()) });

export const queryToolRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now, SCRIPT_BYTES_MAX);
  const inspect = async (call: V2Call, task: FluxTask): Promise<Response> => {
    const { query, type } = textsOf(decoded(Body, await bodies.rawValue(call.request, HEAD)), task);
    if (task === "analyze" && type !== "" && type !== "flux") throw new TsdbError("bad_request", `unknown query type: ${near(type)}`);
    return shown(await asked(services, call, task, query));
  };
  const suggest = async (call: V2Call, name: string) => shown(await asked(services, call, "suggestions", name));
  return new V2Routes(services)
    .post("/api/v2/query/ast", (call) => inspect(call, "ast"))
    .post("/api/v2/query/analyze", (call) => inspect(call, "analyze"))
    .get("/api/v2/query/suggestions", (call) => suggest(call, ""))
    .get("/api/v2/query/suggestions/:name", (call) => suggest(call, call.params["name"]!));
};

/** Members that are absent or null are empty. A tree is made of any type. @throws TsdbError bad_request */
function textsOf(body: unknown, task: FluxTask): { readonly query: string; readonly type: string } {
  if (typeof body !== "object" || Array.isArray(body)) {
    throw new TsdbError("bad_request", `${HEAD}json: cannot unmarshal ${kindOf(body)} into an object`);
  }
  const text = (name: "query" | "type"): string => {
    const value = (body as Readonly<Record<string, unknown>> | null)?.[name] ?? "";
    if (typeof value === "string") return value;
    throw new TsdbError("bad_request", `${HEAD}json: cannot unmarshal ${kindOf(value)} into member ${name}, a string`);
  };
  return { query: text("query"), type: task === "ast" ? "" : text("type") };
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "array" : typeof value;
}

function asked(services: V2Services, { request }: V2Call, task: FluxTask, text: string): Promise<QueryAnswer> {
  return services.query.query({
    ...{ database: "", statement: text, format: "csv", params: {}, queryType: "flux", signal: request.signal },
    flux: { task, ...WITHOUT_ROWS },
  });
}

function shown({ body, contentType }: QueryAnswer): Response {
  return new Response(body, { headers: { "content-type": contentType } });
}
