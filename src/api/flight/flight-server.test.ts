// The service on a real port: readers that are slow, leave or run out of time, errors half way, connections that break the rules, the end.
import { afterEach, describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { status } from "@grpc/grpc-js";
import { BATCH_BYTES, batches, FlightClient, startFlight, ticketMessage } from "../../../test/support/flight/flight-server.ts";
import { FRAME, frame, headerBlock, PREFACE, RawHttp2 } from "../../../test/support/servers/raw-http2.ts";
import { TsdbError } from "../../model/errors.ts";
import type { FlightServer } from "./flight-server.ts";

const closing: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function started(
  ...given: Parameters<typeof startFlight>
): Promise<{ server: FlightServer; client: FlightClient; reported: unknown[] }> {
  const { server, reported } = await startFlight(...given);
  const client = new FlightClient(server.port, given[1]?.tls?.cert);
  closing.push(() => server.stop(0));
  closing.push(() => client.close());
  return { server, client, reported };
}

/** An answer of `count` batches for every statement. */
const answering = (count: number) => async () => batches((made) => made <= count);

test("an answer of many batches", async () => {
  const { client } = await started(answering(100));
  const { messages, code } = await client.call("DoGet", ticketMessage("SELECT 1"));
  expect(code).toBe(status.OK);
  // the schema, and a message for each batch
  expect(messages.length).toBe(101);
  expect(messages.every(({ length }, i) => i === 0 || length > BATCH_BYTES)).toBe(true);
});

describe("a reader of a stream", () => {
  /** A backend that never ends, and what became of its only statement. */
  function endless() {
    const seen = { made: 0, aborted: Promise.withResolvers<void>(), cancelled: false };
    const query = async ({ signal }: { signal: AbortSignal }) => {
      signal.addEventListener("abort", () => seen.aborted.resolve());
      const onBatch = (made: number) => {
        if (signal.aborted) throw new TsdbError("cancelled", "the query was cancelled");
        seen.made = made;
        return true;
      };
      return batches(onBatch, () => {
        seen.cancelled = true;
      });
    };
    return { seen, query };
  }

  test("a reader that opens no window holds the query back", async () => {
    const { seen, query } = endless();
    const { server } = await started(query);
    const reader = (await RawHttp2.open(server.port)).begin(100_000).call("DoGet", ticketMessage("SELECT 1"));
    closing.push(() => reader.close());
    // HTTP/2's window of a connection, which nobody has enlarged
    await reader.until(() => reader.dataBytes >= 65_535);
    for (let last = -1; last !== seen.made; await Bun.sleep(50)) last = seen.made;
    expect(reader.dataBytes).toBe(65_535);
    // what waits for it: this server's window and what is on the way to it
    expect(seen.made * BATCH_BYTES).toBeLessThan(2 << 20);
    reader.close();
    await seen.aborted.promise;
  });

  test("a reader that cancels ends the query", async () => {
    const { seen, query } = endless();
    const { client, reported } = await started(query);
    const { code, messages } = await client.call("DoGet", ticketMessage("SELECT 1"), { cancelAfter: 5 });
    expect(code).toBe(status.CANCELLED);
    expect(messages.length).toBeGreaterThanOrEqual(5);
    await seen.aborted.promise;
    expect(reported).toEqual([]);
  });

  test("a reader that closes its connection ends the query", async () => {
    const { seen, query } = endless();
    const { server } = await started(query);
    const reader = (await RawHttp2.open(server.port)).begin().call("DoGet", ticketMessage("SELECT 1"));
    await reader.until(() => reader.dataBytes > 0);
    reader.close();
    await seen.aborted.promise;
  });

  test("a deadline ends the query, read or not", async () => {
    const { seen, query } = endless();
    const { client, server } = await started(query);
    // again if it had passed before the query began
    while (seen.made === 0) {
      const { code } = await client.call("DoGet", ticketMessage("SELECT 1"), { deadline: Date.now() + 200 });
      expect(code).toBe(status.DEADLINE_EXCEEDED);
    }
    await seen.aborted.promise;
    const other = endless();
    const second = await started(other.query);
    expect(second.server.port).not.toBe(server.port);
    const timeout = [["grpc-timeout", "200m"]] as const;
    const reader = (await RawHttp2.open(second.server.port)).begin(1).call("DoGet", ticketMessage("SELECT 1"), 1, timeout);
    closing.push(() => reader.close());
    await other.seen.aborted.promise;
  });
});

describe("errors", () => {
  test.each([
    ["a wrong statement", new TsdbError("bad_query", "no such column: 'é'"), status.INVALID_ARGUMENT, "no such column: 'é'", 0],
    ["no memory", new TsdbError("query_limit", "Resources exhausted: x"), status.RESOURCE_EXHAUSTED, "Resources exhausted: x", 0],
    ["a bug", new Error("secret"), status.INTERNAL, "internal error", 1],
  ])("before the first row: %s", async (_, error, code, details, reportedCount) => {
    const { client, reported } = await started(() => Promise.reject(error));
    expect(await client.call("DoGet", ticketMessage("SELECT 1"))).toEqual({ messages: [], code, details });
    expect(reported.length).toBe(reportedCount);
  });

  test("half way: the rows before it, and a status", async () => {
    const { client } = await started(async () =>
      batches((made) => {
        if (made > 3) throw new TsdbError("query_limit", "Resources exhausted: half way");
        return true;
      }),
    );
    const { messages, code, details } = await client.call("DoGet", ticketMessage("SELECT 1"));
    expect([messages.length, code, details]).toEqual([4, status.RESOURCE_EXHAUSTED, "Resources exhausted: half way"]);
  });

  test("a caller without a token", async () => {
    const { client } = await started(answering(1), {
      check: (token) => {
        if (token !== "secret") throw new TsdbError("unauthenticated", "the request was not authenticated");
      },
    });
    const call = (headers: Record<string, string>) => client.call("DoGet", ticketMessage("SELECT 1"), { headers });
    expect(await call({})).toMatchObject({ code: status.UNAUTHENTICATED, details: "the request was not authenticated" });
    expect(await call({ authorization: "Bearer wrong" })).toMatchObject({ code: status.UNAUTHENTICATED });
    expect(await call({ authorization: "Bearer secret" })).toMatchObject({ code: status.OK });
    expect(await call({ authorization: `Basic ${btoa("user:secret")}` })).toMatchObject({ code: status.OK });
  });

  test("a request that is too large, and methods that are not there", async () => {
    const { client } = await started(answering(1));
    expect(await client.call("DoGet", new Uint8Array((4 << 20) + 1))).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    for (const method of ["ListFlights", "PollFlightInfo", "DoExchange", "Nothing"]) {
      expect(await client.call(method, new Uint8Array(0))).toMatchObject({ code: status.UNIMPLEMENTED });
    }
    expect(await client.call("DoGet", ticketMessage("SELECT 1"))).toMatchObject({ code: status.OK });
  });
});

describe("connections that break the rules are ended, and the server is well", () => {
  const noise = (length: number) => Uint8Array.from({ length }, (_, i) => (i * 2_654_435_761) >>> 24);
  const start = (...fields: [string, string][]) =>
    headerBlock([[":method", "POST"], [":scheme", "http"], [":authority", "localhost"], ...fields]);
  const CALL = start([":path", "/arrow.flight.protocol.FlightService/DoGet"], ["content-type", "application/grpc"]);
  const END_HEADERS = 4;
  const times = (count: number, make: (i: number) => Uint8Array) => Buffer.concat(Array.from({ length: count }, (_, i) => make(i)));
  const ATTACKS: [what: string, bytes: () => Uint8Array][] = [
    ["noise", () => noise(5000)],
    ["a frame of 16 MiB", () => Buffer.from([255, 255, 255, 0, 0, 0, 0, 0, 1])],
    ["data of no stream", () => frame(FRAME.data, noise(100), 7)],
    ["headers of stream 0", () => frame(FRAME.headers, CALL, 0, 5)],
    ["headers of a server's stream", () => frame(FRAME.headers, CALL, 2, 5)],
    ["headers that are noise", () => frame(FRAME.headers, noise(200), 1, 5)],
    ["headers without a path", () => frame(FRAME.headers, headerBlock([["a", "b"]]), 1, 5)],
    ["headers without an end", () => Buffer.concat([frame(FRAME.headers, CALL, 1), times(2000, () => frame(FRAME.continuation, LONG, 1))])],
    ["10,000 settings", () => times(10_000, () => frame(FRAME.settings))],
    ["10,000 pings", () => times(10_000, () => frame(FRAME.ping, new Uint8Array(8)))],
    [
      "10,000 calls, each taken back",
      () =>
        times(10_000, (i) =>
          Buffer.concat([frame(FRAME.headers, CALL, i * 2 + 1, END_HEADERS), frame(FRAME.reset, Buffer.from([0, 0, 0, 8]), i * 2 + 1)]),
        ),
    ],
    ["500 calls at a time", () => times(500, (i) => frame(FRAME.headers, CALL, i * 2 + 1, END_HEADERS))],
    ["a message of 4 GiB", () => message(Buffer.from([0, 255, 255, 255, 255, 1, 2, 3]))],
    ["a message that says it is compressed", () => message(Buffer.from([1, 0, 0, 0, 3, 1, 2, 3]), ["grpc-encoding", "gzip"])],
    ["a message that says it is compressed by nothing known", () => message(Buffer.from([1, 0, 0, 0, 3, 1, 2, 3]), ["grpc-encoding", "x"])],
    [
      // the message is looked at when the connection has ended
      "a message of 4 GiB, taken back, and a frame that ends the connection",
      () =>
        Buffer.concat([
          frame(FRAME.headers, CALL, 1, END_HEADERS),
          frame(FRAME.data, Buffer.concat([Buffer.from([0, 255, 255, 255, 255]), Buffer.alloc(90)]), 1),
          frame(FRAME.reset, Buffer.from([0, 0, 0, 8]), 1),
          frame(FRAME.reset, Buffer.alloc(16_385), 3),
        ]),
    ],
    ["a window too large", () => times(2, () => frame(FRAME.windowUpdate, Buffer.from([0x7f, 255, 255, 255])))],
    ["a window of nothing", () => frame(FRAME.windowUpdate, new Uint8Array(4), 1)],
    // one of the pings that follow is its other half
    ["half a frame", () => Buffer.from([0, 0, 17, 0xfe, 0, 0, 0, 0, 0])],
    [
      "not gRPC",
      () =>
        frame(
          FRAME.headers,
          headerBlock([
            [":method", "GET"],
            [":scheme", "http"],
            [":path", "/ping"],
          ]),
          1,
          5,
        ),
    ],
  ];
  const LONG = headerBlock(Array.from({ length: 60 }, (_, i): [string, string] => [`x-${i}`, "y".repeat(200)]));
  const message = (bytes: Uint8Array, ...fields: [string, string][]) =>
    Buffer.concat([frame(FRAME.headers, Buffer.concat([CALL, headerBlock(fields)]), 1, END_HEADERS), frame(FRAME.data, bytes, 1, 1)]);

  test.each(ATTACKS)("%s", async (_, bytes) => {
    const { server, client, reported } = await started(answering(3));
    const attacker = (await RawHttp2.open(server.port)).begin().send(bytes());
    closing.push(() => attacker.close());
    // in the middle of it, and behind it
    expect(await client.call("DoGet", ticketMessage("SELECT 1"))).toMatchObject({ code: status.OK });
    attacker.send(frame(FRAME.ping, new Uint8Array(8)), frame(FRAME.ping, new Uint8Array(8)));
    await attacker.until(() => attacker.frames.some(({ type }) => type === FRAME.ping));
    attacker.close();
    const after = await client.call("DoGet", ticketMessage("SELECT 1"));
    expect([after.code, after.messages.length]).toEqual([status.OK, 4]);
    expect(reported).toEqual([]);
  });

  test("a preface that comes byte by byte, and bytes that are no preface", async () => {
    const { server, client } = await started(answering(1));
    const slow = await RawHttp2.open(server.port);
    closing.push(() => slow.close());
    for (const byte of PREFACE) {
      slow.send(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    slow.send(frame(FRAME.settings)).call("DoGet", ticketMessage("SELECT 1"));
    await slow.until(() => slow.dataBytes > BATCH_BYTES / 2);
    expect(slow.dataBytes).toBeGreaterThan(BATCH_BYTES / 2);
    // almost: is taken for HTTP/1, to which there is no way here
    const almost = (await RawHttp2.open(server.port)).send(Buffer.from("PRI * HTTP/1"));
    await almost.until(() => false);
    expect(almost.isClosed).toBe(true);
    expect(await client.call("DoGet", ticketMessage("SELECT 1"))).toMatchObject({ code: status.OK });
  });
});

describe("the end of calls and of the server", () => {
  test("calls that run are let finish, connections are refused", async () => {
    const hold = Promise.withResolvers<void>();
    const { server, client } = await started(async () => {
      await hold.promise;
      return batches((made) => made <= 2);
    });
    const running = client.call("DoGet", ticketMessage("SELECT 1"));
    while (server.activeCount === 0) await Bun.sleep(1);
    const stopped = server.stop(10_000);
    await expect(RawHttp2.open(server.port)).rejects.toThrow();
    hold.resolve();
    expect(await running).toMatchObject({ code: status.OK });
    await stopped;
  });

  test.each(["DoPut", "Handshake"])("a %s without a message does not hold the stop", async (method) => {
    const { server, client } = await started(answering(1));
    const running = client.put([], { method, isUnended: true });
    while (server.activeCount === 0) await Bun.sleep(1);
    // would not end within the time limit of a test
    await server.stop(3_600_000);
    expect(await running).toMatchObject({ code: status.UNAVAILABLE, details: "the server is stopping" });
  });

  test("a statement that never comes does not hold the stop", async () => {
    const { server, client } = await started(answering(1));
    const silent = client.put([], { method: "GetFlightInfo", isUnended: true });
    // a later call of the same connection has been answered
    await client.call("ListActions", new Uint8Array(0));
    await server.stop(3_600_000);
    expect((await silent).code).toBe(status.UNAVAILABLE);
  });

  test.each(["DoPut", "Handshake"])("a %s without a message is ended after a time", async (method) => {
    const { client } = await started(answering(1), { messageIdleMs: 20 });
    const ended = await client.put([], { method, isUnended: true });
    expect(ended).toMatchObject({ code: status.DEADLINE_EXCEEDED, details: "no message within 20 ms" });
  });

  test("calls that do not finish are ended", async () => {
    const { server, client } = await started(() => new Promise(() => {}));
    const running = client.call("DoGet", ticketMessage("SELECT 1"));
    while (server.activeCount === 0) await Bun.sleep(1);
    await server.stop(50);
    expect((await running).code).not.toBe(status.OK);
  });
});

test("an address that another program has is an error that says so", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as { port: number };
  try {
    const error = await startFlight(answering(1), { port }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(TsdbError);
    expect(error).toMatchObject({ kind: "config" });
    expect((error as Error).message).toMatch(new RegExp(`^cannot listen on 127.0.0.1:${port}: .*(EADDRINUSE|in use)`));
  } finally {
    taken.close();
  }
});
