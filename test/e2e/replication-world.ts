// Two server processes: rows of the first one's bucket are replicated to the second's.
import { TestServer } from "../support/servers/server.ts";

export const TOKEN = "replication-token";
const POLL_MS = 10;

export interface ShownReplication {
  readonly currentQueueSizeBytes: number;
  readonly remainingBytesToBeSynced: number;
  readonly latestResponseCode?: number;
  readonly latestErrorMessage?: string;
}

/** A server that is set up, with the bucket `b`. */
export class BucketServer {
  orgID = "";
  bucketID = "";

  private constructor(readonly server: TestServer) {}

  static async start(flags: readonly string[] = []): Promise<BucketServer> {
    const made = new BucketServer(await TestServer.start({ withBuckets: true, flags: ["--v2-default-bucket-retention", "0", ...flags] }));
    const setup = { username: "admin", password: "password12", org: "o", bucket: "b", token: TOKEN, retentionPeriodSeconds: 0 };
    const { org, bucket } = await made.json<{ org: { id: string }; bucket: { id: string } }>("POST", "/api/v2/setup", setup);
    [made.orgID, made.bucketID] = [org.id, bucket.id];
    return made;
  }

  async ask(method: string, path: string, body?: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const init = { method, headers: { authorization: `Token ${TOKEN}`, ...headers }, ...(body === undefined ? {} : { body }) };
    const response = await fetch(this.server.bucketsUrl + path, init);
    const text = await response.text();
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text;
  }

  async json<T>(method: string, path: string, body?: object): Promise<T> {
    return JSON.parse(await this.ask(method, path, body === undefined ? undefined : JSON.stringify(body))) as T;
  }

  async write(lines: string): Promise<void> {
    await this.ask("POST", "/api/v2/write?org=o&bucket=b", lines);
  }

  script(flux: string): Promise<string> {
    return this.ask("POST", "/api/v2/query?org=o", flux, { "content-type": "application/vnd.flux", accept: "application/csv" });
  }

  /** All rows, as text in an order of their own. */
  async rows(): Promise<string> {
    const csv = await this.script('from(bucket: "b") |> range(start: 1970-01-01T00:00:00Z, stop: 2100-01-01T00:00:00Z)');
    // numbers of tables depend on what else there is
    const blocks = csv.split("\r\n\r\n").map((block) => block.replaceAll(/^(,[^,]*),\d+,/gm, "$1,n,"));
    return blocks
      .flatMap((block) => block.split("\r\n"))
      .sort()
      .join("\n");
  }

  async replicateTo(remote: BucketServer, more: object = {}): Promise<string> {
    const { orgID } = this;
    const connection = {
      ...{ orgID, name: `r${remote.server.pid}`, remoteURL: remote.server.bucketsUrl, remoteAPIToken: TOKEN, remoteOrgID: remote.orgID },
      allowInsecureTLS: false,
    };
    const { id: remoteID } = await this.json<{ id: string }>("POST", "/api/v2/remotes", connection);
    const replication = {
      orgID,
      name: "p",
      remoteID,
      localBucketID: this.bucketID,
      remoteBucketID: remote.bucketID,
      maxAgeSeconds: 0,
      ...more,
    };
    return (await this.json<{ id: string }>("POST", "/api/v2/replications", replication)).id;
  }

  /** After a restart the servers have other addresses. */
  async redirect(replicationID: string, remote: BucketServer): Promise<void> {
    const { remoteID } = await this.json<{ remoteID: string }>("GET", `/api/v2/replications/${replicationID}`);
    await this.json("PATCH", `/api/v2/remotes/${remoteID}`, { remoteURL: remote.server.bucketsUrl, remoteAPIToken: TOKEN });
  }
}

/** Until the second server has the rows of the first. @throws Error with both when it does not within 20 s */
export async function untilEqual(from: BucketServer, to: BucketServer): Promise<void> {
  const wanted = await from.rows();
  let got = "";
  for (let i = 0; i < 200; i++) {
    got = await to.rows();
    if (got === wanted) return;
    await Bun.sleep(10 * POLL_MS);
  }
  const [left, right] = [wanted.split("\n"), got.split("\n")];
  const first = left.findIndex((line, i) => line !== right[i]);
  throw new Error(`rows differ: ${left.length} and ${right.length}, first at ${first}: ${left[first]} and ${right[first]}`);
}

/** @throws Error when the condition is not met within 20 s */
export async function until(what: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 2000; i++) {
    if (await what()) return;
    await Bun.sleep(POLL_MS);
  }
  throw new Error("the condition was not met within 20 s");
}
