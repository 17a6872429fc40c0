// The state tables of databases, tables, tokens, caches and file indexes (state-rows.ts) over HTTP on a real server, with an end of the
// process in the middle of every transition: before it is durable, after that but before the answer, and after the answer. What tables
// cannot say stands in databases.test.ts (names that are free again, writes to deleted objects, drops that come due) and tokens.test.ts
// (expiry).
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { endUntold, hold, startHaltingServer, untilHeld } from "../support/servers/halting-server.ts";
import type { TestServer } from "../support/servers/server.ts";
import { Objects, type Reply, type Seen } from "./state-objects.ts";
import { cachesAfter, ROWS, type Row, rowName, type State } from "./state-rows.ts";

setDefaultTimeout(60_000);

/** A row and the name of its object. */
type Case = readonly [name: string, row: Row, id: string];
type Moment = "undone" | "untold" | "answered" | "after the kill" | "restored";

const PERIODS: Readonly<Record<string, number>> = { "1h": 3600e9, "100y": 100 * 365.25 * 86_400e9 };
const DEFAULT_DROP_MS = 72 * 3_600_000;

const HALTED = ROWS.filter(({ operations = 1 }) => operations > 0).map((row, i): Case => [rowName(row), row, `halted${i}`]);
const ANSWERED = ROWS.map((row, i): Case => [rowName(row), row, `answered${i}`]);
const OPERATIONS = HALTED.reduce((sum, [, { operations = 1 }]) => sum + operations, 0);
const RESTORABLE = ANSWERED.filter(([, { next }]) => next === "soft-deleted");

let server: TestServer;
let objects: Objects;
let beganMs: number;
const seen = new Map<string, Seen>();
const replies = new Map<string, Reply>();
const restored = new Map<string, number>();

async function lookAtAll(cases: readonly Case[], moment: Moment): Promise<void> {
  const lists = await objects.lists();
  for (const [, row, id] of cases) seen.set(`${id}, ${moment}`, await objects.look(row, id, lists));
}

/** Asks for every transition, holding what becomes of it: all are known to the server, none is durable. The answers never come. */
async function askHeld(): Promise<{ readonly answers: Promise<unknown> }> {
  await hold(server);
  const alone = objects.trigger({ ...ROWS[0]!, state: "none", trigger: "POST" }, "alone");
  await untilHeld(server, 1);
  const rest = HALTED.map(([, row, id]) => objects.trigger(row, id));
  await untilHeld(server, 1 + OPERATIONS);
  return { answers: Promise.allSettled([alone, ...rest]) };
}

beforeAll(async () => {
  beganMs = Date.now();
  server = await startHaltingServer({ withAuth: true });
  objects = new Objects(server);
  await objects.begin();
  for (const [, row, id] of HALTED) await objects.prepare(row, id);

  const undone = await askHeld();
  await server.kill();
  await undone.answers;
  await server.restart();
  await lookAtAll(HALTED, "undone");

  const untold = await askHeld();
  await endUntold(server);
  await untold.answers;
  await server.restart();
  await lookAtAll(HALTED, "untold");

  objects.forgetOperator();
  for (const each of ANSWERED) {
    const [, row, id] = each;
    await objects.prepare(row, id);
    replies.set(id, await objects.trigger(row, id));
    // there is one operator, and later rows change it
    if (row.of === "operator") await lookAtAll([each], "answered");
  }
  await lookAtAll(
    ANSWERED.filter(([, { of }]) => of !== "operator"),
    "answered",
  );
  await server.kill();
  await server.restart();
  await lookAtAll(ANSWERED, "after the kill");
  for (const [, row, id] of RESTORABLE) restored.set(id, await objects.restore(row, id));
  await lookAtAll(RESTORABLE, "restored");
});
afterAll(() => server.dispose());

/** Nobody finds what is dropped: it is as if it had never been. */
const shownAs = (state: State): State => (state === "hard-deleted" ? "none" : state);

/** `which`: the first state of the row, or the second. */
function expectSeen(row: Row, id: string, moment: Moment, which: 0 | 1): void {
  const { of, drop, period = [null, null] } = row;
  const state = which === 0 ? row.state : row.next;
  const { state: found, dropMs, periodNs, caches } = seen.get(`${id}, ${moment}`)!;
  expect(caches).toBe(cachesAfter(which === 0 ? { ...row, next: row.state, condition: {} } : row));
  const wanted = period[which];
  expect([found, periodNs]).toEqual([shownAs(state), of === "database" && wanted !== null ? PERIODS[wanted]! : null]);
  if (which === 0 || drop === undefined) expect(dropMs).toBeNull();
  else if (drop === "in 2100") expect(dropMs).toBe(Date.UTC(2100, 0, 1));
  else {
    expect(dropMs).toBeGreaterThanOrEqual(beganMs + DEFAULT_DROP_MS);
    expect(dropMs).toBeLessThanOrEqual(Date.now() + DEFAULT_DROP_MS);
  }
}

describe.each(HALTED)("%s", (_, row, id) => {
  test("killed before it is durable: nothing has happened", () => expectSeen(row, id, "undone", 0));
  test("killed when it is durable, before the answer: it has happened", () => expectSeen(row, id, "untold", 1));
});

describe.each(ANSWERED)("%s", (_, row, id) => {
  test("the request is answered with its status", () => expect(replies.get(id)!.status, replies.get(id)!.text).toBe(row.status));
  test("its effect is seen after the answer", () => expectSeen(row, id, "answered", 1));
  test("its effect is seen after a kill and a restart", () => {
    // the operator's text was replaced by a later row
    if (row.of === "operator") expect(seen.get(`${id}, after the kill`)!.state).toBe("other text");
    else expectSeen(row, id, "after the kill", 1);
  });
});

describe.each(RESTORABLE)("%s", (_, row, id) => {
  test("it comes back with what it had", () => {
    const { state, caches } = seen.get(`${id}, restored`)!;
    expect([restored.get(id), state, caches]).toEqual([200, row.state === "empty" ? "empty" : "active", 1]);
  });
});
