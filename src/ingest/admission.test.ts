// A body is let in at once, after a flush, or not at all.
import { expect, test } from "bun:test";
import { LIMITS } from "../model/limits.ts";
import { SeriesMemory } from "../storage/buffer/series-memory.ts";
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

/** A body of 1,000 bytes: 24,000 bytes at most, whatever its lines are. */
const minimalLines = body("a b=1\n".repeat(167));
/** One line: 3 x 1,000 for text, 96 and 32 for one line and one value. */
const longLine = body(`a b="${"x".repeat(994)}"`);

function body(text: string) {
  const bytes = new TextEncoder().encode(text.slice(0, 1000));
  return { bytes, byteCount: bytes.byteLength };
}

const MEMORY = LIMITS.kernelBytesMax;

test.each([
  ["memory is empty", [{}], minimalLines],
  ["almost full", [{ buffer: 999, series: 1000, kernel: MEMORY - 24_001 }], minimalLines],
  ["almost full, of lines that take less", [{ kernel: MEMORY - 4000 }], longLine],
])("a body is admitted at once: %s", (_, states, { byteCount, bytes }) => {
  const server = new Server(states);
  expect(server.admission.receive(byteCount)).toBeUndefined();
  expect(server.admission.store({ byteCount, bytes })).toBeUndefined();
  expect(server.flushes).toBe(0);
});

test.each([
  ["rows", [{ buffer: 1000 }, { buffer: 10 }], 1],
  ["series", [{ series: 1001 }, { series: 1000 }], 1],
  ["series, twice", [{ series: 1500 }, { series: 1200 }, { series: 0 }], 2],
  ["all memory", [{ kernel: MEMORY - 1000 }, { kernel: 0 }], 1],
])("a body waits for flushes that free %s", async (_, states, flushes) => {
  for (const admit of [(admission: Admission) => admission.receive(1000), (admission: Admission) => admission.store(longLine)]) {
    const server = new Server(states);
    await admit(server.admission);
    expect(server.flushes).toBe(flushes);
  }
});

/** `target` full of `line`. */
function repeated(target: Uint8Array, line: string): Uint8Array {
  target.set(new TextEncoder().encode(line));
  for (let filled = line.length; filled < target.byteLength; filled *= 2) target.copyWithin(filled, 0, filled);
  return target;
}

const refusalOf = (admitted: Promise<void> | undefined) => Promise.resolve(admitted).catch((refused: unknown) => refused);

test.each([
  ["rows", { buffer: 2000 }, "the write buffer is full: 2000 of 1000 bytes; try again in a few seconds"],
  ["series", { series: 2000, buffer: 5 }, "the memory for series is full: 2000 of 1000 bytes; try again in a few seconds"],
  ["all memory", { kernel: MEMORY - 500 }, `memory is full: ${MEMORY - 500} of ${MEMORY} bytes, 1000 wanted; try again in a few seconds`],
])("a body is refused for want of %s", async (_, state, message) => {
  const server = new Server([state]);
  expect(await refusalOf(server.admission.receive(1000))).toMatchObject({ kind: "overloaded", message });
  expect(server.flushes).toBe(3);
});

test("the largest body that may be allowed has room in a busy server, unless its lines are tiny", async () => {
  const busy = LIMITS.bufferBytesDefault + LIMITS.fileCacheBytesMax;
  const server = new Server([{ kernel: busy }]);
  const bytes = new Uint8Array(LIMITS.bodyBytesMax);
  const largest = (line: string) => ({ byteCount: bytes.byteLength, bytes: repeated(bytes, line) });
  expect(server.admission.receive(LIMITS.bodyBytesMax)).toBeUndefined();
  const tags = Array.from({ length: 10 }, (_, i) => `,tag_number_${i}=value_${i}`).join("");
  const fields = Array.from({ length: 10 }, (_, i) => `field_${i}=${i}00i`).join();
  expect(server.admission.store(largest(`cpu${tags} ${fields} 1700000000000000000\n`))).toBeUndefined();
  const refused = await refusalOf(server.admission.store(largest("a b=1\n")));
  expect(refused).toMatchObject({ kind: "too_large" });
  expect(server.flushes).toBe(0);
});

test("a waiting body is answered before its connection counts as idle", async () => {
  const never = new Promise<void>(() => {});
  const parts = { bytesMax: 10, bufferBytes: () => 11, seriesMemory: new SeriesMemory(10), kernelBytes: () => 0 };
  const admission = new Admission({ ...parts, flush: () => {}, flushSettled: () => never }, 1);
  expect(await refusalOf(admission.receive(1))).toMatchObject({ kind: "overloaded" });
});
