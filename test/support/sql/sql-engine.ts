// An engine for the tests of one file, without tables: statements supply theirs.
import { afterAll, beforeAll } from "bun:test";
import { Kernel } from "../../../src/kernel/memory/kernel.ts";
import { SqlEngine } from "../../../src/sql/execute/engine.ts";

/** Exists from the first test of the file to its last. */
export function sqlEngine(memoryBytes = 256 << 20): { readonly kernel: Kernel; readonly engine: SqlEngine } {
  const kernel = Kernel.create();
  let engine: SqlEngine;
  beforeAll(async () => {
    engine = await SqlEngine.open(kernel, { memoryBytes, threads: 2, tempDir: null });
  });
  afterAll(() => engine.close());
  return {
    kernel,
    get engine() {
      return engine;
    },
  };
}
