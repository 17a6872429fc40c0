// Answers share a millisecond of each turn of the event loop: what comes later waits for the next one, in its order.
import { expect, test } from "bun:test";
import { AnswerTurns } from "./answer-turns.ts";

class Loop {
  nowMs = 0;
  private next: (() => void)[] = [];
  readonly turns = new AnswerTurns(
    () => this.nowMs,
    (call) => void this.next.push(call),
  );

  /** Returns the number of calls that waited for it. */
  turn(): number {
    const { next } = this;
    this.next = [];
    for (const call of next) call();
    return next.length;
  }
}

test("parts go on for a millisecond, then wait for the next turn", () => {
  const loop = new Loop();
  const said: string[] = [];
  /** Passes on parts that take 0.4 ms each. */
  const pass = (name: string, count: number) => {
    for (let part = 1; part <= count; part++) {
      const rest = count - part + 1;
      if (!loop.turns.mayGoOn(() => pass(name, rest))) return;
      said.push(name);
      loop.nowMs += 0.4;
    }
  };
  pass("a", 5);
  expect(said).toEqual(["a", "a", "a"]);
  // another answer waits too, behind it
  pass("b", 2);
  expect(said.length).toBe(3);
  expect(loop.turn()).toBe(1);
  expect(said.slice(3)).toEqual(["a", "a", "b"]);
  loop.turn();
  expect(said.slice(6)).toEqual(["b"]);
});

test("a turn that passes on nothing costs nothing, and the clock starts with the first part", () => {
  const loop = new Loop();
  expect(loop.turn()).toBe(0);
  loop.nowMs = 100;
  expect([loop.turns.mayGoOn(() => {}), loop.turns.mayGoOn(() => {})]).toEqual([true, true]);
  loop.nowMs = 100.9;
  expect(loop.turns.mayGoOn(() => {})).toBe(true);
  loop.nowMs = 101;
  let calls = 0;
  expect(loop.turns.mayGoOn(() => calls++)).toBe(false);
  // as long as an answer waits, no other overtakes it
  loop.nowMs = 100.5;
  expect(loop.turns.mayGoOn(() => calls++)).toBe(false);
  expect([loop.turn(), calls]).toEqual([1, 2]);
  // the next turn has a millisecond of its own
  expect(loop.turns.mayGoOn(() => calls++)).toBe(true);
});
