// GET and POST /api/v3/engine/<path>: requests that a trigger's plugin answers. Query, headers and body are the plugin's.
import { t } from "elysia";
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import type { EngineAnswer } from "../../model/triggers.ts";
import { operation } from "../docs/operation.ts";
import { BodyReader } from "../request/body.ts";
import { liftIdleLimit } from "../request/idle-limit.ts";
import type { AppServices } from "../services.ts";
import { sizedResponse } from "../shared/body-size.ts";
import { failureOf } from "../shared/errors.ts";
import { errorJson } from "../shared/respond.ts";
import { type Call, Routes } from "../shared/route.ts";
import { requireReady } from "../shared/write.ts";
import { configureAnswers } from "./configure/configure-route.ts";

const PREFIX = "/api/v3/engine/";
/** As the vendor's server says it. */
const NOT_FOUND = '{error: "not found"}';
/** The connection's own, which the server sets; and what tells clients who may read an answer. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...["connection", "content-length", "date", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"],
  ...["cluster-uuid", "access-control-allow-origin"],
]);
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

const Path = t.Object({ request_path: t.String({ description: "What the specification of a trigger names: `request:<path>`." }) });

/** Bytes of bodies that requests to plugins hold: they wait in the server's memory while plugins run. */
class HeldBodies {
  private bytes = 0;

  /** Counts the bytes of one request. @throws TsdbError overloaded, from `add` */
  begin(): { add(bytes: number): void; end(): void } {
    let own = 0;
    return {
      add: (bytes) => {
        if (this.bytes + bytes > LIMITS.pluginRequestBytesMax) {
          throw new TsdbError("overloaded", "the bodies of requests to plugins take too much memory; try again");
        }
        own += bytes;
        this.bytes += bytes;
      },
      end: () => {
        this.bytes -= own;
        own = 0;
      },
    };
  }
}

export const engineRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  const bodies = new HeldBodies();
  const about = (summary: string, body?: { "application/json": ReturnType<typeof t.Object> }) =>
    operation({
      ...{ tag: "Processing engine", access: "database", summary, path: Path },
      description: "Needs a token that may read and write the trigger's database. The plugin sets status, headers and body.",
      ...(body === undefined ? {} : { body }),
      answers: {
        ...configureAnswers({ 200: "What the plugin answers, with any status.", 404: "No trigger has the path." }),
        500: { description: "The plugin failed." },
      },
    });
  const handle = (call: Call<"database">) => answer(services, { reader, bodies }, call);
  return new Routes(services.access)
    .below("GET", `${PREFIX}*`, about("Ask a plugin"), handle)
    .below(
      "POST",
      `${PREFIX}*`,
      about("Send something to a plugin", { "application/json": t.Object({}, { additionalProperties: true }) }),
      handle,
    );
};

interface Bodies {
  readonly reader: BodyReader;
  readonly bodies: HeldBodies;
}

async function answer(services: AppServices, { reader, bodies }: Bodies, call: Call<"database">): Promise<Response> {
  const { request, target, server, caller } = call;
  const held = bodies.begin();
  try {
    requireReady(services.status());
    const route = services.engine(caller).find(target.path.slice(PREFIX.length));
    if (route === null) return sizedResponse(NOT_FOUND, { status: 404, headers: { "content-type": "text/plain; charset=utf-8" } });
    caller.require(route.database, "read");
    caller.require(route.database, "write");
    const query = queryOf(target.search);
    const body = request.body === null ? new Uint8Array() : await reader.readWhole(request, (bytes) => held.add(bytes));
    const limitIdle = liftIdleLimit(server, request);
    try {
      return responseOf(await route.run({ query, headers: headersOf(request.headers), body, signal: request.signal }));
    } finally {
      limitIdle();
    }
  } catch (error) {
    const failure = failureOf(error);
    const isPlugin = error instanceof TsdbError && error.kind === "plugin";
    if (failure.isOurs && !isPlugin) services.report(error, `${request.method} ${target.path}`);
    return errorJson(failure);
  } finally {
    held.end();
  }
}

/** Of a name that comes several times the last value counts. @throws TsdbError bad_request */
function queryOf(search: string): Record<string, string> {
  const pairs = search.split("&").flatMap((pair) => {
    if (pair === "") return [];
    const equals = pair.indexOf("=");
    return [[decoded(equals < 0 ? pair : pair.slice(0, equals)), decoded(equals < 0 ? "" : pair.slice(equals + 1))] as const];
  });
  return Object.fromEntries(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new TsdbError("bad_request", "invalid percent-encoding in the query string");
  }
}

/** Without the token, and without what no longer describes the body, which is decompressed. */
function headersOf(headers: Headers): Record<string, string> {
  const isDecoded = headers.has("content-encoding");
  const isPassed = (name: string) => name !== "authorization" && !(isDecoded && (name === "content-encoding" || name === "content-length"));
  return Object.fromEntries([...headers].filter(([name]) => isPassed(name)));
}

/** @throws TsdbError plugin for a status or a header that HTTP does not have */
function responseOf({ status, headers, body }: EngineAnswer): Response {
  try {
    const sent = new Headers();
    const bytes = headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
    if (bytes > LIMITS.pluginHeaderBytesMax) throw new Error(`its headers have ${bytes} bytes, max ${LIMITS.pluginHeaderBytesMax}`);
    for (const [name, value] of headers) if (!OWN_HEADERS.has(name.toLowerCase())) sent.append(name, value);
    return sizedResponse(NO_BODY.has(status) ? null : (body as Uint8Array<ArrayBuffer>), { status, headers: sent });
  } catch (cause) {
    throw new TsdbError("plugin", `the plugin's answer cannot be sent: ${(cause as Error).message}`, {}, { cause });
  }
}
