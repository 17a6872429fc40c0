// The largest body that can be allowed is stored, however it is sent; one byte more is refused.
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { LIMITS } from "../../src/model/limits.ts";
import { TestServer } from "../support/servers/server.ts";
import { query } from "./client.ts";

const TIMEOUT_MS = 120_000;
const LINE_BYTES = 1024;
const PIECE_LINES = 1024;
const FIRST_TIME = 1_700_000_000_000_000_000n;
const TIME_DIGITS = 19;

/** Lines of ordinary rows, each of LINE_BYTES bytes and with a time of its own. */
function* pieces(bytes: number): Generator<Uint8Array> {
  const tags = Array.from({ length: 20 }, (_, i) => `,tag_${i}=value_${i}`).join("");
  const fields = Array.from({ length: 30 }, (_, i) => `field_number_${i}=${i}.25`).join();
  const start = `cpu${tags} ${fields},text="`;
  const line = `${start}${"x".repeat(LINE_BYTES - start.length - TIME_DIGITS - 3)}" ${FIRST_TIME}\n`;
  const piece = new TextEncoder().encode(line.repeat(PIECE_LINES));
  expect(piece.byteLength).toBe(LINE_BYTES * PIECE_LINES);
  for (let sent = 0, row = 0n; sent < bytes; sent += piece.byteLength) {
    for (let end = LINE_BYTES - 1; end < piece.byteLength; end += LINE_BYTES, row++) {
      const time = String(FIRST_TIME + row);
      for (let i = 0; i < TIME_DIGITS; i++) piece[end - TIME_DIGITS + i] = time.charCodeAt(i);
    }
    yield piece;
  }
}

/** The head of the answer to a body of `bytes` bytes. */
async function post(server: TestServer, database: string, framing: "length" | "chunks", bytes: number): Promise<string> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let received = "";
  let gone = false;
  const answered = new Promise<void>((resolve, reject) => {
    socket.on("data", (data) => {
      received += String(data);
      if (received.includes("\r\n\r\n")) resolve();
    });
    // A refused body is answered while it is still being sent, and the connection closed: what is written then meets a closed socket.
    socket.on("error", (error) => {
      gone = true;
      reject(error);
    });
    socket.on("close", () => {
      gone = true;
      reject(new Error(`connection closed after ${JSON.stringify(received)}`));
    });
  });
  answered.catch(() => {});
  const send = (part: string | Uint8Array) => new Promise<void>((resolve) => socket.write(Buffer.from(part), () => resolve()));
  const how = framing === "length" ? `Content-Length: ${bytes}` : "Transfer-Encoding: chunked";
  await send(`POST /api/v3/write_lp?db=${database} HTTP/1.1\r\nHost: a\r\n${how}\r\n\r\n`);
  for (const piece of pieces(bytes)) {
    if (received !== "" || gone) break;
    if (framing === "chunks") await send(`${piece.byteLength.toString(16)}\r\n`);
    await send(piece);
    if (framing === "chunks") await send("\r\n");
  }
  if (framing === "chunks") await send("0\r\n\r\n");
  await answered;
  socket.destroy();
  return received;
}

test(
  "a body of 256 MiB is stored, with its length announced and without; one more byte is refused",
  async () => {
    const bytes = LIMITS.bodyBytesMax;
    await using server = await TestServer.start({ flags: ["--max-http-request-size", String(bytes)] });
    for (const framing of ["length", "chunks"] as const) {
      expect(await post(server, framing, framing, bytes)).toStartWith("HTTP/1.1 204 ");
      expect((await query(server, framing, "SELECT count(*) AS n FROM cpu", { format: "json" })).text).toBe(
        `[{"n":${bytes / LINE_BYTES}}]`,
      );
    }
    expect(await post(server, "length", "length", bytes + 1)).toStartWith("HTTP/1.1 413 ");
  },
  TIMEOUT_MS,
);
