// Converts line protocol of a dry run to the rows that a plugin would receive. Nothing is stored or created.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { LineParser } from "../../kernel/parse/line-parser.ts";
import { lineNumbersAt } from "../../kernel/parse/line-text.ts";
import type { ParsedColumn, ParsedTable } from "../../kernel/parse/parser-view.ts";
import { TsdbError } from "../../model/errors.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { Precision } from "../../model/time/precision.ts";
import type { PluginColumn, PluginTable, PluginValues } from "../plugin-call.ts";

/** Of a string view: its length, then the text itself if it is short, else its prefix and its address. */
const VIEW_BYTES = 16;
const VIEW_INLINE_MAX = 12;

/** `columnsOf`: names of the columns that a table has already. @throws TsdbError bad_request for the first invalid line */
export function testedTables(
  kernel: Kernel,
  body: Uint8Array,
  { nowNs, columnsOf }: { readonly nowNs: bigint; readonly columnsOf: (table: string) => readonly string[] },
): PluginTable[] {
  const parser = new LineParser(kernel);
  try {
    const parsed = parser.parse(body, { precision: Precision.nanosecond, receiveTimeNs: nowNs });
    const [error] = parsed.errors;
    if (error !== undefined) {
      const [lineNumber] = lineNumbersAt(body, [error.lineOffset]);
      throw new TsdbError("bad_request", `input_lp: line ${lineNumber}: ${error.message}`);
    }
    if (parsed.rowCount === 0) throw new TsdbError("bad_request", "input_lp has no lines");
    return parsed.tables.map((table) => tableOf(kernel, table, columnsOf(table.name)));
  } finally {
    parser.release();
  }
}

/** Tags, fields, time: the order in which a table has its columns. */
function tableOf(kernel: Kernel, table: ParsedTable, existing: readonly string[]): PluginTable {
  const { name, rowCount, timePtr } = table;
  const fields = table.columns.map((column) => fieldColumn(kernel, column, rowCount));
  const time: PluginColumn = { name: "time", present: null, values: { kind: "time", values: int64s(kernel, timePtr, rowCount) } };
  const columns = [...tagColumns(kernel, table), ...fields, time];
  const given = new Set(columns.map((column) => column.name));
  return { table: name, rowCount, columns, absent: existing.filter((column) => !given.has(column)) };
}

function tagColumns(
  kernel: Kernel,
  { rowCount, seriesPtr, newSeriesCount, newSeriesRecordsPtr, tagColumns: names }: ParsedTable,
): PluginColumn[] {
  const { u32 } = kernel;
  // the parser is new: all series are
  const series: ReadonlyMap<number, Uint8Array>[] = [];
  let at = newSeriesRecordsPtr / 4;
  for (let left = newSeriesCount; left > 0; left--) {
    const tags = new Map<number, Uint8Array>();
    const tagCount = u32[at]!;
    at += 1;
    for (let tag = 0; tag < tagCount; tag++, at += 3) tags.set(u32[at]!, kernel.copyOut(u32[at + 1]!, u32[at + 2]!));
    series.push(tags);
  }
  return names.map((name, tag) => {
    const texts = Array.from({ length: rowCount }, (_, row) => series[u32[seriesPtr / 4 + row]!]!.get(tag));
    const present = Uint32Array.from(texts.flatMap((text, row) => (text === undefined ? [] : [row])));
    return { name, present, values: textValues(texts.filter((text) => text !== undefined)) };
  });
}

function fieldColumn(kernel: Kernel, { name, type, dataPtr, validityPtr, presentCount }: ParsedColumn, rowCount: number): PluginColumn {
  const hasValue = (row: number) => ((kernel.u8[validityPtr + (row >>> 3)]! >>> (row & 7)) & 1) === 1;
  const present = validityPtr === 0 ? null : Uint32Array.from([...Array(rowCount).keys()].filter(hasValue));
  return { name, present, values: fieldValues(kernel, type, dataPtr, presentCount) };
}

function fieldValues(kernel: Kernel, type: ColumnType, ptr: number, count: number): PluginValues {
  switch (type) {
    case ColumnType.float:
      return { kind: "float", values: Float64Array.from(kernel.f64.subarray(ptr / 8, ptr / 8 + count)) };
    case ColumnType.integer:
      return { kind: "integer", values: int64s(kernel, ptr, count) };
    case ColumnType.unsigned:
      return { kind: "unsigned", values: new BigUint64Array(int64s(kernel, ptr, count).buffer) };
    case ColumnType.boolean:
      return { kind: "boolean", values: kernel.copyOut(ptr, count) };
    default:
      return textValues(Array.from({ length: count }, (_, i) => viewText(kernel, ptr + i * VIEW_BYTES)));
  }
}

function int64s(kernel: Kernel, ptr: number, count: number): BigInt64Array<ArrayBuffer> {
  return BigInt64Array.from(kernel.i64.subarray(ptr / 8, ptr / 8 + count));
}

function viewText(kernel: Kernel, view: number): Uint8Array {
  const bytes = kernel.u32[view / 4]!;
  if (bytes <= VIEW_INLINE_MAX) return kernel.copyOut(view + 4, bytes);
  return kernel.copyOut(Number(BigInt.asUintN(64, kernel.i64[view / 8 + 1]!) - kernel.base), bytes);
}

function textValues(texts: readonly Uint8Array[]): PluginValues {
  let end = 0;
  const ends = Uint32Array.from(texts, ({ byteLength }) => (end += byteLength));
  return { kind: "text", codes: null, ends, bytes: Buffer.concat(texts) };
}
