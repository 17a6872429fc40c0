// Recorded requests with databases of their own, as a server answers them; and what is in such a database afterwards.
import { DATABASE, exactJson, parseExact } from "./vectors.ts";

/** A request as it was recorded: `{db}`, `{db2}`, `{db3}` stand for names of the case's databases. */
export interface RecordedRequest {
  readonly method?: string;
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>> | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly body_b64?: string;
  /** Texts, and texts with how many times. */
  readonly body_parts?: readonly (string | readonly [string, number])[];
  readonly repeat?: number;
  readonly gzip?: boolean;
  readonly json?: unknown;
  /** Seconds to wait, in place of a request. */
  readonly sleep?: number;
  /** Headers that are asked for. */
  readonly heads?: readonly string[];
}

export interface PlayedRequest {
  readonly status: number;
  /** JSON where it is some. */
  readonly answer: unknown;
  readonly heads: Readonly<Record<string, string | null>>;
}

/** Names of databases that no other case has. */
export class CaseNames {
  constructor(private readonly number: number) {}

  readonly names = ["{db}", "{db2}", "{db3}"] as const;

  /** Each in place of what stands for it. */
  fill(text: string): string {
    return this.names.reduce((filled, name, i) => filled.replaceAll(name, this.own(i)), text);
  }

  /** And back. */
  hide(text: string): string {
    return this.names.reduce((hidden, name, i) => hidden.replaceAll(this.own(i), name), text);
  }

  private own(i: number): string {
    return `${"abc"[i]}case${this.number}x`;
  }
}

/** Whatever connection is closed: some requests break it. */
export async function playRequest(url: string, request: RecordedRequest, names: CaseNames): Promise<PlayedRequest> {
  if (request.sleep !== undefined) {
    await Bun.sleep(request.sleep * 1000);
    return { status: 0, answer: null, heads: {} };
  }
  const { method = "GET", path = "/", query = "", headers = {}, heads = [] } = request;
  const search = names.fill(typeof query === "string" ? query : new URLSearchParams(query).toString().replace(/%7B(db\d?)%7D/g, "{$1}"));
  // a body of GET is none that this client could send
  const body = method === "GET" || method === "HEAD" ? null : bodyOf(request, names);
  const type = {
    ...(request.json === undefined ? {} : { "content-type": "application/json" }),
    ...(request.gzip ? { "content-encoding": "gzip" } : {}),
  };
  const response = await fetch(`${url}${path}${search === "" ? "" : `?${search}`}`, {
    ...{ method, headers: { ...type, ...headers } },
    ...(body === null ? {} : { body: body as Uint8Array<ArrayBuffer> }),
  });
  const text = names.hide(await response.text());
  return {
    status: response.status,
    answer: jsonOr(text),
    heads: Object.fromEntries(heads.map((name) => [name, response.headers.get(name)])),
  };
}

function bodyOf({ body, body_b64, body_parts, json, repeat = 1, gzip = false }: RecordedRequest, names: CaseNames): Uint8Array | null {
  if (body_b64 !== undefined) return Buffer.from(body_b64, "base64");
  const parts = body_parts?.map((part) => (typeof part === "string" ? part : part[0].repeat(part[1]))).join("");
  const text = json === undefined ? (parts ?? body) : exactJson(json);
  if (text === undefined) return null;
  const bytes = Buffer.from(names.fill(text).repeat(repeat));
  return gzip ? Bun.gzipSync(bytes) : bytes;
}

function jsonOr(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return text.trimEnd();
  }
}

/** Of each table the types and the rows; null: no such database. */
export async function contentOf(url: string, database: string): Promise<unknown> {
  const ask = async (q: string) => {
    const body = JSON.stringify({ db: database, q, format: "json" });
    const response = await fetch(`${url}/api/v3/query_sql`, { method: "POST", body });
    const text = await response.text();
    return response.status === 200 ? (parseExact(text) as Record<string, unknown>[]) : null;
  };
  const columns = await ask("SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'iox'");
  if (columns === null || database === DATABASE) return null;
  const tables = Map.groupBy(columns, (row) => String(row["table_name"]));
  const found: Record<string, unknown> = {};
  for (const [table, all] of tables) {
    const types = new Map(
      all.map((row) => [String(row["column_name"]), String(row["data_type"]).replace("Timestamp(Nanosecond, None)", "Timestamp(ns)")]),
    );
    const sorted = [...types.keys()].sort();
    const rows = (await ask(`SELECT * FROM "${table.replaceAll('"', '""')}"`)) ?? [];
    const cells = rows.map((row) => sorted.map((name) => row[name] ?? null));
    if (cells.length > 0) found[table] = { columns: Object.fromEntries(sorted.map((name) => [name, types.get(name)])), rows: cells };
  }
  return found;
}
