// Aggregates of computed columns: the same as of a stored column with these values.
import { afterEach, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { aggregateRows, expectGroups } from "../../../test/support/rows/naive-aggregate.ts";
import { evaluate, TooLarge } from "../../../test/support/rows/naive-expression.ts";
import { isWanted } from "../../../test/support/rows/naive-scan.ts";
import { randomExpression } from "../../../test/support/rows/random-expression.ts";
import { ALL_TYPES, randomRows } from "../../../test/support/rows/random-rows.ts";
import { readGroups } from "../../../test/support/rows/read-groups.ts";
import { Arena, type TestRow, type TestValue, writeRun } from "../../../test/support/rows/rows.ts";
import { addOne } from "../../../test/support/rows/run-scan.ts";
import type { AggregateFunction, AggregateRequest } from "../../model/query/aggregate.ts";
import { type ComputedColumn, columnTypeOf } from "../../model/query/field-expression.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import { Kernel } from "../memory/kernel.ts";
import { mergeRuns } from "../scan/run-merge.ts";
import { Aggregator } from "./aggregate.ts";

const SEEDS = Array.from({ length: 40 * Number(process.env["ROUNDS"] ?? 1) }, (_, i) => i + 1);
const FUNCTIONS: Readonly<Record<string, readonly AggregateFunction[]>> = {
  // sums of large floats depend on their order
  float: ["count", "min", "max", "first", "last"],
  integer: ["count", "sum", "min", "max", "first", "last"],
  boolean: ["count", "min", "max"],
};
const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

describe("aggregates of computed columns", () => {
  test.each(SEEDS)("seed %i", (seed) => {
    const below = prng(seed);
    const type = (["float", "integer", "boolean"] as const)[below(3)]!;
    const expression = randomExpression(below, type, 1 + below(3), below(2) === 0);
    const column: ComputedColumn = { id: -1, name: "computed", type: columnTypeOf(type), expression };
    const rows = randomRows(below, { count: [5, 900, 3000, 6000][below(4)]!, times: 5000, hosts: [1, 4, 60][below(3)]! });
    const raw = writeRun(arena, ALL_TYPES, rows);
    const merged = mergeRuns(kernel, [raw], ALL_TYPES);
    const latest = new Map<string, TestRow>();
    for (const row of rows) {
      const key = JSON.stringify([row.tags["host"] ?? null, row.tags["region"] ?? null, `${row.timeNs}`]);
      latest.set(key, { ...row, fields: { ...latest.get(key)?.fields, ...row.fields } });
    }
    const request: AggregateRequest = {
      range: below(2) === 0 ? ALL_TIME : { minNs: BigInt(below(2500)), maxNs: BigInt(2500 + below(2500)) },
      tags: below(3) === 0 ? [{ columnId: 1, values: ["host-0", null] }] : [],
      fields: below(3) === 0 ? [{ columnId: 2, operator: ">", value: 1 }] : [],
      bins: below(2) === 0 ? null : { originNs: 3n, widthNs: 700n },
      groupBy: below(2) === 0 ? [] : [ALL_TYPES[1]!],
      aggregates: [{ fn: "count", column: null }, ...FUNCTIONS[type]!.map((fn) => ({ fn, column }))],
    };
    const used = kernel.heap.usedBytes;
    const aggregator = new Aggregator(kernel, request, { minNs: 0n, maxNs: 5000n }, { memoryBytesMax: 1 << 24 });
    addOne(kernel, aggregator, below(3) === 0 ? { ...merged, sorted: false } : merged, request);
    const found = aggregator.finish();
    let [fails, failsInWanted] = [false, false];
    const withValues = [...latest.values()].map((row) => {
      const fields: Record<string, TestValue | null> = { ...row.fields };
      try {
        fields["computed"] = evaluate(expression, (id) => row.fields[ALL_TYPES.find((each) => each.id === id)!.name] ?? null);
      } catch (error) {
        if (!(error instanceof TooLarge)) throw error;
        // rows beside wanted ones may be computed too
        fails = true;
        failsInWanted ||= isWanted(row, request);
      }
      return { ...row, fields };
    });
    const { groups } = aggregateRows(withValues, request);
    // a sum may leave 64 bits in between
    if (found === null) expect(fails || type === "integer").toBe(true);
    else {
      expect(failsInWanted).toBe(false);
      expectGroups(readGroups(kernel, found, request), groups, request);
      found.close();
    }
    expect(kernel.heap.usedBytes).toBe(used);
    merged.release();
  });
});
