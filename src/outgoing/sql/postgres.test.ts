// Servers of PostgreSQL's protocol that do a client harm. Messages: https://www.postgresql.org/docs/current/protocol-message-formats.html
import { afterEach, expect, test } from "bun:test";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { SQL_LIMITS, type SqlLimits, sqlService } from "./sql-service.ts";

const int32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const int16 = (value: number) => int32(value).subarray(2);
const text = (value: string) => Buffer.from(`${value}\0`);
const message = (type: string, ...parts: Buffer[]) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
};

const SIGNED_IN = Buffer.concat([message("R", int32(0)), message("K", int32(1), int32(2)), message("Z", Buffer.from("I"))]);
/** One column of texts. */
const COLUMNS = message("T", int16(1), text("v"), int32(0), int16(0), int32(25), int16(-1), int32(-1), int16(0));
const ROW = message("D", int16(1), int32(1000), Buffer.alloc(1000, "x"));
const NOTICE = message("N", text("SNOTICE"), text("C00000"), text(`M${"x".repeat(1000)}`), Buffer.alloc(1));
/** The beginning of a row with a cell of 2 GiB. */
const GIANT_ROW = Buffer.concat([Buffer.from("D"), int32(0x7fff_ffff), int16(1), int32(0x7fff_fff0)]);

/** What a server sends after a statement has come: first, and again and again. */
const ENDLESS: readonly (readonly [string, Buffer, Buffer])[] = [
  ["rows", COLUMNS, ROW],
  ["one row", Buffer.concat([COLUMNS, GIANT_ROW]), Buffer.alloc(1000, "x")],
  ["notices", Buffer.alloc(0), NOTICE],
];

const STATEMENT = "INSERT INTO t VALUES (1)";
let server = createServer();
let left: PromiseWithResolvers<void>;

/** A server that signs everybody in, and then leaves the connection to `answer`. */
async function served(answer: (socket: Socket) => void): Promise<string> {
  left = Promise.withResolvers<void>();
  server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("close", () => left.resolve());
    socket.once("data", () => {
      socket.write(SIGNED_IN);
      socket.once("data", () => answer(socket));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return `postgres://u:p@127.0.0.1:${(server.address() as AddressInfo).port}/d?sslmode=disable`;
}
afterEach(() => void server.close());

const ask = (dataSource: string, limits: Partial<SqlLimits>, signal?: AbortSignal) =>
  sqlService({ ...SQL_LIMITS, allowsPrivate: true, ...limits }, signal).query({ driver: "postgres", dataSource }, STATEMENT);

test.each(ENDLESS)("a server that sends %s without end", async (_, first, again) => {
  const source = await served((socket) => {
    const push = () => {
      while (!socket.destroyed && socket.write(again));
    };
    socket.on("drain", push);
    socket.write(first);
    push();
  });
  await expect(ask(source, { bytesMax: 1 << 20 })).rejects.toThrow(`the answer is longer than ${1 << 20} bytes`);
  await left.promise;
});

test("a server that is silent", async () => {
  await expect(ask(await served(() => {}), { timeoutMs: 100 })).rejects.toThrow("no answer within 100 ms");
  await left.promise;
});

test("a cancelled statement leaves its server", async () => {
  const cancelled = new AbortController();
  const asked = ask(await served(() => cancelled.abort()), {}, cancelled.signal);
  await expect(asked).rejects.toThrow("the query was cancelled");
  await left.promise;
});

test("a server that does not listen", async () => {
  const source = await served(() => {});
  await new Promise((closed) => server.close(closed));
  await expect(ask(source, {})).rejects.toThrow(/ECONNREFUSED|refused/);
});
