// Waits of an answer for its reader.
import { expect, test } from "bun:test";
import { AnswerCredit } from "./answer-credit.ts";

/** A signal that counts its listeners. */
function counted(): { readonly controller: AbortController; readonly signal: AbortSignal; readonly count: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  const { addEventListener } = signal;
  let count = 0;
  signal.addEventListener = (...parameters: Parameters<typeof addEventListener>) => {
    count += 1;
    addEventListener.apply(signal, parameters);
  };
  return { controller, signal, count: () => count };
}

test("waits until the reader has taken what was sent too much", async () => {
  const { signal, count } = counted();
  const credit = new AnswerCredit(10, signal);
  expect(await credit.wait()).toBe(true);
  let waited = 0;
  for (let i = 0; i < 1000; i++) {
    credit.spend(11);
    let isOver = false;
    const wait = credit.wait().then((more) => {
      isOver = true;
      return more;
    });
    credit.add(1);
    await Promise.resolve();
    if (!isOver) waited += 1;
    credit.add(10);
    expect(await wait).toBe(true);
  }
  expect(waited).toBe(1000);
  expect(count()).toBe(1);
});

test("a stopped statement waits no longer", async () => {
  const { controller, signal } = counted();
  const credit = new AnswerCredit(1, signal);
  credit.spend(1);
  const wait = credit.wait();
  controller.abort();
  expect(await wait).toBe(false);
  expect(await credit.wait()).toBe(false);
});
