// Messages of scripts to MQTT brokers: one connection a message, to an address that was checked, with limits of time and size.
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { MqttClient } from "mqtt";
import { TsdbError } from "../model/errors.ts";
import type { MqttMessage } from "../model/query/mqtt-service.ts";
import type { OutgoingLimits } from "./outgoing-http.ts";
import { allowedAddresses, connectionError, connectsTo, type HostAddress } from "./resolve.ts";

interface Broker {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly login: MqttMessage["login"];
  /** Without what the URL may hold of secrets. */
  readonly shown: string;
}

const PLAIN: ReadonlySet<string> = new Set(["tcp:", "mqtt:"]);
const TLS: ReadonlySet<string> = new Set(["ssl:", "tls:", "mqtts:", "tcps:"]);
/** Bytes of a text in a packet. */
const TEXT_BYTES_MAX = 65_535;
/** A broker answers a publisher with a few bytes a packet. */
const ANSWER_BYTES_MAX = 64 * 1024;
/** How long a broker may take to close the connection when it has the message. */
const CLOSE_MS = 1000;

/** Sends one message. @throws TsdbError bad_query: the broker or the message is not allowed, or the broker refused it or took too long */
export async function publishMqtt(message: MqttMessage, limits: OutgoingLimits, cancelled?: AbortSignal): Promise<void> {
  const broker = brokerOf(message.broker);
  try {
    checkMessage(message, limits.bodyBytesMax);
    await publish(message, broker, limits, cancelled);
  } catch (error) {
    throw new TsdbError("bad_query", `MQTT broker "${broker.shown}": ${error instanceof Error ? error.message : String(error)}`);
  }
}

function brokerOf(text: string): Broker {
  const url = URL.parse(text);
  if (url === null || url.hostname === "") {
    throw new TsdbError("bad_query", "cannot parse the URL of the MQTT broker: such as tcp://host:1883 wanted");
  }
  const { protocol } = url;
  const isTls = TLS.has(protocol);
  if (!isTls && !PLAIN.has(protocol)) {
    throw new TsdbError(
      "bad_query",
      `unsupported scheme "${protocol.slice(0, -1)}" of the MQTT broker: tcp, mqtt, ssl, tls, mqtts or tcps wanted`,
    );
  }
  const port = url.port === "" ? (isTls ? 8883 : 1883) : Number(url.port);
  const login = url.username === "" ? null : { username: decoded(url.username), password: decoded(url.password) };
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port, isTls, login, shown: `${protocol}//${url.host}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function checkMessage({ topic, payload, clientId, login }: MqttMessage, bytesMax: number): void {
  if (topic === "") throw new Error("empty topic");
  if (/[+#\0]/.test(topic)) throw new Error(`the topic ${JSON.stringify(topic.slice(0, 200))} has one of the characters + # NUL`);
  for (const [name, text] of Object.entries({ topic, "client id": clientId, username: login?.username, password: login?.password })) {
    if (Buffer.byteLength(text ?? "") > TEXT_BYTES_MAX) throw new Error(`the ${name} is longer than ${TEXT_BYTES_MAX} bytes`);
  }
  const bytes = Buffer.byteLength(payload);
  if (bytes > bytesMax) throw new Error(`the message has ${bytes} bytes, at most ${bytesMax} are allowed`);
}

async function publish(message: MqttMessage, broker: Broker, limits: OutgoingLimits, cancelled?: AbortSignal): Promise<void> {
  const { promise: stopped, reject: stop } = Promise.withResolvers<never>();
  stopped.catch(() => {});
  const connectMs = message.timeoutMs > 0 ? Math.min(message.timeoutMs, limits.timeoutMs) : limits.timeoutMs;
  const connectTimer = setTimeout(() => stop(new Error(`no connection within ${connectMs} ms`)), connectMs);
  const timer = setTimeout(() => stop(new Error(`no acknowledgement within ${limits.timeoutMs} ms`)), limits.timeoutMs);
  const cancel = () => stop(new Error("cancelled"));
  if (cancelled?.aborted === true) cancel();
  cancelled?.addEventListener("abort", cancel, { once: true });
  let client: MqttClient | null = null;
  let socket: Socket | null = null;
  try {
    const addresses = await Promise.race([allowedAddresses(broker.host, limits.allowsPrivate), stopped]);
    const opened = socketTo(addresses, broker, stop);
    socket = opened;
    // what logs in leaves only when the certificate has been checked
    await Promise.race([happened((done) => opened.once(broker.isTls ? "secureConnect" : "connect", done)), stopped]);
    const made = await clientOver(opened, message, broker);
    client = made;
    client.on("error", stop);
    await Promise.race([happened((done) => made.once("connect", done)), stopped]);
    clearTimeout(connectTimer);
    const { topic, payload, qos, retain } = message;
    await Promise.race([client.publishAsync(topic, payload, { qos, retain }), stopped]);
    // the broker has the message: that it does not close the connection is no failure
    await Promise.race([client.endAsync(), stopped, Bun.sleep(CLOSE_MS)]).catch(() => {});
  } finally {
    clearTimeout(connectTimer);
    clearTimeout(timer);
    cancelled?.removeEventListener("abort", cancel);
    client?.end(true);
    socket?.destroy();
  }
}

function socketTo(addresses: readonly HostAddress[], { host, port, isTls }: Broker, stop: (error: Error) => void): Socket {
  const to = { host, port, ...connectsTo(addresses) };
  const socket = isTls ? connectTls(isIP(host) === 0 ? { ...to, servername: host } : to) : connectTcp(to);
  let received = 0;
  socket.on("data", (part: Uint8Array) => {
    received += part.length;
    if (received <= ANSWER_BYTES_MAX) return;
    stop(new Error(`the broker sent more than ${ANSWER_BYTES_MAX} bytes`));
    socket.destroy();
  });
  socket.on("error", (error: Error) => stop(connectionError(error)));
  socket.on("close", () => stop(new Error("the broker closed the connection")));
  return socket;
}

/** MQTT.js over a connection that is made here: by itself it would resolve the name again, and connect again. */
async function clientOver(socket: Socket, { clientId, login }: MqttMessage, broker: Broker): Promise<MqttClient> {
  const { MqttClient } = await import("mqtt");
  const { username, password } = login ?? broker.login ?? {};
  return new MqttClient(() => socket, {
    ...{ clientId, protocolVersion: 4, clean: true, reconnectPeriod: 0, timerVariant: "native" },
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  });
}

async function happened(listen: (done: () => void) => void): Promise<void> {
  await new Promise<void>((resolve) => listen(() => resolve()));
}
