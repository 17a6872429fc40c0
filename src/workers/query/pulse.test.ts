// For how long a worker is silent, by what main has seen of it.
import { expect, test } from "bun:test";
import { Pulse } from "./pulse.ts";

test("a worker that answers is not silent; a worker that does not answer is, from its first overdue answer", () => {
  const pulse = new Pulse();
  expect(pulse.look(0, 1000)).toBe(1);
  expect(pulse.look(1, 1050)).toBe(2);
  expect([pulse.look(1, 1100), pulse.silentMs, pulse.isSilent]).toEqual([null, 50, false]);
  expect([pulse.look(1, 1150), pulse.silentMs, pulse.isSilent]).toEqual([null, 100, false]);
  expect([pulse.look(1, 1200), pulse.silentMs, pulse.isSilent]).toEqual([null, 150, true]);
  expect([pulse.look(2, 1250), pulse.silentMs, pulse.isSilent]).toEqual([3, 0, false]);
});

test("time in which main was away is not the worker's: the process was stopped, or main was late", () => {
  const pulse = new Pulse();
  pulse.look(0, 0);
  expect(pulse.look(0, 60_000)).toBeNull();
  expect(pulse.silentMs).toBe(100);
  expect(pulse.look(1, 60_050)).toBe(2);
});

test("a look left open when the worker became idle does not count as silence", () => {
  const pulse = new Pulse();
  pulse.look(0, 0);
  pulse.look(0, 100);
  pulse.rest();
  expect(pulse.look(0, 5000)).toBeNull();
  expect(pulse.silentMs).toBe(0);
});
