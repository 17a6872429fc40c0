// Windows of streams after a client has changed its SETTINGS_INITIAL_WINDOW_SIZE: RFC 9113, section 6.9.2, by arithmetic on real
// connections, and byte by byte on the rewriting itself.
import { afterEach, describe, expect, test } from "bun:test";
import { batches, startFlight, ticketMessage } from "../../../../test/support/flight/flight-server.ts";
import { prng } from "../../../../test/support/prng.ts";
import { FRAME, frame, PREFACE, RawHttp2 } from "../../../../test/support/servers/raw-http2.ts";
import { StreamWindows } from "./stream-windows.ts";

const INITIAL_WINDOW_SIZE = 4;
const ACK = 1;
const END_STREAM = 1;
const END_HEADERS = 4;

const closing: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function settings(...values: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(6 * values.length);
  for (const [i, [id, value]] of values.entries()) {
    payload.writeUInt16BE(id, 6 * i);
    payload.writeUInt32BE(value, 6 * i + 2);
  }
  return frame(FRAME.settings, payload);
}
const initial = (bytes: number) => settings([INITIAL_WINDOW_SIZE, bytes]);

function grant(stream: number, bytes: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes);
  return frame(FRAME.windowUpdate, payload, stream);
}

/** A reader of answers without an end, on a connection whose own window is never short. */
async function reader(windowBytes: number): Promise<RawHttp2> {
  const { server } = await startFlight(async () => batches(() => true));
  closing.push(() => server.stop(0));
  const opened = (await RawHttp2.open(server.port)).begin(windowBytes).enlarge(100 << 20);
  closing.push(() => opened.close());
  return opened;
}

describe("an open stream", () => {
  const CASES: [what: string, first: number, send: readonly Buffer[], total: number][] = [
    ["a setting between what was set and what was granted", 1000, [grant(1, 500_000), initial(400_000)], 900_000],
    ["a setting above both", 1000, [grant(1, 500_000), initial(700_000)], 1_200_000],
    ["several changes, one way and the other", 1000, [initial(200_000), initial(50_000), grant(1, 300_000), initial(250_000)], 550_000],
    ["a smaller setting is paid back by the next grants", 100_000, [initial(40_000), grant(1, 50_000), grant(1, 30_000)], 120_000],
    ["the last of several values of a frame counts", 1000, [settings([4, 9], [3, 7], [4, 300_000])], 300_000],
    ["another setting changes nothing", 70_000, [settings([3, 1])], 70_000],
  ];
  test.each(CASES)("%s", async (_, first, send, total) => {
    const client = await reader(first);
    client.call("DoGet", ticketMessage("SELECT 1"));
    await client.until(() => client.dataBytes >= first);
    client.send(...send);
    await client.until(() => client.dataBytes >= total);
    // whatever it had sent too much is there when a second stream has its share
    const before = client.dataBytes;
    client.send(grant(1, 1));
    await client.until(() => client.dataBytes > before);
    expect([before, client.dataBytes]).toEqual([total, total + 1]);
  });
});

test("a stream that is opened later has the setting of then", async () => {
  const client = await reader(1000);
  client.call("DoGet", ticketMessage("SELECT 1"));
  await client.until(() => client.dataBytes >= 1000);
  client.send(initial(300_000)).call("DoGet", ticketMessage("SELECT 1"), 3);
  await client.until(() => client.dataBytes >= 600_000);
  const ofStream = (stream: number) =>
    client.frames.reduce((sum, one) => sum + (one.type === FRAME.data && one.stream === stream ? one.payload.length : 0), 0);
  expect([ofStream(1), ofStream(3)]).toEqual([300_000, 300_000]);
});

test("streams that have ended take nothing from those that are open", async () => {
  const client = await reader(1000);
  for (const stream of [1, 3, 5]) client.call("DoGet", Buffer.from("no ticket"), stream);
  const isEnded = (stream: number) => client.frames.some((one) => one.stream === stream && (one.flags & END_STREAM) !== 0);
  await client.until(() => [1, 3, 5].every(isEnded));
  client.call("DoGet", ticketMessage("SELECT 1"), 7);
  await client.until(() => client.dataBytes >= 1000);
  client.send(initial(250_000));
  await client.until(() => client.dataBytes >= 250_000);
  expect([client.dataBytes, client.isClosed]).toEqual([250_000, false]);
});

test("changes without end close the connection", async () => {
  const client = await reader(1000);
  for (let i = 0; i < 2000; i++) client.send(initial(1000 + (i % 2)));
  await client.until(() => false);
  expect(client.isClosed).toBe(true);
});

describe("the rewriting", () => {
  const headers = (stream: number, flags = END_HEADERS) => frame(FRAME.headers, Buffer.from("fields"), stream, flags);
  const SENT = [
    PREFACE,
    initial(1000),
    headers(1),
    frame(FRAME.data, Buffer.alloc(20_000, 1), 1),
    initial(5000),
    frame(FRAME.settings, Buffer.alloc(0), 0, ACK),
    headers(3, 0),
    frame(FRAME.continuation, Buffer.from("more"), 3, END_HEADERS),
    frame(FRAME.reset, Buffer.alloc(4), 1),
    initial(6000),
    frame(FRAME.ping, Buffer.alloc(8)),
    grant(3, 70),
    ...[headers(5), headers(5)],
  ];
  const READ = [
    PREFACE,
    initial(1000),
    headers(1),
    frame(FRAME.data, Buffer.alloc(20_000, 1), 1),
    ...[initial(1000), grant(1, 4000)],
    frame(FRAME.settings, Buffer.alloc(0), 0, ACK),
    headers(3, 0),
    ...[frame(FRAME.continuation, Buffer.from("more"), 3, END_HEADERS), grant(3, 4000)],
    frame(FRAME.reset, Buffer.alloc(4), 1),
    ...[initial(1000), grant(3, 1000)],
    frame(FRAME.ping, Buffer.alloc(8)),
    grant(3, 70),
    ...[headers(5), grant(5, 5000), headers(5)],
  ];

  test.each([0, 1, 2, 3, 4])("does not depend on how the bytes arrive, seed %p", (seed) => {
    const below = prng(seed);
    const bytes = Buffer.concat(SENT);
    const windows = new StreamWindows();
    const read: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const end = seed === 0 ? bytes.length : Math.min(bytes.length, at + 1 + below(seed === 1 ? 1 : 40));
      read.push(windows.read(bytes.subarray(at, end))!);
      at = end;
    }
    expect(Buffer.concat(read).equals(Buffer.concat(READ))).toBe(true);
  });

  test("what it does not know passes as it is", () => {
    const below = prng(5);
    for (let i = 0; i < 300; i++) {
      const odd = [
        frame(FRAME.settings, Buffer.alloc(below(9), 4), below(2), below(2)),
        frame(FRAME.windowUpdate, Buffer.alloc(below(7)), below(4)),
        frame(below(256), Buffer.alloc(below(300)), below(9), below(256)),
        initial(2 ** 31 + below(1000)),
      ][below(4)]!;
      const windows = new StreamWindows();
      const [begin, sent] = [Buffer.concat([PREFACE, settings()]), Buffer.concat([odd, Buffer.alloc(20)])];
      expect(windows.read(begin)!.equals(begin)).toBe(true);
      const read = windows.read(sent)!;
      // twenty zeros are two empty DATA frames and the begin of a third
      expect(read.subarray(0, odd.length).equals(odd) || odd[3] === FRAME.settings).toBe(true);
    }
  });
});
