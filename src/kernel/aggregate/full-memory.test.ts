// Memory that is full in the middle of an aggregation.
import { expect, test } from "bun:test";
import { ALL_TYPES } from "../../../test/support/rows/random-rows.ts";
import { Arena, type TestRow, writeRun } from "../../../test/support/rows/rows.ts";
import { addOne } from "../../../test/support/rows/run-scan.ts";
import { TsdbError } from "../../model/errors.ts";
import type { AggregateRequest } from "../../model/query/aggregate.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import { Kernel } from "../memory/kernel.ts";
import { Aggregator } from "./aggregate.ts";

const VALUES = ALL_TYPES.filter(({ name }) => name === "i" || name === "s");

test.each([
  ["tags and bins", {}],
  ["values of fields", { values: VALUES, bins: null, groupBy: [] }],
  ["values, tags and bins", { values: VALUES }],
] as const)("all is given back when memory is full, whichever block it was wanted for: groups by %s", (_, by) => {
  const kernel = Kernel.create();
  const { heap } = kernel;
  const alloc = heap.alloc.bind(heap);
  const rows = Array.from(
    { length: 3000 },
    (_, i): TestRow => ({
      timeNs: BigInt(i) * 1000n,
      tags: { host: `h${i % 7}` },
      fields: { i: BigInt(i) * 2n, s: `a text of some length ${i % 500}` },
    }),
  );
  const run = writeRun(new Arena(kernel), ALL_TYPES, rows, { seqMin: 1 });
  const groupBy = ALL_TYPES.filter(({ name }) => name === "host");
  const bins = { originNs: 0n, widthNs: 1n };
  const wanted: AggregateRequest = {
    range: ALL_TIME,
    tags: [],
    fields: [],
    bins,
    groupBy,
    aggregates: [{ fn: "count", column: null }],
    ...by,
  };
  const attempt = (allocations: number): string => {
    const aggregator = new Aggregator(kernel, wanted, ALL_TIME, { memoryBytesMax: 64 << 20, rowCountMax: 10 });
    let left = allocations;
    heap.alloc = (bytes) => {
      if (left-- === 0) throw new TsdbError("overloaded", "full");
      return alloc(bytes);
    };
    try {
      try {
        addOne(kernel, aggregator, run, wanted);
      } catch (error) {
        aggregator.release();
        throw error;
      }
      aggregator.finish()!.close();
      return "finished";
    } catch (error) {
      return (error as Error).message;
    } finally {
      heap.alloc = alloc;
    }
  };
  attempt(0);
  const before = heap.usedBytes;
  let allocations = 0;
  for (; attempt(allocations) === "full"; allocations++) expect([allocations, heap.usedBytes]).toEqual([allocations, before]);
  expect(allocations).toBeGreaterThan(5);
});
