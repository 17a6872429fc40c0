// The path and query string of a request, parsed once. Routing, access checks and handlers all use this value: if two parsers read one URL
// differently, a request could pass the check of another route.
import { isIPv6 } from "node:net";
import { TsdbError } from "../../model/errors.ts";
import { UrlCache } from "./url-cache.ts";

/** Name or IPv4 address, then a port. Names have letters, digits, `-`, `.` and, as those of containers, `_`. */
const NAME_HOST = /^[A-Za-z0-9_][A-Za-z0-9._-]*(?::(\d{0,5}))?$/;
/** `[::1]:8181`; a zone may follow the address. */
const IPV6_HOST = /^\[([0-9A-Fa-f:.]+)(?:%[A-Za-z0-9._~%-]+)?\](?::(\d{0,5}))?$/;
/** A DNS name has at most 254 characters, a port 6. */
const HOST_CHARACTERS_MAX = 260;
const PORT_MAX = 65_535;

/** The error for a request without a valid target. */
export const INVALID_TARGET = new TsdbError(
  "bad_request",
  "invalid request: one Host header with a name or address, and a path or an absolute URL as the target, are required",
);

/** The target of one request, as routing, access checks and handlers see it. Immutable; requests with the same URL share it. */
export class RequestTarget {
  constructor(
    /** As sent, except for dot segments, which the runtime resolves: starts with `/` and keeps percent-encoding. */
    readonly path: string,
    /** The text after `?`; "" if there is none. */
    readonly search: string,
    /** `http://<host><path>?<search>`: a form in which every parser finds the same path. */
    readonly url: string,
  ) {}
}

const TARGET = Symbol("request target");

interface Targeted extends Request {
  [TARGET]?: RequestTarget;
}

/** Parses the targets of requests, caching repeated URLs. */
export class RequestTargets {
  private readonly known = new UrlCache(parseUrl);
  /** The last valid host and the last URL: the next request mostly has the same, and a comparison is cheaper than a pattern or a hash. */
  private lastHost: string | null = null;
  private lastUrl = "";
  private lastTarget: RequestTarget | null = null;

  /** Returns null for a 400 answer: Host is missing or invalid, or the target is neither a path nor an absolute URL. Otherwise
   *  `targetOf` returns the target of the request from now on. */
  read(request: Request): RequestTarget | null {
    const host = request.headers.get("host");
    // Of several Host headers the runtime uses the first for the URL, but joins all of them here by commas.
    if (host !== this.lastHost) {
      if (host !== null && !isHost(host)) return null;
      this.lastHost = host;
    }
    // Without a valid Host the URL has no authority. In an absolute target the Host replaces the authority.
    const target = this.targetAt(request.url);
    if (target !== null) (request as Targeted)[TARGET] = target;
    return target;
  }

  private targetAt(url: string): RequestTarget | null {
    if (url === this.lastUrl) return this.lastTarget;
    const target = this.known.get(url);
    this.lastUrl = url;
    this.lastTarget = target;
    return target;
  }
}

/** The target that `RequestTargets` parsed for the request. */
export function targetOf(request: Request): RequestTarget {
  const target = (request as Targeted)[TARGET];
  if (target === undefined) throw new Error("BUG: the target of the request was not read");
  return target;
}

/** Gives the request another path, for routing and handlers alike; its query string stays. */
export function redirected(request: Request, path: string): void {
  const { path: before, search, url } = targetOf(request);
  const authority = url.slice(0, url.indexOf("/", "http://".length));
  if (path === before) return;
  const target = new RequestTarget(path, search, `${authority}${path}${search === "" ? "" : `?${search}`}`);
  (request as Targeted)[TARGET] = target;
  Object.defineProperty(request, "url", { value: target.url, configurable: true });
}

/** True for a valid Host header. */
export function isHost(host: string): boolean {
  if (host.length > HOST_CHARACTERS_MAX) return false;
  const name = NAME_HOST.exec(host);
  if (name !== null) return isPort(name[1]);
  const address = IPV6_HOST.exec(host);
  return address !== null && isIPv6(address[1]!) && isPort(address[2]);
}

/** An empty port is allowed by RFC 3986, section 3.2.3. */
function isPort(digits: string | undefined): boolean {
  return digits === undefined || Number(digits) <= PORT_MAX;
}

function parseUrl(url: string): RequestTarget | null {
  const start = url.startsWith("http://") ? 7 : url.startsWith("https://") ? 8 : -1;
  const slash = start < 0 ? -1 : url.indexOf("/", start);
  // a request target has no fragment: RFC 9112, section 3.2
  if (slash < 0 || url.includes("#", slash) || !isHost(url.slice(start, slash))) return null;
  const mark = url.indexOf("?", slash);
  const path = mark < 0 ? url.slice(slash) : url.slice(slash, mark);
  return new RequestTarget(path, mark < 0 ? "" : url.slice(mark + 1), start === 7 ? url : `http://${url.slice(start)}`);
}
