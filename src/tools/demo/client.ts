// The demo's HTTP client: checks the server, writes lines, runs statements.

/** An error shown to the user on one line; the demo then exits with code 1. */
export class DemoError extends Error {
  override readonly name = "DemoError";
}

const ERROR_CHARACTERS_MAX = 300;

/** A client of one server. */
export class DemoClient {
  private readonly headers: Record<string, string>;

  /** @param url without a trailing slash @param token sent with every request */
  constructor(
    readonly url: string,
    private readonly database: string,
    token: string | undefined,
  ) {
    this.headers = token === undefined || token === "" ? {} : { authorization: `Bearer ${token}` };
  }

  /** Why the server does not answer; `undefined` if it does. */
  async whyDown(): Promise<string | undefined> {
    try {
      const response = await fetch(`${this.url}/health`, { headers: this.headers });
      await response.arrayBuffer();
      return response.status >= 500 ? `it answers ${response.status}` : undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** @throws DemoError if the server rejects the lines or becomes unreachable */
  async write(lines: string): Promise<void> {
    const query = new URLSearchParams({ db: this.database, precision: "nanosecond" });
    const response = await this.ask(`/api/v3/write_lp?${query}`, { method: "POST", body: lines });
    if (response.status !== 204) throw new DemoError(`writing failed: ${await explain(response)}`);
    await response.arrayBuffer();
  }

  /** The answer as a text table. @throws DemoError with the server's message */
  async table(statement: string): Promise<string> {
    const body = JSON.stringify({ db: this.database, q: statement, format: "pretty" });
    const response = await this.ask("/api/v3/query_sql", { method: "POST", body, headers: { "content-type": "application/json" } });
    if (response.status !== 200) throw new DemoError(`the query failed: ${await explain(response)}`);
    return response.text();
  }

  private async ask(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(`${this.url}${path}`, { ...init, headers: { ...this.headers, ...(init.headers as Record<string, string>) } });
    } catch (error) {
      throw new DemoError(`${this.url} went away: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/** Sends several bodies concurrently: the next one is built while earlier ones are acknowledged. */
export class BodyQueue {
  private readonly inFlight = new Set<Promise<void>>();
  private failure: unknown;

  constructor(
    private readonly client: DemoClient,
    private readonly inFlightMax: number,
  ) {}

  /** Resolves when there is room for another. @throws the error of an earlier body */
  async push(lines: string): Promise<void> {
    while (this.inFlight.size >= this.inFlightMax) await Promise.race(this.inFlight);
    this.check();
    const sent = this.client
      .write(lines)
      .catch((error: unknown) => {
        this.failure ??= error;
      })
      .finally(() => this.inFlight.delete(sent));
    this.inFlight.add(sent);
  }

  /** Resolves when every body is acknowledged. @throws the error of one of them */
  async drain(): Promise<void> {
    await Promise.all(this.inFlight);
    this.check();
  }

  private check(): void {
    if (this.failure !== undefined) throw this.failure;
  }
}

async function explain(response: Response): Promise<string> {
  const text = (await response.text()).replace(/\s+/g, " ").slice(0, ERROR_CHARACTERS_MAX);
  if (response.status === 401 || response.status === 403) return `${response.status}, set TSDB_TOKEN to a token that may write (${text})`;
  return `${response.status} ${text}`;
}
