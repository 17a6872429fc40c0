// Copies columns of a scan's chunks from kernel memory to result columns, without DuckDB.
import { readStrings } from "../../duckdb/string-reader.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { ResultColumn, ResultType, ResultValues } from "../../model/query/result-batch.ts";
import type { ScanColumn } from "../../model/query/scan-table.ts";
import { ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";

const INT64: ResultType = { kind: "int", bits: 64, signed: true };

/** Result types of a table's columns, equal to DuckDB's. */
export const RESULT_TYPE: Readonly<Record<ColumnType, ResultType>> = {
  [ColumnType.time]: { kind: "timestamp", unit: "ns", zone: null },
  [ColumnType.tag]: { kind: "utf8" },
  [ColumnType.float]: { kind: "float", bits: 64 },
  [ColumnType.integer]: INT64,
  [ColumnType.unsigned]: { ...INT64, signed: false },
  [ColumnType.string]: { kind: "utf8" },
  [ColumnType.boolean]: { kind: "bool" },
};

const NO_BYTES = new Uint8Array(0);

/** A borrowed column whose values are copied on demand: the kernel can format it in place. */
export class ChunkColumn implements ResultColumn {
  private column: ResultColumn | undefined;

  constructor(
    private readonly kernel: Kernel,
    private readonly type: ColumnType,
    readonly inKernel: ScanColumn,
    private readonly rowCount: number,
  ) {}

  get validity() {
    return this.read().validity;
  }
  get values() {
    return this.read().values;
  }
  get offsets() {
    return this.read().offsets!;
  }
  get data() {
    return this.read().data!;
  }

  private read(): ResultColumn {
    this.column ??= readChunkColumn(this.kernel, this.type, this.inKernel, this.rowCount);
    return this.column;
  }
}

/** Copies `rowCount` values of a borrowed column; owned by the caller. */
export function readChunkColumn(kernel: Kernel, type: ColumnType, { dataPtr, validityPtr }: ScanColumn, rowCount: number): ResultColumn {
  if (dataPtr === 0) return allNull(type, rowCount);
  const validity = readValidity(kernel, validityPtr, rowCount);
  const bytes = rowCount * VALUE_BYTES[type];
  if (type === ColumnType.tag || type === ColumnType.string) {
    return { validity, values: NO_BYTES, ...readStrings(kernel.u8.subarray(dataPtr, dataPtr + bytes), rowCount, validity) };
  }
  return { validity, values: valuesOf(type, kernel.copyOut(dataPtr, bytes).buffer) };
}

/** The same of the values at `rows` alone, in that order. */
export function readChunkRows(kernel: Kernel, type: ColumnType, { dataPtr, validityPtr }: ScanColumn, rows: Uint32Array): ResultColumn {
  const count = rows.length;
  if (dataPtr === 0) return allNull(type, count);
  const { u8 } = kernel;
  const width = VALUE_BYTES[type];
  const bytes = new Uint8Array(count * width);
  const bits = new Uint8Array(Math.ceil(count / 8));
  let present = 0;
  for (let i = 0; i < count; i++) {
    const row = rows[i]!;
    const from = dataPtr + row * width;
    for (let k = 0; k < width; k++) bytes[i * width + k] = u8[from + k]!;
    if (validityPtr !== 0 && ((u8[validityPtr + (row >>> 3)]! >>> (row & 7)) & 1) === 0) continue;
    bits[i >>> 3]! |= 1 << (i & 7);
    present++;
  }
  const validity = present === count ? null : bits;
  if (type === ColumnType.tag || type === ColumnType.string) return { validity, values: NO_BYTES, ...readStrings(bytes, count, validity) };
  return { validity, values: valuesOf(type, bytes.buffer) };
}

/** A copy of the bitmap, null if all values are present. */
function readValidity(kernel: Kernel, validityPtr: number, rowCount: number): Uint8Array | null {
  if (validityPtr === 0) return null;
  const bits = kernel.copyOut(validityPtr, Math.ceil(rowCount / 8));
  for (let row = 0; row < rowCount; row++) {
    if ((row & 7) === 0 && row + 8 <= rowCount && bits[row >>> 3] === 0xff) row += 7;
    else if (((bits[row >>> 3]! >>> (row & 7)) & 1) === 0) return bits;
  }
  return null;
}

/** True if no value of a borrowed column is NULL. */
export function isAllPresent(kernel: Kernel, { dataPtr, validityPtr }: ScanColumn, rowCount: number): boolean {
  return dataPtr !== 0 && readValidity(kernel, validityPtr, rowCount) === null;
}

function allNull(type: ColumnType, rowCount: number): ResultColumn {
  const validity = new Uint8Array(Math.ceil(rowCount / 8));
  if (type === ColumnType.tag || type === ColumnType.string) {
    return { validity, values: NO_BYTES, offsets: new Int32Array(rowCount + 1), data: NO_BYTES };
  }
  return { validity, values: valuesOf(type, new ArrayBuffer(rowCount * VALUE_BYTES[type])) };
}

function valuesOf(type: ColumnType, buffer: ArrayBuffer): ResultValues {
  switch (type) {
    case ColumnType.float:
      return new Float64Array(buffer);
    case ColumnType.unsigned:
      return new BigUint64Array(buffer);
    case ColumnType.boolean:
      return new Uint8Array(buffer);
    default:
      return new BigInt64Array(buffer);
  }
}
