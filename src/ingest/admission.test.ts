// A body is let in at once, after a flush, or not at all.
import { expect, test } from "bun:test";
import { SeriesMemory } from "../buffer/series-memory.ts";
import { LIMITS } from "../model/limits.ts";
import { Admission } from "./admission.ts";

/** A server in which each flush leaves less in memory. */
class Server {
  flushes = 0;
  readonly seriesMemory = new SeriesMemory(1000);
  private running: Promise<void> | undefined;

  constructor(
    /** Before and after each flush. */
    private readonly states: { buffer?: number; series?: number; kernel?: number }[],
  ) {
    this.seriesMemory.note(this.state.series ?? 0);
  }

  private get state() {
    return this.states[Math.min(this.flushes, this.states.length - 1)]!;
  }

  readonly admission = new Admission({
    bytesMax: 1000,
    bufferBytes: () => this.state.buffer ?? 0,
    seriesMemory: this.seriesMemory,
    kernelBytes: () => this.state.kernel ?? 0,
    flush: () => {
      this.running ??= Promise.resolve().then(() => {
        this.seriesMemory.note(-(this.state.series ?? 0));
        this.flushes++;
        this.seriesMemory.note(this.state.series ?? 0);
        this.running = undefined;
      });
    },
    flushSettled: () => this.running ?? Promise.resolve(),
  });
}

test.each([
  ["nothing in memory", [{}]],
  ["almost full", [{ buffer: 999, series: 1000, kernel: LIMITS.kernelBytesMax - 1601 }]],
])("at once: %s", (_, states) => {
  const server = new Server(states);
  expect(server.admission.admit(100)).toBeUndefined();
  expect(server.flushes).toBe(0);
});

test.each([
  ["rows", [{ buffer: 1000 }, { buffer: 10 }], 1],
  ["series", [{ series: 1001 }, { series: 1000 }], 1],
  ["series, twice", [{ series: 1500 }, { series: 1200 }, { series: 0 }], 2],
  ["all memory", [{ kernel: LIMITS.kernelBytesMax - 1600 }, { kernel: 0 }], 1],
])("after flushes: %s", async (_, states, flushes) => {
  const server = new Server(states);
  await server.admission.admit(100);
  expect(server.flushes).toBe(flushes);
});

test.each([
  ["rows", { buffer: 2000 }, "the write buffer is full: 2000 of 1000 bytes; try again in a few seconds"],
  ["series", { series: 2000, buffer: 5 }, "the memory for series is full: 2000 of 1000 bytes; try again in a few seconds"],
])("not at all: %s", async (_, state, message) => {
  const server = new Server([state]);
  const error = await Promise.resolve(server.admission.admit(1)).catch((refused: unknown) => refused);
  expect(error).toMatchObject({ kind: "overloaded", message });
  expect(server.flushes).toBe(3);
});
