// Concatenates rows of one table from several frames; columns that a frame lacks are null in its rows.
import type { PluginValues } from "../plugins/plugin-call.ts";
import type { LogColumn, LogTable } from "./log-feed.ts";

/** Concatenates parts of one table, in order; the result owns its arrays. */
export function joinTables(parts: readonly LogTable[]): LogTable {
  const [first] = parts;
  const rowCount = parts.reduce((sum, part) => sum + part.rowCount, 0);
  const ids = new Set(parts.flatMap(({ columns }) => columns.map(({ columnId }) => columnId)));
  const found = parts.map(({ columns }) => new Map(columns.map((column) => [column.columnId, column])));
  const columns = [...ids].map((columnId) =>
    joinColumn(
      columnId,
      parts,
      found.map((each) => each.get(columnId)),
    ),
  );
  return { tableId: first!.tableId, rowCount, columns };
}

function joinColumn(columnId: number, parts: readonly LogTable[], columns: readonly (LogColumn | undefined)[]): LogColumn {
  const values = joinValues(columns.flatMap((column) => (column === undefined ? [] : [column.values])));
  if (columns.every((column) => column !== undefined && column.present === null)) return { columnId, present: null, values };
  const present = new Uint32Array(parts.reduce((sum, part, i) => sum + countOf(part, columns[i]), 0));
  let [first, at] = [0, 0];
  for (const [i, part] of parts.entries()) {
    const [rows, count] = [columns[i]?.present ?? null, countOf(part, columns[i])];
    for (let value = 0; value < count; value++) present[at++] = first + (rows === null ? value : rows[value]!);
    first += part.rowCount;
  }
  return { columnId, present, values };
}

/** The rows of a part that have a value. */
function countOf({ rowCount }: LogTable, column: LogColumn | undefined): number {
  return column === undefined ? 0 : (column.present?.length ?? rowCount);
}

type Texts = Extract<PluginValues, { kind: "text" }>;

/** All of one kind: the type of a column never changes. */
function joinValues(parts: readonly PluginValues[]): PluginValues {
  const [first] = parts as readonly [PluginValues];
  if (parts.length === 1) return copyOf(first);
  if (first.kind === "text") return joinTexts(parts as readonly Texts[]);
  const arrays = (parts as readonly Exclude<PluginValues, Texts>[]).map(({ values }) => values);
  const count = arrays.reduce((sum, { length }) => sum + length, 0);
  const joined = new (first.values.constructor as new (length: number) => Float64Array)(count);
  let at = 0;
  for (const array of arrays) {
    joined.set(array as Float64Array, at);
    at += array.length;
  }
  return { kind: first.kind, values: joined } as unknown as PluginValues;
}

function joinTexts(parts: readonly Texts[]): Texts {
  const textCount = parts.reduce((sum, { ends }) => sum + ends.length, 0);
  const ends = new Uint32Array(textCount);
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.bytes.byteLength, 0));
  const isCoded = parts.some(({ codes }) => codes !== null);
  const codes = isCoded ? new Uint32Array(parts.reduce((sum, part) => sum + (part.codes ?? part.ends).length, 0)) : null;
  let [text, byte, value] = [0, 0, 0];
  for (const part of parts) {
    bytes.set(part.bytes, byte);
    part.ends.forEach((end, i) => {
      ends[text + i] = byte + end;
    });
    const count = (part.codes ?? part.ends).length;
    if (codes !== null) for (let i = 0; i < count; i++) codes[value + i] = text + (part.codes === null ? i : part.codes[i]!);
    value += count;
    byte += part.bytes.byteLength;
    text += part.ends.length;
  }
  return { kind: "text", codes, ends, bytes };
}

function copyOf(values: PluginValues): PluginValues {
  if (values.kind !== "text") return { ...values, values: values.values.slice() } as PluginValues;
  const { codes, ends, bytes } = values;
  return { kind: "text", codes: codes?.slice() ?? null, ends: ends.slice(), bytes: bytes.slice() };
}

/** The memory of all columns. */
export function buffersOf(tables: readonly LogTable[]): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  for (const { columns } of tables) {
    for (const { present, values } of columns) {
      if (present !== null) buffers.add(present.buffer as ArrayBuffer);
      const arrays = values.kind === "text" ? [values.codes, values.ends, values.bytes] : [values.values];
      for (const array of arrays) if (array !== null) buffers.add(array.buffer as ArrayBuffer);
    }
  }
  return [...buffers];
}
