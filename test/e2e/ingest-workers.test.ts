// A real server with ingest workers: bodies of all sizes at once, and its stop while workers have some.
import { expect, setDefaultTimeout, test } from "bun:test";
import { prng } from "../support/prng.ts";
import { TestServer } from "../support/server.ts";
import { metric, scalar, store, write } from "./client.ts";

setDefaultTimeout(120_000);

const FLAGS = ["--ingest-workers", "2"];

/** About 60 bytes a line; every line carries its body's number. */
function bodyText(number: number, lineCount: number): string {
  return Array.from(
    { length: lineCount },
    (_, i) => `t,host=host_${i % 50} body=${number}i,v=${i}.5,s="text of row ${i}" ${number * 1_000_000 + i}`,
  ).join("\n");
}

async function rowsByBody(server: TestServer): Promise<Map<number, number>> {
  const rows = await server.sql<{ body: number; n: number }>("db", "SELECT body, count(*) AS n FROM t GROUP BY body");
  return new Map(rows.map(({ body, n }) => [body, n]));
}

test("small and large bodies of many clients are all there, after a restart too; each client finds its last write", async () => {
  await using server = await TestServer.start({ flags: FLAGS });
  const lineCounts = [1, 10, 3000, 20_000];
  await Promise.all(
    Array.from({ length: 8 }, async (_, client) => {
      for (let i = 0; i < 8; i++) {
        const lineCount = lineCounts[(client + i) % lineCounts.length]!;
        // the last line of every body is the same point
        const text = `${bodyText(client * 100 + i, lineCount)}\nlast,client=c${client} i=${i}i 1`;
        await store(server, "db", text);
        if (i % 4 === 3) expect(await scalar(server, "db", `SELECT i FROM last WHERE client = 'c${client}'`)).toBe(i);
      }
    }),
  );
  expect(await metric(server, "tsdb_ingest_worker_bodies_total")).toBe(32);
  const expected = new Map<number, number>();
  for (let client = 0; client < 8; client++) for (let i = 0; i < 8; i++) expected.set(client * 100 + i, lineCounts[(client + i) % 4]!);
  const sorted = (map: Map<number, number>) => [...map].sort(([a], [b]) => a - b);
  expect(sorted(await rowsByBody(server))).toEqual(sorted(expected));
  await server.kill();
  await server.restart();
  expect(sorted(await rowsByBody(server))).toEqual(sorted(expected));
  expect(await server.stop()).toBe(0);
});

test("200,000 bad lines in a large body are answered as they are in a small one", async () => {
  await using server = await TestServer.start({ flags: FLAGS });
  await store(server, "db", "t v=1 1");
  const bad = `t v=2 2\n${"t v=x\n".repeat(200_000)}t v="s" 3\nt v=4 4`;
  const answer = await write(server, "db", bad);
  expect(answer.status).toBe(400);
  const { error, data } = JSON.parse(answer.text);
  expect([error, data.length, data[0].line_number, data[99].line_number]).toEqual(["partial write of line protocol occurred", 100, 2, 101]);
  const refused = await write(server, "db", `t v=5 5\n${"t v=x\n".repeat(200_000)}`, { params: { accept_partial: "false" } });
  expect(refused.status).toBe(400);
  expect(JSON.parse(refused.text).error).toBe("parsing failed for write_lp endpoint");
  expect(await server.sql("db", "SELECT v FROM t ORDER BY time")).toEqual([{ v: 1 }, { v: 2 }, { v: 4 }]);
  expect(await metric(server, "tsdb_ingest_worker_bodies_total")).toBe(2);
});

test("a stop while workers have bodies: what was acknowledged is there, nothing is there by halves (seed 9)", async () => {
  const below = prng(9);
  await using server = await TestServer.start({ flags: FLAGS });
  let number = 0;
  let acknowledged = 0;
  for (let round = 0; round < 5; round++) {
    const bodies = Array.from({ length: 10 }, () => ({ number: ++number, lineCount: 5000 + below(20_000) }));
    const texts = bodies.map(({ number, lineCount }) => bodyText(number, lineCount));
    let stopping = false;
    const answers = texts.map(async (text) => {
      const response = await fetch(`${server.url}/api/v3/write_lp?db=db`, { method: "POST", body: text }).catch(() => undefined);
      // the server may be gone before it takes a body up
      if (response === undefined || response.status === 503) return stopping ? "refused" : "broken";
      return response.status === 204 ? "stored" : `${response.status} ${await response.text()}`;
    });
    await Promise.race([answers[below(answers.length)]!, Bun.sleep(below(60))]);
    stopping = true;
    expect(await server.stop(), server.output).toBe(0);
    const outcomes = await Promise.all(answers);
    await server.restart();
    const found =
      (await scalar(server, "db", "SELECT count(*) FROM information_schema.tables WHERE table_name = 't'")) === 0
        ? new Map()
        : await rowsByBody(server);
    bodies.forEach(({ number, lineCount }, i) => {
      const outcome = outcomes[i]!;
      expect(["stored", "refused"], server.output).toContain(outcome);
      if (outcome === "stored") acknowledged++;
      if (outcome === "stored" || found.has(number)) expect(found.get(number), `body ${number}, ${outcome}`).toBe(lineCount);
    });
  }
  expect(acknowledged).toBeGreaterThan(0);
});
