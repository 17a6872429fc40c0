// This project's server as a contestant that is written to on port 8086, with a token.
import { TestServer } from "../../test/support/servers/server.ts";
import type { Contestant } from "./contestant.ts";
import { countRows } from "./ours.ts";

const BUCKET = "bench";
const TOKEN = "bench-token";

export const OURS_V2: Contestant = {
  name: "tsdb, /api/v2/write",
  start: async () => {
    const server = await BucketServer.start();
    return {
      writeUrl: `${server.url}/api/v2/write?org=bench&bucket=${BUCKET}&precision=ns`,
      headers: server.headers,
      countRows: () => countRows(server.process, BUCKET),
      diskBytes: async () => undefined,
      stop: () => server.dispose(),
    };
  },
};

/** A server that is set up, with the operator's token. */
export class BucketServer {
  readonly headers = { authorization: `Token ${TOKEN}` };

  private constructor(
    readonly process: TestServer,
    readonly orgID: string,
  ) {}

  static async start(): Promise<BucketServer> {
    const process = await TestServer.start({ withBuckets: true });
    const setup = { username: "bench", password: "password12", org: "bench", bucket: BUCKET, token: TOKEN };
    const response = await fetch(`${process.bucketsUrl}/api/v2/setup`, { method: "POST", body: JSON.stringify(setup) });
    const made = (await response.json()) as { readonly org: { readonly id: string } };
    return new BucketServer(process, made.org.id);
  }

  get url(): string {
    return this.process.bucketsUrl;
  }

  /** @throws Error unless it succeeds */
  async ask<T>(method: string, path: string, body?: object): Promise<T> {
    const init = { method, headers: this.headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await fetch(this.url + path, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
    return JSON.parse(text) as T;
  }

  dispose(): Promise<void> {
    return this.process.dispose();
  }
}
