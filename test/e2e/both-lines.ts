// A server with the same lines in a database of the native API and in a bucket.
import { afterAll, beforeAll } from "bun:test";
import { TestServer } from "../support/servers/server.ts";

const AUTHORIZATION = { authorization: "Token tok" };

/** Database `d`, and bucket `b` of organization `o`; there while the tests of the file run. */
export class BothLines {
  private started: TestServer | undefined;

  constructor(lines: string) {
    beforeAll(async () => {
      this.started = await serverWith(lines);
    });
    afterAll(() => this.server.dispose());
  }

  get server(): TestServer {
    if (this.started === undefined) throw new Error("the server is not started yet");
    return this.started;
  }

  /** The answer to a script, as CSV. */
  flux(script: string): Promise<Response> {
    const headers = { ...AUTHORIZATION, "content-type": "application/vnd.flux", accept: "application/csv" };
    return fetch(`${this.server.bucketsUrl}/api/v2/query?org=o`, { method: "POST", body: script, headers });
  }
}

async function serverWith(lines: string): Promise<TestServer> {
  const server = await TestServer.start({ withBuckets: true });
  const setup = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
  await send(`${server.bucketsUrl}/api/v2/setup`, JSON.stringify(setup), { "content-type": "application/json" });
  await send(`${server.bucketsUrl}/api/v2/write?org=o&bucket=b`, lines, AUTHORIZATION);
  await send(`${server.url}/api/v3/write_lp?db=d&precision=nanosecond`, lines);
  return server;
}

async function send(url: string, body: string, headers: Record<string, string> = {}): Promise<void> {
  const response = await fetch(url, { method: "POST", body, headers });
  if (!response.ok) throw new Error(await response.text());
}
