// What holds for every request to port 8086, around the router: its target, trailing slashes, CORS, headers of every answer, counting.
import { INVALID_TARGET, RequestTargets, redirected } from "../../request/request-target.ts";
import { UrlCache } from "../../request/url-cache.ts";
import { failureOf } from "../../shared/errors.ts";
import { isComplete } from "../../shared/respond.ts";
import { admit } from "./admit.ts";
import { commonHeaders } from "./answers.ts";
import { errorAnswer } from "./errors.ts";
import { redirectOf } from "./moved.ts";
import { routeOf } from "./route.ts";
import type { V2Services } from "./services.ts";
import { placeOf, traceOf } from "./trace.ts";
import { type KnownRoute, notRouted } from "./unrouted.ts";

type Handler = (request: Request) => Response | Promise<Response>;

/** What follows from a path alone. */
interface PathTraits {
  /** Without a slash at the end. */
  readonly canonical: string;
  readonly isApi: boolean;
  /** Statuses of answers that are never compressed; null: none of them is. */
  readonly plainStatuses: readonly number[] | null;
}

const PREFLIGHT = {
  "access-control-allow-methods": "POST, GET, OPTIONS, PUT, DELETE, PATCH",
  "access-control-allow-headers": "Accept, Content-Type, Content-Length, Accept-Encoding, Authorization, User-Agent",
};

/** Wraps the router. Writes of one line are mostly what is done here: what follows from a path is found once. */
export class Border {
  private readonly headers: readonly (readonly [name: string, value: string])[];
  private readonly targets = new RequestTargets();
  private readonly traits = new UrlCache(traitsOf);

  constructor(
    private readonly services: V2Services,
    private readonly known: readonly KnownRoute[],
    readonly next: Handler,
  ) {
    this.headers = Object.entries(commonHeaders(services.options));
  }

  readonly handle: Handler = (request) => {
    const startedMs = this.services.now();
    const target = this.targets.read(request);
    if (target === null) return errorAnswer(INVALID_TARGET);
    const { path, url } = target;
    // the router finds the path by counting the characters of http://
    if (request.url !== url) Object.defineProperty(request, "url", { value: url });
    const traits = this.traits.get(path);
    let end = () => {};
    const ended = (answered: Response): Response => {
      end();
      const response = this.completed(request, traits, answered);
      this.count(request, path, startedMs, response);
      return response;
    };
    let answered: Response | Promise<Response>;
    try {
      end = this.services.limits.begin(path);
      answered = this.answer(request, path, traits);
    } catch (error) {
      answered = this.failed(request, path, error);
    }
    // without an `await`, which small bodies notice
    if (answered instanceof Response) return ended(answered);
    return answered.then(ended, (error) => ended(this.failed(request, path, error)));
  };

  private answer(request: Request, path: string, { canonical, isApi }: PathTraits): Response | Promise<Response> {
    const { services, known } = this;
    if (canonical !== path) {
      // a path with a slash at its end is none of those that everybody may ask; browsers ask first without saying who they are
      if (canonical.startsWith("/api/") && request.method !== "OPTIONS") {
        const principal = admit(services, request);
        if (principal instanceof Response) return principal;
      }
      const redirect = redirectOf(request, known, canonical);
      if (redirect !== null) return redirect;
      redirected(request, canonical);
    }
    if (request.method === "OPTIONS" && isApi) return preflight(request);
    // the router gives HEAD to routes of GET
    if (request.method === "HEAD" && !known.some(({ method, matches }) => ["HEAD", "ALL"].includes(method) && matches(canonical))) {
      return notRouted(services, known, request);
    }
    return this.next(request);
  }

  private failed(request: Request, path: string, error: unknown): Response {
    if (failureOf(error).isOurs) this.services.report(error, placeOf(request, path));
    return errorAnswer(error);
  }

  private completed(request: Request, { isApi, plainStatuses }: PathTraits, answered: Response): Response {
    const response = request.method === "HEAD" ? new Response(null, answered) : answered;
    if (!isComplete(response)) for (const [name, value] of this.headers) response.headers.set(name, value);
    if (plainStatuses?.includes(response.status) === false) response.headers.set("vary", "Accept-Encoding");
    const origin = isApi ? request.headers.get("origin") : null;
    if (origin !== null) {
      response.headers.set("access-control-allow-origin", origin);
      response.headers.append("vary", "Origin");
    }
    return response;
  }

  private count(request: Request, path: string, startedMs: number, { status }: Response): void {
    const { services } = this;
    const milliseconds = services.now() - startedMs;
    const { method } = request;
    const agent = request.headers.get("user-agent");
    services.counted({ method, route: routeOf(request), status, seconds: milliseconds / 1000, agent });
    const trace = traceOf(request);
    if (trace !== null) services.traced(trace, { method, path, status, milliseconds });
  }
}

/** These also take what follows them. */
const ROOTS = ["/health", "/ready", "/metrics", "/api/v2/flags", "/api/v2/resources"] as const;

function traitsOf(path: string): PathTraits {
  return { canonical: canonicalPath(path), isApi: isApiPath(path), plainStatuses: plainStatuses(path) };
}

/** Without a slash at the end. */
function canonicalPath(path: string): string {
  const root = ROOTS.find((each) => path.startsWith(`${each}/`));
  if (root !== undefined) return root;
  return path.endsWith("/") && /^\/(?:api\/v2|api\/v2private|private|debug)\//.test(path) ? path.slice(0, -1) : path;
}

function isApiPath(path: string): boolean {
  return path === "/api/v2" || path.startsWith("/api/v2/") || path.startsWith("/api/v2private/") || path.startsWith("/private/");
}

/** Of paths whose answers may be compressed, as a cache between has to know, whether or not this one is. */
function plainStatuses(path: string): readonly number[] | null {
  if (/^\/(?:ping|write|query)$/.test(path)) return [401];
  return /^\/api\/v2\/(?:query|backup\/(?:metadata|shards\/[^/]+))$/.test(path) ? [401, 405] : null;
}

function preflight(request: Request): Response {
  if (!request.headers.has("origin")) return new Response(null, { status: 405 });
  return new Response(null, { status: 204, headers: PREFLIGHT });
}
