// What end-to-end tests say to a real server: a write or a query in one call, with the status and the whole text of the answer.
import type { TestServer } from "../support/servers/server.ts";

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

export interface WriteOptions {
  /** Default: the native endpoint. */
  readonly path?: "/api/v3/write_lp" | "/api/v2/write" | "/write";
  /** Query string besides the database. */
  readonly params?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Posts a body of line protocol; `precision` is left to the endpoint's default unless `params` has it. */
export async function write(
  server: TestServer,
  database: string,
  body: string | Uint8Array<ArrayBuffer>,
  options: WriteOptions = {},
): Promise<Answer> {
  const { path = "/api/v3/write_lp", params = {}, headers = {} } = options;
  const query = new URLSearchParams({ [path === "/api/v2/write" ? "bucket" : "db"]: database, ...params });
  return answered(await fetch(`${server.url}${path}?${query}`, { method: "POST", body, headers }));
}

/** Writes with nanosecond precision. @throws Error unless every line is stored */
export async function store(server: TestServer, database: string, body: string | Uint8Array<ArrayBuffer>): Promise<void> {
  const { status, text } = await write(server, database, body, { params: { precision: "ns" } });
  if (status !== 204) throw new Error(`write: ${status} ${text.slice(0, 500)}`);
}

/** Calls `/api/v3/<path>` with a JSON body; returns that of the answer. @throws Error unless the answer is a success */
export async function asked<T>(server: TestServer, method: string, path: string, body?: object): Promise<T> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await fetch(`${server.url}/api/v3/${path}`, { method, ...sent });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

export interface QueryOptions {
  readonly format?: string;
  readonly accept?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/** Sends a statement in the body of a POST. */
export function post(server: TestServer, database: string, statement: string, options: QueryOptions = {}): Promise<Response> {
  const { format, accept, params, signal } = options;
  return fetch(`${server.url}/api/v3/query_sql`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(accept === undefined ? {} : { accept }) },
    body: JSON.stringify({ db: database, q: statement, format, params }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** The whole answer to a statement. */
export async function query(server: TestServer, database: string, statement: string, options: QueryOptions = {}): Promise<Answer> {
  return answered(await post(server, database, statement, options));
}

/** The only value of the only row. @throws Error unless there is one */
export async function scalar(server: TestServer, database: string, statement: string): Promise<unknown> {
  const rows = await server.sql(database, statement);
  const values = rows.flatMap((row) => Object.values(row));
  if (values.length !== 1) throw new Error(`${statement}: one value wanted, got ${JSON.stringify(rows).slice(0, 500)}`);
  return values[0];
}

/** The value of a metric without labels. */
export async function metric(server: TestServer, name: string): Promise<number> {
  const page = await (await fetch(`${server.url}/metrics`)).text();
  const value = new RegExp(`^${name} (\\S+)$`, "m").exec(page)?.[1];
  if (value === undefined) throw new Error(`no metric ${name}`);
  return Number(value);
}

/** Reads the metric until it has this value; the test's own time limit is the only clock. */
export async function untilMetric(server: TestServer, name: string, wanted: (value: number) => boolean): Promise<void> {
  while (!wanted(await metric(server, name))) await Bun.sleep(5);
}

/** Resident memory of the server's process, bytes. */
export async function residentBytes(server: TestServer): Promise<number> {
  const status = await Bun.file(`/proc/${server.pid}/status`).text();
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
}

/** Milliseconds of processor time that the server has used. */
async function processorMs(server: TestServer): Promise<number> {
  const fields = (await Bun.file(`/proc/${server.pid}/stat`).text()).split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Resolves once the server computes nothing: of half a second it uses less than a tenth. */
export async function untilAtRest(server: TestServer): Promise<void> {
  for (let usedMs = 500; usedMs >= 50; ) {
    const before = await processorMs(server);
    await Bun.sleep(500);
    usedMs = (await processorMs(server)) - before;
  }
}

async function answered(response: Response): Promise<Answer> {
  return { status: response.status, text: await response.text(), headers: response.headers };
}
