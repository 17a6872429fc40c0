// Where a PostgreSQL server is, as a script names it: a URL or pairs of keywords.

export interface PostgresSource {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly tls: "off" | "unchecked" | "checked";
}

const PORT = 5432;
/** A keyword with its value, which may be in quotes. */
const PAIR = /\s*([a-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|([^\s']*))\s*/gy;
const TLS: Readonly<Record<string, PostgresSource["tls"]>> = {
  ...{ disable: "off", allow: "off", prefer: "unchecked", require: "unchecked", "verify-ca": "checked", "verify-full": "checked" },
};

/** @throws Error */
export function postgresSource(text: string): PostgresSource {
  const given = /^postgres(?:ql)?:\/\//.test(text) ? ofUrl(text) : ofPairs(text);
  const port = Number(given.get("port") || PORT);
  const user = given.get("user") || "postgres";
  const mode = given.get("sslmode") || "require";
  const tls = Object.hasOwn(TLS, mode) ? TLS[mode]! : null;
  if (tls === null) throw new Error(`unsupported sslmode ${JSON.stringify(mode)}`);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error("invalid port of the data source");
  const host = given.get("host") || "localhost";
  if (host.startsWith("/") || host.includes(",")) throw new Error("the host of the data source is one name or address");
  return { host, port, user, password: given.get("password") ?? "", database: given.get("dbname") || user, tls };
}

function ofUrl(text: string): Map<string, string> {
  const url = URL.parse(text);
  if (url === null) throw new Error("cannot parse the URL of the data source");
  const decode = (part: string) => decodeURIComponent(part);
  return new Map([
    ["host", url.hostname],
    ["port", url.port],
    ["user", decode(url.username)],
    ["password", decode(url.password)],
    ["dbname", decode(url.pathname.slice(1))],
    ...url.searchParams,
  ]);
}

function ofPairs(text: string): Map<string, string> {
  const pairs = new Map<string, string>();
  let end = 0;
  for (const [whole, key, quoted, plain] of text.matchAll(PAIR)) {
    pairs.set(key!, quoted === undefined ? plain! : quoted.replace(/\\(.)/g, "$1"));
    end += whole.length;
  }
  if (end !== text.length) throw new Error("cannot parse the data source: keyword=value wanted");
  return pairs;
}
