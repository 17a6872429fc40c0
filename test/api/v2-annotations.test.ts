// Notebooks, annotations and their streams: what the recorded conversations do not ask.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { MemoryObjectStore } from "../../src/object-store/memory-object-store.ts";
import { type LightServer, lightServer } from "../vectors/v2/light-server.ts";
import { ask } from "./v2-ask.ts";

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const ANNOTATIONS = "/api/v2private/annotations";
const STREAMS = "/api/v2private/streams";
const NOW_MS = Date.parse("2026-01-02T03:04:05.678Z");

let server: LightServer;
let orgID: string;
beforeEach(async () => {
  server = await lightServer({ clockMs: () => NOW_MS });
  orgID = (await ask(server, "POST", "/api/v2/setup", undefined, SETUP)).body.org.id as string;
});
afterEach(() => server.stop());

const send = (method: string, path: string, query: Readonly<Record<string, string>> = {}, body?: unknown) =>
  ask(server, method, `${path}?${new URLSearchParams({ orgID, ...query })}`, "tok", body);
const make = (...annotations: object[]) => send("POST", ANNOTATIONS, {}, annotations);
/** `stream: summaries` of a list. */
const listed = async (query: Readonly<Record<string, string>> = {}) =>
  (await send("GET", ANNOTATIONS, query)).body.map(
    ({ stream, annotations }: { stream: string; annotations: { summary: string }[] }) =>
      `${stream}: ${annotations.map(({ summary }) => summary).join(" ")}`,
  ) as string[];
const day = (n: number) => `2020-01-0${n}T00:00:00Z`;

describe("annotations", () => {
  test("without a stream and times: the stream `default`, now", async () => {
    const { status, body } = await make({ summary: "s" }, { summary: "t", endTime: day(2), stream: null, message: null, stickers: null });
    const now = "2026-01-02T03:04:05.678Z";
    expect([status, body]).toEqual([
      200,
      [
        { id: expect.any(String), stream: "default", summary: "s", startTime: now, endTime: now },
        { id: expect.any(String), stream: "default", summary: "t", startTime: day(2), endTime: day(2) },
      ],
    ]);
    expect(await listed()).toEqual(["default: t s"]);
  });

  test("times keep their nanoseconds, in UTC, and are ordered by them", async () => {
    const at = (startTime: string, summary: string) => ({ summary, startTime, endTime: "2020-01-09T00:00:00+02:00" });
    const { body } = await make(
      at("2020-01-01T01:00:00.5+01:00", "b"),
      at("2020-01-01T00:00:00Z", "a"),
      at("2020-01-01T00:00:00.500000001Z", "c"),
    );
    const found = body.map(({ startTime }: { startTime: string }) => startTime);
    expect(found).toEqual(["2020-01-01T00:00:00.5Z", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00.500000001Z"]);
    expect(body[0].endTime).toBe("2020-01-08T22:00:00Z");
    expect(await listed()).toEqual(["default: a b c"]);
    expect(await listed({ startTime: "2020-01-01T00:00:00.5Z" })).toEqual(["default: b c"]);
    expect(await listed({ startTime: "2020-01-01T00:00:00.500000001Z" })).toEqual(["default: c"]);
  });

  test("a list has those within the range, of the streams and with all stickers", async () => {
    await make(
      { stream: "s", summary: "a", startTime: day(1), endTime: day(3), stickers: { k: "v", l: "w" } },
      { stream: "r", summary: "b", startTime: day(2), endTime: day(2), stickers: { k: "v" } },
      { stream: "s", summary: "c", startTime: day(2), endTime: day(4) },
    );
    expect(await listed()).toEqual(["r: b", "s: a c"]);
    expect(await listed({ startTime: day(1), endTime: day(3) })).toEqual(["r: b", "s: a"]);
    expect(await listed({ startTime: day(2) })).toEqual(["r: b", "s: c"]);
    expect(await listed({ startTime: "0001-01-01T00:00:00Z", endTime: "9999-01-01T00:00:00Z" })).toEqual(["r: b", "s: a c"]);
    expect(await listed({ streamIncludes: "r" })).toEqual(["r: b"]);
    expect(await listed({ "stickerIncludes[k]": "v" })).toEqual(["r: b", "s: a"]);
    expect(await listed({ "stickerIncludes[k]": "v", "stickerIncludes[l]": "w" })).toEqual(["s: a"]);
    expect(await listed({ "stickerIncludes[__proto__]": "v" })).toEqual([]);
    expect((await send("GET", ANNOTATIONS, { startTime: day(3), endTime: day(2) })).status).toBe(400);
  });

  test("are deleted within a range, by the name or the id of their stream", async () => {
    const each = (stream: string, n: number) => ({ stream, summary: `${n}`, startTime: day(n), endTime: day(n) });
    await make(...[1, 2, 3].flatMap((n) => [each("s", n), each("r", n)]));
    const streams = (await send("GET", STREAMS)).body as { id: string; stream: string }[];
    const idOf = (name: string) => streams.find(({ stream }) => stream === name)!.id;
    const range = { startTime: day(1), endTime: day(2) };
    const remove = async (query: Readonly<Record<string, string>>) => (await send("DELETE", ANNOTATIONS, query)).status;
    expect(await remove({ ...range, stream: "nobody" })).toBe(204);
    expect(await remove({ ...range, stream: "s", streamID: idOf("r") })).toBe(204);
    expect(await remove({ ...range, streamID: "1234567890abcdef" })).toBe(204);
    expect(await remove({ ...range, stream: "s", "stickers[k]": "v" })).toBe(204);
    expect(await listed()).toEqual(["r: 1 2 3", "s: 1 2 3"]);
    expect(await remove({ ...range, stream: "s" })).toBe(204);
    expect(await remove({ startTime: day(3), endTime: day(3), streamID: idOf("r") })).toBe(204);
    expect(await listed()).toEqual(["r: 1 2", "s: 3"]);
    const { body } = await send("DELETE", ANNOTATIONS, { streamID: "x" });
    expect(body.message).toBe("start time must be set; end time must be set");
    expect((await send("DELETE", ANNOTATIONS, { ...range, streamID: "x" })).body.message).toBe("stream id is invalid");
  });

  test.each([
    [[{ summary: "x".repeat(256) }], /summary must be at most 255/],
    [[{ summary: "s", stream: "x".repeat(256) }], /stream tag/],
    [[{ summary: "s", message: "x".repeat(4097) }], /message/],
    [[{ summary: "s", stickers: { k: "x".repeat(256) } }], /stickers/],
    [[{ summary: "s", stickers: { k: 5 } }], /stickers/],
    [[{ summary: "s", startTime: "yesterday" }], /startTime: want a time of RFC 3339/],
    [[{ summary: "s", startTime: "0001-01-01T00:00:00Z" }], /startTime: want a time within/],
    [[{ summary: "s", startTime: day(3), endTime: day(2) }], /start time must come before end time/],
    [[{ summary: "good" }, { summary: "" }], /summary cannot be empty/],
    [Array.from({ length: 1001 }, () => ({ summary: "s" })), /got 1001 annotations/],
    [{ summary: "s" }, /list of annotations/],
    [[5], /must be an object/],
  ])("%j is refused", async (body, message) => {
    const answer = await send("POST", ANNOTATIONS, {}, body);
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(message)]);
    expect(await listed()).toEqual([]);
    expect((await send("GET", STREAMS)).body).toEqual([]);
  });

  test("a list of thousands is whole", async () => {
    const some = (from: number) =>
      Array.from({ length: 1000 }, (_, i) => ({ stream: i % 2 === 0 ? "s0" : `s${1 + (i % 6)}`, summary: `${from + i}`, endTime: day(1) }));
    for (let from = 0; from < 5000; from += 1000) expect((await make(...some(from))).status).toBe(200);
    const { body } = await send("GET", ANNOTATIONS);
    expect(body.map(({ stream }: { stream: string }) => stream)).toEqual(["s0", "s2", "s4", "s6"]);
    const found = body.flatMap(({ annotations }: { annotations: { summary: string }[] }) =>
      annotations.map(({ summary }) => Number(summary)),
    );
    expect(found.sort((a: number, b: number) => a - b)).toEqual(Array.from({ length: 5000 }, (_, i) => i));
    const everything = { startTime: day(1), endTime: day(2) };
    expect((await send("DELETE", ANNOTATIONS, { ...everything, stream: "s0" })).status).toBe(204);
    expect((await send("DELETE", STREAMS, { stream: "s2" })).status).toBe(204);
    expect((await send("GET", ANNOTATIONS)).body.map(({ stream }: { stream: string }) => stream)).toEqual(["s4", "s6"]);
  });
});

describe("streams", () => {
  test("one of the name is described, and by its id renamed", async () => {
    const put = async (body: object) => (await send("PUT", STREAMS, {}, body)).body;
    const made = await put({ stream: "s" });
    expect(made).toEqual({ id: expect.any(String), stream: "s", createdAt: expect.any(String), updatedAt: expect.any(String) });
    expect(await put({ stream: "s", description: "d" })).toMatchObject({ id: made.id, description: "d" });
    const other = await put({ stream: "t" });
    await make({ stream: "s", summary: "a", endTime: day(1) });
    expect((await send("PUT", `${STREAMS}/${made.id}`, {}, { stream: "u" })).body).toMatchObject({ id: made.id, stream: "u" });
    expect(await listed()).toEqual(["u: a"]);
    expect((await send("PUT", `${STREAMS}/${other.id}`, {}, { stream: "u" })).status).toBe(422);
    expect((await send("PUT", STREAMS, {}, { stream: "" })).body).toMatchObject({ stream: "default" });
    expect((await send("GET", STREAMS, { streamIncludes: "t" })).body).toMatchObject([{ stream: "t" }]);
  });

  test("go with their annotations, by name or by id; those of others stay", async () => {
    await make({ stream: "s", summary: "a" }, { stream: "t", summary: "b" }, { stream: "u", summary: "c" });
    expect((await send("DELETE", STREAMS)).body.message).toBe("stream name must be set");
    expect((await send("DELETE", STREAMS, { stream: "s" })).status).toBe(204);
    const [, u] = (await send("GET", STREAMS)).body;
    expect((await send("DELETE", `${STREAMS}/${u.id}`)).status).toBe(204);
    expect((await send("DELETE", `${STREAMS}/${u.id}`)).body.message).toBe("stream not found");
    expect(await listed()).toEqual(["t: b"]);
  });
});

describe("notebooks", () => {
  const NOTEBOOKS = "/api/v2private/notebooks";

  test("what is in one passes through", async () => {
    const spec = { z: 1, a: { "ż\u0000\u2028": [null, "\ud83d\ude00", 1e21, -0.5] }, empty: {} };
    const made = await ask(server, "POST", NOTEBOOKS, "tok", { orgID, name: 'n"', spec });
    expect([made.status, made.body.name]).toEqual([200, 'n"']);
    expect(made.text).toContain(JSON.stringify(spec));
    expect((await send("GET", NOTEBOOKS)).body).toEqual({ flows: [made.body] });
    expect((await ask(server, "GET", `${NOTEBOOKS}/${made.body.id}`, "tok")).body).toEqual(made.body);
  });

  test("a replaced one stays in its organization", async () => {
    const { body: other } = await ask(server, "POST", "/api/v2/orgs", "tok", { name: "other" });
    const { body: made } = await ask(server, "POST", NOTEBOOKS, "tok", { orgID, name: "n", spec: {} });
    const moved = await ask(server, "PUT", `${NOTEBOOKS}/${made.id}`, "tok", { orgID: other.id, name: "m", spec: { a: 1 } });
    expect(moved.body).toEqual({ ...made, name: "m", spec: { a: 1 }, updatedAt: expect.any(String) });
  });

  test.each([
    [{ name: "n", orgID: "x", spec: {} }, "failed to unmarshal json: id must have a length of 16 bytes"],
    [{ name: "n", spec: {} }, "OrgID required"],
    [{ name: "n", orgID: "" }, "failed to unmarshal json: id must have a length of 16 bytes"],
  ])("%j is refused", async (body, message) => {
    expect((await ask(server, "POST", NOTEBOOKS, "tok", body)).body).toEqual({ code: "invalid", message });
  });

  test("the spec is an object", async () => {
    for (const spec of [undefined, null, [], "text", 5]) {
      expect((await ask(server, "POST", NOTEBOOKS, "tok", { orgID, name: "n", spec })).status).toBe(400);
    }
    expect((await ask(server, "POST", NOTEBOOKS, "tok", { orgID: "1234567890abcdef", name: "n", spec: {} })).status).toBe(404);
  });
});

test("all of them are there after a start, and go with their organization", async () => {
  const store = new MemoryObjectStore();
  const first = await lightServer({ store });
  const { body: made } = await ask(first, "POST", "/api/v2/setup", undefined, SETUP);
  const { body: other } = await ask(first, "POST", "/api/v2/orgs", "tok", { name: "other" });
  const ids = [made.org.id as string, other.id as string];
  for (const id of ids) {
    await ask(first, "POST", "/api/v2private/notebooks", "tok", { orgID: id, name: "n", spec: { a: 1 } });
    await ask(first, "POST", `${ANNOTATIONS}?orgID=${id}`, "tok", [{ stream: "s", summary: "a", stickers: { k: "v" } }]);
  }
  const listsOf = async (of: LightServer) =>
    Promise.all(
      ids.flatMap((id) =>
        ["notebooks", "annotations", "streams"].map((kind) => ask(of, "GET", `/api/v2private/${kind}?orgID=${id}`, "tok")),
      ),
    ).then((answers) => answers.map(({ text }) => text.trim()));
  const before = await listsOf(first);
  await first.stop();
  const again = await lightServer({ store });
  expect(await listsOf(again)).toEqual(before);
  await ask(again, "DELETE", `/api/v2/orgs/${other.id}`, "tok");
  expect(await listsOf(again)).toEqual([...before.slice(0, 3), '{"flows":[]}', "[]", "[]"]);
  const counts = (["notebook", "annotation", "annotation_stream"] as const).map((kind) => again.catalog.records.ofKind(kind).size);
  expect(counts).toEqual([1, 1, 1]);
  await again.stop();
});
