// Bodies: bounded as sent and again as decompressed, whatever they claim.
import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import zlib from "node:zlib";
import { prng } from "../../../test/support/prng.ts";
import { TsdbError } from "../../model/errors.ts";
import { BodyReader } from "./body.ts";
import { loopTurns, TURN_BYTES } from "./loop-turns.ts";

const MAX = 1 << 20;
const reader = new BodyReader(MAX, () => 0);
const noise = (bytes: number, seed: number) => {
  const below = prng(seed);
  return Uint8Array.from({ length: bytes }, () => below(256));
};
const gzip = (data: Uint8Array | string) => new Uint8Array(zlib.gzipSync(data));
const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));

/** The body sent with its length, and again in chunks without one. */
function requests(body: Uint8Array<ArrayBuffer>, encoding: string | null): Request[] {
  const headers: Record<string, string> = encoding === null ? {} : { "content-encoding": encoding };
  const chunks = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < body.length; at += 1000) controller.enqueue(body.slice(at, at + 1000));
      controller.close();
    },
  });
  const url = "http://localhost/write";
  return [
    new Request(url, { method: "POST", headers: { ...headers, "content-length": String(body.length) }, body }),
    new Request(url, { method: "POST", headers, body: chunks }),
  ];
}

async function read(request: Request): Promise<Uint8Array | string> {
  try {
    return new Uint8Array(await reader.readWhole(request));
  } catch (error) {
    expect(error).toBeInstanceOf(TsdbError);
    return `${(error as TsdbError).kind}: ${(error as TsdbError).message}`;
  }
}

const small = new TextEncoder().encode("cpu usage=0.5\n");
const incompressible = noise(300_000, 1);
const full = new Uint8Array(MAX);

const GOOD: [what: string, sent: Uint8Array, encoding: string | null, want: Uint8Array][] = [
  ["a body without encoding", small, null, small],
  ["an empty body", new Uint8Array(0), null, new Uint8Array(0)],
  ["identity", small, "identity", small],
  ["an empty encoding", small, "", small],
  ["exactly the limit", full, null, full],
  ["gzip", gzip(small), "gzip", small],
  ["gzip of several chunks", gzip(incompressible), "gzip", incompressible],
  ["two members", join(gzip(small), gzip(incompressible)), "gzip", join(small, incompressible)],
  ["an empty member between two", join(gzip(small), gzip(""), gzip(small)), "gzip", join(small, small)],
  ["gzip of exactly the limit", gzip(full), "gzip", full],
];

test("while statements are asked, each piece of a large body has a turn of the event loop", async () => {
  const pieces = 4;
  let turn = 0;
  const tick = () => {
    turn++;
    if (turns.length < pieces) setImmediate(tick);
  };
  const turns: number[] = [];
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let i = 0; i < pieces; i++) controller.enqueue(new Uint8Array(TURN_BYTES).fill(i));
      controller.close();
    },
  });
  loopTurns.noteStatement();
  setImmediate(tick);
  const bytes = await reader.readWhole(new Request("http://localhost/write", { method: "POST", body }), () => turns.push(turn));
  expect(new Set(turns).size).toBe(pieces);
  expect(Array.from({ length: pieces }, (_, i) => bytes[i * TURN_BYTES])).toEqual([0, 1, 2, 3]);
});

test("chunks of a byte are not taken one by one", async () => {
  const sent = new TextEncoder().encode("cpu usage=0.5\n".repeat(5000));
  let pieces = 0;
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => new Response(new Uint8Array(await reader.readWhole(request, () => pieces++))),
  });
  const socket = connect(server.port!, "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  socket.write(Buffer.concat([...[...sent].map((byte) => Buffer.from([0x31, 13, 10, byte, 13, 10])), Buffer.from("0\r\n\r\n")]));
  let received = "";
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("data", (data) => {
    received += data;
    if (received.endsWith(new TextDecoder().decode(sent))) resolve();
  });
  await promise;
  socket.destroy();
  expect(pieces).toBeLessThan(sent.length / 10);
});

test.each(GOOD)("a request body is read: %s", async (_what, sent, encoding, want) => {
  for (const request of requests(new Uint8Array(sent), encoding)) expect(await read(request)).toEqual(want);
});

const TOO_LARGE = `too_large: max request size (${MAX} bytes) exceeded`;
const over = new Uint8Array(MAX + 1);

const BAD: [what: string, sent: Uint8Array, encoding: string | null, want: string][] = [
  ["a byte over the limit", over, null, TOO_LARGE],
  ["compressed bytes over the limit", gzip(noise(MAX + 1, 2)), "gzip", TOO_LARGE],
  ["a byte over the limit in a small body", gzip(over), "gzip", TOO_LARGE],
  ["a bomb", gzip(new Uint8Array(64 << 20)), "gzip", TOO_LARGE],
  ["a bomb of many members", join(...Array.from({ length: 300 }, () => gzip(new Uint8Array(8192)))), "gzip", TOO_LARGE],
  ["gzip in capitals", gzip(small), "GZIP", "bad_request: unacceptable content-encoding: GZIP"],
  ["no gzip", small, "gzip", "bad_request: error decoding gzip stream: invalid gzip header"],
  ["nothing", new Uint8Array(0), "gzip", "bad_request: error decoding gzip stream: unexpected end of file"],
  ["cut", gzip(small).slice(0, -3), "gzip", "bad_request: error decoding gzip stream: unexpected end of file"],
  ["cut, large", gzip(incompressible).slice(0, 100_000), "gzip", "bad_request: error decoding gzip stream: unexpected end of file"],
  [
    "a wrong checksum",
    gzip(small).map((byte, at, all) => (at === all.length - 8 ? byte ^ 1 : byte)),
    "gzip",
    "bad_request: error decoding gzip stream: incorrect data check",
  ],
  ["text after a member", join(gzip(small), small), "gzip", "bad_request: error decoding gzip stream: invalid gzip header"],
  ["deflate", small, "deflate", "bad_request: unacceptable content-encoding: deflate"],
];

test.each(BAD)("a request body is refused: %s", async (_what, sent, encoding, want) => {
  for (const request of requests(new Uint8Array(sent), encoding)) expect(await read(request)).toBe(want);
});

test("a length over the limit is refused before a byte is read", async () => {
  let pulls = 0;
  const body = new ReadableStream<Uint8Array>({ pull: () => void pulls++ }, { highWaterMark: 0 });
  const request = new Request("http://localhost/write", { method: "POST", headers: { "content-length": String(MAX + 1) }, body });
  expect(await read(request)).toBe(TOO_LARGE);
  expect(pulls).toBe(0);
});

test("a body that the client breaks off is no error of the server, gzip or not", async () => {
  const broken = new DOMException("The connection was closed.", "AbortError");
  for (const headers of [{}, { "content-encoding": "gzip" }] as Record<string, string>[]) {
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(gzip(small).subarray(0, 12));
        controller.error(broken);
      },
    });
    const request = new Request("http://localhost/write", { method: "POST", headers, body });
    expect(await reader.readWhole(request).catch((error: unknown) => error)).toBe(broken);
  }
});

test("an endless body is left at the limit", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1 << 16)),
    cancel: () => {
      cancelled = true;
    },
  });
  expect(await read(new Request("http://localhost/write", { method: "POST", body }))).toBe(TOO_LARGE);
  expect(cancelled).toBe(true);
});

describe("a body has to come on", () => {
  const SLOW: [what: string, msPerPiece: number, want: string][] = [
    ["at once", 0, "taken"],
    ["within the first 30 seconds", 9_000, "taken"],
    // 1,000 bytes may take 62.5 ms beyond 30 s
    ["a little too slowly", 30_063, "too_slow: the body comes too slowly: it is not complete after 30 seconds"],
    ["much too slowly", 100_000, "too_slow: the body comes too slowly: it is not complete after 100 seconds"],
  ];
  test.each(SLOW)("%s", async (_, msPerPiece, want) => {
    let nowMs = 0;
    let pieces = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      nowMs += msPerPiece;
      if (++pieces > 3) controller.close();
      else controller.enqueue(new Uint8Array(1000));
    };
    const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    const target = { byteCount: 0, append: () => {} };
    const request = new Request("http://localhost/write", { method: "POST", body });
    const paced = new BodyReader(MAX, () => nowMs);
    const got = await paced.read(request, paced.head(request), target).then(
      () => "taken",
      (error: TsdbError) => `${error.kind}: ${error.message}`,
    );
    expect(got).toBe(want);
  });
});

test.each([
  [null, undefined],
  ["0", 0],
  [String(MAX), MAX],
  [String(MAX + 1), "too_large"],
  ["99999999999999999999999", "too_large"],
  // two headers
  ["14, 14", "bad_request"],
  ["14, 15", "bad_request"],
  ["abc", "bad_request"],
  ["-1", "bad_request"],
  ["1e3", "bad_request"],
  ["", "bad_request"],
] as const)("the length %p is announced as %p", (length, want) => {
  const headers = new Headers(length === null ? {} : { "content-length": length });
  const announced = () => {
    try {
      return reader.head({ headers } as Request).announcedBytes;
    } catch (error) {
      return (error as TsdbError).kind;
    }
  };
  expect(announced()).toBe(want);
});

test.each([null, "gzip"])(
  "a body in pieces of which nothing more comes is ended, however long the reader takes: encoding %p",
  async (encoding) => {
    const sent = encoding === null ? incompressible : gzip(incompressible);
    const request = (ends: boolean) => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(sent.slice(0, 200_000));
          if (!ends) return;
          controller.enqueue(sent.slice(200_000));
          controller.close();
        },
      });
      return new Request("http://localhost/", { method: "POST", headers: encoding === null ? {} : { "content-encoding": encoding }, body });
    };
    const patient = new BodyReader(MAX, () => 0, false, 60);
    const taken = async (wanted: Request) => {
      let bytes = 0;
      for await (const piece of patient.pieces(wanted)) {
        bytes += piece.byteLength;
        await Bun.sleep(100);
      }
      return bytes;
    };
    expect(await taken(request(true))).toBe(incompressible.byteLength);
    expect(await taken(request(false)).catch(({ kind }: TsdbError) => kind)).toBe("too_slow");
  },
);
