// What a client might do to Arrow Flight of a real server: tickets of every wrong shape, credentials in odd forms, messages that grow,
// connections and calls that never go on, readers that do not read. Each is refused or waits, and the server is well afterwards.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { status } from "@grpc/grpc-js";
import { Ticket } from "../../src/api/flight/wire/flight-messages.ts";
import { type CallEnd, FlightClient, ticketMessage } from "../support/flight/flight-server.ts";
import { FRAME, frame, headerBlock, PREFACE, RawHttp2 } from "../support/servers/raw-http2.ts";
import { TestServer } from "../support/servers/server.ts";
import { residentBytes, store } from "./client.ts";

setDefaultTimeout(60_000);

const MIB = 1 << 20;
const ROWS = 20_000;
const END_HEADERS = 4;
const END_STREAM = 1;

let server: TestServer;
let client: FlightClient;
let port: number;
let idleBytes = 0;
beforeAll(async () => {
  server = await TestServer.start({ withFlight: true });
  port = Number(server.flightAddress.split(":").at(-1));
  client = new FlightClient(port);
  await store(server, "d", Array.from({ length: ROWS }, (_, i) => `t,h=h${i % 50} v=${i},s="text of row ${i}" ${i}`).join("\n"));
  await isWell();
  idleBytes = await residentBytes(server);
});
afterAll(async () => {
  client.close();
  await server.dispose();
});

/** Flight answers on a connection that was there before, and on a new one; HTTP answers. */
async function isWell(): Promise<void> {
  const other = new FlightClient(port);
  for (const who of [client, other]) {
    const { code, details, messages } = await who.call("DoGet", ticketMessage("SELECT count(*) AS n FROM t"));
    expect([code, details, messages.length]).toEqual([status.OK, "", 2]);
  }
  other.close();
  expect(await server.sql("d", "SELECT count(*) AS n FROM t")).toEqual([{ n: ROWS }]);
  expect(server.output).not.toContain("BUG");
}

const ticket = (bytes: Uint8Array | string): Uint8Array =>
  Ticket.encode({ ticket: typeof bytes === "string" ? new TextEncoder().encode(bytes) : Uint8Array.from(bytes) });
const json = (members: Record<string, unknown>) => ticket(JSON.stringify({ database: "d", sql_query: "SELECT 1 AS a", ...members }));
const outcome = ({ code, details }: CallEnd) => `${status[code]}: ${details.slice(0, 200)}`;

describe("tickets", () => {
  const BAD = /^INVALID_ARGUMENT: /;
  const CASES: [what: string, message: () => Uint8Array, outcome: RegExp][] = [
    ["an empty message", () => new Uint8Array(0), BAD],
    ["an empty ticket", () => ticket(""), BAD],
    ["noise", () => ticket(Uint8Array.from({ length: 1000 }, (_, i) => (i * 2_654_435_761) >>> 24)), BAD],
    ["no ticket but noise", () => Uint8Array.from({ length: 1000 }, (_, i) => (i * 40_503) >>> 8), BAD],
    ["a length beyond the message", () => Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0x7f, 1), BAD],
    ["a length of ten bytes", () => Uint8Array.of(0x0a, ...Array(9).fill(0xff), 1), BAD],
    ["groups in groups", () => new Uint8Array(100_000).fill(0x0b), BAD],
    ["a million of one member", () => Buffer.concat(Array.from({ length: 1_000_000 }, () => Uint8Array.of(0x0a, 0))), BAD],
    ["half of JSON", () => ticket('{"database":"d","sql_query":"SEL'), BAD],
    ["JSON of another kind", () => ticket("[1, 2]"), BAD],
    ["bytes that are no text", () => ticket(Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d)), BAD],
    ["lists 1,000,000 deep", () => ticket(`{"database":${"[".repeat(1_000_000)}`), BAD],
    ["objects 300,000 deep", () => ticket(`{"database":"d","sql_query":"SELECT 1","params":${'{"a":'.repeat(300_000)}`), BAD],
    ["a database that is a number", () => json({ database: 7 }), BAD],
    ["a database by two names", () => json({ bucket: "d" }), BAD],
    ["a database of 1 MiB", () => json({ database: "x".repeat(MIB) }), /^(NOT_FOUND|INVALID_ARGUMENT): /],
    ["a database elsewhere", () => json({ database: "../d" }), /^(NOT_FOUND|INVALID_ARGUMENT): /],
    ["a prototype as the database", () => json({ database: "__proto__" }), /^(NOT_FOUND|INVALID_ARGUMENT): /],
    ["a statement that is a list", () => json({ sql_query: ["SELECT 1"] }), BAD],
    ["a statement of 2 MiB", () => json({ sql_query: `SELECT 1${" ".repeat(2 * MIB)}` }), BAD],
    ["brackets 100,000 deep", () => json({ sql_query: `SELECT ${"(".repeat(100_000)}` }), BAD],
    ["two statements", () => json({ sql_query: "SELECT 1; SELECT 2" }), BAD],
    ["a file", () => json({ sql_query: "SELECT * FROM read_csv('/etc/hostname')" }), BAD],
    ["an unknown language", () => json({ query_type: "flux" }), BAD],
    ["parameters in parameters", () => json({ params: { a: { b: 1 } } }), BAD],
    ["100,000 parameters", () => json({ params: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`p${i}`, i])) }), /^OK: /],
    ["members that mean nothing", () => json({ __proto__: 1, constructor: 2, x: null, is_debug: true }), /^OK: /],
    ["more than 4 MiB", () => json({ sql_query: "x".repeat(4 * MIB) }), /^RESOURCE_EXHAUSTED: /],
  ];

  test.each(CASES)("%s", async (_, message, expected) => {
    expect(outcome(await client.call("DoGet", message()))).toMatch(expected);
    await isWell();
  });
});

describe("credentials in odd forms", () => {
  const basic = (text: string | Uint8Array) => `Basic ${Buffer.from(text).toString("base64")}`;
  let own: TestServer;
  let admin = "";
  beforeAll(async () => {
    own = await TestServer.start({ withFlight: true, withAuth: true });
    const made = await fetch(`${own.url}/api/v3/configure/token/admin`, { method: "POST" });
    admin = ((await made.json()) as { token: string }).token;
    const authorization = `Bearer ${admin}`;
    await fetch(`${own.url}/api/v3/write_lp?db=d`, { method: "POST", body: "t v=1 1", headers: { authorization } });
  });
  afterAll(() => own.dispose());

  const REFUSED: [what: string, authorization: () => string | undefined][] = [
    ["no header", () => undefined],
    ["an empty header", () => ""],
    ["blanks", () => "    "],
    ["a scheme alone", () => "Bearer"],
    ["no scheme", () => admin],
    ["another token", () => "Bearer apiv3_x"],
    ["half of the token", () => `Bearer ${admin.slice(0, admin.length / 2)}`],
    ["the token and more", () => `Bearer ${admin}x`],
    ["two tokens", () => `Bearer x ${admin}`],
    ["two blanks", () => `Bearer  ${admin}`],
    ["another scheme", () => `Negotiate ${admin}`],
    ["invalid base64", () => "Basic ===="],
    ["no colon", () => basic(admin)],
    ["two colons", () => basic(`a:b:${admin}`)],
    ["no password", () => basic("user:")],
    ["the token as the user", () => basic(`${admin}:`)],
    ["no text", () => basic(Uint8Array.of(255, 254, 58, 255))],
    ["10,000 bytes", () => `Token ${"x".repeat(10_000)}`],
    ["like SQL", () => "Bearer '_OR_1=1--"],
    ["a prototype", () => "Bearer __proto__"],
  ];

  test.each(REFUSED)("%s", async (_, authorization) => {
    const who = new FlightClient(Number(own.flightAddress.split(":").at(-1)));
    const value = authorization();
    const ask = (headers: Record<string, string>) => who.call("DoGet", ticketMessage("SELECT v FROM t"), { headers });
    const { code, details } = await ask(value === undefined ? {} : { authorization: value });
    expect(status[code]).toBe("UNAUTHENTICATED");
    expect(details).not.toContain(admin);
    for (const good of [`Bearer ${admin}`, `Token ${admin}`, basic(`user:${admin}`), basic(`:${admin}`)]) {
      expect((await ask({ authorization: good })).code).toBe(status.OK);
    }
    who.close();
  });
});

describe("calls and connections", () => {
  const open: (RawHttp2 | Socket)[] = [];
  const CALL = (method: string, ...fields: [string, string][]) =>
    headerBlock([
      [":method", "POST"],
      [":scheme", "http"],
      [":authority", "localhost"],
      [":path", `/arrow.flight.protocol.FlightService/${method}`],
      ["content-type", "application/grpc"],
      ...fields,
    ]);

  async function attacker(window?: number): Promise<RawHttp2> {
    const one = (await RawHttp2.open(port)).begin(window);
    open.push(one);
    return one;
  }

  const ATTACKS: [what: string, attack: () => Promise<void>][] = [
    [
      "10 connections with 100 calls each that say nothing",
      async () => {
        for (let i = 0; i < 10; i++) {
          const one = await attacker();
          const methods = ["DoGet", "DoPut", "Handshake", "DoAction"];
          for (let call = 0; call < 100; call++) one.send(frame(FRAME.headers, CALL(methods[call % 4]!), call * 2 + 1, END_HEADERS));
        }
      },
    ],
    [
      "5,000 calls one after the other on one connection",
      async () => {
        const one = await attacker();
        for (let call = 0; call < 5000; call++) one.call("ListActions", new Uint8Array(0), call * 2 + 1);
        const answered = () => one.frames.filter(({ type, flags }) => type === FRAME.headers && (flags & END_STREAM) !== 0).length;
        await one.until(() => answered() + one.frames.filter(({ type }) => type === FRAME.reset).length >= 5000);
        one.frames.length = 0;
      },
    ],
    [
      "1,000 connections, half of them without a word",
      async () => {
        for (let i = 0; i < 1000; i++) {
          const socket = connect({ host: "127.0.0.1", port });
          socket.on("error", () => {});
          open.push(socket);
          if (i % 2 === 1) socket.write(Buffer.concat([PREFACE, frame(FRAME.settings)]));
          if (i % 100 === 99) await new Promise((resolve) => socket.once("connect", resolve));
        }
      },
    ],
    [
      "a small message that is large unpacked",
      async () => {
        // 32 KiB, which the first window of a connection lets through; unpacked it is larger than any message may be
        const packed = gzipSync(Buffer.alloc(32 * MIB));
        const message = Buffer.alloc(5 + packed.length);
        message[0] = 1;
        message.writeUInt32BE(packed.length, 1);
        message.set(packed, 5);
        const one = await attacker();
        one.send(frame(FRAME.headers, CALL("DoGet", ["grpc-encoding", "gzip"]), 1, END_HEADERS));
        for (let at = 0; at < message.length; at += 15_000) {
          const isLast = at + 15_000 >= message.length;
          one.send(frame(FRAME.data, message.subarray(at, at + 15_000), 1, isLast ? END_STREAM : 0));
        }
        await one.until(() => one.frames.some(({ type, flags }) => type === FRAME.headers && (flags & END_STREAM) !== 0));
        expect(one.dataBytes).toBe(0);
      },
    ],
    [
      "100 readers that open no window",
      async () => {
        const one = await attacker(0);
        for (let call = 0; call < 100; call++) one.call("DoGet", ticketMessage("SELECT * FROM t"), call * 2 + 1);
        await one.until(() => one.frames.filter(({ type }) => type === FRAME.headers).length >= 10);
        expect(one.dataBytes).toBe(0);
      },
    ],
    [
      "200 answers whose reader leaves at once",
      async () => {
        await Promise.all(
          Array.from({ length: 200 }, async () => {
            const { code } = await client.call("DoGet", ticketMessage("SELECT * FROM t"), { cancelAfter: 1 });
            expect([status.CANCELLED, status.OK]).toContain(code);
          }),
        );
      },
    ],
    [
      "deadlines that have passed",
      async () => {
        const ends = Array.from({ length: 50 }, () => client.call("DoGet", ticketMessage("SELECT * FROM t"), { deadline: Date.now() + 1 }));
        for (const { code } of await Promise.all(ends)) expect([status.DEADLINE_EXCEEDED, status.OK]).toContain(code);
      },
    ],
  ];

  test.each(ATTACKS)("%s", async (_, attack) => {
    await attack();
    // while they are there, and afterwards
    await isWell();
    for (const one of open.splice(0)) {
      if (one instanceof RawHttp2) one.close();
      else one.destroy();
    }
    await isWell();
  });
});

// An idle runtime lets its garbage lie, up to some 300 MiB after these attacks; it is swept as ordinary calls make more of it.
test("the memory is back, at the latest after some work", async () => {
  const bytesMax = idleBytes + 300 * MIB;
  const deadlineMs = performance.now() + 30_000;
  let bytes = await residentBytes(server);
  while (bytes > bytesMax && performance.now() < deadlineMs) {
    await isWell();
    bytes = await residentBytes(server);
  }
  expect(bytes).toBeLessThanOrEqual(bytesMax);
});
