// Requests to servers on this machine: what they send, what stops them, and which addresses they may go to.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AddressInfo, createServer } from "node:net";
import { isPublicAddress } from "./addresses.ts";
import { AnswerMemory } from "./answer-memory.ts";
import { OUTGOING_LIMITS, type OutgoingRequest, outgoingHttp } from "./outgoing-http.ts";

const seen: { method: string; path: string; headers: Record<string, string>; body: string }[] = [];
let server: Bun.Server<undefined>;
let other: Bun.Server<undefined>;
/** Ends the answers of /held, which have sent their bytes. */
const held = Promise.withResolvers<void>();
const HELD_BYTES = 100 * 1024;

async function answer(request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  seen.push({ method: request.method, path: pathname, headers: Object.fromEntries(request.headers), body: await request.text() });
  if (pathname === "/redirect") {
    const status = Number(searchParams.get("status"));
    return new Response(null, { status, headers: { Location: searchParams.get("to")! } });
  }
  if (pathname === "/loop") return new Response(null, { status: 302, headers: { Location: "/loop" } });
  if (pathname === "/long") return new Response("x".repeat(10_000));
  if (pathname === "/held") {
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(new Uint8Array(HELD_BYTES));
        await held.promise;
        controller.close();
      },
    });
    return new Response(body);
  }
  if (pathname === "/never") await new Promise(() => {});
  return new Response(`answer to ${request.method}`, { status: 201, headers: { "x-kind": "test" } });
}

beforeAll(() => {
  server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
  other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
});
afterAll(async () => {
  await server.stop(true);
  await other.stop(true);
});

const PRIVATE = { ...OUTGOING_LIMITS, allowsPrivate: true };

function request(path: string, changes: Partial<OutgoingRequest> = {}): OutgoingRequest {
  const url = path.startsWith("/") ? `http://127.0.0.1:${server.port}${path}` : path;
  return { method: "GET", url, headers: [], body: new Uint8Array(0), timeoutMs: 0, isInsecure: false, ...changes };
}
const text = (body: Uint8Array) => new TextDecoder().decode(body);

test("a request arrives as it was made", async () => {
  const headers = [
    ["X-Own", "1"],
    ["Content-Length", "9999"],
    ["Host", "elsewhere"],
  ] as const;
  const given = await outgoingHttp(request("/a?b=c", { method: "POST", headers, body: new TextEncoder().encode("żółw") }), PRIVATE);
  expect([given.status, text(given.body)]).toEqual([201, "answer to POST"]);
  expect(Object.fromEntries(given.headers)["X-Kind"]).toBe("test");
  expect(seen.at(-1)).toMatchObject({
    method: "POST",
    path: "/a",
    body: "żółw",
    headers: { "x-own": "1", host: `127.0.0.1:${server.port}` },
  });
});

const BLOCKED = [
  ...["http://127.0.0.1:PORT/", "http://localhost:PORT/", "http://0.0.0.0:PORT/", "http://[::1]:PORT/", "http://[::ffff:127.0.0.1]:PORT/"],
  ...["http://[::ffff:7f00:1]:PORT/", "http://2130706433:PORT/", "http://0x7f.1:PORT/", "http://127.1:PORT/", "http://[::]:PORT/"],
];
test.each(BLOCKED)("%s is not asked unless private networks are allowed", async (url) => {
  const before = seen.length;
  const sent = outgoingHttp(request(url.replace("PORT", String(server.port))), OUTGOING_LIMITS);
  expect(sent).rejects.toThrow("private");
  await sent.catch(() => {});
  expect(seen.length).toBe(before);
});

test.each(["ftp://127.0.0.1/", "file:///etc/passwd", "http//x", "", "javascript:1"])("%j is no URL for it", async (url) => {
  await expect(outgoingHttp(request(url === "" ? " " : url), PRIVATE)).rejects.toThrow(/cannot parse URL|unsupported protocol/);
});

test.each([301, 302, 303, 307, 308])("a redirect with %d is followed", async (status) => {
  const made = request(`/redirect?status=${status}&to=/end`, { method: "POST", body: new TextEncoder().encode("x") });
  await outgoingHttp(made, PRIVATE);
  expect(seen.at(-1)).toMatchObject(status < 304 ? { method: "GET", path: "/end", body: "" } : { method: "POST", path: "/end", body: "x" });
});

test("secrets do not go to another host", async () => {
  const to = encodeURIComponent(`http://127.0.0.1:${other.port}/end`);
  const headers = [["Authorization", "Token secret"] as const, ["X-Own", "1"] as const];
  await outgoingHttp(request(`/redirect?status=307&to=${to}`, { headers }), PRIVATE);
  expect(seen.at(-1)!.headers).toMatchObject({ "x-own": "1" });
  expect(seen.at(-1)!.headers["authorization"]).toBeUndefined();
});

test("redirects end", async () => {
  await expect(outgoingHttp(request("/loop"), PRIVATE)).rejects.toThrow("stopped after 5 redirects");
});

test("answers have limits of size and time", async () => {
  await expect(outgoingHttp(request("/long"), { ...PRIVATE, bodyBytesMax: 5000 })).rejects.toThrow("longer than 5000 bytes");
  await expect(outgoingHttp(request("/never", { timeoutMs: 50 }), PRIVATE)).rejects.toThrow("no answer within 50 ms");
});

test("interim answers without end", async () => {
  const endless = createServer((socket) => {
    socket.on("error", () => {});
    const push = () => {
      while (!socket.destroyed && socket.write("HTTP/1.1 100 Continue\r\n\r\n"));
    };
    socket.on("drain", push);
    socket.once("data", push);
  });
  await new Promise<void>((listening) => endless.listen(0, "127.0.0.1", listening));
  const { port } = endless.address() as AddressInfo;
  await expect(outgoingHttp(request(`http://127.0.0.1:${port}/`), PRIVATE)).rejects.toThrow("more than 10 interim answers");
  endless.close();
});

test("large answers that arrive share their memory, and give it back", async () => {
  const bytesMax = 8 * 112 * 1024;
  const memory = new AnswerMemory(bytesMax);
  const failures: string[] = [];
  const { promise: refused, resolve: refuse } = Promise.withResolvers<void>();
  // each takes 112 KiB at its end, and half of that before: four of twelve fail, or some more
  const asked = Array.from({ length: 12 }, () =>
    outgoingHttp(request("/held"), { ...PRIVATE, memory }).catch((error: Error) => {
      if (failures.push(error.message) === 4) refuse();
      return null;
    }),
  );
  await refused;
  held.resolve();
  const answers = (await Promise.all(asked)).filter((each) => each !== null);
  expect(answers.length).toBeGreaterThanOrEqual(4);
  expect(answers.map(({ body }) => body.length)).toEqual(answers.map(() => HELD_BYTES));
  for (const failure of failures) expect(failure).toContain(`answers that are arriving would take more than ${bytesMax} bytes`);
  expect(() => memory.take(bytesMax)).not.toThrow();
});

test("nobody listens", async () => {
  const closed = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
  const { port } = closed;
  await closed.stop(true);
  await expect(outgoingHttp(request(`http://127.0.0.1:${port}/?token=secret`), PRIVATE)).rejects.toThrow(
    /^GET "http:\/\/127.0.0.1:\d+\/": /,
  );
});

const ADDRESSES: readonly (readonly [string, boolean])[] = [
  ...["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "2a00:1450:4001::1"].map((each) => [each, true] as const),
  ...["127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1"].map(
    (each) => [each, false] as const,
  ),
  ...["0.0.0.0", "255.255.255.255", "224.0.0.1", "198.18.0.1"].map((each) => [each, false] as const),
  ...["::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00::1", "ff02::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"].map(
    (each) => [each, false] as const,
  ),
  ...["2002:7f00:1::", "2001::1", "2001:db8::1", "", "x", "8.8.8.8.8"].map((each) => [each, false] as const),
];
test.each(ADDRESSES)("%s is public: %p", (address, isPublic) => {
  expect(isPublicAddress(address)).toBe(isPublic);
});
