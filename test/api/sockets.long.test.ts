// What only a real socket can show: limits before reading, slow and broken clients, garbage, back-pressure, disconnects, the end.
import { expect, test } from "bun:test";
import zlib from "node:zlib";
import { createApp } from "../../src/api/app.ts";
import { startHttpServer } from "../../src/api/server.ts";
import { TsdbError } from "../../src/model/errors.ts";
import { CERTIFICATE, PRIVATE_KEY } from "./certificate.ts";
import { answer, STORED } from "./fakes.ts";
import { eventually, head, listening, RawClient, settled, turn } from "./sockets.ts";

const WRITE = "POST /api/v3/write_lp?db=d";
const QUERY = "GET /api/v3/query_sql?db=d&q=a";
const TOO_LARGE = '{"error":"max request size (1000 bytes) exceeded"}';

test("a length over the limit is refused while the body is still to come", async () => {
  await using it = listening();
  const client = await it.open();
  expect(await client.send(head(WRITE, "Content-Length: 1000000000000")).until(TOO_LARGE)).toStartWith("HTTP/1.1 413 ");
  expect(client.received.toLowerCase()).toContain("cluster-uuid: ");
  expect(it.writes).toEqual([]);
});

test("a refused body is skipped, and the connection goes on", async () => {
  await using it = listening();
  const client = await it.open();
  client.send(head(WRITE, "Content-Length: 5000"), "x".repeat(5000), head("GET /health"));
  const received = await client.until("\r\n\r\nOK");
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 413", "HTTP/1.1 200"]);
});

test("a chunked body is received whole", async () => {
  await using it = listening();
  const client = await it.open();
  client.send(head(WRITE, "Transfer-Encoding: chunked"), "5\r\ncpu v\r\n", "3;ext=1\r\n=1\n\r\n", "0\r\n\r\n");
  expect(await client.until("\r\n\r\n")).toStartWith("HTTP/1.1 204 ");
  expect(it.writes.map(({ body }) => body)).toEqual(["cpu v=1\n"]);
});

test("fields behind a chunked body, which the runtime takes for another request: 400, and nothing is stored", async () => {
  await using it = listening();
  const client = await it.open();
  client.send(head(WRITE, "Transfer-Encoding: chunked"), "5\r\ncpu v\r\n", "3\r\n=1\n\r\n", "0\r\nExpires: x\r\n\r\n");
  expect(await client.until("\r\n\r\n")).toStartWith("HTTP/1.1 400 ");
  await client.untilClosed();
  expect(it.writes).toEqual([]);
});

test("a chunked body is cut off at the limit, without an end in sight", async () => {
  await using it = listening();
  const client = await it.open();
  client.send(head(WRITE, "Transfer-Encoding: chunked"), "ffffffff\r\n", "x".repeat(2000));
  expect(await client.until(TOO_LARGE)).toStartWith("HTTP/1.1 413 ");
  expect(it.writes).toEqual([]);
});

test("a gzip bomb over the wire", async () => {
  await using it = listening({ maxRequestBytes: 100_000 });
  const bomb = zlib.gzipSync(new Uint8Array(64 << 20));
  expect(bomb.byteLength).toBeLessThan(100_000);
  const client = await it.open();
  client.send(head(WRITE, "Content-Encoding: gzip", `Content-Length: ${bomb.byteLength}`), bomb);
  expect(await client.until("exceeded")).toStartWith("HTTP/1.1 413 ");
});

test("a slow client is waited for", async () => {
  await using it = listening();
  const client = await it.open();
  client.send(head(WRITE, "Content-Length: 8"));
  for (const byte of "cpu v=1\n") {
    client.send(byte);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await client.until("\r\n\r\n")).toStartWith("HTTP/1.1 204 ");
  expect(it.writes.map(({ body }) => body)).toEqual(["cpu v=1\n"]);
});

test("a small body that trickles is given up after a time, with its memory and its connection", async () => {
  let nowMs = 0;
  await using it = listening({ now: () => nowMs });
  const clients = await Promise.all(Array.from({ length: 20 }, () => it.open()));
  for (const client of clients) client.send(head(WRITE, "Content-Length: 900"), "c");
  await eventually(() => it.bodiesHeld() === clients.length);
  nowMs = 31_000;
  for (const client of clients) {
    client.send("p");
    expect(await client.untilClosed()).toStartWith("HTTP/1.1 408 ");
  }
  expect([it.bodiesHeld(), it.writes, it.reports]).toEqual([0, [], []]);
});

test.each(["Content-Length: 8", "Transfer-Encoding: chunked"])(
  "an upload that breaks off writes nothing and is nobody's bug (%s)",
  async (how) => {
    await using it = listening();
    const client = await it.open();
    client.send(head(WRITE, "Expect: 100-continue", how), how.includes("chunked") ? "3\r\ncpu\r\n" : "cpu");
    await client.until("100 Continue");
    client.destroy();
    let page = "";
    while (!page.includes('status="499"} 1')) {
      page = (await it.services.metrics.render({ withDatabases: true })).text;
      await turn();
    }
    expect([it.writes, it.reports]).toEqual([[], []]);
  },
);

test("requests in a row and in one packet", async () => {
  await using it = listening();
  const client = await it.open();
  client.send(head("GET /health")).send(head("HEAD /ping") + head("PUT /api/v3/query_sql", "Content-Length: 0") + head("GET /nothing"));
  const received = await client.until("Not found");
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 404", "HTTP/1.1 405", "HTTP/1.1 404"]);
});

const HOSTILE: [what: string, bytes: string, status: number | null][] = [
  ["garbage after a request", `${head("GET /health")}\u0000\u0001\u0002garbage\r\n\r\n`, 400],
  ["no HTTP at all", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003\r\n\r\n", 400],
  ["two lengths", `${head(WRITE, "Content-Length: 3", "Content-Length: 5")}abcde`, 400],
  ["length and chunks", `${head(WRITE, "Content-Length: 3", "Transfer-Encoding: chunked")}0\r\n\r\n`, 400],
  ["a negative length", head(WRITE, "Content-Length: -1"), 400],
  ["a length that is no number", head(WRITE, "Content-Length: 0x10"), 400],
  ["a chunk that is no number", `${head(WRITE, "Transfer-Encoding: chunked")}zz\r\nhello\r\n`, 400],
  ["headers of 64 KiB", head("GET /health", `A: ${"a".repeat(65_536)}`), 431],
  ["a url of 64 KiB", head(`GET /health?${"a".repeat(65_536)}`), null],
  ["no host", "GET /health HTTP/1.1\r\n\r\n", 400],
  ["a host that breaks urls", "GET /health HTTP/1.1\r\nHost: [bad\r\n\r\n", 400],
  ["a host with a path", "GET /health HTTP/1.1\r\nHost: a/write?x\r\n\r\n", 400],
  ["a host of one letter", "GET /health HTTP/1.1\r\nHost: a\r\n\r\n", 200],
  ["an empty host", "GET /health HTTP/1.1\r\nHost:\r\n\r\n", 400],
  ["a url of its own", head("GET http://elsewhere/health"), 200],
  ["a path that climbs", head("GET /x/../../etc/passwd"), 404],
  ["an encoded path", head("GET /%68ealth"), 404],
  ["a raw micro sign", `${head("POST /write?db=d&precision=µ", "Content-Length: 7")}cpu v=1`, 204],
  ["a parameter named like a method", head("POST /write?__proto__=x&constructor=y&db=d", "Content-Length: 0"), 204],
  ["an Accept of commas", head(QUERY, `Accept: ${",".repeat(8000)}`), 400],
];

test.each(HOSTILE)("hostile bytes on a socket: %s", async (_what, bytes, status) => {
  await using it = listening();
  const client = await it.open();
  const received = await client.send(bytes).until("\r\n\r\n");
  if (status !== null) {
    await eventually(() => client.received.includes(`HTTP/1.1 ${status} `) || client.closed);
    expect(client.received).toContain(`HTTP/1.1 ${status} `);
  }
  expect(received).not.toContain("HTTP/1.1 5");
  expect(it.reports).toEqual([]);
  const next = await it.open();
  expect(await next.send(head("GET /health")).until("\r\n\r\nOK")).toStartWith("HTTP/1.1 200 ");
});

// Bun looks at idle connections every four seconds, so silence has to be longer than that to prove anything. These run side by side.
const SILENCE_MS = 5000;
const silence = () => new Promise((resolve) => setTimeout(resolve, SILENCE_MS));
const IDLE = { idleTimeoutSeconds: 1 };
const SLOW_TEST_MS = 30_000;

test.concurrent(
  "a client that says no more is hung up on",
  async () => {
    await using it = listening({}, IDLE);
    const client = await it.open();
    await client.send(head(WRITE, "Content-Length: 8"), "cpu").untilClosed();
    expect([it.writes, it.reports]).toEqual([[], []]);
  },
  SLOW_TEST_MS,
);

const HELLO = Buffer.from([0x16, 3, 1, 2, 0, 1]);
const HEAD_BEGUN = "GET /health HTTP/1.1\r\nHost: x\r\n";
/** The runtime gives a first head, a TLS handshake included, some ten seconds, and a later one what a connection may be idle. */
const SLOW: [what: string, tls: "plain" | "raw" | "TLS", first: string | Uint8Array, drip: string][] = [
  ["says nothing", "plain", "", ""],
  ["sends half a head", "plain", "GET / HT", ""],
  ["sends a head that never ends, bit by bit", "plain", HEAD_BEGUN, "a: b\r\n"],
  ["sends a second head that never ends", "plain", `${head("GET /health")}${HEAD_BEGUN}`, "a: b\r\n"],
  ["says nothing where TLS is spoken", "raw", "", ""],
  ["sends half a greeting of TLS", "raw", HELLO, ""],
  ["sends a greeting of TLS bit by bit", "raw", HELLO, "\u0001"],
  ["says nothing behind the handshake", "TLS", "", ""],
  ["sends a head behind the handshake that never ends", "TLS", HEAD_BEGUN, "a: b\r\n"],
];

test.concurrent.each(SLOW)(
  "a client that %s is hung up on (%s)",
  async (_, tls, first, drip) => {
    await using it = listening({}, { ...IDLE, ...(tls === "plain" ? {} : { tls: { cert: CERTIFICATE, key: PRIVATE_KEY } }) });
    const client = await (tls === "TLS" ? RawClient.openTls(it.server.port, CERTIFICATE) : it.open());
    client.send(first);
    const dripping = drip === "" ? undefined : setInterval(() => client.send(drip), 200);
    await client.untilClosed();
    clearInterval(dripping);
    expect(client.received.match(/HTTP\/1.1 200 /g)?.length ?? 0).toBe(String(first).includes("localhost") ? 1 : 0);
  },
  SLOW_TEST_MS,
);

test.concurrent.each(["GET", "POST"])(
  "a query by %s may be silent for longer than a connection may be idle, which counts again afterwards",
  async (method) => {
    const query = async () => {
      await silence();
      return answer("late");
    };
    await using it = listening({ query }, IDLE);
    const client = await it.open();
    const statement = '{"db":"d","q":"a"}';
    client.send(method === "GET" ? head(QUERY) : head("POST /api/v3/query_sql", `Content-Length: ${statement.length}`) + statement);
    expect(await client.untilClosed()).toContain("late");
  },
  SLOW_TEST_MS,
);

test.concurrent(
  "a write whose body has come may wait for the disk for longer than a connection may be idle, which counts again afterwards",
  async () => {
    const write = async () => {
      await silence();
      return STORED;
    };
    await using it = listening({ write }, IDLE);
    const client = await it.open();
    client.send(head(WRITE, "Content-Length: 7"), "cpu v=1");
    expect(await client.untilClosed()).toStartWith("HTTP/1.1 204 ");
  },
  SLOW_TEST_MS,
);

test.concurrent(
  "an answer may be silent between its chunks",
  async () => {
    let isFirst = true;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (!isFirst) await silence();
        controller.enqueue(new TextEncoder().encode(isFirst ? "begin" : "end"));
        if (!isFirst) controller.close();
        isFirst = false;
      },
    });
    await using it = listening({ query: () => ({ contentType: "text/plain", body }) }, IDLE);
    const client = await it.open();
    const received = await client.send(head(QUERY)).untilClosed();
    expect(received).toContain("begin");
    expect(received).toEndWith("end\r\n0\r\n\r\n");
  },
  SLOW_TEST_MS,
);

test("a reader that stops reading costs bounded memory, and leaving ends the stream", async () => {
  const chunk = new Uint8Array(1 << 16);
  let pulls = 0;
  let cancelled = false;
  const body = () =>
    new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          pulls++;
          controller.enqueue(chunk);
        },
        cancel: () => {
          cancelled = true;
        },
      },
      { highWaterMark: 1 },
    );
  await using it = listening({ query: () => ({ contentType: "text/plain", body: body() }) });
  const client = await it.open();
  client.socket.pause();
  client.send(head(QUERY));
  await eventually(() => pulls > 0);
  // Kernel buffers of both ends and Bun's own, 64 KiB a pull: a few MB, never the endless answer.
  expect(await settled(() => pulls)).toBeLessThan(400);
  client.destroy();
  await eventually(() => cancelled);
});

test("a client that leaves aborts its query", async () => {
  const aborted = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  await using it = listening({
    query: ({ signal }) =>
      new Promise((_resolve, reject) => {
        started.resolve();
        signal.addEventListener("abort", () => {
          aborted.resolve();
          reject(new TsdbError("cancelled", "interrupted"));
        });
      }),
  });
  const client = await it.open();
  client.send(head(QUERY));
  await started.promise;
  client.destroy();
  await aborted.promise;
  expect(it.reports).toEqual([]);
});

test("an error after the first bytes breaks the connection, so that nobody takes the part for the whole", async () => {
  let pulls = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        if (++pulls > 2) throw new TsdbError("corrupt_file", "bad block");
        controller.enqueue(new TextEncoder().encode(`part${pulls}`));
      },
    },
    { highWaterMark: 0 },
  );
  await using it = listening({ query: () => ({ contentType: "text/plain", body }) });
  const client = await it.open();
  const received = await client.send(head(QUERY)).untilClosed();
  expect(received).not.toContain("0\r\n\r\n");
});

test("stop waits for what runs and refuses what is new", async () => {
  const release = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  await using it = listening({
    query: async () => {
      started.resolve();
      await release.promise;
      return answer("done");
    },
  });
  const [busy, idle] = [await it.open(), await it.open()];
  await idle.send(head("GET /health")).until("OK");
  busy.send(head(QUERY));
  await started.promise;
  const stopped = it.server.stop(60_000);
  await expect(it.open()).rejects.toThrow();
  release.resolve();
  expect(await busy.until("done")).toStartWith("HTTP/1.1 200 ");
  await stopped;
  await idle.untilClosed();
});

test("stop does not wait for connections without a request", async () => {
  await using it = listening();
  const [begun, kept] = [await it.open(), await it.open()];
  begun.send("POST /api/v3/write_lp?db=d HTTP/1.1\r\nHost: x\r\nContent-");
  kept.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  await kept.until("OK");
  await it.server.stop(600_000);
  for (const client of [begun, kept]) await client.untilClosed();
});

test("stop does not wait for ever", async () => {
  const started = Promise.withResolvers<void>();
  await using it = listening({
    query: () => {
      started.resolve();
      return new Promise(() => {});
    },
  });
  const client = await it.open();
  client.send(head(QUERY));
  await started.promise;
  await it.server.stop(10);
  await client.untilClosed();
});

test("an address in use is one clear line", async () => {
  await using it = listening();
  const start = () => startHttpServer(createApp(it.services), { hostname: "127.0.0.1", port: it.server.port });
  expect(start).toThrow(`cannot listen on 127.0.0.1:${it.server.port}: `);
});

test("a server that listens on an IPv6 address", async () => {
  await using it = listening({}, { hostname: "::1" });
  expect(it.server.url).toBe(`http://[::1]:${it.server.port}`);
  expect(await (await fetch(`${it.server.url}/health`)).text()).toBe("OK");
});

test("https with a certificate of its own", async () => {
  await using it = listening({}, { tls: { cert: CERTIFICATE, key: PRIVATE_KEY } });
  expect(it.server.url).toBe(`https://127.0.0.1:${it.server.port}`);
  const tls = { ca: CERTIFICATE };
  expect(await (await fetch(`${it.server.url}/health`, { tls })).text()).toBe("OK");
  const written = await fetch(`${it.server.url}/write?db=d`, { method: "POST", body: "cpu v=1", headers: { host: "a" }, tls });
  expect([written.status, it.writes.map(({ database }) => database)]).toEqual([204, ["d"]]);
});
