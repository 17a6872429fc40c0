// Converts a table of a decoded frame to plugin columns: owned by the caller, with dictionary-encoded tags.
import type { DecodedTable } from "../ingest/frame.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { countPresent } from "../kernel/scan/rows.ts";
import { TsdbError } from "../model/errors.ts";
import { ColumnType, TIME_COLUMN, VALUE_BYTES } from "../model/rows/column.ts";
import type { ColumnRun } from "../model/rows/run.ts";
import type { PluginValues } from "../plugins/plugin-call.ts";
import type { LogColumn, LogTable } from "./log-feed.ts";

const VIEW_WORDS = 4;
const INLINE_MAX = 12;

/** Keys by series id, as a segment of the log names them: | columnId u32 | valueBytes u32 | value | per tag. */
export type SeriesKeys = Map<number, Uint8Array>;

/** Reads the records of series that a frame names, | seriesId u32 | keyBytes u32 | key |, into `known`. */
export function learnSeries(kernel: Kernel, { keysPtr, keysBytes }: DecodedTable, known: SeriesKeys): void {
  const bytes = kernel.copyOut(keysPtr, keysBytes);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < keysBytes; ) {
    const end = at + 8 + view.getUint32(at + 4, true);
    known.set(view.getUint32(at, true), bytes.subarray(at + 8, end));
    at = end;
  }
}

/** `known`: the series that the frame's segment has named so far, this frame included. */
export function frameRows(kernel: Kernel, table: DecodedTable, known: SeriesKeys): LogTable {
  const { tableId, rowCount, seriesPtr, timePtr } = table;
  const series = kernel.u32.slice(seriesPtr / 4, seriesPtr / 4 + rowCount);
  const time: LogColumn = { columnId: TIME_COLUMN.id, present: null, values: { kind: "time", values: int64s(kernel, timePtr, rowCount) } };
  const fields = table.columns.map((column) => fieldColumn(kernel, column, rowCount));
  return { tableId, rowCount, columns: [time, ...tagColumns(series, known), ...fields] };
}

/** Rows by the series that they are of: one number a series, the same for all tags. */
interface LocalRows {
  /** By row. */
  readonly locals: Uint32Array;
  /** Rows by local series. */
  readonly rowsOf: Uint32Array;
  /** By local series, for one tag after the other: code + 1; 0 between them. */
  readonly codeOf: Uint32Array;
}

/** Texts of one tag column, in the order of their first series. */
class TagTexts {
  /** The local series that have the tag, and the codes of their texts. */
  private readonly locals: number[] = [];
  private readonly codes: number[] = [];
  private readonly byText = new Map<string, number>();
  private readonly texts: Uint8Array[] = [];

  add(local: number, text: Uint8Array): void {
    const key = Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString("latin1");
    let code = this.byText.get(key);
    if (code === undefined) {
      code = this.texts.length;
      this.byText.set(key, code);
      this.texts.push(text);
    }
    this.locals.push(local);
    this.codes.push(code);
  }

  column(columnId: number, { locals, rowsOf, codeOf }: LocalRows): LogColumn {
    const count = this.locals.reduce((sum, local) => sum + rowsOf[local]!, 0);
    const present = count === locals.length ? null : new Uint32Array(count);
    const codes = new Uint32Array(count);
    this.locals.forEach((local, i) => {
      codeOf[local] = this.codes[i]! + 1;
    });
    for (let row = 0, at = 0; at < count; row++) {
      const code = codeOf[locals[row]!]!;
      if (code === 0) continue;
      if (present !== null) present[at] = row;
      codes[at++] = code - 1;
    }
    for (const local of this.locals) codeOf[local] = 0;
    const ends = new Uint32Array(this.texts.length);
    let total = 0;
    this.texts.forEach((text, i) => {
      total += text.byteLength;
      ends[i] = total;
    });
    const bytes = new Uint8Array(total);
    this.texts.forEach((text, i) => {
      bytes.set(text, ends[i]! - text.byteLength);
    });
    return { columnId, present, values: { kind: "text", codes, ends, bytes } };
  }
}

function tagColumns(series: Uint32Array, known: SeriesKeys): LogColumn[] {
  const localOf = new Map<number, number>();
  const locals = new Uint32Array(series.length);
  for (let row = 0; row < series.length; row++) {
    const id = series[row]!;
    let local = localOf.get(id);
    if (local === undefined) {
      local = localOf.size;
      localOf.set(id, local);
    }
    locals[row] = local;
  }
  const rowsOf = new Uint32Array(localOf.size);
  for (const local of locals) rowsOf[local]!++;
  const columns = new Map<number, TagTexts>();
  for (const [id, local] of localOf) {
    const key = known.get(id);
    if (key === undefined)
      throw new TsdbError("corrupt_file", `a frame of the log has rows of series ${id}, which its segment does not name`);
    const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
    for (let at = 0; at < key.byteLength; ) {
      const columnId = view.getUint32(at, true);
      const end = at + 8 + view.getUint32(at + 4, true);
      let column = columns.get(columnId);
      if (column === undefined) {
        column = new TagTexts();
        columns.set(columnId, column);
      }
      column.add(local, key.subarray(at + 8, end));
      at = end;
    }
  }
  const rows: LocalRows = { locals, rowsOf, codeOf: new Uint32Array(localOf.size) };
  return [...columns].map(([columnId, texts]) => texts.column(columnId, rows));
}

function fieldColumn(kernel: Kernel, { columnId, type, dataPtr, validityPtr }: ColumnRun, rowCount: number): LogColumn {
  // frames are decoded packed: only the values of present rows are there
  const count = validityPtr === 0 ? rowCount : countPresent(kernel, validityPtr, 0, rowCount);
  return {
    columnId,
    present: validityPtr === 0 ? null : presentRows(kernel, validityPtr, rowCount, count),
    values: fieldValues(kernel, type, dataPtr, count),
  };
}

function fieldValues(kernel: Kernel, type: ColumnType, dataPtr: number, count: number): PluginValues {
  switch (type) {
    case ColumnType.float:
      return { kind: "float", values: kernel.f64.slice(dataPtr / 8, dataPtr / 8 + count) as Float64Array<ArrayBuffer> };
    case ColumnType.integer:
      return { kind: "integer", values: int64s(kernel, dataPtr, count) };
    case ColumnType.unsigned:
      return { kind: "unsigned", values: new BigUint64Array(int64s(kernel, dataPtr, count).buffer) };
    case ColumnType.boolean:
      return { kind: "boolean", values: kernel.copyOut(dataPtr, count * VALUE_BYTES[type]) };
    default:
      return texts(kernel, dataPtr, count);
  }
}

function int64s(kernel: Kernel, ptr: number, count: number): BigInt64Array<ArrayBuffer> {
  const out = new BigInt64Array(count);
  out.set(kernel.i64.subarray(ptr / 8, ptr / 8 + count));
  return out;
}

function presentRows(kernel: Kernel, validityPtr: number, rowCount: number, count: number): Uint32Array {
  const bits = kernel.u8.subarray(validityPtr, validityPtr + Math.ceil(rowCount / 8));
  const rows = new Uint32Array(count);
  for (let byte = 0, at = 0; at < count; byte++) {
    for (let left = bits[byte]!; left !== 0; left &= left - 1) rows[at++] = byte * 8 + 31 - Math.clz32(left & -left);
  }
  return rows;
}

/** Texts of string views (assembly/abi.ts). */
function texts(kernel: Kernel, viewsPtr: number, count: number): PluginValues {
  const words = kernel.u32.subarray(viewsPtr / 4, viewsPtr / 4 + count * VIEW_WORDS);
  const ends = new Uint32Array(count);
  let total = 0;
  for (let i = 0; i < count; i++) {
    total += words[i * VIEW_WORDS]!;
    ends[i] = total;
  }
  const bytes = new Uint8Array(total);
  const { u8, base } = kernel;
  for (let i = 0, at = 0; i < count; i++) {
    const length = words[i * VIEW_WORDS]!;
    const address = (BigInt(words[i * VIEW_WORDS + 3]!) << 32n) | BigInt(words[i * VIEW_WORDS + 2]!);
    const from = length <= INLINE_MAX ? viewsPtr + i * 16 + 4 : Number(address - base);
    bytes.set(u8.subarray(from, from + length), at);
    at += length;
  }
  return { kind: "text", codes: null, ends, bytes };
}
