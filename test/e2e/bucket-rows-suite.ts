// Rows of buckets of one name in two organizations, behind a real server in each state that they can be in: what statements of v1 clients
// read, and what /api/v2/delete leaves, before and after another restart.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { DeleteRequest } from "../../src/model/rows/deletion.ts";
import { bringInto, type RowHolder, type RowState, type RowStep } from "../support/rows/row-states.ts";
import { dataOf, startDataServer } from "../support/servers/data-server.ts";
import type { TestServer } from "../support/servers/server.ts";

const DAY_NS = 86_400_000_000_000n;
const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const START = "1970-01-01T00:00:00Z";

/** Hosts over three days; host `b` is in another rack, host `c` in none. */
const linesOf = (base: number) =>
  [0n, 1n, 2n]
    .flatMap((day) => [
      `cpu,host=a,rack=r1 v=${base}i ${day * DAY_NS}`,
      `cpu,host=b,rack=r2 v=${base + 1}i ${day * DAY_NS + 1n}`,
      `cpu,host=c v=${base + 2}i ${day * DAY_NS + 2n}`,
      `mem,host=a v=${base}i ${day * DAY_NS}`,
    ])
    .join("\n");

/** Databases are organizations here, each with a bucket `b`. */
const STEPS: readonly RowStep[] = [
  { database: "o", lines: linesOf(10) },
  { database: "p", lines: linesOf(20) },
  {
    delete: { database: "p", table: "cpu", range: { minNs: DAY_NS, maxNs: DAY_NS }, tags: [{ tag: "host", values: ["a"] }] },
  },
  // the point is there again
  { database: "p", lines: `cpu,host=a,rack=r1 v=99i ${DAY_NS}` },
];

/** A server with a bucket `b` in each of two organizations. */
export class BucketRows implements RowHolder {
  /** By organization. */
  private readonly tokens = new Map<string, string>();

  private constructor(readonly server: TestServer) {}

  static async open(): Promise<BucketRows> {
    const flags = ["--gen0-duration", "1d", "--compaction-check-interval", "24h", "--v2-default-bucket-retention", "0"];
    const rows = new BucketRows(await startDataServer(flags, { withBuckets: true }));
    await rows.ask("/api/v2/setup", "", SETUP);
    rows.tokens.set("o", SETUP.token);
    const { id: orgID } = await rows.ask("/api/v2/orgs", SETUP.token, { name: "p" });
    await rows.ask("/api/v2/buckets", SETUP.token, { orgID, name: "b" });
    const permissions = ["read", "write"].map((action) => ({ action, resource: { type: "buckets", orgID } }));
    rows.tokens.set("p", (await rows.ask("/api/v2/authorizations", SETUP.token, { orgID, permissions })).token as string);
    return rows;
  }

  async write(org: string, _: string | null, lines: string): Promise<void> {
    await this.ask(`/api/v2/write?org=${org}&bucket=b`, this.token(org), lines);
  }

  deleteRows({ database: org, table, range, tags }: DeleteRequest): Promise<void> {
    const predicate = [`_measurement="${table}"`, ...tags.map(({ tag, values }) => `${tag}="${values[0]}"`)].join(" AND ");
    const [start, stop] = [range.minNs, range.maxNs].map((ns) => `${new Date(Number(ns / 1_000_000n)).toISOString().slice(0, -1)}Z`);
    return this.delete(String(org), { start: start!, stop: stop!, predicate });
  }

  async delete(org: string, body: { readonly start: string; readonly stop: string; readonly predicate?: string }): Promise<void> {
    await this.ask(`/api/v2/delete?org=${org}&bucket=b`, this.token(org), body);
  }

  flush(): Promise<void> {
    return dataOf(this.server).flush();
  }

  compact(): Promise<void> {
    return dataOf(this.server).compact();
  }

  async restartFromLog(): Promise<void> {
    await this.server.kill();
    await this.server.restart();
  }

  /** The rows of a statement: the values of all its series. */
  async read(org: string, q: string): Promise<unknown[][]> {
    const query = new URLSearchParams({ q, db: "b", epoch: "ns" });
    const response = await fetch(`${this.server.bucketsUrl}/query?${query}`, { headers: { authorization: `Token ${this.token(org)}` } });
    const { results } = (await response.json()) as { results: { series?: { values: unknown[][] }[]; error?: string }[] };
    if (results[0]!.error !== undefined) throw new Error(results[0]!.error);
    return (results[0]!.series ?? []).flatMap(({ values }) => values);
  }

  /** The answer of a script, as CSV without annotations. */
  async script(org: string, script: string): Promise<string> {
    const headers = { authorization: `Token ${this.token(org)}`, "content-type": "application/vnd.flux", accept: "application/csv" };
    const response = await fetch(`${this.server.bucketsUrl}/api/v2/query?org=${org}`, { method: "POST", headers, body: script });
    if (!response.ok) throw new Error(await response.text());
    return response.text();
  }

  /** A write that may be refused. */
  send(org: string, lines: string): Promise<Response> {
    const headers = { authorization: `Token ${this.token(org)}` };
    return fetch(`${this.server.bucketsUrl}/api/v2/write?org=${org}&bucket=b`, { method: "POST", headers, body: lines });
  }

  private async ask(path: string, token: string, body: string | object): Promise<Record<string, unknown>> {
    const init = {
      method: "POST",
      headers: { authorization: `Token ${token}` },
      body: typeof body === "string" ? body : JSON.stringify(body),
    };
    const response = await fetch(`${this.server.bucketsUrl}${path}`, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text === "" ? {} : JSON.parse(text);
  }

  private token(org: string): string {
    return this.tokens.get(org)!;
  }
}

/** Tests of a bucket's rows in each of these states. */
export function bucketRowsSuite(states: readonly RowState[], timeoutMs: number): void {
  describe.each(states.map((state) => [state]))("%s", (state) => {
    let rows: BucketRows;
    beforeAll(async () => {
      rows = await BucketRows.open();
      await bringInto(rows, state, STEPS);
    }, timeoutMs);
    afterAll(() => rows.server.dispose());

    const SUMS = "SELECT sum(v) FROM cpu GROUP BY host";
    const sums = async (org: string) => (await rows.read(org, SUMS)).map(([, sum]) => sum);

    test("each organization reads its own rows", async () => {
      expect(await sums("o")).toEqual([30, 33, 36]);
      expect(await sums("p")).toEqual([20 + 99 + 20, 63, 66]);
      expect(await rows.read("p", "SELECT v FROM cpu WHERE host = 'a'")).toEqual([
        ...[
          [0, 20],
          [Number(DAY_NS), 99],
          [Number(2n * DAY_NS), 20],
        ],
      ]);
      expect((await rows.read("o", "SHOW MEASUREMENTS")).flat()).toEqual(["cpu", "mem"]);
    });

    test("port 8181 reads the first one's", async () => {
      const query = new URLSearchParams({ db: "b", q: "SELECT host, sum(v) AS s FROM cpu GROUP BY host ORDER BY host", format: "json" });
      const answer = await (await fetch(`${rows.server.url}/api/v3/query_sql?${query}`)).json();
      expect(answer).toEqual([
        { host: "a", s: 30 },
        { host: "b", s: 33 },
        { host: "c", s: 36 },
      ]);
    });

    test("deletions hide rows of their bucket alone", async () => {
      const all = { start: START, stop: "1970-01-03T00:00:00.000000002Z" };
      // racks that a row does not have are not compared
      await rows.delete("p", { ...all, predicate: 'rack != "r1"' });
      expect(await sums("p")).toEqual([139, 66]);
      expect(await sums("o")).toEqual([30, 33, 36]);
      // both ends of a range belong to it
      await rows.delete("o", { start: START, stop: "1970-01-02T00:00:00Z", predicate: "_measurement=cpu AND host=a" });
      expect(await sums("o")).toEqual([10, 33, 36]);
      // a range that ends before it starts
      await rows.delete("o", { start: all.stop, stop: START });
      await rows.delete("p", { ...all, predicate: "host=nobody" });
      await rows.delete("p", { ...all, predicate: "v=20" });
      expect([await sums("o"), await sums("p")]).toEqual([
        [10, 33, 36],
        [139, 66],
      ]);
      await rows.delete("p", all);
      expect([await sums("p"), await rows.read("p", "SHOW MEASUREMENTS")]).toEqual([[], []]);
      expect((await rows.read("o", "SHOW MEASUREMENTS")).flat()).toEqual(["cpu", "mem"]);
    });

    test("fields without rows may have another type", async () => {
      await rows.write("p", null, 'mem,host=a v="now a text" 5');
      expect(await rows.read("p", "SELECT v FROM mem")).toEqual([[5, "now a text"]]);
      await expect(rows.write("o", null, 'mem,host=a v="a text" 5')).rejects.toThrow("already exists as type integer");
      // rows of one day are left
      const days = { start: START, stop: "1970-01-02T12:00:00Z", predicate: "_measurement=mem" };
      await rows.delete("o", days);
      await expect(rows.write("o", null, 'mem,host=a v="a text" 5')).rejects.toThrow("already exists as type integer");
    });

    test("the same after kill -9, and what is written again is there", async () => {
      await rows.write("p", null, "cpu,host=a v=1i 0");
      await rows.restartFromLog();
      expect([await sums("o"), await sums("p")]).toEqual([[10, 33, 36], [1]]);
      await rows.compact();
      expect([await sums("o"), await sums("p")]).toEqual([[10, 33, 36], [1]]);
    });
  });
}
