// A log that is long, torn or damaged when the server starts: what it says meanwhile, what it refuses, and what is there afterwards.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROGRAM } from "../support/servers/program.ts";
import { plainEnvironment, TestServer } from "../support/servers/server.ts";
import { query, scalar, store } from "./client.ts";

setDefaultTimeout(60_000);

const BODIES = 30;
const ROWS = 200;

/** The newest segment of the log. */
function segmentOf(server: TestServer): string {
  const files = readdirSync(server.dataDir, { recursive: true }).map(String);
  return join(
    server.dataDir,
    files
      .filter((file) => file.endsWith(".wal"))
      .sort()
      .at(-1)!,
  );
}

const body = (id: number) =>
  Array.from({ length: ROWS }, (_, i) => `t,h=h${i % 5} id=${id}i,v=${i},s="row ${id * i}" ${id * ROWS + i}`).join("\n");

/** Where the frames of a segment end: the rest of the file is zeros, space that was taken ahead. */
function dataEnd(bytes: Uint8Array): number {
  return bytes.findLastIndex((byte) => byte !== 0) + 1;
}

/** A server that was killed with `BODIES` bodies in its log, one group each. */
async function killed(): Promise<TestServer> {
  const server = await TestServer.start();
  for (let id = 0; id < BODIES; id++) await store(server, "db", body(id));
  await server.kill();
  return server;
}

/** Starts the server on its folder and waits for its end. */
async function startAndEnd(server: TestServer, flags: readonly string[] = []) {
  const args = ["serve", "--without-auth", "--data-dir", server.dataDir, "--http-bind", "127.0.0.1:0", ...flags];
  const child = Bun.spawn([...PROGRAM, ...args], { env: plainEnvironment(), stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  return { output: stdout + stderr, code };
}

/** Rows by body; whole bodies are those with `ROWS`. */
async function bodiesOf(server: TestServer): Promise<Map<number, number>> {
  const rows = await server.sql<{ id: number; n: number }>("db", "SELECT id, count(*) AS n FROM t GROUP BY id");
  return new Map(rows.map(({ id, n }) => [id, n]));
}

const whole = (ids: readonly number[]) => new Map(ids.map((id) => [id, ROWS]));
const ALL = Array.from({ length: BODIES }, (_, id) => id);
const sorted = (found: Map<number, number>) => new Map([...found].sort(([a], [b]) => a - b));

describe("a torn tail", () => {
  test.each([1, 20, 300])("%d bytes were not written: the last body is cut, the rest is there, and new rows go behind", async (missing) => {
    await using server = await killed();
    const segment = segmentOf(server);
    const bytes = readFileSync(segment);
    const end = dataEnd(bytes);
    writeFileSync(segment, bytes.fill(0, end - missing, end));
    await server.restart();
    await server.untilOutput(/the log was damaged/);
    expect(sorted(await bodiesOf(server))).toEqual(whole(ALL.slice(0, -1)));
    await store(server, "db", body(BODIES));
    await server.kill();
    await server.restart();
    expect(sorted(await bodiesOf(server))).toEqual(whole([...ALL.slice(0, -1), BODIES]));
  });

  test("a half-written frame behind the last one is cut", async () => {
    await using server = await killed();
    appendFileSync(segmentOf(server), new Uint8Array(500).fill(7));
    await server.restart();
    expect(sorted(await bodiesOf(server))).toEqual(whole(ALL));
  });
});

describe("damage in the middle", () => {
  /** Turns a byte in the middle of the segment; returns its offset. */
  function damage(server: TestServer): { segment: string; offset: number } {
    const segment = segmentOf(server);
    const bytes = readFileSync(segment);
    const offset = dataEnd(bytes) >> 1;
    bytes[offset]! ^= 0xff;
    writeFileSync(segment, bytes);
    return { segment, offset };
  }

  test("refuses to start, names file and offset, and touches nothing", async () => {
    await using server = await killed();
    const { segment, offset } = damage(server);
    const before = readFileSync(segment);
    const { output, code } = await startAndEnd(server);
    expect(code).toBe(1);
    expect(output).toContain(segment.slice(segment.lastIndexOf("/") + 1));
    const named = Number(/ at byte (\d+)/.exec(output)?.[1]);
    expect(named).toBeWithin(offset - 10_000, offset + 1);
    expect(output).toContain("--wal-replay-fail-on-error=false");
    expect(readFileSync(segment).equals(before)).toBe(true);
    expect((await startAndEnd(server)).code).toBe(1);
  });

  test("--wal-replay-fail-on-error=false goes on without one body and says what was lost", async () => {
    await using server = await killed();
    damage(server);
    await server.restart(["--wal-replay-fail-on-error=false"]);
    for (const said of [/the log was damaged: .*/, /bytesLost=\d+/, /framesLost=1/]) await server.untilOutput(said);
    const found = sorted(await bodiesOf(server));
    expect(found.size).toBe(BODIES - 1);
    expect([...found.values()].every((n) => n === ROWS)).toBe(true);
    // once its rows are in files the log is whole again
    expect(await server.stop()).toBe(0);
    await server.restart([]);
    expect(sorted(await bodiesOf(server))).toEqual(found);
  });

  test("--wal-replay-fail-on-error=false leaves out frames whose series only the damaged frame named, and no others", async () => {
    await using server = await TestServer.start();
    await store(server, "db", "t,h=a v=1 1\nt,h=b v=1 1");
    await store(server, "db", "t,h=b v=2 2\nu v=2 2");
    await store(server, "db", "t,h=c v=3 3\nu v=3 3");
    await server.kill();
    const segment = segmentOf(server);
    const bytes = readFileSync(segment);
    bytes[32 + 24]! ^= 0xff; // of the first frame's payload
    writeFileSync(segment, bytes);
    expect((await startAndEnd(server)).code).toBe(1);
    await server.restart(["--wal-replay-fail-on-error=false"]);
    await server.untilOutput(/the log was damaged: frames are left out .*framesLost=1 rows=2 first=2 last=2/);
    expect(await server.sql("db", "SELECT h, v FROM t")).toEqual([{ h: "c", v: 3 }]);
    expect(await server.sql("db", "SELECT v FROM u")).toEqual([{ v: 3 }]);
    expect(await server.stop()).toBe(0);
    await server.restart([]);
    expect(await server.sql("db", "SELECT v FROM u")).toEqual([{ v: 3 }]);
  });

  test("a file of the catalog", async () => {
    await using server = await killed();
    const files = readdirSync(server.dataDir, { recursive: true }).map(String);
    const operation = files.filter((file) => /catalog\/log\/\d+/.test(file)).sort()[0]!;
    const path = join(server.dataDir, operation);
    const bytes = readFileSync(path);
    bytes[bytes.byteLength >> 1]! ^= 0xff;
    writeFileSync(path, bytes);
    const { output, code } = await startAndEnd(server);
    expect(code).toBe(1);
    expect(output).toContain(operation.slice(operation.lastIndexOf("/") + 1));
  });
});

describe("a long log", () => {
  test("while it is replayed /health is 500 and says how far, writes and queries are 503; then everything is there", async () => {
    await using server = await TestServer.start();
    const lines = Array.from({ length: 100_000 }, (_, i) => `t,h=h${i % 1000} v=${i},s="text ${i}" `);
    for (let round = 0; round < 8; round++) {
      await store(
        server,
        "db",
        lines
          .slice(0, 100_000)
          .map((line, i) => `${line}${round * 100_000 + i}`)
          .join("\n"),
      );
    }
    await server.kill();
    const listener = join(server.dataDir, "listener");
    const args = [
      "serve",
      "--without-auth",
      "--data-dir",
      server.dataDir,
      "--http-bind",
      "127.0.0.1:0",
      "--tcp-listener-file-path",
      listener,
    ];
    const child = Bun.spawn([...PROGRAM, ...args], { env: plainEnvironment(), stdout: "pipe", stderr: "pipe" });
    try {
      while (!existsSync(listener) || readFileSync(listener, "utf8") === "") await Bun.sleep(1);
      const url = `http://${readFileSync(listener, "utf8").trim()}`;
      const health: [number, string][] = [];
      const refused = new Set<number>();
      for (;;) {
        const [check, written, asked] = await Promise.all([
          fetch(`${url}/health`),
          fetch(`${url}/api/v3/write_lp?db=db`, { method: "POST", body: "during v=1 1" }),
          fetch(`${url}/api/v3/query_sql?db=db&q=SELECT+1`),
        ]);
        health.push([check.status, await check.text()]);
        if (check.status === 200) break;
        refused.add(written.status).add(asked.status);
        await Bun.sleep(1);
      }
      expect(health[0]![0]).toBe(500);
      expect(health[0]![1]).toMatch(/replaying/);
      // the last round may have come after the end of the replay
      expect([...refused].filter((status) => status !== 503 && status !== 204 && status !== 200)).toEqual([]);
      expect(refused.has(503)).toBe(true);
      const answer = await fetch(
        `${url}/api/v3/query_sql?db=db&format=json&q=${encodeURIComponent("SELECT count(*) AS n, sum(v) AS s FROM t")}`,
      );
      expect(await answer.json()).toEqual([{ n: 800_000, s: 8 * 4_999_950_000 }]);
    } finally {
      child.kill("SIGTERM");
    }
    expect(await child.exited).toBe(0);
    await server.restart();
    expect(await scalar(server, "db", "SELECT count(*) FROM t")).toBe(800_000);
    expect((await query(server, "db", "SELECT max(time) AS t FROM t", { format: "csv" })).text).toBe("t\n1970-01-01T00:00:00.000799999\n");
  });
});
