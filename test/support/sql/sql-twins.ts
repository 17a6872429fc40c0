// One statement over two tables with the same rows, one of which aggregates in storage: both must return the same answer.
import { expect } from "bun:test";
import type { Kernel } from "../../../src/kernel/memory/kernel.ts";
import { describeError } from "../../../src/model/errors.ts";
import type { QueryParams } from "../../../src/model/query/query.ts";
import type { ResultSchema } from "../../../src/model/query/result-batch.ts";
import type { ScanTable } from "../../../src/model/query/scan-table.ts";
import { ColumnType } from "../../../src/model/rows/column.ts";
import type { SqlEngine, SqlInput } from "../../../src/sql/execute/engine.ts";
import { type FakeRow, FakeTable } from "../rows/fake-table.ts";
import { GroupingTable } from "../rows/grouping-table.ts";
import { askSql, type SqlValue } from "./sql-rows.ts";

const { time, tag, float, integer, unsigned, string, boolean } = ColumnType;
/** A table with every type and two tags. */
export const TWIN_COLUMNS = { time, host: tag, Region: tag, f: float, i: integer, u: unsigned, s: string, b: boolean };

export interface TwinAnswer {
  readonly fields: unknown;
  readonly rows: readonly string[];
}

/** The same rows in two forms, to ask the same questions of both. */
export class Twins {
  readonly rows: FakeTable;
  readonly groups: GroupingTable;

  constructor(
    kernel: Kernel,
    private readonly engine: SqlEngine,
    name: string,
    rows: readonly FakeRow[],
  ) {
    this.rows = new FakeTable(kernel, name, TWIN_COLUMNS, rows);
    this.groups = new GroupingTable(kernel, name, TWIN_COLUMNS, rows);
  }

  /** The answer, equal for both tables, and how often groups and rows were requested from storage. */
  async ask(statement: string, params: QueryParams = {}): Promise<TwinAnswer & { aggregations: number; scans: number }> {
    this.groups.aggregations.length = 0;
    this.groups.requests.length = 0;
    const answer = await sameAnswer(this.engine, { expected: this.rows, found: this.groups }, statement, params);
    expect([this.groups.openCursors, this.groups.openGroups]).toEqual([0, 0]);
    return { ...answer, aggregations: this.groups.aggregations.length, scans: this.groups.requests.length };
  }

  /** The rows of EXPLAIN for the table that aggregates in storage. */
  async explain(statement: string): Promise<TwinAnswer> {
    return answerOf(this.engine, `EXPLAIN ${statement}`, { params: {}, tables: [this.groups] });
  }
}

/** The answer of both tables, or the error of both. */
export async function sameAnswer(
  engine: SqlEngine,
  tables: { readonly expected: ScanTable; readonly found: ScanTable },
  statement: string,
  params: QueryParams = {},
): Promise<TwinAnswer> {
  const input = { params, nowNs: 1_700_000_000_000_000_000n };
  const expected = await answerOf(engine, statement, { ...input, tables: [tables.expected], isPlain: true });
  const found = await answerOf(engine, statement, { ...input, tables: [tables.found] });
  expect(found, statement).toEqual(expected);
  return found;
}

async function answerOf(engine: SqlEngine, statement: string, input: SqlInput): Promise<TwinAnswer> {
  return comparable(statement, askSql(engine, statement, input));
}

/** An answer, or its error, as text: rows in order if the statement specifies one, and sums of floats without their last digits. @throws
 *  internal errors */
export async function comparable(
  statement: string,
  asked: Promise<{ readonly schema: ResultSchema; readonly rows: readonly (readonly SqlValue[])[] }>,
): Promise<TwinAnswer> {
  try {
    const { schema, rows } = await asked;
    return { fields: [schema, rows.length], rows: rowTexts(statement, rows) };
  } catch (error) {
    const { kind, message } = describeError(error);
    if (kind === "bug") throw error;
    return { fields: "error", rows: [`${kind}: ${message}`] };
  }
}

/** One text per row: in order if the statement specifies one. */
export function rowTexts(statement: string, rows: readonly (readonly SqlValue[])[]): string[] {
  const texts = rows.map((row) => row.map(valueText).join(" | "));
  return isOrdered(statement) ? texts : texts.sort();
}

const isOrdered = (statement: string) => /\bORDER BY [^()]*$/.test(statement);

/** The last digits of float sums depend on the order of addition. */
function valueText(value: SqlValue): string {
  if (typeof value === "number") return Object.is(value, -0) ? "0" : value.toPrecision(13);
  if (typeof value === "object" && value !== null)
    return JSON.stringify(Object.entries(value).map(([key, part]) => [key, valueText(part)]));
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** Rows with NULLs, absent tags and times on both sides of 1970. */
export function twinRows(below: (n: number) => number, count: number): FakeRow[] {
  const maybe = <T>(value: T): T | null => (below(4) === 0 ? null : value);
  return Array.from({ length: count }, () => ({
    time: BigInt(below(600) - 300) * 1_000_000_000n + BigInt(below(3) - 1),
    host: maybe(["a", "b", "host with a long name", "é", "B"][below(5)]!),
    Region: maybe(["eu", "us"][below(2)]!),
    f: maybe([below(400) / 4 - 50, below(400) / 4 - 50, 0, -0.5, Number.NaN, Number.POSITIVE_INFINITY][below(6)]!),
    i: maybe(BigInt(below(100) - 50)),
    u: maybe(BigInt(below(100))),
    s: maybe(`text ${below(5)}`),
    b: maybe(below(2) === 0),
  }));
}
