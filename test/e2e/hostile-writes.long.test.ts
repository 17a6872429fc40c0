// Clients that send too much, too slowly, by halves or nonsense: each is refused or waited for on its own, and nobody else notices.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import zlib from "node:zlib";
import { eventually, head, RawClient } from "../api/sockets.ts";
import { prng } from "../support/prng.ts";
import { TestServer } from "../support/servers/server.ts";
import { metric, residentBytes, scalar, store, write } from "./client.ts";

setDefaultTimeout(120_000);

describe("hostile writes", () => {
  const MIB = 1 << 20;
  const LIMIT = 10 * MIB;

  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.dispose());

  let written = 0;
  /** The server takes a body and answers a query about it. */
  async function isWell(): Promise<void> {
    await store(server, "well", `t v=1 ${++written}`);
    expect(await scalar(server, "well", "SELECT count(*) FROM t")).toBe(written);
  }

  const open = () => RawClient.open(Number(new URL(server.url).port));
  const WRITE = "POST /api/v3/write_lp?db=slow&precision=ns";

  describe("connections", () => {
    test("200 bodies that trickle in do not hold up anybody, and are stored when they are complete", async () => {
      const clients = await Promise.all(Array.from({ length: 200 }, open));
      const bodies = clients.map((_, i) => `t,c=c${i} v=${i} ${i + 1}`);
      for (const [i, client] of clients.entries()) client.send(head(WRITE, `Content-Length: ${bodies[i]!.length}`));
      for (let at = 0; at < 4; at++) {
        for (const [i, client] of clients.entries()) client.send(bodies[i]!.slice(at * 3, at * 3 + 3));
        await isWell();
      }
      for (const [i, client] of clients.entries()) client.send(bodies[i]!.slice(12));
      for (const client of clients) expect(await client.until("\r\n\r\n")).toStartWith("HTTP/1.1 204 ");
      for (const client of clients) client.destroy();
      expect(await scalar(server, "slow", "SELECT count(DISTINCT c) FROM t")).toBe(200);
    });

    test("uploads that break off store nothing, and their memory is given back", async () => {
      const before = await residentBytes(server);
      for (let round = 0; round < 40; round++) {
        const client = await open();
        client.send(head(WRITE, `Content-Length: ${LIMIT}`), `broken v=1 1\n`.repeat(80_000));
        await new Promise<void>((resolve) => client.socket.write("broken v=", () => resolve()));
        client.destroy();
      }
      await isWell();
      expect((await fetch(`${server.url}/api/v3/query_sql?db=slow&q=SELECT+*+FROM+broken`)).status).toBe(400);
      expect((await residentBytes(server)) - before).toBeLessThan(300 * MIB);
    });

    test("heads without an end, garbage, and a flood of them", async () => {
      const below = prng(5);
      const clients = await Promise.all(Array.from({ length: 100 }, open));
      for (const client of clients) {
        const garbage = Uint8Array.from({ length: 1 + below(5000) }, () => below(256));
        client.send(below(2) === 0 ? "GET /health HTTP/1.1\r\nX-A: " : "", garbage);
      }
      await isWell();
      for (const client of clients) client.destroy();
      const long = await open();
      long.send(`GET /health HTTP/1.1\r\nX: ${"a".repeat(MIB)}`);
      await eventually(() => long.closed || long.received !== "");
      expect(long.received).not.toContain("HTTP/1.1 200");
      await isWell();
    });
  });

  describe("size", () => {
    test("exactly 10 MiB are taken, one byte more is not, gzip or not", async () => {
      const line = "t v=1 1\n";
      const full = line.repeat(LIMIT / line.length);
      expect(full.length).toBe(LIMIT);
      const gzip = { headers: { "content-encoding": "gzip" } };
      expect((await write(server, "size", full)).status).toBe(204);
      expect((await write(server, "size", zlib.gzipSync(full), gzip)).status).toBe(204);
      const tooLarge = [413, '{"error":"max request size (10485760 bytes) exceeded"}'];
      for (const answer of [await write(server, "size", `${full}\n`), await write(server, "size", zlib.gzipSync(`${full}\n`), gzip)]) {
        expect([answer.status, answer.text]).toEqual(tooLarge);
      }
    });

    test("bombs of gzip, plain, nested and of a thousand members, at once", async () => {
      const before = await residentBytes(server);
      const gigabyte = zlib.gzipSync(Buffer.alloc(128 * MIB));
      const bombs = [
        gigabyte,
        Buffer.concat(Array.from({ length: 60 }, () => gigabyte)),
        Buffer.concat(Array.from({ length: 1000 }, () => zlib.gzipSync(Buffer.alloc(MIB)))),
      ];
      const answers = await Promise.all(
        bombs.flatMap((bomb) => [1, 2, 3].map(() => write(server, "size", bomb, { headers: { "content-encoding": "gzip" } }))),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 413));
      await isWell();
      expect((await residentBytes(server)) - before).toBeLessThan(400 * MIB);
    });

    test("a body that claims to be another size", async () => {
      const short = await open();
      short.send(head(WRITE, "Content-Length: 5", "Connection: close"), "t v=1 1");
      expect(await short.untilClosed()).toStartWith("HTTP/1.1 204 ");
      const negative = await open();
      negative.send(head(WRITE, "Content-Length: -5"), "t v=1 1");
      await eventually(() => negative.closed || negative.received !== "");
      expect(negative.received).toContain("400");
      negative.destroy();
      await isWell();
    });
  });

  describe("nonsense is answered line by line", () => {
    const BODIES: [why: string, body: string, status: number][] = [
      ["10 MiB of newlines", "\n".repeat(LIMIT), 400],
      ["five million bad lines", "a\n".repeat(LIMIT / 2), 400],
      ["one line of 10 MiB", `t v=${"1".repeat(LIMIT - 10)}`, 400],
      ["10 MiB of commas", `t${",".repeat(LIMIT - 1)}`, 400],
      ["10 MiB of equals signs", `t,a${"=".repeat(LIMIT - 3)}`, 400],
      ["10 MiB of backslashes", `t${"\\".repeat(LIMIT - 1)}`, 400],
      ["a quote that never closes", `t s="${"x".repeat(LIMIT - 5)}`, 400],
      ["quotes that close a line later", 't s="\n'.repeat(200_000), 204],
      ["million-fold the same series and time", "t v=1 1\n".repeat(1_000_000), 204],
      ["names of a megabyte", `${"n".repeat(MIB)},${"t".repeat(MIB)}=${"v".repeat(MIB)} ${"f".repeat(MIB)}=1 1`, 204],
      [
        "types that change on every line",
        Array.from({ length: 100_000 }, (_, i) => `changing v=${i}${i % 2 === 0 ? "" : "i"} ${i}`).join("\n"),
        400,
      ],
      ["a new tag on every line", Array.from({ length: 50_000 }, (_, i) => `tags,k${i}=1 v=1 1`).join("\n"), 422],
    ];
    test.each(BODIES)("%s", async (_, body, status) => {
      expect(body.length).toBeLessThanOrEqual(LIMIT);
      const answer = await write(server, "nonsense", body);
      expect(answer.status).toBe(status);
      await isWell();
    });

    test("random bytes, bodies of every kind of cut line (seed 11)", async () => {
      const below = prng(11);
      const good = 'cpu,host=a\\ b,region="x" usage=1.5,n=3i,s="a \\"b\\" c",ok=true 1700000000000000000\n';
      for (let round = 0; round < 60; round++) {
        const bytes = Buffer.from(good.repeat(1 + below(50)));
        for (let i = below(20); i > 0; i--) bytes[below(bytes.byteLength)] = below(256);
        const answer = await write(server, `fuzz${round % 3}`, new Uint8Array(bytes.subarray(below(30), bytes.byteLength - below(30))));
        expect([204, 400]).toContain(answer.status);
        if (answer.status === 400) JSON.parse(answer.text);
      }
      await isWell();
    });
  });

  describe("masses", () => {
    test("10,000 new tables in one body: as many as there may be, the rest is named, and the server starts again with them", async () => {
      await server.restart(["--num-table-limit", "10000"]);
      const before = await metric(server, "tsdb_tables");
      const lines = Array.from({ length: 10_000 }, (_, i) => `table${i} v=${i} 1`);
      const answer = await write(server, "masses", lines.join("\n"), { params: { precision: "ns" } });
      expect(answer.status).toBe(422);
      expect(JSON.parse(answer.text).data[0].error_message).toBe(
        `Update to schema would exceed number of tables limit: attempted to create table but already have 10000 table(s) (limit: 10000)`,
      );
      expect(await metric(server, "tsdb_tables")).toBe(10_000);
      const made = 10_000 - before;
      expect(await scalar(server, "masses", `SELECT v FROM table${made - 1}`)).toBe(made - 1);
      await isWell();
      await server.restart();
      expect(await scalar(server, "masses", "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'iox'")).toBe(made);
      expect(await scalar(server, "masses", `SELECT v FROM table${made - 1}`)).toBe(made - 1);
      await isWell();
    });
  });
});
