// Random HTTP/1 requests for the fuzz of access: odd targets, Hosts, versions, encodings and doubled headers, several on one connection.
// What each should be read as is said by the URL standard's parser, which the server does not use.
import { ROUTES } from "../api/access-table.ts";
import { type Below, pick } from "../support/prng.ts";

export interface Sent {
  readonly method: string;
  /** Undefined: no route may run. */
  readonly path: string | undefined;
  /** Name of the token; null: none that counts. */
  readonly token: string | null;
  readonly bytes: string;
}

/** Names a request in what runs for it. */
export const ID_HEADER = "x-id";

const METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE"];
/** What follows a CONNECT on its connection is no request. */
const LAST_METHODS = [...METHODS, "CONNECT"];
const GOOD_HOSTS = ["localhost", "a:8181", "my_db", "[::1]", "A.", "127.0.0.1:80"];
const BAD_HOSTS = [
  "",
  "x/y",
  "a b",
  "?",
  "#",
  "@",
  "u@a",
  "a:99999",
  "a:b",
  "[::1",
  "::1",
  "a%41",
  "a\\b",
  "\xe9",
  "a, b",
  "*",
  "x/y?://a/docs",
];
/** Headers that a server behind a proxy might believe. */
const DECEPTIVE = [
  "X-Original-URL: /docs",
  "X-Rewrite-URL: /docs",
  "X-Forwarded-Host: x/y",
  "X-Forwarded-Prefix: /docs",
  'Forwarded: host="x/y"',
  "X-HTTP-Method-Override: GET",
  "Upgrade: websocket",
  "Upgrade: h2c",
];
const PATHS = [...new Set(ROUTES.map(([, path]) => path))];

/** The texts of tokens by name. */
export type Texts = Readonly<Record<string, string>>;

/** One to three requests; the last asks for the end of the connection. */
export function randomExchange(below: Below, texts: Texts, tokens: readonly (string | null)[], firstId = 0): Sent[] {
  const count = below(4) === 0 ? 1 + below(3) : 1;
  return Array.from({ length: count }, (_, i) =>
    randomRequest(below, texts, pick(below, tokens), { id: firstId + i, isLast: i === count - 1 }),
  );
}

function randomRequest(below: Below, texts: Texts, token: string | null, { id, isLast }: { id: number; isLast: boolean }): Sent {
  const route = pick(below, ROUTES);
  const [routeMethod, , , query = "", init = {}] = route;
  const method = below(4) === 0 ? pick(below, isLast ? LAST_METHODS : METHODS) : routeMethod === "ALL" ? "PATCH" : routeMethod;
  const target = randomTarget(below, route[1], query);
  const hosts = randomHosts(below);
  const version = below(8) === 0 ? pick(below, ["1.0", "1.0", "1.0", "1.2", "2.0", "0.9"]) : "1.1";
  const body = init.body ?? "";
  const lines = [
    ...hosts.map((host) => `${pick(below, ["Host", "host", "HOST"])}: ${host}`),
    ...Object.entries(init.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    ...credentials(below, texts, token),
    ...(below(3) === 0 ? [pick(below, DECEPTIVE)] : []),
    `${ID_HEADER}: ${id}`,
    ...(isLast ? ["Connection: close"] : version === "1.0" ? ["Connection: keep-alive"] : []),
  ];
  const framed = below(4) === 0 ? chunked(body) : { headers: body === "" ? [] : [`Content-Length: ${body.length}`], body };
  const isRead = (version === "1.0" || version === "1.1") && hosts.length === 1 && GOOD_HOSTS.includes(hosts[0]!);
  const bytes = `${[`${method} ${target} HTTP/${version}`, ...shuffled(below, lines), ...framed.headers].join("\r\n")}\r\n\r\n${framed.body}`;
  return { method, path: isRead ? pathIn(target) : undefined, token, bytes };
}

/** The path of a request target, of origin-form and absolute-form alone. The runtime has put the Host in place of the authority of an
 *  absolute target before anything of the server sees it; a backslash does not end an authority there. */
function pathIn(target: string): string | undefined {
  if (target.includes("#") || /\s/.test(target)) return undefined;
  const isAbsolute = /^https?:\/\//i.test(target);
  if (!isAbsolute && !target.startsWith("/")) return undefined;
  return new URL(`http://host${isAbsolute ? target.replace(/^https?:\/\/[^/?]*/i, "") : target}`).pathname;
}

function randomTarget(below: Below, path: string, query: string): string {
  let mutated = path;
  for (let i = below(3); i > 0; i--) mutated = mutate(below, mutated);
  const other = pick(below, PATHS);
  const search = pick(below, [
    ...[query, query, query, query, ""],
    `?://a${other}`,
    `${query === "" ? "?" : `${query}&`}x=://a${other}`,
    `?x=//a${other}`,
    `#${other}`,
    `${query}#://a${other}`,
    `?p=${"x".repeat(below(20))}`,
  ]);
  return `${pick(below, ["", "", "", "", "", "http://a", "https://a:1", "HTTP://a", "http://u@a", "http://a/", "ftp://a", "//a", "*"])}${mutated}${search}`;
}

function mutate(below: Below, path: string): string {
  const at = below(path.length + 1);
  const character = path[Math.min(at, path.length - 1)]!;
  const encoded = `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  const insert = (text: string) => `${path.slice(0, at)}${text}${path.slice(at)}`;
  return pick(below, [
    () => `/xxxxxx${path}`,
    () => `/${path}`,
    () => `/x/..${path}`,
    () => `/.${path}`,
    () => `/%2e%2e${path}`,
    () => path.replace(/\/(?=[^/]*$)/, pick(below, ["%2f", "%2F", "%5c", "\\", "//", "/./", "/x/../"])),
    () => `${path.slice(0, at)}${encoded}${path.slice(at + 1)}`,
    () => insert(pick(below, ["%00", "\\", ";a", ".", "/", "://", "@", ":80", "%", "%zz", "\x7f", "|", '"'])),
    () => `${path}/`,
    () => `${path}/..${pick(below, PATHS)}`,
    () => path.toUpperCase(),
    () => `${pick(below, PATHS)}/../../../../..${path}`,
  ])();
}

function randomHosts(below: Below): string[] {
  const kind = below(10);
  if (kind < 6) return [pick(below, GOOD_HOSTS)];
  if (kind < 8) return [pick(below, BAD_HOSTS)];
  if (kind === 8) return [];
  return [pick(below, [...GOOD_HOSTS, ...BAD_HOSTS]), pick(below, [...GOOD_HOSTS, ...BAD_HOSTS])];
}

/** Of a token, or such as count for nothing: none, unknown, cut off, doubled. */
function credentials(below: Below, texts: Texts, token: string | null): string[] {
  if (token !== null) return [`${pick(below, ["Authorization", "authorization"])}: ${pick(below, ["Bearer", "Token"])} ${texts[token]}`];
  const admin = texts["admin"]!;
  return pick(below, [
    [],
    [],
    ["Authorization: Bearer x"],
    ["Authorization:"],
    [`Authorization: ${admin}`],
    [`Authorization: Bearer ${admin.slice(0, -1)}`],
    [`Authorization: Bearer ${admin}`, "Authorization: Bearer x"],
    [`Authorization: Bearer ${admin}`, `Authorization: Bearer ${admin}`],
    [`Authorization: Bearer ${texts["expired"]}`],
    [`Authorization: Token ${texts["deleted"]}`],
    [`Proxy-Authorization: Bearer ${admin}`, `Cookie: token=${admin}`],
    [`X-Authorization: Bearer ${admin}`],
  ]);
}

function chunked(body: string): { headers: string[]; body: string } {
  const pieces = body === "" ? [] : [body.slice(0, 3), body.slice(3)].filter((piece) => piece !== "");
  const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
  return { headers: ["Transfer-Encoding: chunked"], body: `${chunks.join("")}0\r\n\r\n` };
}

function shuffled<T>(below: Below, items: readonly T[]): T[] {
  const rest = [...items];
  return items.map(() => rest.splice(below(rest.length), 1)[0]!);
}
