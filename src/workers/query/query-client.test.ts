// Which statements are listed and can be killed, from their first moment to their worker's last word.
import { describe, expect, test } from "bun:test";
import { TsdbError } from "../../model/errors.ts";
import type { DatabaseScope, QueryAnswer } from "../../model/query/query.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import type { TableDef } from "../../model/rows/column.ts";
import { QueryLog } from "../../query/query-log.ts";
import type { TableState } from "../../scan/snapshot.ts";
import type { FromQueryWorker, ToQueryWorker } from "../wire/messages.ts";
import { type PackedToQueryWorker, StatementUnpacker } from "../wire/packed-messages.ts";
import { QueryClient } from "./query-client.ts";

const TIMES = { planMs: 1, computeMs: 1 };
const CACHE = { bytes: 0, files: 0, gen0Hits: 0, gen0Misses: 0, compactedHits: 0, compactedMisses: 0, bytesRead: 0 };

class Client {
  readonly sent: ToQueryWorker[] = [];
  readonly client: QueryClient;
  /** Databases that were checked or whose rows were requested. */
  readonly asked: (string | number)[] = [];
  /** Of the only table; null: there is none. */
  state: TableState | null = null;
  readonly log = new QueryLog({ entriesMax: 10, clockNs: () => 0n, nowMs: () => 0 });
  readonly ended: unknown[] = [];
  private readonly worker = {
    postMessage: (message: PackedToQueryWorker) => void this.sent.push(new StatementUnpacker().unpack(message)),
    terminate: () => {},
    addEventListener: () => {},
    onmessage: (_: { data: FromQueryWorker }) => {},
  };

  constructor(concurrentMax = 10) {
    this.client = new QueryClient({
      workerCount: 1,
      firstWorker: { worker: this.worker as unknown as Worker, failure: () => undefined },
      workerOptions: {
        shared: null as never,
        memoryBytes: 0,
        threads: 1,
        tempDir: "",
        cacheBytes: 0,
        processBytesMax: 0,
        residentBytesMax: 0,
        nativeCallsMax: 1,
        loopMsMax: 1000,
      },
      stuckGraceMs: 1000,
      memory: { takeOwner: () => 1, releaseOwner: () => 0 },
      every: () => () => {},
      removeFolder: () => {},
      ...{ concurrentMax, timeoutMs: 0, readerStallMs: 60_000 },
      log: this.log,
      snapshots: {
        checkDatabase: (database) => void this.asked.push(database),
        stateOf: () => this.state,
        take: (database) => {
          this.asked.push(database);
          if (this.state === null) throw new TsdbError("unknown_database", "none");
          const table = { ...this.state, retentionMinNs: ALL_TIME.minNs, tombstones: [], runs: [], blocks: [] };
          return { snapshot: { tables: [table], catalog: [], isInternal: false, systemRows: {} }, release: () => {} };
        },
      },
      cacheWorker: { bytesMax: 0, fillsFromHistory: { last: false, distinct: false } },
      onCacheWorkerReplaced: () => {},
      warn: () => {},
      onLost: () => {},
      onQueryEnd: (outcome) => void this.ended.push(outcome),
      onTelemetry: ({ queryId }) => void this.ended.push(queryId),
    });
    this.say({ type: "ready" });
  }

  say(message: FromQueryWorker): void {
    this.worker.onmessage({ data: message });
  }

  /** Begins a statement; it is sent to the worker when this resolves. */
  async begin(
    statement: string,
    signal = new AbortController().signal,
    scope?: DatabaseScope,
    isUnlisted = false,
  ): Promise<{ answer: Promise<QueryAnswer> }> {
    const scoped = scope === undefined ? {} : { scope };
    const answer = this.client.query({ database: "d", statement, params: {}, format: "json", signal, ...scoped, isUnlisted });
    answer.catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    return { answer };
  }

  get listed(): [id: bigint, text: string, status: string][] {
    return this.client.running().map(({ id, text, status }) => [id, text, status]);
  }
}

const END = { rowCount: 1, scans: [], times: TIMES, cache: CACHE };
const end = (id: number): FromQueryWorker => ({ type: "end", id, ...END });
const none = (id: bigint) => ({ kind: "bad_query", message: `no such query id: ${id}` });
const errorOf = (run: () => void): unknown => {
  try {
    run();
    return null;
  } catch (error) {
    return error;
  }
};

describe("a statement that waits for other servers", () => {
  const queries = ({ sent }: Client) => sent.flatMap((message) => (message.type === "query" ? [message.id] : []));

  test("leaves its permit to others, and ends with as many as before", async () => {
    const own = new Client(1);
    await own.begin("a");
    await own.begin("b");
    const [first] = queries(own);
    expect(queries(own)).toHaveLength(1);
    own.say({ type: "waits", id: first!, waits: true });
    await new Promise((resolve) => setImmediate(resolve));
    const second = queries(own)[1]!;
    // as many wait as there are permits
    own.say({ type: "waits", id: second, waits: true });
    await own.begin("c");
    expect([queries(own).length, own.client.permitCounts.held]).toEqual([2, 1]);
    own.say({ type: "waits", id: first!, waits: false });
    expect(own.client.permitCounts.held).toBe(2);
    own.say(end(first!));
    own.say(end(second));
    await new Promise((resolve) => setImmediate(resolve));
    own.say(end(queries(own)[2]!));
    expect([own.client.permitCounts.held, own.client.activeCount]).toEqual([0, 0]);
  });

  test("and is lost meanwhile", async () => {
    const own = new Client(1);
    await own.begin("a");
    own.say({ type: "waits", id: queries(own)[0]!, waits: true });
    own.say({ type: "error", id: queries(own)[0]!, error: { kind: "bad_query", message: "m", details: {} } });
    expect(own.client.permitCounts.held).toBe(0);
  });
});

describe("KILL QUERY", () => {
  test("a statement that runs: its client is answered at once and its worker stopped; until then it is listed as killed", async () => {
    const own = new Client();
    const { answer } = await own.begin("SELECT 1");
    await own.begin("SELECT 2");
    expect(own.listed).toEqual([
      [1n, "SELECT 1", "running"],
      [2n, "SELECT 2", "running"],
    ]);
    own.client.kill(1n);
    expect(answer).rejects.toMatchObject({ kind: "query_limit", message: "query interrupted" });
    expect(own.sent.at(-1)).toEqual({ type: "cancel", id: 1 });
    expect(own.listed).toEqual([
      [1n, "SELECT 1", "killed"],
      [2n, "SELECT 2", "running"],
    ]);
    expect(errorOf(() => own.client.kill(1n))).toMatchObject({ kind: "bad_query", message: "already killed" });
    own.say({ type: "error", id: 1, error: { kind: "cancelled", message: "cancelled", details: {} } as never });
    expect(own.listed).toEqual([[2n, "SELECT 2", "running"]]);
    expect(errorOf(() => own.client.kill(1n))).toMatchObject(none(1n));
  });

  test("what the server asks by itself is not listed, and no one ends it", async () => {
    const own = new Client();
    await own.begin("SELECT 1", undefined, undefined, true);
    await own.begin("SELECT 2");
    expect(own.listed).toEqual([[2n, "SELECT 2", "running"]]);
    expect(errorOf(() => own.client.kill(1n))).toMatchObject(none(1n));
    expect(own.sent.filter(({ type }) => type === "query").length).toBe(2);
  });

  test("a killed statement that waits for its reader: its bytes stay, then the error follows", async () => {
    const own = new Client();
    const { answer } = await own.begin("SELECT 1");
    own.say({ type: "head", id: 1, contentType: "x" });
    own.say({ type: "bytes", id: 1, bytes: new Uint8Array([65]) });
    const reader = ((await answer).body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).value).toEqual(new Uint8Array([65]));
    own.client.kill(1n);
    expect(reader.read()).rejects.toMatchObject({ message: "query interrupted" });
  });

  test("a statement whose next part waits for a turn: the error follows, and nothing of it is left", async () => {
    const own = new Client();
    const { answer } = await own.begin("SELECT 1");
    own.say({ type: "head", id: 1, contentType: "x" });
    own.say({ type: "bytes", id: 1, bytes: new Uint8Array([1]) });
    const reader = ((await answer).body as ReadableStream<Uint8Array>).getReader();
    // as long as one turn may last, so that the next part waits
    const second = reader.read();
    const untilMs = performance.now() + 2;
    while (performance.now() < untilMs);
    own.say({ type: "bytes", id: 1, bytes: new Uint8Array([2]) });
    own.client.kill(1n);
    expect(second).resolves.toEqual({ done: false, value: new Uint8Array([1]) });
    expect(reader.read()).rejects.toMatchObject({ message: "query interrupted" });
    await new Promise((resolve) => setImmediate(resolve));
    own.say(end(1));
    expect([own.client.activeCount, own.listed]).toEqual([0, []]);
  });

  test("KILL QUERY of a statement whose answer is whole, or whose client is gone, finds no query", async () => {
    const own = new Client();
    await own.begin("SELECT 1");
    own.say({ type: "answer", id: 1, contentType: "x", bytes: new Uint8Array(1), end: END });
    const aborter = new AbortController();
    await own.begin("SELECT 2", aborter.signal);
    aborter.abort();
    expect(own.listed).toEqual([]);
    for (const id of [1n, 2n]) expect(errorOf(() => own.client.kill(id))).toMatchObject(none(id));
    own.say(end(1));
    own.say(end(2));
    expect(own.client.activeCount).toBe(0);
  });

  test.each([0n, 1n, 2n ** 53n + 1n, 2n ** 64n - 1n])("id %p is nobody's", (id) => {
    expect(errorOf(() => new Client().client.kill(id))).toMatchObject(none(id));
  });

  test("a killed statement's place is another one's once its worker is done", async () => {
    const own = new Client(1);
    await own.begin("SELECT 1");
    await own.begin("SELECT 2");
    own.client.kill(1n);
    expect(own.listed).toEqual([[1n, "SELECT 1", "killed"]]);
    own.say(end(1));
    await new Promise((resolve) => setImmediate(resolve));
    expect(own.listed).toEqual([[2n, "SELECT 2", "running"]]);
  });
});

describe("counts of a whole table", () => {
  const NEED = { tables: ["t"], wholeCatalog: false, systemTables: [] };
  const bytes = new TextEncoder().encode("[1]");
  const table = { id: 1, databaseId: 1, name: "t", columns: [] } as unknown as TableDef;

  /** A client whose worker has answered statement 1. */
  async function asked(end: object): Promise<Client> {
    const own = new Client(1);
    own.state = { table, sequence: 1, lastDeletion: 0 };
    await own.begin("SELECT 1");
    own.say({ type: "pin", id: 1, need: NEED, keepsEarly: false });
    // as unpackAnswer makes them; the first client's are transferred
    const sent = Buffer.alloc(bytes.byteLength, bytes);
    own.say({ type: "answer", id: 1, contentType: "x", bytes: sent, end: { ...END, ...end } });
    structuredClone(sent, { transfer: [sent.buffer] });
    own.ended.length = 0;
    return own;
  }
  const sentTo = (own: Client) => own.sent.filter(({ type }) => type === "query").length;

  test("are answered without a worker until the table changes, each with bytes of its own, logged and counted", async () => {
    const own = await asked({ countsTable: true });
    for (let i = 0; i < 3; i++) {
      const { contentType, body, rowCount } = await (await own.begin("SELECT 1")).answer;
      expect([contentType, body, rowCount!()]).toEqual(["x", bytes, 1]);
      structuredClone(body, { transfer: [(body as Uint8Array<ArrayBuffer>).buffer] });
    }
    expect([sentTo(own), own.client.activeCount, own.client.permitCounts.held]).toEqual([1, 0, 0]);
    const ids = own.log.entries().map(({ id }) => id);
    expect(own.log.entries().map(({ phase }) => phase)).toEqual(["success", "success", "success", "success"]);
    expect(own.ended).toEqual(ids.slice(1).flatMap((id) => [{ milliseconds: 0, ok: true, rowCount: 1, caches: [] }, id]));
    own.state = { table, sequence: 2, lastDeletion: 0 };
    await own.begin("SELECT 1");
    expect(sentTo(own)).toBe(2);
  });

  test("other statements go to the worker each time", async () => {
    const own = await asked({});
    await own.begin("SELECT 1");
    expect(sentTo(own)).toBe(2);
  });

  test("what read two snapshots is not kept", async () => {
    const own = await asked({});
    await own.begin("SELECT 1");
    own.say({ type: "pin", id: 2, need: NEED, keepsEarly: true });
    own.say({ type: "answer", id: 2, contentType: "x", bytes, end: { ...END, countsTable: true } });
    await own.begin("SELECT 1");
    expect(sentTo(own)).toBe(3);
  });
});

describe("a scope of names", () => {
  const need = (database?: string) => ({
    tables: ["t"],
    wholeCatalog: false,
    systemTables: [],
    ...(database === undefined ? {} : { database }),
  });
  const SCOPE: DatabaseScope = {
    databaseId: (name) => {
      if (name === "d") return 7;
      if (name === "e") return 8;
      throw new TsdbError("unknown_database", `no ${name}`);
    },
  };

  test.each([
    ["the request's", undefined, 7],
    ["a format that the statement names", "e", 8],
  ] as const)("%s is asked for by its id", async (_, database, id) => {
    const own = new Client();
    const { answer } = await own.begin("SELECT 1", undefined, SCOPE);
    own.say({ type: "pin", id: 1, need: need(database), keepsEarly: false });
    expect(own.asked).toEqual([7, id]);
    await expect(answer).rejects.toMatchObject({ message: "none" });
  });

  test("what the scope refuses ends the statement", async () => {
    const own = new Client();
    const { answer } = await own.begin("SELECT 1", undefined, SCOPE);
    own.say({ type: "pin", id: 1, need: need("other"), keepsEarly: false });
    await expect(answer).rejects.toMatchObject({ kind: "unknown_database", message: "no other" });
    expect(own.asked).toEqual([7]);
  });

  test("what was learned of a text is asked for in the scope of each request", async () => {
    const own = new Client();
    await own.begin("SELECT 1", undefined, SCOPE);
    own.say({ type: "pin", id: 1, need: need("e"), keepsEarly: false });
    await own.begin("SELECT 1", undefined, { databaseId: (name) => (name === "d" ? 70 : 80) });
    expect(own.asked).toEqual([7, 8, 70, 80]);
    // a worker that does not know the name continues without it
    await own.begin("SELECT 1", undefined, {
      databaseId: (name) => {
        if (name === "d") return 71;
        throw new TsdbError("unknown_database", `no ${name}`);
      },
    });
    expect(own.sent.filter(({ type }) => type === "query").length).toBe(3);
    expect(own.listed.length).toBe(2);
  });

  test("lists name no database of a scope: one of port 8181 may have its name", async () => {
    const own = new Client();
    await own.begin("SELECT 1", undefined, SCOPE);
    expect(own.client.running().map(({ database }) => database)).toEqual([""]);
  });
});
