// The service in a thread of its own, with the backend on this one: statements there, answers back, under credit; the thread's death.
import { afterEach, expect, test } from "bun:test";
import { status } from "@grpc/grpc-js";
import { BATCH_BYTES, batches, FlightClient, NO_HTTP, ticketMessage } from "../../../test/support/flight/flight-server.ts";
import { RawHttp2 } from "../../../test/support/servers/raw-http2.ts";
import { TsdbError } from "../../model/errors.ts";
import type { QueryRequest, QueryService } from "../../model/query/query.ts";
import { type Access, authorized } from "./access.ts";
import { FlightThread } from "./flight-thread.ts";
import type { EndedCall } from "./grpc/grpc-server.ts";
import { THREAD_WINDOW_BYTES } from "./worker-messages.ts";

const closing: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Ended {
  readonly error: unknown;
  readonly bytes: number;
}

async function started(query: QueryService["query"], check: Access["check"] = () => {}, port = 0) {
  const ended: Ended[] = [];
  const reported: string[] = [];
  const calls: EndedCall[] = [];
  const failures: string[] = [];
  const options = {
    ...{ hostname: "127.0.0.1", port, tls: null, http: NO_HTTP },
    report: (error: Error, where: string) => void reported.push(`${where}: ${error.message}`),
    queryStarted: () => {},
    queryEnded: (outcome: Ended) => void ended.push(outcome),
    onCall: (call: EndedCall) => void calls.push(call),
    onFailure: () => void failures.push("failed"),
  };
  const thread = await FlightThread.start(options, authorized({ check }, { query }));
  const client = new FlightClient(thread.port);
  closing.push(() => thread.stop(0));
  closing.push(() => client.close());
  return { thread, client, ended, reported, calls, failures };
}

test("statements and their answers cross", async () => {
  const requests: Omit<QueryRequest, "signal">[] = [];
  const { thread, client, ended, calls } = await started(async ({ signal: _, ...request }) => {
    requests.push(request);
    return batches((made) => made <= 40);
  });
  const [first, second] = await Promise.all([1, 2].map((i) => client.call("DoGet", ticketMessage(`SELECT ${i}`))));
  for (const { code, messages } of [first!, second!]) expect([code, messages.length]).toEqual([status.OK, 41]);
  const asked = { database: "d", params: {}, format: "flight", queryType: "sql" };
  expect(requests).toEqual([
    { ...asked, statement: "SELECT 1" },
    { ...asked, statement: "SELECT 2" },
  ] as never);
  expect(ended.map(({ error, bytes }) => [error, bytes > 40 * BATCH_BYTES])).toEqual([
    [undefined, true],
    [undefined, true],
  ]);
  const doGet = "/arrow.flight.protocol.FlightService/DoGet";
  expect(calls.map(({ path, outcome, bytes }) => [path, outcome, bytes > 40 * BATCH_BYTES])).toEqual([
    [doGet, "ok", true],
    [doGet, "ok", true],
  ]);
  expect(calls.every(({ seconds }) => seconds > 0)).toBe(true);
  expect(thread.url).toBe(`http://127.0.0.1:${thread.port}`);
});

test("errors cross, with their kind; of a bug only that it was one", async () => {
  const errors = [new TsdbError("bad_query", "wrong"), new TsdbError("unknown_database", "none", { database: "d" }), new Error("secret")];
  const { client, ended, reported, calls } = await started(() => Promise.reject(errors.shift()!));
  const ends = [];
  for (let i = 0; i < 3; i++) ends.push(await client.call("DoGet", ticketMessage("SELECT 1")));
  expect(ends.map(({ code, details }) => [code, details])).toEqual([
    [status.INVALID_ARGUMENT, "wrong"],
    [status.NOT_FOUND, "Database 'd' not found"],
    [status.INTERNAL, "internal error"],
  ]);
  // what crosses to this thread may come behind what the client is told
  while (reported.length === 0 || ended.length < 3 || calls.length < 3) await new Promise((resolve) => setImmediate(resolve));
  expect(reported).toEqual(["DoGet: secret"]);
  expect(calls.map(({ outcome, bytes }) => [outcome, bytes])).toEqual([
    ["client_error", 0],
    ["client_error", 0],
    ["server_error", 0],
  ]);
  expect(ended.length).toBe(3);
});

test("tokens are checked on this side", async () => {
  const seen: (string | null)[] = [];
  const check = async (token: string | null, database: string | null) => {
    seen.push(token, database);
    if (token !== "secret") throw new TsdbError("unauthenticated", "the request was not authenticated");
  };
  const { client } = await started(async () => batches(() => false), check);
  expect((await client.call("DoGet", ticketMessage("SELECT 1"))).code).toBe(status.UNAUTHENTICATED);
  const headers = { authorization: "Token secret" };
  expect((await client.call("DoGet", ticketMessage("SELECT 1"), { headers })).code).toBe(status.OK);
  expect(seen).toEqual([null, "d", "secret", "d"]);
});

test("a reader that opens no window holds the query back; when it leaves, the query ends", async () => {
  let made = 0;
  const aborted = Promise.withResolvers<void>();
  const { thread, ended } = await started(async ({ signal }) => {
    signal.addEventListener("abort", () => aborted.resolve());
    return batches((count) => {
      if (signal.aborted) throw new TsdbError("cancelled", "the query was cancelled");
      made = count;
      return true;
    });
  });
  const reader = (await RawHttp2.open(thread.port)).begin().call("DoGet", ticketMessage("SELECT 1"));
  await reader.until(() => reader.dataBytes >= 65_535);
  for (let last = -1; last !== made; await Bun.sleep(50)) last = made;
  // a window between the threads, one in front of the client
  expect(made * BATCH_BYTES).toBeLessThan(2 * THREAD_WINDOW_BYTES + (1 << 20));
  reader.close();
  await aborted.promise;
  while (ended.length === 0) await Bun.sleep(1);
  expect((ended[0]!.error as TsdbError).kind).toBe("cancelled");
});

test("an address that is taken", async () => {
  const { thread } = await started(async () => batches(() => false));
  const error = await started(
    async () => batches(() => false),
    () => {},
    thread.port,
  ).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ kind: "config" });
});

test("a thread that dies ends its statements and is replaced on the same port", async () => {
  const running = Promise.withResolvers<AbortSignal>();
  const { thread, reported, failures } = await started(async ({ signal, statement }) => {
    if (statement === "SELECT 1") return batches((made) => made <= 1);
    running.resolve(signal);
    return new Promise(() => {});
  });
  const victim = (await RawHttp2.open(thread.port)).begin().call("DoGet", ticketMessage("SELECT forever"));
  const signal = await running.promise;
  // nothing that a client sends makes it die, as far as is known
  const { worker } = thread as unknown as { worker: Worker };
  worker.postMessage(null);
  await victim.until(() => false);
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
  let code: status | undefined;
  while (code !== status.OK) {
    const client = new FlightClient(thread.port);
    ({ code } = await client.call("DoGet", ticketMessage("SELECT 1")));
    client.close();
  }
  expect(reported).toEqual(["thread: the thread of Arrow Flight failed: TypeError: null is not an object (evaluating 'message.type')"]);
  expect(failures).toEqual(["failed"]);
});
