// What comes to the port: HTTP/1 goes on to the HTTP port and back, gRPC stays, with TLS and without.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { status } from "@grpc/grpc-js";
import { CERTIFICATE, PRIVATE_KEY } from "../../../../test/api/certificate.ts";
import { batches, FlightClient, startFlight, ticketMessage } from "../../../../test/support/flight/flight-server.ts";
import type { Tls } from "../../../model/tls.ts";
import type { FlightServer } from "../flight-server.ts";

const TLS = { cert: CERTIFICATE, key: PRIVATE_KEY };

describe.each([
  ["plain", null],
  ["TLS", TLS],
] as const)("%s", (_, tls) => {
  let http: Bun.Server<undefined>;
  let flight: FlightServer;
  let url: string;
  const options = tls === null ? {} : { tls: { ca: CERTIFICATE } };

  beforeAll(async () => {
    http = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      ...(tls === null ? {} : { tls }),
      async fetch(request) {
        const { pathname } = new URL(request.url);
        if (pathname === "/slow") return new Response(slowBody());
        return new Response(await request.bytes(), { headers: { "x-path": pathname, "x-method": request.method } });
      },
    });
    const port = http.port!;
    ({ server: flight } = await startFlight(async () => batches((made) => made <= 3), { tls, http: { hostname: "127.0.0.1", port } }));
    url = `${tls === null ? "http" : "https"}://127.0.0.1:${flight.port}`;
  });
  afterAll(async () => {
    await flight.stop(0);
    await http.stop(true);
  });

  test("requests and answers pass through, one after the other and many at a time", async () => {
    const bodies = Array.from({ length: 20 }, (_value, i) => new Uint8Array(i * 50_000).fill(i));
    const ask = async (body: Uint8Array<ArrayBuffer>, i: number) => {
      const answer = await fetch(`${url}/path/${i}`, { method: "PUT", body, ...options });
      expect([answer.status, answer.headers.get("x-path"), answer.headers.get("x-method")]).toEqual([200, `/path/${i}`, "PUT"]);
      expect(Buffer.from(await answer.bytes()).equals(body)).toBe(true);
    };
    for (const [i, body] of bodies.slice(0, 3).entries()) await ask(body, i);
    await Promise.all(bodies.map(ask));
  });

  test("an answer that comes slowly comes as it is made", async () => {
    const reader = (await fetch(`${url}/slow`, options)).body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("first");
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("second");
    expect((await reader.read()).done).toBe(true);
  });

  test("gRPC on the same port", async () => {
    const client = new FlightClient(flight.port, tls?.cert);
    const { code, messages } = await client.call("DoGet", ticketMessage("SELECT 1"));
    client.close();
    expect([code, messages.length]).toEqual([status.OK, 4]);
  });
});

/** Two pieces, the second only when the first has been read by a client on the other side. */
function slowBody(): ReadableStream<Uint8Array> {
  const pieces = ["first", "second"];
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = pieces.shift();
      if (piece === undefined) return controller.close();
      controller.enqueue(new TextEncoder().encode(piece));
      await new Promise((resolve) => setTimeout(resolve, 100));
    },
  });
}

describe("connections", () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  test("an HTTP port that is not there ends the connection", async () => {
    const { server } = await startFlight(async () => batches(() => false));
    closing.push(() => server.stop(0));
    await expect(fetch(`http://127.0.0.1:${server.port}/ping`)).rejects.toThrow();
  });

  test("a client that leaves is gone for the HTTP port too", async () => {
    const left = Promise.withResolvers<void>();
    const http = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => {
        request.signal.addEventListener("abort", () => left.resolve());
        return new Promise<Response>(() => {});
      },
    });
    closing.push(() => http.stop(true));
    const { server } = await startFlight(async () => batches(() => false), { http: { hostname: "127.0.0.1", port: http.port! } });
    closing.push(() => server.stop(0));
    const socket = connect(server.port, "127.0.0.1", () => socket.write("GET /forever HTTP/1.1\r\nhost: x\r\n\r\n"));
    while (http.pendingRequests === 0) await Bun.sleep(1);
    socket.destroy();
    await left.promise;
  });

  /** What a client sends that means to take its time: through TLS where `secured` says so. */
  const SLOW: [what: string, tls: Tls | null, bytes: Uint8Array, secured: boolean][] = [
    ["no byte", null, new Uint8Array(0), false],
    ["half of HTTP/2's preface", null, Buffer.from("PRI * H"), false],
    ["no byte, where TLS is spoken", TLS, new Uint8Array(0), false],
    ["half a greeting of TLS", TLS, Buffer.from([0x16, 3, 1, 2, 0, 1]), false],
    ["HTTP/1.1 where TLS is spoken", TLS, Buffer.from("GET / HTTP/1.1\r\n\r\n"), false],
    ["no byte behind the handshake", TLS, new Uint8Array(0), true],
    ["half of HTTP/2's preface behind the handshake", TLS, Buffer.from("PRI * H"), true],
  ];

  function opened(port: number, isSecured: boolean, bytes: Uint8Array): { socket: Socket; closed: Promise<void> } {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const begin = () => socket.write(bytes);
    const socket: Socket = isSecured
      ? connectTls({ port, host: "127.0.0.1", ca: CERTIFICATE, servername: "localhost" }, begin)
      : connect(port, "127.0.0.1", begin);
    socket.on("error", () => {});
    // the reader sees it
    socket.resume();
    socket.once("close", () => resolve());
    return { socket, closed };
  }

  test.each(SLOW)("a connection that sends %s is ended after a time", async (_, tls, bytes, isSecured) => {
    const { server } = await startFlight(async () => batches(() => false), { tls, waiting: { milliseconds: 100, max: 10 } });
    closing.push(() => server.stop(0));
    await opened(server.port, isSecured, bytes).closed;
  });

  test("an HTTP/2 connection without a call is ended after a time", async () => {
    const { server } = await startFlight(async () => batches(() => false), { connectionIdleMs: 100 });
    closing.push(() => server.stop(0));
    const noSettings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    await opened(server.port, false, Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), noSettings])).closed;
  });

  test.each([
    ["plain", null],
    ["TLS", TLS],
  ])("%s: however many say nothing, one more is served, in the place of the oldest", async (_, tls) => {
    const max = 20;
    const day = 86_400_000;
    const http = Bun.serve({ port: 0, hostname: "127.0.0.1", ...(tls === null ? {} : { tls }), fetch: () => new Response("served") });
    closing.push(() => http.stop(true));
    const { server } = await startFlight(async () => batches(() => false), {
      ...{ tls, waiting: { milliseconds: day, max }, http: { hostname: "127.0.0.1", port: http.port! } },
    });
    closing.push(() => server.stop(0));
    const silent = Array.from({ length: 3 * max }, () => opened(server.port, false, new Uint8Array(0)));
    // two thirds of them are ended, whichever they are, and the others are not
    const ended = new Set<number>();
    silent.forEach(({ closed }, i) => void closed.then(() => ended.add(i)));
    while (ended.size < 2 * max) await Bun.sleep(1);
    for (let i = 1; i <= 3; i++) {
      const answer = await fetch(`${tls === null ? "http" : "https"}://127.0.0.1:${server.port}/`, {
        ...{ keepalive: false, ...(tls === null ? {} : { tls: { ca: CERTIFICATE } }) },
      });
      expect(await answer.text()).toBe("served");
    }
    while (ended.size < 2 * max + 1) await Bun.sleep(1);
    // the first to be served took the place of one; its own was free again for the next
    expect(ended.size).toBe(2 * max + 1);
    for (const { socket } of silent) socket.destroy();
  });

  test("a connection that sends nothing does not delay the server's stop", async () => {
    const { server } = await startFlight(async () => batches(() => false));
    const ended = Promise.withResolvers<void>();
    const socket = connect(server.port, "127.0.0.1", () => void server.stop(0));
    socket.once("close", () => ended.resolve());
    socket.on("error", () => {});
    await ended.promise;
  });
});
