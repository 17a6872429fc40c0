// Client of the HTTP API for the commands: one server, one token.
import { readFileSync } from "node:fs";
import { near, TsdbError } from "../../model/errors.ts";
import type { Input, Option } from "./options.ts";

export const CONNECTION: readonly Option[] = [
  {
    name: "host",
    short: "H",
    value: "URL",
    help: "The server.",
    default: "http://127.0.0.1:8181",
    env: ["TSDB_HOST_URL", "INFLUXDB3_HOST_URL"],
  },
  {
    name: "token",
    value: "TOKEN",
    help: "Token to send.",
    env: ["TSDB_AUTH_TOKEN", "TSDB_TOKEN", "INFLUXDB3_AUTH_TOKEN"],
  },
  {
    name: "tls-ca",
    value: "FILE",
    help: "Certificate (PEM) to trust in addition to the system's.",
    env: ["TSDB_TLS_CA", "INFLUXDB3_TLS_CA"],
  },
  {
    name: "tls-no-verify",
    value: null,
    help: "Trust any certificate.",
    env: ["TSDB_TLS_NO_VERIFY", "INFLUXDB3_TLS_NO_VERIFY"],
  },
];

export const DATABASE: Option = {
  name: "database",
  short: "d",
  value: "NAME",
  help: "Database.",
  env: ["TSDB_DATABASE_NAME", "INFLUXDB3_DATABASE_NAME"],
};

/** The server rejected a request. The message is shown to the user. */
export class Refused extends Error {
  override readonly name = "Refused";
  constructor(
    readonly status: number,
    statusText: string,
    readonly body: string,
  ) {
    super(`server responded with error [${status} ${statusText}]: ${readable(body)}`);
  }
}

/** The text of `{"error":…}` or `{"code":…,"message":…}`, otherwise the body itself. */
function readable(body: string): string {
  try {
    const { error, message } = JSON.parse(body) as { error?: unknown; message?: unknown };
    if (typeof error === "string") return error;
    if (typeof message === "string") return message;
  } catch {
    // text
  }
  return body;
}

/** The message for an expected error; null for a bug. */
export function failureText(error: unknown): string | null {
  if (error instanceof Refused || error instanceof TsdbError) return error.message;
  return isNetworkError(error) ? `the connection broke: ${networkReason(error)}` : null;
}

function isNetworkError(error: unknown): error is Error {
  return error instanceof Error && /^E[A-Z]+$|^Connection|^FailedToOpenSocket$/.test(String((error as NodeJS.ErrnoException).code));
}

/** The runtime's message without its advice to programmers. */
function networkReason({ message }: Error): string {
  return message.replace(/[.,]? (?:For more information|Is the computer able).*$/s, "");
}

/** The body of a response as it arrives. @throws TsdbError io if it is interrupted, or the abort's reason */
export async function* piecesOf({ body }: Response): AsyncGenerator<Uint8Array, void> {
  let byteCount = 0;
  try {
    for await (const piece of body ?? []) {
      byteCount += piece.length;
      yield piece;
    }
  } catch (error) {
    if (!isNetworkError(error)) throw error;
    const came = `after ${byteCount.toLocaleString("en-US")} bytes: ${networkReason(error)}`;
    throw new TsdbError("io", `the answer broke off ${came}; the answer is incomplete`, {}, { cause: error });
  }
}

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Objects are sent as JSON; a blob of a file, and a stream, as they are read. */
  readonly body?: object | string | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** What messages say to users of one of the APIs. */
export interface Advice {
  /** A URL as `--host` wants it. */
  readonly host: string;
  /** How a token is given. */
  readonly token: string;
  /** Of requests that have credentials of their own: why the server wants a token all the same. */
  readonly withoutToken?: string;
}

/** As the server says it of any path. */
const UNAUTHENTICATED = "the request was not authenticated";

export const ADVICE: Advice = {
  host: "http://127.0.0.1:8181",
  token: "use --token or TSDB_AUTH_TOKEN; tsdb create token --admin makes the first one",
};

/** A client of one server's HTTP API. Error statuses become `Refused`, an unreachable server a TsdbError io. */
export class Api {
  readonly host: string;
  private readonly tls: { ca?: string; rejectUnauthorized?: boolean };
  private readonly token: string | undefined;

  /** @throws TsdbError config */
  constructor(
    input: Pick<Input, "option" | "flag">,
    private readonly advice = ADVICE,
  ) {
    const host = input.option("host")!;
    if (!/^https?:\/\/[^/\s]/.test(host)) throw new TsdbError("config", `--host: "${host}" is no URL; write ${advice.host}`, {});
    this.host = host.replace(/\/+$/, "");
    this.token = input.option("token");
    const ca = input.option("tls-ca");
    this.tls = {
      ...(ca === undefined ? {} : { ca: readCertificate(ca) }),
      ...(input.flag("tls-no-verify") ? { rejectUnauthorized: false } : {}),
    };
  }

  /** @throws Refused; TsdbError io if no server answers */
  async call(method: string, path: string, { query = {}, body, headers = {}, signal }: CallOptions = {}): Promise<Response> {
    const present = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const search = present.length === 0 ? "" : `?${new URLSearchParams(present)}`;
    const isRaw = body instanceof Uint8Array || body instanceof Blob || body instanceof ReadableStream;
    const isJson = typeof body === "object" && !isRaw;
    let response: Response;
    try {
      response = await fetch(`${this.host}${path}${search}`, {
        method,
        headers: {
          ...(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }),
          ...(isJson ? { "content-type": "application/json" } : {}),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as BodyInit) }),
        ...(signal === undefined ? {} : { signal }),
        tls: this.tls,
      });
    } catch (cause) {
      if (signal?.aborted === true) throw cause;
      const reason = networkReason(cause as Error);
      if (/certificate|self.signed/i.test(reason)) {
        const hint = "--tls-ca FILE trusts one, --tls-no-verify any";
        throw new TsdbError("io", `the certificate of ${this.host} is not trusted: ${reason}; ${hint}`, {}, { cause });
      }
      const isThere = (cause as NodeJS.ErrnoException).code === "ECONNRESET";
      const message = isThere ? `${this.host} did not answer: ${reason}` : `no server at ${this.host}: ${reason}; --host names another one`;
      throw new TsdbError("io", message, {}, { cause });
    }
    if (response.ok) return response;
    const text = await response.text();
    if (response.status !== 401) throw new Refused(response.status, response.statusText, text);
    const { token, withoutToken } = this.advice;
    if (withoutToken !== undefined) {
      const isUnknown = readable(text) === UNAUTHENTICATED;
      throw new Refused(401, response.statusText, isUnknown ? `${UNAUTHENTICATED} (${withoutToken})` : text);
    }
    const hint = this.token === undefined ? `no token was sent; ${token}` : "the token that was sent is not valid";
    throw new Refused(401, response.statusText, `${readable(text)} (${hint})`);
  }

  /** The rows of a statement as objects. @throws as call */
  async rows<Row = Record<string, unknown>>(database: string, statement: string): Promise<Row[]> {
    const response = await this.call("POST", "/api/v3/query_sql", { body: { db: database, q: statement, format: "json" } });
    return jsonOf<Row[]>(response);
  }
}

/** @throws TsdbError io if the answer is not JSON, hence from another program */
export async function jsonOf<T>(response: Response): Promise<T> {
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new TsdbError("io", `the answer is no JSON: ${near(text)}`, {}, { cause });
  }
}

function readCertificate(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new TsdbError("config", `--tls-ca: cannot read the file: ${(error as Error).message}`, {});
  }
}
