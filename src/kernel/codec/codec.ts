// Encodes columns of shared memory compactly, and decodes them: the payload of WAL frames and .pt files. The layout and the encodings are
// drawn in assembly/codec; this class owns the scratch memory they need and turns statuses into errors. One instance per thread.
import { TYPE_U32 } from "../../../assembly/abi.ts";
import { assert } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import type { ColumnType } from "../../model/rows/column.ts";
import type { Kernel } from "../memory/kernel.ts";
import { FRESH, poison } from "../memory/poison.ts";
import type { ParsedRows } from "../parse/parsed-rows.ts";

/** TYPE_U32 is not a column type but is encoded like one. */
type EncodedType = ColumnType | typeof TYPE_U32;

/** A column in shared memory: VALUE_BYTES[type] × rowCount bytes at dataPtr; validityPtr 0 = all present. The bytes of absent rows are
 *  ignored. */
export interface CodecColumn {
  readonly type: EncodedType;
  readonly dataPtr: number;
  readonly validityPtr: number;
  readonly rowCount: number;
}

/** Encoded bytes in shared memory, starting with the column; `bytes` may exceed the column's size. */
export interface EncodedSource {
  readonly ptr: number;
  readonly bytes: number;
  readonly rowCount: number;
}

/** Some rows of a column: | first u32 | end u32 | each, ascending and apart, at least one. */
export interface RowParts {
  readonly ptr: number;
  readonly count: number;
}

export interface DecodeTarget {
  readonly type: EncodedType;
  /** VALUE_BYTES[type] x rowCount bytes. */
  readonly dataPtr: number;
  /** bitmapBytes(rowCount) bytes, all of them written; 0 = not wanted. */
  readonly validityPtr: number;
  /** Memory for the text of strings that do not fit their views: `textBytes` bytes, as computed by decodedTextBytes. 0 for other types. */
  readonly textPtr: number;
  readonly textBytes: number;
}

// A column of one body is rarely longer. Larger scratch memory is freed after use, so that one large body does not keep it.
const SCRATCH_KEPT_BYTES = 2 << 20;

/** One thread's column codec. Owned: call `release`. */
export class ColumnCodec {
  private scratchPtr = 0;
  private scratchBytes = 0;

  constructor(private readonly kernel: Kernel) {}

  /** Upper bound of what `encode` writes, in bytes; may exceed 4 GiB for strings. */
  bytesMax({ type, dataPtr, validityPtr, rowCount }: CodecColumn): number {
    return this.kernel.call.codecBytesMax(type, dataPtr, validityPtr, rowCount);
  }

  /** Encodes a column to `targetPtr`, where bytesMax(column) bytes are free. Returns the bytes written. @throws TsdbError overloaded */
  encode(column: CodecColumn, targetPtr: number): number {
    return this.encodeColumn(column, targetPtr, false);
  }

  /** Upper bound of what `encodePacked` writes for a column with `presentCount` values. */
  packedBytesMax({ type, dataPtr, rowCount }: CodecColumn, presentCount: number): number {
    return this.kernel.call.codecPackedBytesMax(type, dataPtr, presentCount, rowCount);
  }

  /** `encode` for a packed column: dataPtr holds only the values of present rows, back to back, and there is a bitmap. Produces the same
   *  bytes as `encode`. @throws TsdbError overloaded */
  encodePacked(column: CodecColumn, targetPtr: number): number {
    return this.encodeColumn(column, targetPtr, true);
  }

  /** Upper bound of what `encodeRows` writes. */
  rowsBytesMax({ tablePtr }: ParsedRows): number {
    return this.kernel.call.frameRowsMax(tablePtr);
  }

  /** Encodes series, times and columns in the layout of a log frame (ingest/FORMAT.md). Returns the bytes written. @throws TsdbError
   *  overloaded */
  encodeRows({ tablePtr, columnIdsPtr, rowCount }: ParsedRows, targetPtr: number): number {
    const work = this.reserve(rowCount);
    const bytes = this.kernel.call.frameRows(tablePtr, columnIdsPtr, work, targetPtr) >>> 0;
    this.trim();
    return bytes;
  }

  u32BytesMax(rowCount: number): number {
    return this.kernel.call.codecBytesMax(TYPE_U32, 0, 0, rowCount);
  }

  /** Encodes u32[rowCount]: series ids, codes, offsets. The target needs u32BytesMax bytes; returns the bytes written. @throws TsdbError
   *  overloaded */
  encodeU32(dataPtr: number, rowCount: number, targetPtr: number): number {
    return this.encodeColumn({ type: TYPE_U32, dataPtr, validityPtr: 0, rowCount }, targetPtr, false);
  }

  /** Size in bytes of the encoded column at `ptr`, of which `bytes` bytes are readable. @throws TsdbError corrupt_file */
  columnBytes(ptr: number, bytes: number): number {
    return checked(this.kernel.call.codecColumnBytes(ptr, bytes), "its head or length");
  }

  /** Bytes of text that decoding a string column needs in addition to its views. @throws TsdbError corrupt_file */
  decodedTextBytes({ ptr, bytes, rowCount }: EncodedSource): number {
    const work = this.reserve(rowCount);
    const textBytes = this.kernel.call.codecTextBytes(ptr, bytes, rowCount, work);
    this.trim();
    return checked(textBytes, "the head of its text");
  }

  /** Decodes a column of exactly `rowCount` rows; absent rows become 0 (the empty view, false). Never reads outside the source or writes
   *  outside the target, even for corrupt bytes. @throws TsdbError corrupt_file, overloaded; the target is partly written then */
  decode(source: EncodedSource, target: DecodeTarget): { hasNulls: boolean } {
    return this.decodeColumn(source, target, false);
  }

  /** Number of present values in an encoded column. @throws TsdbError corrupt_file */
  presentCount({ ptr, bytes, rowCount }: EncodedSource): number {
    return checked(this.kernel.call.codecPresentCount(ptr, bytes, rowCount), "its head");
  }

  /** Decodes the values of present rows alone, back to back: dataPtr needs room for presentCount(source) values. Writes the bitmap as
   *  `decode` does. */
  decodePacked(source: EncodedSource, target: DecodeTarget): { hasNulls: boolean } {
    return this.decodeColumn(source, target, true);
  }

  /** Decodes the rows of `parts` alone, back to back: the target needs room for them, and for the text of the whole column. The bitmap is
   *  written only if the result says so. @throws as decode */
  decodeParts(source: EncodedSource, parts: RowParts, target: DecodeTarget): { hasNulls: boolean } {
    const { ptr, bytes, rowCount } = source;
    const { type, dataPtr, validityPtr, textPtr, textBytes } = target;
    const work = this.reserve(rowCount);
    const { call } = this.kernel;
    const status = call.codecDecodeParts(
      ...([type, ptr, bytes, rowCount, parts.ptr, parts.count, work, dataPtr, validityPtr, textPtr, textBytes] as const),
    );
    this.trim();
    return { hasNulls: checked(status, `type ${type}, ${rowCount} rows`) === 1 };
  }

  /** Decodes u32[rowCount]. @throws TsdbError corrupt_file, overloaded */
  decodeU32(source: EncodedSource, dataPtr: number): void {
    this.decodeColumn(source, { type: TYPE_U32, dataPtr, validityPtr: 0, textPtr: 0, textBytes: 0 }, false);
  }

  /** Frees the scratch memory; the codec may be used again. */
  release(): void {
    if (this.scratchBytes > 0) this.kernel.heap.free(this.scratchPtr, this.scratchBytes);
    this.scratchPtr = 0;
    this.scratchBytes = 0;
  }

  private encodeColumn({ type, dataPtr, validityPtr, rowCount }: CodecColumn, targetPtr: number, isPacked: boolean): number {
    const work = this.reserve(rowCount);
    const bytes = this.kernel.call.codecEncode(type, dataPtr, validityPtr, rowCount, Number(isPacked), work, targetPtr) >>> 0;
    this.trim();
    return bytes;
  }

  private decodeColumn(source: EncodedSource, target: DecodeTarget, isPacked: boolean): { hasNulls: boolean } {
    const { ptr, bytes, rowCount } = source;
    const { type, dataPtr, validityPtr, textPtr, textBytes } = target;
    const work = this.reserve(rowCount);
    const packed = Number(isPacked);
    const status = this.kernel.call.codecDecode(type, ptr, bytes, rowCount, packed, work, dataPtr, validityPtr, textPtr, textBytes);
    this.trim();
    return { hasNulls: checked(status, `type ${type}, ${rowCount} rows`) === 1 };
  }

  private reserve(rowCount: number): number {
    const bytes = this.kernel.call.codecWorkBytes(rowCount);
    if (bytes <= this.scratchBytes) {
      poison(this.kernel.memory, this.scratchPtr, this.scratchBytes, FRESH);
      return this.scratchPtr;
    }
    assert(bytes < 2 ** 32, `${rowCount} rows in one encoded column`);
    this.release();
    this.scratchPtr = this.kernel.heap.alloc(bytes);
    this.scratchBytes = bytes;
    return this.scratchPtr;
  }

  private trim(): void {
    if (this.scratchBytes > SCRATCH_KEPT_BYTES) this.release();
  }
}

function checked(status: number, expected: string): number {
  if (status < 0) throw new TsdbError("corrupt_file", `cannot decode column: damaged bytes, or not what was expected (${expected})`);
  return status;
}
