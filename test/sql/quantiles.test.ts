// Quantiles that the scan estimates: of few values as the t-digest's formula gives them, of many within its error; in all states of the
// rows, and beside the same statements answered by DuckDB from all rows.
import { describe, expect, test } from "bun:test";
import { prng } from "../support/prng.ts";
import type { RowStep } from "../support/rows/row-states.ts";
import { SCAN_VIEWS } from "../support/rows/scan-views.ts";
import type { SqlAsk, StoredRows } from "../support/rows/stored-rows.ts";
import type { SqlValue } from "../support/sql/sql-rows.ts";
import { sqlStates } from "../support/sql/sql-states.ts";

const NOW_NS = 1_700_000_000_000_000_000n;
const BY_ROWS = SCAN_VIEWS.find(([leftOut]) => leftOut === "groups")![1];
const HOSTS = 12;
const MANY = 20_000;

interface Row {
  readonly host: number;
  readonly second: number;
  readonly f: number | null;
  readonly i: bigint;
  readonly u: bigint | null;
}

const below = prng(17);
/** Up to 40 values of a host, each of which is a centroid of its own; host 0 has one row, host 1 no float. */
const FEW: readonly Row[] = Array.from({ length: HOSTS }, (_, host) =>
  Array.from({ length: host === 0 ? 1 : 2 + below(38) }, (_, second): Row => {
    const f = host === 1 || below(5) === 0 ? null : [-0.5, 0, 1.25, below(1000) / 8][below(4)]!;
    return { host, second, f, i: BigInt(below(2000) - 1000), u: below(4) === 0 ? null : BigInt(below(3)) * 2n ** 40n };
  }),
).flat();

const lineOf = ({ host, second, f, i, u }: Row) => {
  const tags = `few,host=h${host}${host % 3 === 0 ? "" : `,region=r${host % 3}`}`;
  const fields = [`i=${i}i`, ...(f === null ? [] : [`f=${f}`]), ...(u === null ? [] : [`u=${u}u`])];
  return `${tags} ${fields.join(",")} ${BigInt(second * HOSTS + host) * 1_000_000_000n}`;
};

/** A permutation of 0 to MANY - 1, unevenly spread. */
const manyValue = (at: number) => ((at * 7919) % MANY) ** 2;

function steps(): RowStep[] {
  const many = Array.from({ length: MANY }, (_, at) => {
    return `many,host=h${at % 7} v=${manyValue(at)}i,x=${manyValue(at) / 4},same=5i,w=${1 + (at % 3)}i ${at}`;
  });
  const few = FEW.map(lineOf);
  const half = few.length >> 1;
  return [
    { database: "db", lines: [...few.slice(0, half + 20), ...many.slice(0, MANY / 2)].join("\n") },
    { database: "db", lines: [...few.slice(half), ...many.slice(MANY / 2)].join("\n") },
  ] as RowStep[];
}

const states = sqlStates(steps);
const { stored } = states;

const ask = (one: StoredRows, statement: string, options: SqlAsk = {}) => one.sql(states.engine, statement, { nowNs: NOW_NS, ...options });

/** The first state's plan reads quantiles of the scan, or not. */
async function expectScan(statement: string, isOfScan: boolean): Promise<void> {
  const { rows } = await ask(stored[0]![1], `EXPLAIN ${statement}`);
  expect(/(?<!approx_)quantile\(/.test(rows.flat().join("\n"))).toBe(isOfScan);
}

/** DataFusion's estimate, where each value is a centroid: half of the distance between its neighbours is its width. */
function ofSingles(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const count = sorted.length;
  if (count === 0) return null;
  if (share === 0 || share === 1 || count === 1) return sorted.at(share === 1 ? -1 : 0)!;
  const place = Math.min(Math.floor(share * count), count - 1);
  const [low, own, high] = [sorted[Math.max(0, place - 1)]!, sorted[place]!, sorted[Math.min(place + 1, count - 1)]!];
  const isEnd = place === 0 || place === count - 1;
  const value = own + (share * count - place - 0.5) * (isEnd ? high - low : (high - low) / 2);
  const [from, to] = [place === 0 ? own : low, place === count - 1 ? own : high];
  return Math.min(Math.max(value, place === 0 ? sorted[0]! : from), place === count - 1 ? sorted.at(-1)! : to);
}

type Column = "f" | "i" | "u";

function expectedOf(rows: readonly Row[], column: Column, share: number): SqlValue {
  const estimate = ofSingles(
    rows.flatMap((row) => (row[column] === null ? [] : [Number(row[column])])),
    share,
  );
  return estimate === null || column === "f" ? estimate : BigInt(Math.trunc(estimate));
}

const CALLS: readonly (readonly [call: (column: Column) => string, share: number])[] = [
  [(column) => `approx_median(${column})`, 0.5],
  ...[0, 0.1, 0.25, 0.5, 0.9, 0.95, 1].map((share) => [(column: Column) => `approx_percentile_cont(${column}, ${share})`, share] as const),
  [(column) => `approx_percentile_cont(${column}, 0.9, 200)`, 0.9],
  [(column) => `approx_percentile_cont(0.25) WITHIN GROUP (ORDER BY ${column})`, 0.25],
  [(column) => `approx_percentile_cont(0.25) WITHIN GROUP (ORDER BY ${column} DESC)`, 0.75],
];

describe("few values", () => {
  test.each(CALLS.map(([call, share]) => [call("f"), call, share] as const))("%s", async (_, call, share) => {
    const statement = `SELECT host, ${call("f")} AS f, ${call("i")} AS i, ${call("u")} AS u, count(*) AS n FROM few GROUP BY host ORDER BY host`;
    const hosts = Array.from({ length: HOSTS }, (_, host) => host).sort((a, b) => (`h${a}` < `h${b}` ? -1 : 1));
    const expected = hosts.map((host) => {
      const rows = FEW.filter((row) => row.host === host);
      const values = (["f", "i", "u"] as const).map((column) => expectedOf(rows, column, share));
      return [`h${host}`, ...values, BigInt(rows.length)];
    });
    for (const [state, one] of stored) expect([state, (await ask(one, statement)).rows]).toEqual([state, expected]);
    await expectScan(statement, true);
  });

  test("by bins, of a condition, beside HAVING", async () => {
    const statement = `SELECT date_bin(INTERVAL '1 minute', time) AS m, approx_median(i) AS i FROM few WHERE host IN ('h4', 'h5') AND i > -900
      GROUP BY m HAVING approx_median(i) IS NOT NULL ORDER BY m`;
    const rows = FEW.filter(({ host, i }) => (host === 4 || host === 5) && i > -900n);
    const bins = Map.groupBy(rows, ({ host, second }) => Math.floor((second * HOSTS + host) / 60));
    const expected = [...bins].sort(([a], [b]) => a - b).map(([bin, of]) => [BigInt(bin) * 60_000_000_000n, expectedOf(of, "i", 0.5)]);
    for (const [state, one] of stored) expect([state, (await ask(one, statement)).rows]).toEqual([state, expected]);
    await expectScan(statement, true);
  });

  test("by an expression over tags", async () => {
    const statement = "SELECT concat(host, 'x') AS k, approx_percentile_cont(i, 0.9) AS i FROM few GROUP BY k ORDER BY length(k), k";
    const expected = Array.from({ length: HOSTS }, (_, host) => {
      return [
        `h${host}x`,
        expectedOf(
          FEW.filter((row) => row.host === host),
          "i",
          0.9,
        ),
      ];
    });
    for (const [state, one] of stored) expect([state, (await ask(one, statement)).rows]).toEqual([state, expected]);
    await expectScan(statement, true);
  });

  test("in bins of gap filling, of which some have no rows", async () => {
    const statement = `SELECT date_bin_gapfill(INTERVAL '40 seconds', time) AS m, approx_median(f) AS f FROM few
      WHERE host = 'h6' AND time >= '1970-01-01' AND time < '1970-01-01T00:10:00Z' GROUP BY m ORDER BY m`;
    const timed = FEW.filter(({ host }) => host === 6).map((row) => ({ row, at: row.second * HOSTS + row.host }));
    const expected = Array.from({ length: 15 }, (_, bin) => {
      const rows = timed.filter(({ at }) => Math.floor(at / 40) === bin).map(({ row }) => row);
      return [BigInt(bin) * 40_000_000_000n, expectedOf(rows, "f", 0.5)];
    });
    expect(expected.filter(([, value]) => value === null).length).toBeGreaterThan(0);
    for (const [state, one] of stored) expect([state, (await ask(one, statement)).rows]).toEqual([state, expected]);
    await expectScan(statement, true);
  });

  test("no rows", async () => {
    const statement = "SELECT approx_median(f), approx_percentile_cont(u, 0.9) FROM few WHERE host = 'none'";
    for (const [state, one] of stored) expect([state, (await ask(one, statement)).rows]).toEqual([state, [[null, null]]]);
  });

  test("shares of one text that differ have plans of their own", async () => {
    for (const share of [0, 1, 0.5, 0]) {
      const { rows } = await ask(stored[0]![1], `SELECT approx_percentile_cont(i, ${share}) FROM few WHERE host = 'h7'`);
      expect(rows).toEqual([
        [
          expectedOf(
            FEW.filter(({ host }) => host === 7),
            "i",
            share,
          ),
        ],
      ]);
    }
    for (const share of [0.25, 0.75]) {
      const { rows } = await ask(stored[0]![1], "SELECT approx_percentile_cont(f, $p) FROM few WHERE host = 'h7'", {
        params: { p: share },
      });
      expect(rows).toEqual([
        [
          expectedOf(
            FEW.filter(({ host }) => host === 7),
            "f",
            share,
          ),
        ],
      ]);
    }
  });
});

/** Ranks, of MANY, within which the estimate of a share lies: a centroid of the default 100 has at most 4 √(q(1-q)) hundredths. */
const rankError = (share: number) => 1 + Math.ceil(MANY * (4 / 100) * Math.sqrt(share * (1 - share)));

describe("many values", () => {
  test.each([0, 0.001, 0.05, 0.5, 0.95, 0.999, 1])("the quantile of %d is within a centroid", async (share) => {
    const statement = `SELECT approx_percentile_cont(v, ${share}) AS v, approx_percentile_cont(x, ${share}) AS x,
      approx_percentile_cont(v, ${share}, 1000) AS exact, approx_percentile_cont(same, ${share}) AS same FROM many`;
    const check = ([v, x, exact, same]: readonly SqlValue[]) => {
      const rank = share * (MANY - 1);
      for (const [value, error] of [
        [Number(v), rankError(share)],
        [Number(x) * 4, rankError(share)],
        [Number(exact), 1 + rankError(share) / 10],
      ] as const) {
        expect(Math.abs(Math.sqrt(value) - rank)).toBeLessThanOrEqual(error);
      }
      expect(same).toBe(5n);
    };
    for (const [, one] of stored) check((await ask(one, statement)).rows[0]!);
    await expectScan(statement, true);
  });

  test("weights: as often as they say", async () => {
    const statement = `SELECT approx_percentile_cont_with_weight(x, w, 0.5) AS a, approx_percentile_cont_with_weight(w, 0.5) WITHIN GROUP (ORDER BY x) AS b,
      approx_percentile_cont_with_weight(same, w, 0.5, 100) AS same FROM many`;
    for (const [, one] of stored) {
      const [a, b, same] = (await ask(one, statement)).rows[0]!;
      // weights do not depend on values
      for (const value of [a, b]) expect(Math.abs(Math.sqrt(Number(value) * 4) - MANY / 2)).toBeLessThanOrEqual(2 * rankError(0.5));
      expect(same).toBe(5n);
    }
    await expectScan(statement, true);
  });

  test("a heavy value is the quantile", async () => {
    const one = stored[0]![1];
    await expectScan("SELECT approx_percentile_cont_with_weight(i, u, 0.5) FROM few", true);
    const statement = "SELECT approx_percentile_cont_with_weight(i, u, 0.5) FROM few WHERE host = 'h2' AND time < '1970-01-01T00:00:10Z'";
    expect((await ask(one, statement)).rows).toEqual((await ask(one, statement, { view: BY_ROWS })).rows);
  });
});

describe("exact medians of integers", () => {
  /** The middle value, or the mean of the two in the middle without its fraction. */
  const medianOf = (values: readonly bigint[]): bigint | null => {
    const sorted = values.toSorted((a, b) => (a < b ? -1 : 1));
    return sorted.length === 0 ? null : (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2n;
  };
  const known = (values: readonly (bigint | null)[]) => values.filter((value) => value !== null);

  test("of odd and even counts, of NULLs, with FILTER and DISTINCT", async () => {
    const statement = `SELECT host, median(i), median(u), median(i) FILTER (WHERE i < 0), median(DISTINCT u) FROM few
      GROUP BY host ORDER BY host`;
    const hosts = Array.from({ length: HOSTS }, (_, host) => host).sort((a, b) => (`h${a}` < `h${b}` ? -1 : 1));
    const expected = hosts.map((host) => {
      const rows = FEW.filter((row) => row.host === host);
      const [i, u] = [rows.map((row) => row.i), known(rows.map((row) => row.u))];
      return [`h${host}`, medianOf(i), medianOf(u), medianOf(i.filter((value) => value < 0n)), medianOf([...new Set(u)])];
    });
    expect(new Set(hosts.map((host) => FEW.filter((row) => row.host === host).length % 2)).size).toBe(2);
    for (const [state, one] of stored) expect([state, (await ask(one, statement)).rows]).toEqual([state, expected]);
  });

  test("of many rows, over windows, in HAVING", async () => {
    const many = Array.from({ length: MANY }, (_, at) => BigInt(manyValue(at)));
    const half = medianOf(many)!;
    for (const [, one] of stored) {
      expect((await ask(one, "SELECT median(v) FROM many")).rows).toEqual([[half]]);
      expect((await ask(one, `SELECT median(v) AS m FROM many HAVING median(v) <> ${half}`)).rows).toEqual([]);
      const { rows } = await ask(one, "SELECT DISTINCT host, median(v) OVER (PARTITION BY host) AS m FROM many ORDER BY host");
      expect(rows).toEqual(Array.from({ length: 7 }, (_, host) => [`h${host}`, medianOf(many.filter((_, at) => at % 7 === host))]));
    }
  });

  test.each([
    [[], null],
    [[-3n, -2n], -2n],
    [[2n ** 63n - 1n, 2n ** 63n - 1n], 2n ** 63n - 1n],
    [[-(2n ** 63n), 2n ** 63n - 1n], 0n],
    [[-(2n ** 63n), -(2n ** 63n), 5n], -(2n ** 63n)],
  ] as const)("of %p", async (values, expected) => {
    const list = values.map((value) => `(arrow_cast('${value}', 'Int64'))`).join(", ");
    const from = values.length === 0 ? "(SELECT i AS x FROM few WHERE host = 'none')" : `(VALUES ${list}) AS t(x)`;
    expect((await ask(stored[0]![1], `SELECT median(x) FROM ${from}`)).rows).toEqual([[expected]]);
  });
});

describe("left to DuckDB", () => {
  test.each([
    "SELECT approx_median(f + 1) FROM few",
    "SELECT approx_median(f) FILTER (WHERE i > 0) FROM few",
    "SELECT approx_percentile_cont_with_weight(f, 1, 0.5) FROM few",
    "SELECT approx_percentile_cont_with_weight(u, 0.5) WITHIN GROUP (ORDER BY i) FROM few",
    "SELECT approx_median(f), approx_median(i % 7) OVER () FROM few GROUP BY i % 7",
  ])("%s", (statement) => expectScan(statement, false));

  test.each([
    ["SELECT approx_percentile_cont(f, 1.5) FROM few", "Percentile value must be between 0.0 and 1.0"],
    ["SELECT approx_percentile_cont(f) FROM few", "expects 2 or 3 arguments"],
    ["SELECT approx_percentile_cont(host, 0.5) FROM few", ""],
  ])("%s is an error", async (statement, message) => {
    await expect(ask(stored[0]![1], statement)).rejects.toThrow(message);
  });
});
