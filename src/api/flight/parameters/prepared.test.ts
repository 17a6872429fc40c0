// Handles that clients have changed: a small one stands for as many long statements as it says.
import { expect, test } from "bun:test";
import { ParameterRow, PreparedHandle } from "../wire/flight-messages.ts";
import { packAny } from "../wire/sql-messages.ts";
import { paramMessage } from "../wire/ticket.ts";
import { boundStatements, newHandle } from "./prepared.ts";

/** `SELECT $1,$1,…` for rows of one integer. */
const handle = ({ placeholders, rows }: { placeholders: number; rows: number }) =>
  packAny(PreparedHandle, {
    query: `SELECT ${Array(placeholders).fill("$1").join(",")}`,
    columns: [{ name: "1", kind: "int" }],
    rows: Array.from({ length: rows }, (_, i) => ParameterRow.encode({ values: [paramMessage("", BigInt(i))] })),
  });

test("the statement of a row is made when it is asked for", () => {
  // all thousand would take a gigabyte, and a minute
  const { shape, runs } = boundStatements(handle({ placeholders: 50_000, rows: 1000 }));
  const statement = `SELECT ${Array(50_000).fill("CAST($1 AS BIGINT)").join(",")}`;
  expect(shape).toEqual({ statement, params: { "1": 0n } });
  expect(runs.next().value).toBe(shape);
  expect(runs.next().value).toEqual({ statement, params: { "1": 1n } });
});

test("all rows, one, none", () => {
  const runs = (rows: number) => Iterator.from(boundStatements(handle({ placeholders: 1, rows })).runs);
  for (const rows of [3, 1, 0]) {
    const params = Array.from({ length: rows }, (_, i) => ({ statement: "SELECT CAST($1 AS BIGINT)", params: { "1": BigInt(i) } }));
    expect(runs(rows).toArray()).toEqual(params as never);
  }
});

test("a statement is as long as one may be, and does not become longer", () => {
  const tooLong = /characters, more than the 1048576 there may be/;
  expect(() => newHandle(`SELECT '${"x".repeat(1 << 20)}'`)).toThrow(tooLong);
  const long = packAny(PreparedHandle, { query: "x".repeat((1 << 20) + 1), columns: [{ name: "1", kind: "int" }], rows: [] });
  expect(() => boundStatements(long)).toThrow(tooLong);
  expect(() => boundStatements(handle({ placeholders: 100_000, rows: 1 }))).toThrow(tooLong);
});
