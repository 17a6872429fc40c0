// Requests by way of a proxy of this file: what reaches it, and the same limits as without one.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { selfSigned } from "../api/self-signed.ts";
import { OUTGOING_LIMITS, type OutgoingRequest, outgoingHttp } from "./outgoing-http.ts";

interface Asked {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];
const usual = VARIABLES.map((name) => [name, process.env[name]] as const);
let asked: Asked[] = [];
let secure: Bun.Server<undefined>;

const proxy = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  asked.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
  if (request.url?.endsWith("/redirect")) response.writeHead(302, { location: "http://b.example/moved" });
  else response.writeHead(201, { "x-kind": "test", "set-cookie": ["a=1", "b=2"] });
  if (request.url?.endsWith("/never")) return;
  response.end(request.url?.endsWith("/long") ? "x".repeat(10_000) : `answer to ${request.method}`);
});
proxy.on("connect", ({ url, headers }, socket) => {
  asked.push({ line: `CONNECT ${url}`, headers, body: "" });
  const server = connect(secure.port!, "127.0.0.1", () => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    server.pipe(socket).pipe(server);
  });
  for (const each of [server, socket]) each.on("error", () => {});
});

beforeAll(async () => {
  const tls = await selfSigned(null, Date.now());
  secure = Bun.serve({ hostname: "127.0.0.1", port: 0, tls, fetch: async (request) => new Response(`secure ${await request.text()}`) });
  await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
});
beforeEach(() => {
  asked = [];
  for (const name of VARIABLES) delete process.env[name];
  const { port } = proxy.address() as AddressInfo;
  for (const name of ["HTTP_PROXY", "HTTPS_PROXY"]) process.env[name] = `http://us%40er:secret@127.0.0.1:${port}`;
});
afterEach(() => {
  for (const [name, value] of usual) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await secure.stop(true);
});

const ask = (url: string, changes: Partial<OutgoingRequest> = {}, limits = OUTGOING_LIMITS) =>
  outgoingHttp({ method: "GET", url, headers: [], body: new Uint8Array(0), timeoutMs: 0, isInsecure: false, ...changes }, limits);
const text = (body: Uint8Array) => new TextDecoder().decode(body);

test("the proxy gets the whole URL, what it asks of users, and the request", async () => {
  const headers = [
    ["X-Mine", "1"],
    ["Authorization", "Token t"],
  ] as const;
  const answer = await ask("http://a.example:81/p?q=1", { method: "POST", headers, body: Buffer.from("body") });
  expect([answer.status, text(answer.body)]).toEqual([201, "answer to POST"]);
  expect(answer.headers).toContainEqual(["X-Kind", "test"]);
  const [{ line, headers: got, body } = {} as Asked] = asked;
  expect([line, body, asked.length]).toEqual(["POST http://a.example:81/p?q=1", "body", 1]);
  expect(got).toMatchObject({ host: "a.example:81", "x-mine": "1", authorization: "Token t", "content-length": "4" });
  expect(got["proxy-authorization"]).toBe(`Basic ${Buffer.from("us@er:secret").toString("base64")}`);
  expect(got["accept-encoding"]).toBe("identity");
});

test("without a body", async () => {
  expect(text((await ask("http://a.example/", { method: "POST" })).body)).toBe("answer to POST");
  expect(text((await ask("http://a.example/")).body)).toBe("answer to GET");
});

test("HTTPS has a tunnel, and its certificate is checked", async () => {
  await expect(ask("https://a.example/x")).rejects.toThrow(
    /^GET "https:\/\/a.example\/x": by way of the proxy 127.0.0.1:\d+: .*certificate/i,
  );
  const answer = await ask("https://a.example/x", { method: "POST", body: Buffer.from("body"), isInsecure: true });
  expect([answer.status, text(answer.body)]).toEqual([200, "secure body"]);
  expect(new Set(asked.map(({ line }) => line))).toEqual(new Set(["CONNECT a.example:443"]));
  expect(asked[0]!.headers["proxy-authorization"]).toStartWith("Basic ");
});

test("redirects are followed by way of it", async () => {
  expect((await ask("http://a.example/redirect")).status).toBe(201);
  expect(asked.map(({ line }) => line)).toEqual(["GET http://a.example/redirect", "GET http://b.example/moved"]);
});

test("the same limits", async () => {
  await expect(ask("http://a.example/long", {}, { ...OUTGOING_LIMITS, bodyBytesMax: 5000 })).rejects.toThrow("longer than 5000 bytes");
  await expect(ask("http://a.example/never", { timeoutMs: 50 })).rejects.toThrow("no answer within 50 ms");
});

test("private addresses are refused, and excepted hosts and this machine are asked directly", async () => {
  await expect(ask("http://10.0.0.1/")).rejects.toThrow("requests to private networks are off");
  await expect(ask("http://localhost/")).rejects.toThrow("requests to private networks are off");
  process.env["NO_PROXY"] = "invalid";
  await expect(ask("http://a.invalid/")).rejects.toThrow('no such host "a.invalid"');
  expect(asked).toEqual([]);
});

test("a proxy that cannot be reached, and none", async () => {
  process.env["HTTP_PROXY"] = "http://user:secret@127.0.0.1:1";
  await expect(ask("http://a.example/?token=t")).rejects.toThrow(/^GET "http:\/\/a.example\/": by way of the proxy 127.0.0.1:1: /);
  process.env["HTTP_PROXY"] = "socks5://user:secret@127.0.0.1:1";
  await expect(ask("http://a.example/")).rejects.toThrow(
    'GET "http://a.example/": HTTP_PROXY: proxies of scheme "socks5" are not supported, want http or https',
  );
});
