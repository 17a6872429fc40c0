// The demo's side of the HTTP API: is there a server, write lines, ask a statement.

/** What the demo tells its user on one line, and then ends with exit code 1. */
export class DemoError extends Error {
  override readonly name = "DemoError";
}

const ERROR_CHARACTERS_MAX = 300;

export class DemoClient {
  private readonly headers: Record<string, string>;

  /** `url` without a slash at the end. `token` goes along with every request. */
  constructor(
    readonly url: string,
    private readonly database: string,
    token: string | undefined,
  ) {
    this.headers = token === undefined || token === "" ? {} : { authorization: `Bearer ${token}` };
  }

  /** Whether a server answers at all: `undefined` when it does, else why not. */
  async whyDown(): Promise<string | undefined> {
    try {
      const response = await fetch(`${this.url}/health`, { headers: this.headers });
      await response.arrayBuffer();
      return response.status >= 500 ? `it answers ${response.status}` : undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** @throws DemoError when the server refuses the lines or goes away */
  async write(lines: string): Promise<void> {
    const query = new URLSearchParams({ db: this.database, precision: "nanosecond" });
    const response = await this.ask(`/api/v3/write_lp?${query}`, { method: "POST", body: lines });
    if (response.status !== 204) throw new DemoError(`writing failed: ${await explain(response)}`);
    await response.arrayBuffer();
  }

  /** The answer as a table for people. @throws DemoError with the server's words */
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

/** Bodies on the way to the server, a few at once: the next is made while one is acknowledged. */
export class BodyQueue {
  private readonly inFlight = new Set<Promise<void>>();
  private failure: unknown;

  constructor(
    private readonly client: DemoClient,
    private readonly inFlightMax: number,
  ) {}

  /** Resolves when there is room for another. @throws what an earlier body met */
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

  /** Resolves when every body is acknowledged. @throws what one of them met */
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
