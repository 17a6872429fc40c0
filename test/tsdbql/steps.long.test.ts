// Every function of the language, and what orders and chooses rows, pauses while it works: at least once for each step of rows that it
// looks at, of one long window as of many short ones, however large it gets. What is counted are pauses, not time.
import { describe, expect, test } from "bun:test";
import { finish, STEP_ROWS, type Steps } from "../../src/model/steps.ts";
import { rowsWhere } from "../../src/tsdbql/execute/rows/condition.ts";
import { groupRows, orderRows } from "../../src/tsdbql/execute/rows/order.ts";
import { cellsOf, pointsOf } from "../../src/tsdbql/functions/columns.ts";
import { fillWindows } from "../../src/tsdbql/functions/fill.ts";
import { ROW_FUNCTIONS } from "../../src/tsdbql/functions/functions.ts";
import type { Windows } from "../../src/tsdbql/functions/operator.ts";
import type { Points, PointValues } from "../../src/tsdbql/functions/points.ts";
import { REDUCERS } from "../../src/tsdbql/functions/reducers.ts";
import { joinByTime } from "../../src/tsdbql/functions/rows.ts";
import { Texts } from "../../src/tsdbql/functions/texts.ts";
import { TRANSFORMS } from "../../src/tsdbql/functions/transforms.ts";
import { cutWindows, windowStarts } from "../../src/tsdbql/functions/windows.ts";
import type { Expression, FieldType, Literal } from "../../src/tsdbql/parse/ast.ts";
import { parseQuery } from "../../src/tsdbql/parse/parser.ts";
import { compileRegex } from "../../src/tsdbql/regex/matcher.ts";

const SIZES = [2, 4, 8].map((steps) => steps * STEP_ROWS);

function pausesOf(steps: Steps<unknown>): number {
  let pauses = 0;
  while (!steps.next().done) pauses++;
  return pauses;
}

/** @param work of so many rows */
function expectPauses(work: (rowCount: number) => Steps<unknown>): void {
  for (const rowCount of SIZES) expect(pausesOf(work(rowCount)), `${rowCount} rows`).toBeGreaterThanOrEqual(rowCount / STEP_ROWS - 1);
}

/** Values in no order, most of them different. */
function pointsOfType(type: FieldType, rowCount: number): Points {
  const times = BigInt64Array.from({ length: rowCount }, (_, i) => BigInt(i) * 10n);
  const number = (i: number) => (i * 7919) % 1_000_003;
  const values: { readonly [T in FieldType]: () => PointValues[T] } = {
    float: () => Float64Array.from({ length: rowCount }, (_, i) => number(i)),
    integer: () => BigInt64Array.from({ length: rowCount }, (_, i) => BigInt(number(i))),
    unsigned: () => BigUint64Array.from({ length: rowCount }, (_, i) => BigInt(number(i))),
    string: () => Texts.of(Array.from({ length: rowCount }, (_, i) => String(number(i)))),
    boolean: () => Uint8Array.from({ length: rowCount }, (_, i) => i & 1),
  };
  return pointsOf(type, times, values[type]());
}

function windowsOf(rowCount: number, rowsOfWindow: number): Windows {
  const count = Math.ceil(rowCount / rowsOfWindow);
  const startsNs = BigInt64Array.from({ length: count }, (_, i) => BigInt(i * rowsOfWindow) * 10n);
  return {
    startsNs,
    endsNs: startsNs.map((startNs) => startNs + BigInt(rowsOfWindow) * 10n),
    offsets: Int32Array.from({ length: count + 1 }, (_, i) => Math.min(rowCount, i * rowsOfWindow)),
  };
}

const whole = (value: number): Literal => ({ kind: "integer", value: BigInt(value), unsigned: false });
const context = { descending: false, intervalNs: 10n, keys: null, ownTimes: false, seed: 1 };
const ARGS: Readonly<Record<string, readonly Literal[]>> = {
  percentile: [whole(90)],
  top: [whole(100)],
  bottom: [whole(100)],
  sample: [whole(10)],
};

describe.each(
  [...REDUCERS.values()].flatMap((reducer) => reducer.takes.map((type) => [`${reducer.name} of ${type}s`, reducer, type] as const)),
)("%s", (_, reducer, type) => {
  test.each([
    ["one window", Number.POSITIVE_INFINITY],
    ["windows of ten", 10],
    ["windows of one", 1],
  ] as const)("%s", (_name, rows) => {
    // they look at windows alone, and at rows of one time
    if (["count", "first", "last"].includes(reducer.name) && rows > 1) return;
    expectPauses((rowCount) => {
      const args = ARGS[reducer.name] ?? [];
      return reducer.reduce(pointsOfType(type, rowCount), windowsOf(rowCount, Math.min(rows, rowCount)), args, context);
    });
  });
});

const FORECASTS = [...TRANSFORMS.values()].filter(({ name }) => name.startsWith("holt"));
const LOOKING_BACK = [...TRANSFORMS.values()].filter(({ name }) => !name.startsWith("holt"));

test.each(LOOKING_BACK.flatMap((transform) => transform.takes.map((type) => [`${transform.name} of ${type}s`, transform, type] as const)))(
  "%s",
  (_, transform, type) => {
    const args = transform.arity[0] > 1 ? [whole(10)] : [];
    expectPauses((rowCount) => transform.apply(pointsOfType(type, rowCount), args, context));
  },
);

test.each(FORECASTS.map((transform) => [transform.name, transform] as const))(
  "%s: once for each time that it tries parameters",
  (_, transform) => {
    // 16 searches, each of which looks at the points more than once
    const pauses = pausesOf(transform.apply(pointsOfType("float", 100), [whole(10), whole(4)], context));
    expect(pauses).toBeGreaterThan(16 * 10);
  },
);

describe("rows", () => {
  const cellsOfType = (type: FieldType, rowCount: number) => {
    const { values } = pointsOfType(type, rowCount);
    return cellsOf(type, values as PointValues[typeof type], null);
  };
  const conditionOf = (text: string): Expression => {
    const { statement } = parseQuery(`SELECT f FROM m WHERE ${text}`)[0]!;
    return (statement as { where: Expression }).where;
  };
  const CONDITIONS = [
    "f > 5",
    "f = 1 OR f = 2 OR f = 3",
    "i = 1 OR i = 2 OR i = 3",
    "s = '1' OR s = '2'",
    "s =~ /1.*2/",
    "s !~ /^12/",
    "abs(f) > 3",
    "(f > 1 AND i < 3) OR s = '1'",
  ];
  test.each(CONDITIONS)("%s", (text) => {
    expectPauses((rowCount) => {
      const columns = { f: cellsOfType("float", rowCount), i: cellsOfType("integer", rowCount), s: cellsOfType("string", rowCount) };
      const find = ({ name }: { readonly name: string }) => {
        const cells = columns[name as keyof typeof columns];
        return { kind: cells.type, cells };
      };
      return rowsWhere(
        conditionOf(text),
        find,
        Uint32Array.from({ length: rowCount }, (_, row) => row),
      );
    });
  });

  test("a condition of many parts pauses after fewer rows", () => {
    const parts = Array.from({ length: 100 }, (_, i) => `f + ${i} > 10000000`).join(" OR ");
    const cells = cellsOfType("float", STEP_ROWS);
    const all = Uint32Array.from({ length: STEP_ROWS }, (_, row) => row);
    expect(pausesOf(rowsWhere(conditionOf(parts), () => ({ kind: "float", cells }), all))).toBeGreaterThanOrEqual(100);
  });

  test("of several series are put in order", () => {
    expectPauses((rowCount) => {
      const codes = Uint32Array.from({ length: rowCount }, (_, row) => row % 10);
      const groups = finish(groupRows([{ type: "tag", codes, dictionary: Array.from("jihgfedcba") }], rowCount));
      return orderRows(groups, new BigInt64Array(rowCount), false, codes);
    });
  });

  test.each([...ROW_FUNCTIONS.values()].map((of) => [of.name, of] as const))("%s", (_, of) => {
    expectPauses((rowCount) =>
      of.apply(
        Array.from({ length: of.arity[0] }, () => cellsOfType("float", rowCount)),
        rowCount,
      ),
    );
  });

  test.each(["null", "previous", "linear"] as const)("fill(%s)", (kind) => {
    const grid = { intervalNs: 10n, offsetNs: 0n, zone: null };
    expectPauses((rowCount) => {
      const starts = finish(windowStarts(grid, 0n, BigInt(rowCount - 1) * 10n, false));
      return fillWindows(pointsOfType("float", 2), starts, { kind }, 10n);
    });
  });

  test("windows are made and cut", () => {
    const grid = { intervalNs: 10n, offsetNs: 0n, zone: null };
    expectPauses((rowCount) => windowStarts(grid, 0n, BigInt(rowCount - 1) * 10n, false));
    expectPauses((rowCount) => cutWindows(pointsOfType("float", rowCount).times, grid, false));
  });

  test("columns are joined by time", () => {
    expectPauses((rowCount) => {
      const points = pointsOfType("float", rowCount);
      const later = pointsOf(
        "float",
        points.times.map((time) => time + 1n),
        points.values as Float64Array,
      );
      return joinByTime(
        [
          { points, validity: null },
          { points: later, validity: null },
        ],
        false,
      );
    });
  });
});

test("a long text is matched with pauses, and another text meanwhile", () => {
  const regex = compileRegex("(a|b)*c{3}[x-z]d");
  const text = `${"ab".repeat(2 * STEP_ROWS)}cccyd`;
  const steps = regex.steps(text);
  expect(steps.next().done).toBeFalse();
  expect([regex.test("acccxd"), regex.test("accxd")]).toEqual([true, false]);
  expect(finish(steps)).toBeTrue();
});
