// Turns of the event loop between the pieces of large bodies: in order, one caller in each, and none without statements.
import { expect, test } from "bun:test";
import { LoopTurns } from "./loop-turns.ts";

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
