// Rows whose fields are compared with each other, in several states, random expressions over them, and answers beside those of DuckDB on
// all rows.
import { expect } from "bun:test";
import { pick, prng } from "../prng.ts";
import { ROW_STATES, type RowStep } from "../rows/row-states.ts";
import type { SqlAsk, StoredRows } from "../rows/stored-rows.ts";
import { sqlStates } from "./sql-states.ts";
import { comparable } from "./sql-twins.ts";

export const FIELD_STATES = ROW_STATES.filter(
  (state) => process.env["ALL_STATES"] === "1" || ["in memory", "compacted", "half flushed and written again"].includes(state),
);

/** Several hosts with missing fields; one series with a row, and one with values at the ends of 64 bits. */
function fieldSteps(): RowStep[] {
  const below = prng(9);
  const lines = Array.from({ length: 600 }, (_, i) => {
    const fields = [
      ...(below(5) === 0 ? [] : [`f=${below(40) / 4 - 2}`]),
      ...(below(5) === 0 ? [] : [`g=${below(40) / 4 - 2}`]),
      ...(below(5) === 0 ? [] : [`i=${below(20) - 5}i`]),
      ...(below(5) === 0 ? [] : [`j=${below(20) - 5}i`]),
      ...(below(3) === 0 ? [] : [`b=${below(2) === 1}`]),
      ...(below(3) === 0 ? [] : [`c=${below(2) === 1}`]),
      ...(below(8) === 0 ? [`u=${below(20)}u`] : []),
      `s="${pick(below, ["x", "y", "7"])}"`,
    ];
    return `cpu,host=h${below(5)},only=one ${fields.join(",")} ${1_000_000_000 * (i + below(2))}`;
  });
  const others = [
    "one,t=a f=1.5,i=3i 1",
    "wide,t=a n=9223372036854775807i,m=1i 1",
    "wide,t=b n=5i,m=2i 2",
    "wide,t=c n=-9223372036854775808i,m=-1i 3",
    "wide,t=d m=7i 4",
  ];
  return [lines.slice(0, 400), lines.slice(300), others].map((part) => ({ database: "db", lines: part.join("\n") })) as RowStep[];
}

/** A random condition, or a value, of moderate numbers. */
export function randomFieldSql(below: (n: number) => number, type: "number" | "truth", depth: number): string {
  const some = (wanted: "number" | "truth") => randomFieldSql(below, wanted, depth - 1);
  if (type === "number") {
    if (depth <= 0 || below(4) === 0)
      return pick(below, ["f", "g", "i", "j", "2", "0.5", "-1", "0", "i::DOUBLE", "NULL::DOUBLE", "NULL::BIGINT"]);
    return pick(below, [
      () => `(${some("number")} ${pick(below, ["+", "-", "*"])} ${some("number")})`,
      () => `(${some("number")} / ${pick(below, ["2.0", "0.25", "4.0"])})`,
      () => `CASE WHEN ${some("truth")} THEN ${some("number")} ELSE ${some("number")} END`,
      () => `coalesce(${some("number")}, ${some("number")})`,
      () => `(- ${some("number")})`,
    ])();
  }
  if (depth <= 0) return pick(below, ["b", "c", "f > 1", "g IS NULL", "i = 3", "b IS NOT NULL"]);
  return pick(below, [
    () => `${some("number")} ${pick(below, ["<", "<=", "=", "<>", ">", ">="])} ${some("number")}`,
    () => `(${some("truth")} ${pick(below, ["AND", "OR"])} ${some("truth")})`,
    () => `(NOT ${some("truth")})`,
    () => `(${some("number")}) IS ${pick(below, ["", "NOT "])}NULL`,
    () => `${some("number")} ${pick(below, ["", "NOT "])}IN (${some("number")}, 1, 2.5)`,
    () => `${some("number")} BETWEEN ${some("number")} AND ${some("number")}`,
  ])();
}

type Answer = Awaited<ReturnType<typeof comparable>>;

/** The rows in FIELD_STATES, for the tests of one file. */
export class FieldRows {
  private readonly states = sqlStates(fieldSteps, FIELD_STATES);

  /** Asks them in one of the states. */
  sql(at: number, statement: string, options: SqlAsk = {}): ReturnType<StoredRows["sql"]> {
    return this.states.stored[at]![1].sql(this.states.engine, statement, options);
  }

  ask(at: number, statement: string, options: SqlAsk = {}): Promise<Answer> {
    return comparable(statement, this.sql(at, statement, options));
  }

  async plan(statement: string): Promise<string> {
    return (await this.sql(0, `EXPLAIN ${statement}`)).rows.map((row) => row.join(" ")).join("\n");
  }

  /** In all states, with a new plan and with a known one. Returns the answer. */
  async check(statement: string): Promise<Answer> {
    const expected = await this.ask(0, statement, { isPlain: true });
    for (const [at, state] of FIELD_STATES.entries()) {
      for (const time of [1, 2]) expect([state, time, await this.ask(at, statement)], statement).toEqual([state, time, expected]);
    }
    return expected;
  }
}
