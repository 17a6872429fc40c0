// Flags of the bucket-based API that show only in a real server, under the names that its vendor's environment has.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CERTIFICATE, PRIVATE_KEY } from "../api/certificate.ts";
import { plainEnvironment, TestServer } from "../support/servers/server.ts";

const SETUP = JSON.stringify({ username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" });
const TOKEN = { authorization: "Token tok" };
const TRUSTED = { tls: { ca: CERTIFICATE } } as RequestInit;
const ROWS = 60_000;
const ALL = 'from(bucket: "b") |> range(start: 0)';
/** More than sockets hold: it runs until its client reads or leaves. */
const LARGE = `${ALL} |> map(fn: (r) => ({r with padding: "${"x".repeat(500)}"}))`;
const SORTED = `${ALL} |> sort(columns: ["_value"]) |> limit(n: 1)`;

const folder = mkdtempSync(join(tmpdir(), "tsdb-flags-"));
let server: TestServer;
let base: string;

const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${base}${path}`, { ...TRUSTED, ...init, headers: { ...TOKEN, ...init.headers } });
const flux = (body: string, init: RequestInit = {}) =>
  ask("/api/v2/query?org=o", {
    ...{ method: "POST", body, ...init },
    headers: { "content-type": "application/vnd.flux", "accept-encoding": "identity" },
  });

async function write(rows: number): Promise<void> {
  const lines = Array.from({ length: rows }, (_, i) => `m,k=k${i % 10} v=${i} ${i * 1_000_000_000}`).join("\n");
  expect((await ask("/api/v2/write?org=o&bucket=b", { method: "POST", body: lines })).status).toBe(204);
}

beforeAll(async () => {
  const cert = join(folder, "cert.pem");
  const key = join(folder, "key.pem");
  writeFileSync(cert, CERTIFICATE);
  writeFileSync(key, PRIVATE_KEY, { mode: 0o600 });
  server = await TestServer.start({
    withBuckets: true,
    flags: ["--log-filter", "info,v2=debug"],
    env: {
      ...plainEnvironment(),
      INFLUXD_TLS_CERT: cert,
      INFLUXD_TLS_KEY: key,
      INFLUXD_TLS_MIN_VERSION: "1.3",
      INFLUXD_HARDENING_ENABLED: "true",
      INFLUXD_STRICT_TRANSPORT_SECURITY_MAX_AGE: "3600",
      INFLUXD_QUERY_CONCURRENCY: "1",
      INFLUXD_QUERY_QUEUE_SIZE: "1",
      INFLUXD_SESSION_LENGTH: "5",
    },
  });
  base = server.bucketsUrl.replace("http:", "https:");
  expect((await ask("/api/v2/setup", { method: "POST", body: SETUP })).status).toBe(201);
  await write(ROWS);
});
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true, force: true });
});

test("a certificate of this address alone, and the oldest version of TLS", async () => {
  expect((await ask("/health")).status).toBe(200);
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  expect(fetch(`${server.bucketsUrl}/health`)).rejects.toThrow();
  expect(fetch(`${base}/health`, { tls: { ca: CERTIFICATE, maxVersion: 0x0303 } } as RequestInit)).rejects.toThrow();
});

test("answers of this address tell browsers to use https", async () => {
  for (const path of ["/health", "/api/v2/me", "/api/v2/nothing"]) {
    expect((await ask(path)).headers.get("strict-transport-security")).toBe("max-age=3600; includeSubDomains");
  }
  const stored = await ask("/api/v2/write?org=o&bucket=b", { method: "POST", body: "m v=1" });
  expect([stored.status, stored.headers.get("strict-transport-security")]).toEqual([204, "max-age=3600; includeSubDomains"]);
  expect((await fetch(`${server.url}/health`)).headers.get("strict-transport-security")).toBeNull();
});

test("a session lasts as many minutes, and its cookie goes over https alone", async () => {
  const beforeMs = Date.now();
  const headers = { authorization: `Basic ${btoa("admin:password12")}` };
  const cookie = (await ask("/api/v2/signin", { method: "POST", headers })).headers.get("set-cookie")!;
  expect(cookie).toContain("Secure");
  const expiresMs = Date.parse(/Expires=([^;]+)/i.exec(cookie)![1]!);
  // cookies have whole seconds
  expect(expiresMs).toBeGreaterThanOrEqual(beforeMs + 5 * 60_000 - 1000);
  expect(expiresMs).toBeLessThanOrEqual(Date.now() + 5 * 60_000);
});

test("one query at a time, one waits, more are refused", async () => {
  const leave = new AbortController();
  const running = await flux(LARGE, { signal: leave.signal });
  const reader = running.body!.getReader();
  await reader.read();
  const waiting = flux(SORTED);
  // the second of two is beyond the queue, whichever of them arrives as which
  const other = flux(SORTED);
  const refused = await Promise.race([waiting, other]);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await refused.json()).toMatchObject({ code: "too many requests", message: expect.stringContaining("queue length exceeded") });
  const inspected = await ask("/api/v2/query/ast", { method: "POST", body: JSON.stringify({ query: ALL }) });
  expect([inspected.status, await inspected.text()]).toEqual([200, expect.stringContaining('"ast"')]);
  leave.abort();
  const statuses = (await Promise.all([waiting, other])).map(({ status }) => status);
  expect(statuses.sort()).toEqual([200, 429]);
});

test("a client that leaves in the middle of an answer makes room", async () => {
  for (let round = 0; round < 2; round++) {
    const leave = new AbortController();
    const running = await flux(LARGE, { signal: leave.signal });
    await running.body!.getReader().read();
    leave.abort();
    expect((await flux(SORTED)).status).toBe(200);
  }
});

test("requests with a name are found in the log by it, at most so much of it", async () => {
  const trace = '{"trace":"abc 1"}';
  expect((await ask("/api/v2/me", { headers: { "zap-trace-span": trace } })).status).toBe(200);
  const [line] = await server.untilOutput(/DEBUG v2: answered .*abc 1.*/);
  expect(line).toContain(JSON.stringify(trace));
  expect(line).toContain("method=GET path=/api/v2/me status=200");
  await ask("/api/v2/me", { headers: { "zap-trace-span": `${"x".repeat(2000)}!` } });
  const [long] = await server.untilOutput(/DEBUG v2: answered .*xxxx.*/);
  expect(/trace=(x+)/.exec(long)![1]).toHaveLength(256);
});

describe("memory of one query", () => {
  test("more rows than allowed are refused, in scripts and statements; others run", async () => {
    await using small = await TestServer.start({ withBuckets: true, env: { ...plainEnvironment(), INFLUXD_QUERY_MEMORY_BYTES: "65536" } });
    base = small.bucketsUrl;
    await ask("/api/v2/setup", { method: "POST", body: SETUP });
    await write(20_000);
    const statement = (q: string) => ask(`/query?db=b&q=${encodeURIComponent(q)}`);
    const few = await flux(`${SORTED.replace("start: 0", "start: 0, stop: 60")}`);
    expect([few.status, await few.text()]).toEqual([200, expect.stringContaining(",_result,")]);
    const many = await flux(SORTED);
    expect(await many.text()).toContain("Resources exhausted: the statement holds more than 65536 bytes");
    expect(await (await statement("SELECT count(v) FROM m WHERE time < 60s")).json()).toMatchObject({ results: [{ series: [{}] }] });
    const all = await (await statement("SELECT v FROM m ORDER BY time DESC")).text();
    expect(all).toContain("Resources exhausted: the statement holds more than 65536 bytes");
    // port 8181 has its own limits
    expect(
      await (await fetch(`${small.url}/query?db=b&q=${encodeURIComponent("SELECT v FROM m ORDER BY time DESC LIMIT 1")}`)).text(),
    ).toContain("19999");
  });
});
