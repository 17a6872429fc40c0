// Statements beyond the limits of one listener: who waits, who is refused, and when there is room again.
import { describe, expect, test } from "bun:test";
import type { FluxOptions } from "../model/query/flux.ts";
import type { QueryAnswer, QueryRequest, QueryService } from "../model/query/query.ts";
import { LimitedQueries } from "./limited-queries.ts";

const NO_LIMITS = { concurrentMax: null, waitingMax: null, memoryBytesMax: null };
const TEXT = new TextEncoder().encode("answer");

interface Started {
  readonly request: QueryRequest;
  answer(body: QueryAnswer["body"]): void;
  fail(error: Error): void;
}

/** Statements that end when the test says so. */
class HeldQueries implements QueryService {
  readonly started: Started[] = [];

  query(request: QueryRequest): Promise<QueryAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<QueryAnswer>();
    this.started.push({ request, answer: (body) => resolve({ contentType: "text/csv", body }), fail: reject });
    return promise;
  }

  get names(): string[] {
    return this.started.map(({ request }) => request.statement);
  }
}

const request = (statement: string, more: Partial<QueryRequest> = {}): QueryRequest => ({
  ...{ database: "d", statement, format: "csv", params: {}, signal: new AbortController().signal },
  ...more,
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("statements at a time", () => {
  test("others wait in order of arrival, and run when a short answer is there or an error", async () => {
    const held = new HeldQueries();
    const limited = new LimitedQueries(held, { ...NO_LIMITS, concurrentMax: 1 });
    const answers = ["a", "b", "c", "d"].map((name) => limited.query(request(name)).catch((error: Error) => error.message));
    await settled();
    expect(held.names).toEqual(["a"]);
    held.started[0]!.answer(TEXT);
    expect(await answers[0]).toMatchObject({ body: TEXT });
    await settled();
    expect(held.names).toEqual(["a", "b"]);
    held.started[1]!.fail(new Error("broken"));
    expect(await answers[1]).toBe("broken");
    await settled();
    expect(held.names).toEqual(["a", "b", "c"]);
  });

  test("a streamed answer counts until it is read, or its reader leaves", async () => {
    const held = new HeldQueries();
    const limited = new LimitedQueries(held, { ...NO_LIMITS, concurrentMax: 1 });
    const stream = () => new Blob([TEXT]).stream();
    const answers = ["a", "b", "c"].map((name) => limited.query(request(name)));
    await settled();
    held.started[0]!.answer(stream());
    const first = await answers[0]!;
    await settled();
    expect(held.names).toEqual(["a"]);
    expect(await new Response(first.body).text()).toBe("answer");
    await settled();
    expect(held.names).toEqual(["a", "b"]);
    held.started[1]!.answer(stream());
    await ((await answers[1]!).body as ReadableStream).cancel();
    await settled();
    expect(held.names).toEqual(["a", "b", "c"]);
  });

  test("a client that goes away gives up its answer and its place, once", async () => {
    const held = new HeldQueries();
    const limited = new LimitedQueries(held, { ...NO_LIMITS, concurrentMax: 1 });
    const clients = ["a", "b", "c", "d"].map((name) => ({ name, leave: new AbortController() }));
    const answers = clients.map(({ name, leave }) => limited.query(request(name, { signal: leave.signal })));
    await settled();
    held.started[0]!.answer(new ReadableStream());
    await answers[0];
    clients[1]!.leave.abort();
    expect(answers[1]).rejects.toMatchObject({ kind: "cancelled" });
    clients[0]!.leave.abort();
    await settled();
    expect(held.names).toEqual(["a", "c"]);
    const gone = new AbortController();
    gone.abort();
    expect(limited.query(request("e", { signal: gone.signal }))).rejects.toMatchObject({ kind: "cancelled" });
    await settled();
    expect(held.names).toEqual(["a", "c"]);
  });

  test("beyond the queue they are refused, and the queue is as long as before", async () => {
    const held = new HeldQueries();
    const limited = new LimitedQueries(held, { ...NO_LIMITS, concurrentMax: 1, waitingMax: 1 });
    const first = limited.query(request("a"));
    const second = limited.query(request("b"));
    for (const name of ["c", "d"]) {
      expect(limited.query(request(name))).rejects.toMatchObject({ kind: "too_many_requests", details: { retryAfterSeconds: 1 } });
    }
    await settled();
    held.started[0]!.answer(TEXT);
    await first;
    await settled();
    held.started[1]!.answer(TEXT);
    await second;
    expect(held.names).toEqual(["a", "b"]);
  });

  test("what only inspects a script does not wait", async () => {
    const held = new HeldQueries();
    const limited = new LimitedQueries(held, { ...NO_LIMITS, concurrentMax: 1 });
    void limited.query(request("a"));
    void limited.query(request("b", { flux: { task: "ast" } as FluxOptions }));
    void limited.query(request("c", { flux: { task: "query" } as FluxOptions }));
    await settled();
    expect(held.names.sort()).toEqual(["a", "b"]);
  });
});

test("each statement is told how many bytes it may hold; without a limit none", async () => {
  const held = new HeldQueries();
  void new LimitedQueries(held, { ...NO_LIMITS, memoryBytesMax: 1000 }).query(request("a"));
  void new LimitedQueries(held, NO_LIMITS).query(request("b"));
  expect(held.started.map((each) => each.request.memoryBytesMax)).toEqual([1000, undefined]);
});
