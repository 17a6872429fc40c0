// Random gap-filling statements against a naive model: bins one instant after the other, by the platform's own calendar (Temporal); gaps by
// looking to both sides. Seeded: a failure's statement is its own test case.
import { expect, test } from "bun:test";
import { ColumnType } from "../../src/model/rows/column.ts";
import { prng } from "../support/prng.ts";
import { FakeTable } from "../support/rows/fake-table.ts";
import { sqlEngine } from "../support/sql/sql-engine.ts";
import { askRows, type SqlValue } from "../support/sql/sql-rows.ts";

const SEED = Number(process.env["SEED"] ?? 4);
const ROUNDS = Number(process.env["ROUNDS"] ?? 30);
const MINUTE = 60_000_000_000n;
const DAY = 1440n * MINUTE;

interface Row {
  readonly time: bigint;
  readonly k: string;
  readonly v: bigint;
}
interface Zone {
  readonly name: string;
  /** A day with a change of the clock, in UTC. */
  readonly around: string;
}
const ZONES: readonly Zone[] = [
  { name: "Europe/Berlin", around: "2021-03-28T01:00:00Z" },
  { name: "Europe/Berlin", around: "2021-10-31T01:00:00Z" },
  { name: "America/New_York", around: "1969-10-26T06:00:00Z" },
  { name: "Australia/Lord_Howe", around: "2024-04-06T15:00:00Z" },
  { name: "Australia/Lord_Howe", around: "2024-10-05T15:30:00Z" },
  { name: "Africa/Casablanca", around: "2023-03-19T02:00:00Z" },
  { name: "Asia/Kolkata", around: "2000-01-01T00:00:00Z" },
];
const STEPS: readonly [text: string, ns: bigint, isDays: boolean][] = [
  ["15 minutes", 15n * MINUTE, false],
  ["30 minutes", 30n * MINUTE, false],
  ["1 hour", 60n * MINUTE, false],
  ["90 minutes", 90n * MINUTE, false],
  ["2 hours", 120n * MINUTE, false],
  ["7 hours", 420n * MINUTE, false],
  ["24 hours", DAY, false],
  ["1 day", DAY, true],
];

/** What the clock shows, as nanoseconds. */
function clockOf(timeNs: bigint, zone: string): bigint {
  const plain = Temporal.Instant.fromEpochNanoseconds(timeNs).toZonedDateTimeISO(zone).toPlainDateTime();
  return plain.toZonedDateTime("UTC").epochNanoseconds;
}

/** The bin's start by the words of the documentation. */
function binOf(timeNs: bigint, zone: string | null, stepNs: bigint, isDays: boolean, originNs: bigint): bigint {
  const floor = (ns: bigint): bigint => ns - ((((ns - originNs) % stepNs) + stepNs) % stepNs);
  if (zone === null) return floor(timeNs);
  const local = Temporal.Instant.fromEpochNanoseconds(floor(clockOf(timeNs, zone)))
    .toZonedDateTimeISO("UTC")
    .toPlainDateTime();
  const earlier = local.toZonedDateTime(zone, { disambiguation: "earlier" }).epochNanoseconds;
  const later = local.toZonedDateTime(zone, { disambiguation: "later" }).epochNanoseconds;
  const [showsEarlier, showsLater] = [earlier, later].map((ns) => clockOf(ns, zone) === floor(clockOf(timeNs, zone)));
  // skipped: counted on from before the change, which is the later of the two readings
  if (!showsEarlier && !showsLater) return later;
  // ambiguous: the time's own offset for short bins, else the earlier
  const isShort = !isDays && stepNs <= later - earlier;
  const offset = clockOf(timeNs, zone) - timeNs;
  return isShort && offset === clockOf(later, zone) - later ? later : earlier;
}

const own = sqlEngine();
const { kernel } = own;

function interpolated(bins: readonly bigint[], values: readonly (bigint | null)[], i: number): bigint | null {
  if (values[i] !== null) return values[i]!;
  const before = values.findLastIndex((value, at) => at < i && value !== null);
  const after = values.findIndex((value, at) => at > i && value !== null);
  if (before < 0 || after < 0) return null;
  const slope = Number(values[after]! - values[before]!) / Number(bins[after]! - bins[before]!);
  return BigInt(Math.trunc(slope * Number(bins[i]! - bins[before]!) + Number(values[before]!)));
}

test(`${ROUNDS} random statements, seed ${SEED}`, async () => {
  const below = prng(SEED);
  for (let round = 0; round < ROUNDS; round++) {
    const { name, around } = ZONES[below(ZONES.length)]!;
    const [stepText, stepNs, isDays] = STEPS[below(STEPS.length)]!;
    const zone = below(4) === 0 ? null : name;
    const centre = Temporal.Instant.from(around).epochNanoseconds;
    const originNs = below(3) === 0 ? 0n : BigInt(below(48)) * 15n * MINUTE - DAY;
    const minNs = centre - BigInt(below(3000)) * MINUTE + BigInt(below(2));
    const maxNs = minNs + BigInt(below(4000)) * MINUTE;
    const rows = Array.from({ length: below(12) }, (): Row => {
      const time = centre + BigInt(below(4000) - 2000) * MINUTE + BigInt(below(3) - 1);
      return { time, k: "ab"[below(2)]!, v: BigInt(below(2000) - 1000) };
    });
    // the later write of a series and time wins: here times are unique
    const unique = [...new Map(rows.map((row) => [`${row.k}${row.time}`, row])).values()];
    const text = (ns: bigint): string => Temporal.Instant.fromEpochNanoseconds(ns).toString();
    const source = zone === null ? "time" : `tz(time, '${zone}')`;
    const origin = originNs === 0n ? "" : `, '${text(originNs).slice(0, -1)}'`;
    const isGrouped = below(2) === 0;
    const sql = `SELECT ${isGrouped ? "k" : "'-'"} AS k, date_bin_${zone === null ? "" : "wallclock_"}gapfill(INTERVAL '${stepText}', ${source}${origin}) AS t,
      max(v), locf(max(v)), interpolate(max(v)) FROM r WHERE time >= '${text(minNs)}' AND time <= '${text(maxNs)}'
      GROUP BY ${isGrouped ? "k, " : ""}t ORDER BY k, t`;
    const bin = (ns: bigint): bigint => binOf(ns, zone, stepNs, isDays, originNs);

    const starts = new Set<bigint>();
    for (let ns = minNs; ns < maxNs; ns += 5n * MINUTE) starts.add(bin(ns));
    starts.add(bin(maxNs));
    // bins begin at quarters of an hour of UTC too
    const all = [...starts].sort((a, b) => (a < b ? -1 : 1));
    const expected: SqlValue[][] = [];
    const inside = unique.filter(({ time }) => time >= minNs && time <= maxNs);
    for (const k of isGrouped ? ["a", "b"] : ["-"]) {
      const own = inside.filter((row) => !isGrouped || row.k === k);
      if (own.length === 0) continue;
      const values = all.map((start) =>
        own.filter(({ time }) => bin(time) === start).reduce<bigint | null>((max, { v }) => (max === null || v > max ? v : max), null),
      );
      for (const [i, start] of all.entries()) {
        const last = values.slice(0, i + 1).findLast((value) => value !== null) ?? null;
        expected.push([k, start, values[i]!, last, interpolated(all, values, i)]);
      }
    }
    const { time, tag, integer } = ColumnType;
    const table = new FakeTable(
      kernel,
      "r",
      { time, k: tag, v: integer },
      unique.map((row) => ({ ...row })),
    );
    const found = await askRows(own.engine, sql, { tables: [table], params: {} });
    table.free();
    expect({ sql, rows: found }).toEqual({ sql, rows: expected });
  }
});
