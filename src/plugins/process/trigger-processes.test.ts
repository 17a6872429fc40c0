// Which process runs a call, and when a process that ended badly is replaced.
import { expect, test } from "bun:test";
import type { PluginFailureKind, PluginOutcome } from "../plugin-call.ts";
import { failure, type PluginProcess, type ProcessCall } from "./plugin-process.ts";
import { TriggerProcesses } from "./trigger-processes.ts";

/** Processes that end each call as `outcomes` say, one after another; null: it returns. */
function pool(outcomes: readonly (PluginFailureKind | null)[]) {
  const left = [...outcomes];
  const startsMs: number[] = [];
  const endsMs: number[] = [];
  const processes = new TriggerProcesses({
    processesMax: 1,
    isOnce: false,
    start: () => {
      startsMs.push(performance.now());
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      const process = {
        isSpent: false,
        ended,
        kill: () => {
          process.isSpent = true;
          resolve();
        },
        call: (): Promise<PluginOutcome> => {
          const kind = left.shift() ?? null;
          if (kind !== null && kind !== "exception") process.kill();
          endsMs.push(performance.now());
          return Promise.resolve({ failure: kind === null ? null : failure(kind, kind), response: null, writes: [] } as PluginOutcome);
        },
      };
      return Promise.resolve(process as unknown as PluginProcess);
    },
  });
  const call = { signal: new AbortController().signal } as ProcessCall;
  return { processes, startsMs, endsMs, call, left };
}

test("the pause before the next process doubles with each bad end, and a good run sets it back", async () => {
  const { processes, startsMs, endsMs, call, left } = pool(["exit", "garbage", "memory", null, "exit", null]);
  while (left.length > 0) await processes.run(call);
  // the fourth process returned from its first call, and ended in its second
  expect(startsMs.length).toBe(5);
  const pausesMs = startsMs.slice(1).map((ms, i) => ms - endsMs[i < 3 ? i : i + 1]!);
  for (const [i, least] of [100, 200, 400, 100].entries()) expect(pausesMs[i]).toBeGreaterThanOrEqual(least - 2);
  await processes.stop();
});

test("an exception ends no process", async () => {
  const { processes, startsMs, call, left } = pool(["exception", "exception", null]);
  while (left.length > 0) await processes.run(call);
  expect(startsMs.length).toBe(1);
  await processes.stop();
});

test("a stop ends a pause", async () => {
  const { processes, startsMs, call } = pool(["exit", "exit", "exit", "exit", "exit", "exit"]);
  for (let i = 0; i < 3; i++) await processes.run(call);
  const waiting = processes.run(call);
  await processes.stop();
  expect((await waiting).failure?.kind).toBe("stopped");
  expect(startsMs.length).toBe(3);
});
