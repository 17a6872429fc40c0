// Turns of the event loop between the pieces of large bodies: in order, one caller in each, and none without statements.
import { expect, test } from "bun:test";
import { LoopTurns, YIELD_MS } from "./loop-turns.ts";

/** Counts the turns of the event loop while `run` lasts. */
async function countingTurns<T>(run: (turn: () => number) => Promise<T>): Promise<T> {
  let turn = 0;
  let isOver = false;
  const tick = () => {
    turn++;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  try {
    return await run(() => turn);
  } finally {
    isOver = true;
  }
}

test("without statements nothing waits", () => {
  expect(new LoopTurns(() => 0).next()).toBeUndefined();
});

test("callers go on in their order, each in a turn of its own", async () => {
  const turns = new LoopTurns(() => 0);
  turns.noteStatement();
  const found = await countingTurns(async (turn) => {
    const steps: { caller: number; turn: number }[] = [];
    const call = async (caller: number) => {
      for (let step = 0; step < 3; step++) {
        await turns.next();
        steps.push({ caller, turn: turn() });
      }
    };
    await Promise.all([call(0), call(1)]);
    return steps;
  });
  expect(found.map(({ caller }) => caller)).toEqual([0, 1, 0, 1, 0, 1]);
  expect(new Set(found.map(({ turn }) => turn)).size).toBe(6);
});

test("a second after the last statement nothing waits any more", () => {
  let nowMs = 5;
  const turns = new LoopTurns(() => nowMs);
  turns.noteStatement();
  nowMs = 1005;
  expect(turns.next()).toBeInstanceOf(Promise);
  nowMs = 1006;
  expect(turns.next()).toBeUndefined();
});

/** A clock that stands still, with one body that waits. */
function oneWaiting() {
  const clock = { nowMs: 100 };
  const turns = new LoopTurns(() => clock.nowMs);
  const answered = turns.beginStatement();
  let isResumed = false;
  const resumed = turns.next()!.then(() => {
    isResumed = true;
  });
  return { clock, turns, answered, resumed, isResumed: () => isResumed };
}

/** Some turns of the event loop. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test("a body lets a statement pass until it is answered", async () => {
  const { answered, resumed, isResumed } = oneWaiting();
  await someTurns();
  expect(isResumed()).toBe(false);
  answered();
  // the answer leaves first
  await Promise.resolve();
  expect(isResumed()).toBe(false);
  await resumed;
});

test("a body waits for the last one of several small statements", async () => {
  const { turns, answered, resumed, isResumed } = oneWaiting();
  const alsoAnswered = turns.beginStatement();
  await someTurns();
  answered();
  await someTurns();
  expect(isResumed()).toBe(false);
  alsoAnswered();
  await resumed;
});

test("a body does not wait for statements that take long", async () => {
  const { clock, resumed } = oneWaiting();
  clock.nowMs += YIELD_MS;
  await resumed;
});

test("a body that waits goes on although no answer comes", async () => {
  const turns = new LoopTurns(() => performance.now());
  const beganMs = performance.now();
  turns.beginStatement();
  await turns.next();
  expect(performance.now() - beganMs).toBeGreaterThanOrEqual(YIELD_MS - 1);
});

test("after they have waited bodies go first for as long", async () => {
  const { clock, turns, answered, resumed } = oneWaiting();
  await someTurns();
  clock.nowMs += 3;
  answered();
  await resumed;
  const alsoAnswered = turns.beginStatement();
  clock.nowMs += 2.9;
  // the clock stands still: if they waited here, this would not end
  await turns.next();
  clock.nowMs += 0.2;
  let isResumed = false;
  const last = turns.next()!.then(() => {
    isResumed = true;
  });
  await someTurns();
  expect(isResumed).toBe(false);
  alsoAnswered();
  await last;
});
