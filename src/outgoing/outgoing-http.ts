// HTTP requests of scripts: only to addresses that are allowed, which is checked on the address of the connection itself, so that a name
// cannot resolve to another one between check and use. Redirects are followed one by one, each with the same checks.
import { type ClientRequest, type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { TsdbError } from "../model/errors.ts";
import { VERSION } from "../model/version.ts";
import { AnswerBody } from "./answer-body.ts";
import type { AnswerMemory } from "./answer-memory.ts";
import { exchangeThrough } from "./proxied-http.ts";
import { proxyFor } from "./proxy.ts";
import { allowedAddresses, connectionError, connectsTo, type HostAddress } from "./resolve.ts";

export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
  /** 0 for the limit. */
  readonly timeoutMs: number;
  /** The certificate of the server is not checked. */
  readonly isInsecure: boolean;
}

export interface OutgoingResponse {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
  readonly durationMs: number;
}

export interface OutgoingLimits {
  /** Loopback and private addresses too. */
  readonly allowsPrivate: boolean;
  readonly timeoutMs: number;
  /** Of an answer, or of a message to a broker. */
  readonly bodyBytesMax: number;
  /** Of answers that are arriving; default: the thread's. */
  readonly memory?: AnswerMemory;
}

export const OUTGOING_LIMITS: OutgoingLimits = { allowsPrivate: false, timeoutMs: 30_000, bodyBytesMax: 32 * 1024 * 1024 };

const REDIRECTS_MAX = 5;
/** Of one request: each takes 50 µs of the event loop, and a server may send them without end. */
const INTERIM_MAX = 10;
/** Statuses after which a request is repeated elsewhere as a GET without its body. */
const TO_GET: ReadonlySet<number> = new Set([301, 302, 303]);
const REDIRECTS: ReadonlySet<number> = new Set([...TO_GET, 307, 308]);
/** Not for another host. */
const SECRET_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "cookie",
  "www-authenticate",
  "x-api-key",
  "z-api-key",
  "access-token",
]);

/** @throws TsdbError bad_query: the address is not allowed, or the request failed, took too long or was answered with too much */
export async function outgoingHttp(given: OutgoingRequest, limits: OutgoingLimits, cancelled?: AbortSignal): Promise<OutgoingResponse> {
  const startedMs = performance.now();
  const timeoutMs = given.timeoutMs > 0 ? Math.min(given.timeoutMs, limits.timeoutMs) : limits.timeoutMs;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = cancelled === undefined ? timeout : AbortSignal.any([timeout, cancelled]);
  let request = given;
  for (let redirects = 0; ; redirects++) {
    const url = checkedUrl(request.url);
    const response = await exchange({ url, request, limits, signal, timeoutMs });
    const location = response.headers.find(([name]) => name.toLowerCase() === "location")?.[1];
    if (!REDIRECTS.has(response.status) || location === undefined) return { ...response, durationMs: performance.now() - startedMs };
    if (redirects === REDIRECTS_MAX) throw failed(request, `stopped after ${REDIRECTS_MAX} redirects`);
    request = redirected(request, url, response.status, location);
  }
}

function redirected(request: OutgoingRequest, from: URL, status: number, location: string): OutgoingRequest {
  const url = URL.parse(location, from.href);
  if (url === null) throw failed(request, "redirect to an invalid URL");
  const toGet = TO_GET.has(status) && request.method !== "GET" && request.method !== "HEAD";
  const isSameHost = url.host === from.host && url.protocol === from.protocol;
  const headers = request.headers.filter(([name]) => {
    const lower = name.toLowerCase();
    return (isSameHost || !SECRET_HEADERS.has(lower)) && !(toGet && lower.startsWith("content-"));
  });
  return { ...request, url: url.href, headers, ...(toGet ? { method: "GET", body: new Uint8Array(0) } : {}) };
}

function checkedUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new TsdbError("bad_query", `cannot parse URL ${JSON.stringify(text.slice(0, 200))}`);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new TsdbError("bad_query", `unsupported protocol scheme "${url.protocol.slice(0, -1)}"`);
  }
  return url;
}

function failed({ method, url }: OutgoingRequest, why: string): TsdbError {
  const shown = URL.parse(url);
  // without what the URL may hold of secrets
  return new TsdbError("bad_query", `${method} "${shown === null ? "" : shown.origin + shown.pathname}": ${why}`);
}

/** @throws TsdbError if there is no address that is allowed */
async function addressesOf(url: URL, request: OutgoingRequest, { allowsPrivate }: OutgoingLimits): Promise<readonly HostAddress[]> {
  try {
    return await allowedAddresses(url.hostname, allowsPrivate);
  } catch (error) {
    throw failed(request, error instanceof Error ? error.message : String(error));
  }
}

type Answer = Omit<OutgoingResponse, "durationMs">;

/** One request, without its redirects. */
interface Exchange {
  readonly url: URL;
  readonly request: OutgoingRequest;
  readonly limits: OutgoingLimits;
  readonly signal: AbortSignal;
  /** For messages. */
  readonly timeoutMs: number;
}

async function exchange(made: Exchange): Promise<Answer> {
  const { url, request, limits, signal, timeoutMs } = made;
  const proxy = proxyOf(url, request);
  if (proxy === null) return exchangeDirectly(made);
  // names are resolved by the proxy, which decides where it connects
  if (isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0) await addressesOf(url, request, limits);
  const arriving = new AnswerBody(limits.bodyBytesMax, limits.memory);
  try {
    const exchanged = exchangeThrough(proxy, url, { ...request, headers: headersOf(request) }, arriving, signal);
    const { headers, ...answer } = await raced(exchanged, signal, request, timeoutMs);
    return { ...answer, headers: headers.map(([name, value]) => [canonical(name), value]) };
  } catch (error) {
    throw error instanceof TsdbError ? error : failed(request, (error as Error).message);
  } finally {
    arriving.end();
  }
}

/** @throws TsdbError bad_query: what the environment names is no proxy */
function proxyOf(url: URL, request: OutgoingRequest): URL | null {
  try {
    return proxyFor(url);
  } catch (error) {
    throw failed(request, (error as Error).message);
  }
}

async function exchangeDirectly({ url, request, limits, signal, timeoutMs }: Exchange): Promise<Answer> {
  const addresses = await raced(addressesOf(url, request, limits), signal, request, timeoutMs);
  const options: RequestOptions & { readonly rejectUnauthorized?: boolean } = {
    method: request.method,
    headers: headersOf(request),
    ...connectsTo(addresses),
    agent: false,
    ...(request.isInsecure ? { rejectUnauthorized: false } : {}),
  };
  return await new Promise<Answer>((resolve, reject) => {
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const sent: ClientRequest = send(url, options, (response) => {
      collected(response, limits).then(resolve, (error: unknown) => {
        sent.destroy();
        reject(failed(request, error instanceof Error ? error.message : String(error)));
      });
    });
    const stop = () => {
      sent.destroy();
      reject(failed(request, `no answer within ${timeoutMs} ms`));
    };
    signal.addEventListener("abort", stop, { once: true });
    sent.on("close", () => signal.removeEventListener("abort", stop));
    let interimCount = 0;
    sent.on("information", () => {
      if (++interimCount <= INTERIM_MAX) return;
      sent.destroy();
      reject(failed(request, `more than ${INTERIM_MAX} interim answers`));
    });
    sent.on("error", (error) => reject(failed(request, connectionError(error).message)));
    sent.end(request.body);
  });
}

function headersOf({ headers, body, method }: OutgoingRequest): Record<string, string> {
  const made: Record<string, string> = {};
  for (const [name, value] of headers) if (!/^(host|content-length|transfer-encoding|connection)$/i.test(name)) made[name] = value;
  if (!Object.keys(made).some((name) => name.toLowerCase() === "user-agent")) made["User-Agent"] = `tsdb/${VERSION}`;
  if (body.length > 0 || (method !== "GET" && method !== "HEAD")) made["Content-Length"] = String(body.length);
  return made;
}

async function raced<T>(work: Promise<T>, signal: AbortSignal, request: OutgoingRequest, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(failed(request, `no answer within ${timeoutMs} ms`));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

async function collected(response: IncomingMessage, { bodyBytesMax, memory }: OutgoingLimits): Promise<Answer> {
  const arriving = new AnswerBody(bodyBytesMax, memory);
  let body: Uint8Array;
  try {
    for await (const part of response as AsyncIterable<Uint8Array>) arriving.append(part);
    body = arriving.whole();
  } finally {
    arriving.end();
  }
  const headers: [string, string][] = [];
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers.push([canonical(name), Array.isArray(value) ? value.join(", ") : value]);
  }
  return { status: response.statusCode ?? 0, headers, body };
}

/** `content-type` → `Content-Type`, as clients of the reference see it. */
const canonical = (name: string): string => name.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase());
