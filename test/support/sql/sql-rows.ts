// Result columns as plain JavaScript values, for tests that compare whole answers.
import { durationText } from "../../../src/encode/cells/clock-text.ts";
import type { ResultBatch, ResultColumn, ResultSchema, ResultType } from "../../../src/model/query/result-batch.ts";
import type { SqlEngine, SqlInput } from "../../../src/sql/execute/engine.ts";

/** bigint for 64 bits and more and for times, string for text, decimals and durations, [months, days, micros] for intervals, arrays and
 *  objects for nested values, null. */
export type SqlValue = null | boolean | number | bigint | string | readonly SqlValue[] | { readonly [key: string]: SqlValue };

/** Reads an answer to its end. */
export async function readRows(answer: { schema: ResultSchema; batches: AsyncIterable<ResultBatch> }): Promise<SqlValue[][]> {
  const rows: SqlValue[][] = [];
  for await (const batch of answer.batches) {
    const columns = answer.schema.fields.map(({ type }, i) =>
      Array.from({ length: batch.rowCount }, (_, row) => readValue(type, batch.columns[i]!, row)),
    );
    for (let row = 0; row < batch.rowCount; row++) rows.push(columns.map((column) => column[row]!));
  }
  return rows;
}

/** A statement's answer with all its rows. */
export async function askSql(engine: SqlEngine, sql: string, input: SqlInput): Promise<{ schema: ResultSchema; rows: SqlValue[][] }> {
  const answer = await engine.run(await engine.plan(sql), input);
  try {
    return { schema: answer.schema, rows: await readRows(answer) };
  } finally {
    await answer.close();
  }
}

/** All rows of a statement's answer. */
export async function askRows(engine: SqlEngine, sql: string, input: SqlInput): Promise<SqlValue[][]> {
  return (await askSql(engine, sql, input)).rows;
}

const decoder = new TextDecoder();

function readValue(type: ResultType, column: ResultColumn, row: number): SqlValue {
  const { validity, values } = column;
  if (type.kind === "null" || (validity !== null && ((validity[row >>> 3]! >>> (row & 7)) & 1) === 0)) return null;
  switch (type.kind) {
    case "bool":
      return values[row] === 1;
    case "utf8":
      return decoder.decode(column.data!.subarray(column.offsets![row]!, column.offsets![row + 1]!));
    case "binary":
      return Buffer.from(column.data!.subarray(column.offsets![row]!, column.offsets![row + 1]!)).toString("hex");
    case "dictionary":
      return column.dictionary![Number(values[row]!)]!;
    case "hugeint":
      return wide(values, row);
    case "decimal":
      return decimalText(wide(values, row), type.scale);
    case "duration":
      return durationText(values[row] as bigint, type.unit);
    case "interval": {
      const view = new DataView(values.buffer as ArrayBuffer, values.byteOffset + row * 16, 16);
      return [view.getInt32(0, true), view.getInt32(4, true), view.getBigInt64(8, true)];
    }
    case "list":
      return range(column, row).map((i) => readValue(type.child.type, column.children![0]!, i));
    case "map":
      return range(column, row).map((i) => [
        readValue(type.key.type, column.children![0]!, i),
        readValue(type.value.type, column.children![1]!, i),
      ]);
    case "struct":
      return Object.fromEntries(type.children.map((field, i) => [field.name, readValue(field.type, column.children![i]!, row)]));
    default:
      return values[row]!;
  }
}

function range(column: ResultColumn, row: number): number[] {
  const first = column.offsets![row]!;
  return Array.from({ length: column.offsets![row + 1]! - first }, (_, i) => first + i);
}

function wide(values: ResultColumn["values"], row: number): bigint {
  const view = new DataView(values.buffer as ArrayBuffer, values.byteOffset + row * 16, 16);
  return (view.getBigInt64(8, true) << 64n) | view.getBigUint64(0, true);
}

function decimalText(value: bigint, scale: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, "0");
  return `${value < 0n ? "-" : ""}${digits.slice(0, digits.length - scale)}${scale === 0 ? "" : `.${digits.slice(digits.length - scale)}`}`;
}
