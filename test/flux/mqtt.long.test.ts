// mqtt.publish and mqtt.to against a broker on this machine, and brokers that refuse, stay silent or misbehave.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { Aedes } from "aedes";
import { connectAsync } from "mqtt";
import { selfSigned } from "../../src/api/self-signed.ts";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { Time } from "../../src/flux/values/value.ts";
import { OUTGOING_LIMITS, type OutgoingLimits } from "../../src/outgoing/outgoing-http.ts";
import { publishMqtt } from "../../src/outgoing/outgoing-mqtt.ts";
import { MemorySource } from "./memory-source.ts";

interface Seen {
  readonly topic: string;
  readonly payload: string;
  readonly qos: number;
  readonly retain: boolean;
  readonly client: string;
}

const seen: Seen[] = [];
const logins: unknown[] = [];
const servers: { readonly server: Server; readonly sockets: Set<Socket> }[] = [];
let broker: Aedes;
let url = "";

/** @returns the port of a server on loopback */
async function listening(handle: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    handle(socket);
  });
  servers.push({ server, sockets });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as { port: number }).port;
}

beforeAll(async () => {
  broker = await Aedes.createBroker({
    authenticate: (client, username, password, done) => {
      logins.push([client.id, username ?? null, password?.toString() ?? null]);
      done(null, username !== "mallory");
    },
  });
  broker.on("publish", ({ topic, payload, qos, retain }, client) => {
    if (client !== null) seen.push({ topic, payload: payload.toString(), qos, retain, client: client.id });
  });
  url = `tcp://127.0.0.1:${await listening((socket) => void broker.handle(socket))}`;
});
afterAll(async () => {
  for (const { server, sockets } of servers) {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
  await new Promise<void>((resolve) => broker.close(() => resolve()));
});

async function answer(script: string, limits: Partial<OutgoingLimits> = {}, signal?: AbortSignal): Promise<string> {
  const allowed = { ...OUTGOING_LIMITS, allowsPrivate: true, ...limits };
  const services = { mqtt: (message: Parameters<typeof publishMqtt>[0]) => publishMqtt(message, allowed, signal) };
  const dialect = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
  const query = { text: `import "experimental/mqtt"\nimport "array"\n${script}`, now: new Time(0n), dialect, services };
  let text = "";
  const source = new MemorySource();
  try {
    for (const piece of answerQuery(query, fluxLibrary(), source)) {
      if (piece instanceof Promise) await piece;
      else text += piece ?? "";
    }
  } catch (error) {
    return `error: ${(error as Error).message}`;
  }
  return text;
}

/** The script's `mqtt.publish` with what is given besides a topic and a message, shown as a row. */
const publish = (more = "", at = url, limits: Partial<OutgoingLimits> = {}, signal?: AbortSignal) =>
  answer(`array.from(rows: [{v: mqtt.publish(broker: "${at}", topic: "t", message: "żółw"${more})}])`, limits, signal);

/** Rows of the only table, without the columns before the values. */
const rowsIn = (csv: string): string[] =>
  csv
    .trimEnd()
    .split("\r\n")
    .slice(4)
    .map((line) => line.split(",").slice(3).join(","));

describe("publish", () => {
  test.each([0, 1, 2])("quality of service %d", async (qos) => {
    expect(rowsIn(await publish(`, qos: ${qos}`))).toEqual(["true"]);
    expect(seen.at(-1)).toEqual({ topic: "t", payload: "żółw", qos, retain: false, client: "flux-mqtt" });
  });

  test("a retained message is there for who comes later", async () => {
    const script = `mqtt.publish(broker: "${url}", topic: "kept/a", message: "last", qos: 1, retain: true)`;
    expect(rowsIn(await answer(`array.from(rows: [{v: ${script}}])`))).toEqual(["true"]);
    const later = await connectAsync(url, { reconnectPeriod: 0 });
    const kept = new Promise<string>((resolve) => later.on("message", (topic, payload) => resolve(`${topic} ${payload}`)));
    await later.subscribeAsync("kept/#");
    expect(await kept).toBe("kept/a last");
    await later.endAsync();
  });

  test("who sends: by arguments, by the URL, and refused", async () => {
    logins.length = 0;
    await publish(', clientid: "me", username: "u", password: "p", qos: 1');
    await publish(', clientid: "me"', url.replace("//", "//a%40b:c@"));
    expect(logins).toEqual([
      ["me", "u", "p"],
      ["me", "a@b", "c"],
    ]);
    const count = seen.length;
    expect(await publish(', username: "mallory", password: "p"')).toMatch(/127\.0\.0\.1:\d+": Connection refused: /);
    expect(seen.length).toBe(count);
  });

  test("for each row, once", async () => {
    const count = seen.length;
    const script = `array.from(rows: [{n: "1"}, {n: "2"}, {n: "3"}])
      |> map(fn: (r) => ({sent: mqtt.publish(broker: "${url}", topic: "rows", message: r.n, qos: 1)}))`;
    expect(rowsIn(await answer(script))).toEqual(["true", "true", "true"]);
    expect(seen.slice(count).map(({ payload }) => payload)).toEqual(["1", "2", "3"]);
  });

  test("a message of 2 MB arrives whole, with any quality", async () => {
    for (const qos of [0, 2]) {
      const message = { broker: url, topic: "long", payload: "é".repeat(1_000_000), qos: qos as 0 | 2, retain: false };
      const limits = { ...OUTGOING_LIMITS, allowsPrivate: true };
      await publishMqtt({ ...message, clientId: "c", login: null, timeoutMs: 0 }, limits);
      expect(seen.at(-1)!.payload === message.payload && seen.at(-1)!.qos === qos).toBe(true);
    }
  });
});

const ROWS = `array.from(rows: [
  {_time: 1970-01-01T00:00:01Z, _measurement: "m 1", host: "a b", _value: 1.5, n: 7, s: "x\\"y", b: true, u: uint(v: 3)},
  {_time: 1970-01-01T00:00:02Z, _measurement: "m 1", host: "c", _value: 2.0, n: 8, s: "", b: false, u: uint(v: 4)},
  {_time: 1970-01-01T00:00:03Z, _measurement: "m 2", host: "", _value: 3.0, n: 9, s: "z", b: false, u: uint(v: 5)},
])`;

describe("to", () => {
  test("rows are lines of one message, and pass on", async () => {
    const count = seen.length;
    const plain = await answer(`${ROWS} |> yield(name: "r")`);
    const passed = await answer(
      `${ROWS} |> mqtt.to(broker: "${url}", topic: "all", qos: 1, tagColumns: ["host"], valueColumns: ["n", "_value", "s", "b", "u"]) |> yield(name: "r")`,
    );
    expect(passed).toBe(plain);
    expect(seen.slice(count).map(({ topic, qos }) => [topic, qos])).toEqual([["all", 1]]);
    expect(seen.at(-1)!.payload.split("\n")).toEqual([
      'm\\ 1,host=a\\ b _value=1.5,b=true,n=7i,s="x\\"y",u=3u 1000000000',
      'm\\ 1,host=c _value=2,b=false,n=8i,s="",u=4u 2000000000',
      'm\\ 2 _value=3,b=false,n=9i,s="z",u=5u 3000000000',
      "",
    ]);
  });

  test("a message for each table, with the topic of its first row", async () => {
    const count = seen.length;
    await answer(`${ROWS} |> group(columns: ["_measurement", "host"]) |> mqtt.to(broker: "${url}", tagColumns: ["host"], retain: true)`);
    const sent = seen.slice(count).map(({ topic, payload, retain }) => [topic, payload, retain]);
    expect(sent.sort()).toEqual([
      ["/m 1/host/a b", "m\\ 1,host=a\\ b _value=1.5 1000000000\n", true],
      ["/m 1/host/c", "m\\ 1,host=c _value=2 2000000000\n", true],
      ["/m 2", "m\\ 2 _value=3 3000000000\n", true],
    ]);
  });

  test("name and time column", async () => {
    const script = `array.from(rows: [{at: 1970-01-01T00:00:00.000000001Z, _value: 1}, {at: 1970-01-01T00:00:00.000000002Z, _value: 2}])`;
    await answer(`${script} |> mqtt.to(broker: "${url}", name: "given", timeColumn: "at")`);
    expect(seen.at(-1)).toMatchObject({ topic: "/given", payload: "given _value=1i 1\ngiven _value=2i 2\n" });
  });

  test("a table without rows sends nothing", async () => {
    const count = seen.length;
    expect(await answer(`${ROWS} |> filter(fn: (r) => r.n > 100, onEmpty: "keep") |> mqtt.to(broker: "${url}")`)).not.toContain("error");
    expect(seen.length).toBe(count);
  });

  const WRONG: readonly (readonly [args: string, error: RegExp])[] = [
    ['timeColumn: "at"', /no time column "at"/],
    ['timeColumn: "host"', /invalid type for time column "host": string/],
    ['tagColumns: ["n"]', /invalid type for tag column "n": int/],
    ['valueColumns: ["none"]', /none of the value columns \["none"\] is in the table/],
    ['topic: "a/#"', /has one of the characters/],
    ["qos: -1", /qos must be 0, 1 or 2, but was -1/],
    ['username: "u"', /password required with username/],
  ];
  test.each(WRONG)("%s", async (args, error) => {
    const count = seen.length;
    expect(await answer(`${ROWS} |> mqtt.to(broker: "${url}", ${args})`)).toMatch(error);
    expect(seen.length).toBe(count);
  });

  test("no name for the measurement", async () => {
    expect(await answer(`${ROWS} |> drop(columns: ["_measurement"]) |> mqtt.to(broker: "${url}")`)).toMatch(/neither "name" nor/);
  });

  test("a broker that refuses is an error of the script", async () => {
    const to = `mqtt.to(broker: "${url}", username: "mallory", password: "x")`;
    expect(await answer(`${ROWS} |> ${to}`)).toMatch(/,error,reference\r\n.*Connection refused/);
  });
});

describe("refused and failing", () => {
  const WRONG: readonly (readonly [args: string, error: RegExp])[] = [
    ['topic: "", message: "m"', /empty topic/],
    ['topic: "t", message: ""', /empty message/],
    ['topic: "a/+/b", message: "m"', /the topic "a\/\+\/b" has one of the characters/],
    ['topic: "t", message: "m", qos: 3', /qos must be 0, 1 or 2, but was 3/],
    ['topic: "t", message: "m", timeout: -1s', /timeout must be a positive duration/],
    ['topic: "t", message: "m", username: "u"', /password required with username/],
    ['topic: "t"', /missing required argument message/],
    ['topic: "t", message: 1', /expected string but found int/],
  ];
  test.each(WRONG)("%s", async (args, error) => {
    const count = seen.length;
    expect(await answer(`array.from(rows: [{v: mqtt.publish(broker: "${url}", ${args})}])`)).toMatch(error);
    expect(seen.length).toBe(count);
  });

  test("names and lengths that fit no packet", async () => {
    const long = "x".repeat(65_536);
    expect(await publish(`, clientid: "${long}"`)).toContain("the client id is longer than 65535 bytes");
    expect(await publish(`, username: "${long}", password: "p"`)).toContain("the username is longer than 65535 bytes");
    expect(await publish("", url, { bodyBytesMax: 6 })).toContain("the message has 7 bytes, at most 6 are allowed");
  });

  const BROKERS: readonly (readonly [broker: string, error: RegExp])[] = [
    ["ws://127.0.0.1:1", /unsupported scheme "ws".*tcp, mqtt, ssl/],
    ["wss://127.0.0.1:1", /unsupported scheme "wss"/],
    ["http://127.0.0.1:1", /unsupported scheme "http"/],
    ["localhost:1883", /cannot parse the URL/],
    ["", /cannot parse the URL/],
    ["tcp://", /cannot parse the URL/],
    ["tcp://127.0.0.1:99999", /cannot parse the URL/],
    ["tcp://name.invalid:1883", /no such host "name.invalid"/],
    ["tcp://user:hidden@127.0.0.1:1", /"tcp:\/\/127.0.0.1:1": .*refused/i],
  ];
  test.each(BROKERS)("broker %s", async (at, error) => {
    const text = await publish("", at);
    expect(text).toMatch(error);
    expect(text).not.toContain("hidden");
  });

  test("private addresses, by number and by name, without a connection", async () => {
    let connections = 0;
    const port = await listening(() => connections++);
    for (const host of ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "127.1", "0.0.0.0", "10.1.2.3"]) {
      for (const scheme of ["tcp", "ssl"]) {
        expect(await publish("", `${scheme}://${host}:${port}`, { allowsPrivate: false }), host).toMatch(/error: .*no such host/);
      }
    }
    expect(connections).toBe(0);
  });

  test("without the service", async () => {
    const dialect = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
    const text =
      'import "experimental/mqtt"\nimport "array"\narray.from(rows: [{v: mqtt.publish(broker: "tcp://a", topic: "t", message: "m")}])';
    const run = () => [...answerQuery({ text, now: new Time(0n), dialect, services: {} }, fluxLibrary(), new MemorySource())];
    expect(run).toThrow("MQTT brokers are not available here");
  });
});

const CONNACK = Uint8Array.of(0x20, 2, 0, 0);
/** Answers CONNECT, and then nothing. */
const silentAfterConnect = (socket: Socket) => socket.once("data", () => socket.write(CONNACK));

describe("brokers that misbehave", () => {
  test("silent: the time of the script, or the server's", async () => {
    let closed = 0;
    const port = await listening((socket) => {
      socket.on("data", () => {});
      socket.on("close", () => closed++);
    });
    const at = `tcp://127.0.0.1:${port}`;
    expect(await publish(", timeout: 50ms", at)).toContain("no connection within 50 ms");
    expect(await publish("", at)).toContain("no connection within 1000 ms");
    expect(await publish(", timeout: 0s", at, { timeoutMs: 60 })).toContain("no connection within 60 ms");
    expect(await publish(", timeout: 1h", at, { timeoutMs: 60 })).toContain("no connection within 60 ms");
    expect(await publish(", timeout: 50ms", at.replace("tcp", "ssl"))).toContain("no connection within 50 ms");
    expect(await answer(`${ROWS} |> mqtt.to(broker: "${at}", timeout: 50ms)`)).toContain("no connection within 50 ms");
    expect(await publish(", timeout: 50ms", `ssl://localhost:${port}`)).toContain("no connection within 50 ms");
    while (closed < 7) await Bun.sleep(5);
  });

  test("no acknowledgement: an error with quality 1 and 2, none with 0", async () => {
    const at = `tcp://127.0.0.1:${await listening(silentAfterConnect)}`;
    for (const qos of [1, 2]) expect(await publish(`, qos: ${qos}`, at, { timeoutMs: 300 })).toContain("no acknowledgement within 300 ms");
    expect(rowsIn(await publish(", qos: 0", at))).toEqual(["true"]);
  });

  test("half of the exchange of quality 2 is none", async () => {
    const port = await listening((socket) => {
      silentAfterConnect(socket);
      // PUBREC for the packet with the number that PUBLISH of the topic "t" has
      let packets = 0;
      socket.on("data", (part: Uint8Array) => {
        if (packets++ === 1) socket.write(Uint8Array.of(0x50, 2, part[5]!, part[6]!));
      });
    });
    expect(await publish(", qos: 2", `tcp://127.0.0.1:${port}`, { timeoutMs: 300 })).toContain("no acknowledgement within 300 ms");
  });

  const BYTES: readonly (readonly [what: string, handle: (socket: Socket) => unknown, error: RegExp])[] = [
    ["closes at once", (socket) => socket.end(), /closed the connection|reset/],
    ["closes after CONNECT", (socket) => socket.once("data", () => socket.end()), /closed the connection|reset/],
    ["resets after CONNECT", (socket) => socket.once("data", () => socket.resetAndDestroy()), /closed the connection|reset/i],
    ["is no broker", (socket) => socket.once("data", () => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n")), /error: /],
    ["refuses the client id", (socket) => socket.once("data", () => socket.write(Uint8Array.of(0x20, 2, 0, 2))), /Identifier rejected/],
    ["announces 256 MB", (socket) => socket.once("data", () => flood(socket)), /sent more than 65536 bytes/],
  ];
  test.each(BYTES)("%s", async (_, handle, error) => {
    const text = await publish(", qos: 1, timeout: 5s", `tcp://127.0.0.1:${await listening(handle)}`, { timeoutMs: 5000 });
    expect(text).toMatch(error);
    expect(text).toStartWith("error: ");
    expect(text).not.toContain("within");
  });

  test("TLS: a server that speaks none", async () => {
    expect(await publish(", timeout: 5s", url.replace("tcp", "mqtts"))).toMatch(/error: .*127\.0\.0\.1:\d+": /);
  });

  test("TLS: with a certificate that is trusted, and nothing leaves without one", async () => {
    const pair = await selfSigned(null, Date.now());
    const server = createTlsServer(pair, (socket) => void broker.handle(socket));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const [count, loginCount] = [seen.length, logins.length];
    for (const host of ["127.0.0.1", "localhost"]) {
      const login = ', username: "u", password: "p", timeout: 5s';
      expect(await publish(login, `ssl://${host}:${port}`)).toMatch(/error: .*self.signed certificate/i);
    }
    expect([seen.length, logins.length]).toEqual([count, loginCount]);
    const folder = mkdtempSync(join(tmpdir(), "flux-mqtt-"));
    try {
      writeFileSync(join(folder, "ca.pem"), pair.cert);
      const trusting = Bun.spawn([process.execPath, "-e", trustingScript(port)], {
        ...{ env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, "ca.pem") }, stdout: "pipe", stderr: "pipe" },
      });
      expect(await trusting.exited, await new Response(trusting.stderr).text()).toBe(0);
      expect(seen.slice(count).map(({ topic, payload }) => [topic, payload])).toEqual([
        ["tls", "127.0.0.1"],
        ["tls", "localhost"],
      ]);
    } finally {
      rmSync(folder, { recursive: true });
      server.close();
    }
  });

  test("a script that is cancelled waits no longer", async () => {
    const cancel = new AbortController();
    const port = await listening((socket) => socket.once("data", () => cancel.abort()));
    expect(await publish(", timeout: 1h", `tcp://127.0.0.1:${port}`, {}, cancel.signal)).toContain("cancelled");
    expect(await publish("", url, {}, cancel.signal)).toContain("cancelled");
  });
});

function flood(socket: Socket): void {
  socket.write(Uint8Array.of(0x30, 0xff, 0xff, 0xff, 0x7f));
  socket.write(new Uint8Array(1 << 20));
}

/** Publishes over TLS, by address and by name. */
function trustingScript(port: number): string {
  const path = join(import.meta.dir, "../../src/outgoing/outgoing-mqtt.ts");
  return `const { publishMqtt } = await import(${JSON.stringify(path)});
    for (const host of ["127.0.0.1", "localhost"]) {
      const broker = "mqtts://" + host + ":${port}";
      const message = { broker, topic: "tls", payload: host, qos: 1, retain: false, clientId: "c", login: null, timeoutMs: 5000 };
      await publishMqtt(message, { allowsPrivate: true, timeoutMs: 5000, bodyBytesMax: 100 });
    }`;
}
