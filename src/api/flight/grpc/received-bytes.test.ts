// Messages that never come whole: what they take is bounded, and who sends them is shown the door.
import { afterEach, expect, test } from "bun:test";
import { type ClientHttp2Session, connect } from "node:http2";
import { status } from "@grpc/grpc-js";
import { batches, FlightClient, startFlight, ticketMessage } from "../../../../test/support/flight/flight-server.ts";
import type { FlightServer } from "../flight-server.ts";

const MIB = 1 << 20;
const MESSAGE_BYTES = 4 * MIB;
const closing: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function started(): Promise<{ server: FlightServer; client: FlightClient }> {
  const { server } = await startFlight(async () => {
    let left = 1;
    return batches(() => left-- > 0);
  });
  const client = new FlightClient(server.port);
  closing.push(
    () => server.stop(0),
    () => client.close(),
  );
  return { server, client };
}

class Sender {
  readonly session: ClientHttp2Session;
  isClosed = false;

  constructor(port: number) {
    this.session = connect(`http://127.0.0.1:${port}`);
    this.session.on("error", () => {});
    this.session.once("close", () => {
      this.isClosed = true;
    });
    closing.push(() => this.session.destroy());
  }

  /** A call with so many bytes of a message of 4 MiB. */
  begin(method: string, bytes: number): ReturnType<ClientHttp2Session["request"]> {
    const path = `/arrow.flight.protocol.FlightService/${method}`;
    const call = this.session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" });
    call.on("error", () => {});
    const message = Buffer.alloc(bytes);
    message.writeUInt32BE(MESSAGE_BYTES, 1);
    call.write(message);
    return call;
  }
}

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
};

test("half a message is counted until its call or its connection ends", async () => {
  const { server, client } = await started();
  const first = new Sender(server.port);
  const call = first.begin("DoGet", 3 * MIB);
  first.begin("DoPut", MIB);
  await until(() => server.waitingBytes === 4 * MIB);
  call.close();
  await until(() => server.waitingBytes === MIB);
  const second = new Sender(server.port);
  second.begin("GetFlightInfo", 2 * MIB);
  await until(() => server.waitingBytes === 3 * MIB);
  first.session.destroy();
  await until(() => server.waitingBytes === 2 * MIB);
  expect(await client.call("DoGet", ticketMessage("SELECT 1"))).toMatchObject({ code: status.OK });
  expect(server.waitingBytes).toBe(2 * MIB);
  second.session.destroy();
  await until(() => server.waitingBytes === 0);
});

test("of many halves those of the connection with the most are dropped", async () => {
  const { server, client } = await started();
  const modest = new Sender(server.port);
  modest.begin("DoGet", MIB);
  await until(() => server.waitingBytes === MIB);
  const greedy = new Sender(server.port);
  for (let i = 0; i < 30; i++) greedy.begin("DoGet", MESSAGE_BYTES - MIB);
  await until(() => greedy.isClosed);
  await until(() => server.waitingBytes === MIB);
  expect(modest.isClosed).toBe(false);
  expect(await client.call("DoGet", ticketMessage("SELECT 1"))).toMatchObject({ code: status.OK });
  expect(await client.call("DoGet", ticketMessage(`SELECT 1${" ".repeat(MIB - 100)}`))).toMatchObject({ code: status.OK });
});
