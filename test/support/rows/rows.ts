// Rows for tests: converts plain objects to batches and runs in shared memory, and back. Deliberately slow and simple: it is the reference
// for kernel code.
import { VIEW_BYTES, VIEW_INLINE_MAX } from "../../../assembly/abi.ts";
import { nextDictionaryId } from "../../../src/kernel/memory/dictionary-id.ts";
import type { Kernel } from "../../../src/kernel/memory/kernel.ts";
import { bitmapBytes } from "../../../src/kernel/scan/rows.ts";
import type { SeriesDictionary } from "../../../src/kernel/series/series-dictionary.ts";
import type { ScanChunk } from "../../../src/model/query/scan-table.ts";
import { type ColumnDef, ColumnType, VALUE_BYTES } from "../../../src/model/rows/column.ts";
import type { ColumnRun, DictionaryView, Run, TagColumnView } from "../../../src/model/rows/run.ts";
import type { BufferBatch } from "../../../src/storage/buffer/table-buffer.ts";

/** float: number; integer, unsigned, time: bigint; boolean; string and tag: string. */
export type TestValue = number | bigint | boolean | string;

/** One row. Tags and fields by column name; an absent or null value is NULL. */
export interface TestRow {
  readonly timeNs: bigint;
  readonly tags: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, TestValue | null>>;
}

const text = { encode: new TextEncoder(), decode: new TextDecoder() };

/** Blocks of kernel memory for one test, freed together. */
export class Arena {
  private blocks: [ptr: number, bytes: number][] = [];

  constructor(readonly kernel: Kernel) {}

  alloc(bytes: number): number {
    const ptr = this.kernel.heap.allocZeroed(Math.max(1, bytes));
    this.blocks.push([ptr, Math.max(1, bytes)]);
    return ptr;
  }

  bytes(data: Uint8Array): number {
    const ptr = this.alloc(data.length);
    this.kernel.u8.set(data, ptr);
    return ptr;
  }

  u32(values: readonly number[]): number {
    const ptr = this.alloc(values.length * 4);
    this.kernel.u32.set(values, ptr / 4);
    return ptr;
  }

  i64(values: readonly bigint[]): number {
    const ptr = this.alloc(values.length * 8);
    this.kernel.i64.set(values, ptr / 8);
    return ptr;
  }

  /** A bitmap, 1 where `present` is true. */
  bits(present: readonly boolean[]): number {
    const ptr = this.alloc(bitmapBytes(present.length));
    present.forEach((bit, i) => {
      if (bit) this.kernel.u8[ptr + (i >> 3)]! |= 1 << (i & 7);
    });
    return ptr;
  }

  /** String views; null becomes the empty view. */
  views(values: readonly (string | null)[]): number {
    const ptr = this.alloc(values.length * VIEW_BYTES);
    const encoded = values.map((value) => text.encode.encode(value ?? ""));
    const heap = this.alloc(encoded.reduce((sum, { length }) => sum + length, 0));
    let at = heap;
    for (const [i, value] of encoded.entries()) {
      const view = ptr + i * VIEW_BYTES;
      const data = new DataView(this.kernel.memory.buffer);
      data.setUint32(view, value.length, true);
      if (value.length <= VIEW_INLINE_MAX) {
        this.kernel.u8.set(value, view + 4);
        continue;
      }
      this.kernel.u8.set(value.subarray(0, 4), view + 4);
      this.kernel.u8.set(value, at);
      data.setBigUint64(view + 8, this.kernel.base + BigInt(at), true);
      at += value.length;
    }
    return ptr;
  }

  free(): void {
    for (const [ptr, bytes] of this.blocks) this.kernel.heap.free(ptr, bytes);
    this.blocks = [];
  }
}

/** A column of values of one type; null = absent. validityPtr is 0 when none is. */
export function writeColumn(arena: Arena, { id, type }: ColumnDef, values: readonly (TestValue | null)[]): ColumnRun {
  const validityPtr = values.includes(null) ? arena.bits(values.map((value) => value !== null)) : 0;
  if (type === ColumnType.string) {
    return { columnId: id, type, dataPtr: arena.views(values as (string | null)[]), validityPtr };
  }
  const dataPtr = arena.alloc(values.length * VALUE_BYTES[type]);
  const { u8, i64, f64 } = arena.kernel;
  values.forEach((value, i) => {
    if (value === null) return;
    if (type === ColumnType.float) f64[dataPtr / 8 + i] = value as number;
    else if (type === ColumnType.boolean) u8[dataPtr + i] = value ? 1 : 0;
    else i64[dataPtr / 8 + i] = BigInt.asIntN(64, value as bigint);
  });
  return { columnId: id, type, dataPtr, validityPtr };
}

/** The column with only the present rows' values; the same object if it has no bitmap. */
export function packColumn(arena: Arena, column: ColumnRun, rowCount: number): ColumnRun {
  const { type, dataPtr, validityPtr } = column;
  if (validityPtr === 0) return column;
  const width = VALUE_BYTES[type];
  const { kernel } = arena;
  const values: Uint8Array[] = [];
  for (let row = 0; row < rowCount; row++) {
    if (isPresent(kernel, validityPtr, row)) values.push(kernel.copyOut(dataPtr + row * width, width));
  }
  return { ...column, dataPtr: arena.bytes(new Uint8Array(Buffer.concat(values))), isPacked: true };
}

/** The field columns that have any value. */
function writeFields(arena: Arena, columns: readonly ColumnDef[], rows: readonly TestRow[]): ColumnRun[] {
  return columns.flatMap((column) => {
    if (column.type === ColumnType.time || column.type === ColumnType.tag) return [];
    const values = rows.map((row) => row.fields[column.name] ?? null);
    return values.every((value) => value === null) ? [] : [writeColumn(arena, column, values)];
  });
}

/** Canonical series key: | columnId u32 | valueBytes u32 | value | per tag, ascending by column id. */
export function canonicalKey(columns: readonly ColumnDef[], tags: TestRow["tags"]): Uint8Array {
  const parts = columns
    .filter(({ name, type }) => type === ColumnType.tag && tags[name] !== undefined)
    .sort((a, b) => a.id - b.id)
    .map(({ id, name }) => {
      const value = text.encode.encode(tags[name]);
      const part = new Uint8Array(8 + value.length);
      new DataView(part.buffer).setUint32(0, id, true);
      new DataView(part.buffer).setUint32(4, value.length, true);
      part.set(value, 8);
      return part;
    });
  return new Uint8Array(Buffer.concat(parts));
}

/** A batch as produced by ingest: series resolved in `dictionary`, last times updated there. Slots of absent rows hold a pattern. */
export function writeBatch(
  arena: Arena,
  dictionary: SeriesDictionary,
  columns: readonly ColumnDef[],
  rows: readonly TestRow[],
): BufferBatch {
  const series = rows.map(({ tags }) => {
    const key = canonicalKey(columns, tags);
    return dictionary.insertKey(arena.bytes(key), key.length);
  });
  const seriesPtr = arena.u32(series);
  const timePtr = arena.i64(rows.map(({ timeNs }) => timeNs));
  const facts = dictionary.noteTimes(seriesPtr, timePtr, rows.length);
  const fields = writeFields(arena, columns, rows);
  for (const { type, dataPtr, validityPtr } of fields) {
    const width = VALUE_BYTES[type];
    for (let row = 0; row < rows.length; row++) {
      if (!isPresent(arena.kernel, validityPtr, row)) arena.kernel.u8.fill(0x77, dataPtr + row * width, dataPtr + (row + 1) * width);
    }
  }
  return { rowCount: rows.length, seriesPtr, timePtr, columns: fields, ...facts };
}

/** A dictionary with the series of `rows` in order of first appearance, and the series id of each row. */
export function writeDictionary(
  arena: Arena,
  columns: readonly ColumnDef[],
  rows: readonly Pick<TestRow, "tags">[],
): { dictionary: DictionaryView; series: number[] } {
  const ids = new Map<string, number>();
  const seriesTags: TestRow["tags"][] = [];
  const series = rows.map(({ tags }) => {
    const key = Buffer.from(canonicalKey(columns, tags)).toString("latin1");
    if (!ids.has(key)) ids.set(key, seriesTags.push(tags) - 1);
    return ids.get(key)!;
  });
  const tags: TagColumnView[] = [];
  for (const column of columns) {
    if (column.type !== ColumnType.tag) continue;
    const values: (string | null)[] = [null];
    const codes = seriesTags.map((present) => {
      const value = present[column.name];
      if (value === undefined) return 0;
      const known = values.indexOf(value);
      return known > 0 ? known : values.push(value) - 1;
    });
    // tag columns without values are omitted, as in a file
    if (values.length === 1) continue;
    tags.push({ columnId: column.id, codesPtr: arena.u32(codes), valuesPtr: arena.views(values), valueCount: values.length });
  }
  return { dictionary: { id: nextDictionaryId(arena.kernel), seriesCount: seriesTags.length, tags }, series };
}

/** A run with its own dictionary and rows in the given order. */
export function writeRun(
  arena: Arena,
  columns: readonly ColumnDef[],
  rows: readonly TestRow[],
  options: Partial<Pick<Run, "sorted" | "unique" | "overlaps" | "ascending" | "seqMin" | "seqMax">> = {},
): Run {
  const { dictionary, series } = writeDictionary(arena, columns, rows);
  const times = rows.map(({ timeNs }) => timeNs);
  const ascending = new BigInt64Array(times).sort();
  return {
    rowCount: rows.length,
    seriesPtr: arena.u32(series),
    timePtr: arena.i64(times),
    columns: writeFields(arena, columns, rows),
    dictionary,
    sorted: options.sorted ?? false,
    unique: options.unique ?? false,
    overlaps: options.overlaps,
    ascending: options.ascending ?? false,
    minTimeNs: ascending[0] ?? 2n ** 63n - 1n,
    maxTimeNs: ascending.at(-1) ?? -(2n ** 63n),
    seqMin: options.seqMin ?? 1,
    seqMax: options.seqMax ?? options.seqMin ?? 1,
  };
}

/** Text of a string view. */
export function readView(kernel: Kernel, viewPtr: number): string {
  const data = new DataView(kernel.memory.buffer);
  const bytes = data.getUint32(viewPtr, true);
  const from = bytes <= VIEW_INLINE_MAX ? viewPtr + 4 : Number(data.getBigUint64(viewPtr + 8, true) - kernel.base);
  if (bytes > VIEW_INLINE_MAX && !Buffer.from(kernel.copyOut(viewPtr + 4, 4)).equals(kernel.copyOut(from, 4))) {
    throw new Error(`view at ${viewPtr} has a wrong prefix`);
  }
  return text.decode.decode(kernel.copyOut(from, bytes));
}

/** True if the row has a value. */
export function isPresent(kernel: Kernel, validityPtr: number, row: number): boolean {
  return validityPtr === 0 || ((kernel.u8[validityPtr + (row >> 3)]! >> (row & 7)) & 1) === 1;
}

/** One value of a column; null if absent. @throws Error if the slot of an absent row is not 0 */
export function readValue(kernel: Kernel, type: ColumnType, data: { dataPtr: number; validityPtr: number }, row: number): TestValue | null {
  if (data.dataPtr === 0) return null;
  if (!isPresent(kernel, data.validityPtr, row)) {
    const width = VALUE_BYTES[type];
    const slot = kernel.copyOut(data.dataPtr + row * width, width);
    if (slot.some((byte) => byte !== 0)) throw new Error(`row ${row} is absent and holds ${Buffer.from(slot).toString("hex")}`);
    return null;
  }
  if (type === ColumnType.string || type === ColumnType.tag) return readView(kernel, data.dataPtr + row * VIEW_BYTES);
  if (type === ColumnType.float) return kernel.f64[data.dataPtr / 8 + row]!;
  if (type === ColumnType.boolean) return kernel.u8[data.dataPtr + row] === 1;
  const value = kernel.i64[data.dataPtr / 8 + row]!;
  return type === ColumnType.unsigned ? BigInt.asUintN(64, value) : value;
}

/** The tags of a series, by column name. */
export function readSeries(
  kernel: Kernel,
  columns: readonly ColumnDef[],
  { tags }: DictionaryView,
  series: number,
): Record<string, string> {
  const present: Record<string, string> = {};
  for (const { columnId, codesPtr, valuesPtr } of tags) {
    const code = kernel.u32[codesPtr / 4 + series]!;
    const column = columns.find(({ id }) => id === columnId)!;
    if (code !== 0) present[column.name] = readView(kernel, valuesPtr + code * VIEW_BYTES);
  }
  return present;
}

/** A run as rows; fields hold only what is present. */
export function readRun(kernel: Kernel, columns: readonly ColumnDef[], run: Run): TestRow[] {
  const packedCounts = run.columns.map(() => 0);
  return Array.from({ length: run.rowCount }, (_, row) => {
    const fields: Record<string, TestValue> = {};
    for (const [i, column] of run.columns.entries()) {
      const value = column.isPacked ? readPacked(kernel, column, row, packedCounts, i) : readValue(kernel, column.type, column, row);
      if (value !== null) fields[columns.find(({ id }) => id === column.columnId)!.name] = value;
    }
    const series = kernel.u32[run.seriesPtr / 4 + row]!;
    return { timeNs: kernel.i64[run.timePtr / 8 + row]!, tags: readSeries(kernel, columns, run.dictionary, series), fields };
  });
}

/** The row's value of a packed column, or null; `counts[i]` is the number of values before it. */
function readPacked(kernel: Kernel, { type, dataPtr, validityPtr }: ColumnRun, row: number, counts: number[], i: number): TestValue | null {
  if (!isPresent(kernel, validityPtr, row)) return null;
  return readValue(kernel, type, { dataPtr, validityPtr: 0 }, counts[i]!++);
}

/** A chunk as rows of values in the order of `columns`; null = NULL. */
export function readChunk(kernel: Kernel, columns: readonly ColumnDef[], chunk: ScanChunk): (TestValue | null)[][] {
  return Array.from({ length: chunk.rowCount }, (_, row) => columns.map(({ type }, i) => readValue(kernel, type, chunk.columns[i]!, row)));
}
