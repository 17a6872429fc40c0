// The first rows of an order by a field, where a scan leaves out rows beyond those found so far: the same as DuckDB sorts first, of rows in
// many blocks, in several states.
import { expect, test } from "bun:test";
import { pick, prng } from "../support/prng.ts";
import { ROW_STATES, type RowStep } from "../support/rows/row-states.ts";
import { sqlStates } from "../support/sql/sql-states.ts";
import { comparable } from "../support/sql/sql-twins.ts";

const DAY_NS = 86_400_000_000_000n;
const STATES = ROW_STATES.filter((state) => process.env["ALL_STATES"] === "1" || state !== "flushed");

/** Twelve days of some hosts, each of which has greater values than the day before, or lesser ones, or those of few values. */
function steps(): RowStep[] {
  const below = prng(31);
  const lines = Array.from({ length: 3600 }, (_, i) => {
    const day = Math.floor(i / 300);
    const fields = [
      `up=${day * 10 + below(40)}i`,
      `down=${(1000 - day * 10 - below(40)) / 8}`,
      ...(below(4) === 0 ? [] : [`few=${below(3)}i`]),
      ...(below(40) === 0 ? [] : [`f=${below(1000) / 4 - 100}`]),
      ...(below(9) === 0
        ? [`far=${pick(below, ["9223372036854775807", "-9223372036854775808", "9007199254740993", "9007199254740992", "0"])}i`]
        : []),
      `n=${i}i`,
    ];
    return `cpu,host=h${below(4)},only=one ${fields.join(",")} ${BigInt(day) * DAY_NS + BigInt(i % 300) * 1_000_000_000n + BigInt(below(2))}`;
  });
  return [lines.slice(0, 2500), lines.slice(2300), ["one,t=a v=1.5 5"]].map((part) => ({
    database: "db",
    lines: part.join("\n"),
  })) as RowStep[];
}

const states = sqlStates(steps, STATES);

const KEYS = ["up", "down", "few", "f", "far", "n"];

function statementOf(seed: number): string {
  const below = prng(seed);
  const order = (key: string) => `${key}${pick(below, ["", " ASC", " DESC"])}${pick(below, ["", " NULLS FIRST", " NULLS LAST"])}`;
  const keys = [pick(below, KEYS), ...pick(below, [[], [], ["time"], ["host"], ["few"], ["f"], ["far", "host"]])];
  const where = pick(below, [
    "",
    "",
    "",
    " WHERE host = 'h2'",
    " WHERE f > 20",
    " WHERE few IS NOT NULL AND up < down",
    " WHERE only = 'one'",
  ]);
  const limit = pick(below, ["1", "5", "5 OFFSET 3", "40", "700"]);
  // no two rows are equal in all of these
  return `SELECT ${pick(below, ["*", "n", "host, n, few"])} FROM cpu${where} ORDER BY ${[...keys.map(order), "time", "host"].join(", ")} LIMIT ${limit}`;
}

test.each(Array.from({ length: 60 * Number(process.env["ROUNDS"] ?? 1) }, (_, seed) => statementOf(seed + 1)))("%s", async (statement) => {
  const ask = (at: number, options = {}) => comparable(statement, states.stored[at]![1].sql(states.engine, statement, options));
  const expected = await ask(0, { isPlain: true });
  expect(expected.fields).not.toBe("error");
  for (const [at, state] of STATES.entries()) {
    for (const time of [1, 2]) expect([state, time, await ask(at)]).toEqual([state, time, expected]);
  }
});

test("of one row", async () => {
  for (const order of ["v", "v DESC", "v, time", "none"]) {
    const rows = states.stored.map(([, stored]) =>
      stored.sql(states.engine, `SELECT v FROM one ORDER BY ${order === "none" ? "v * 2" : order} LIMIT 3`, {}),
    );
    for (const answer of rows) expect((await answer).rows).toEqual([[1.5]]);
  }
});
