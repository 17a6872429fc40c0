// The head of a Parquet page as this program writes them: a Thrift struct, whose unknown fields are skipped. Nothing is trusted: whatever
// does not fit is an error.
import { ThriftType } from "../../encode/parquet/thrift.ts";

export interface PageHead {
  readonly type: number;
  /** Without and with compression, levels included, without this head. */
  readonly plainBytes: number;
  readonly storedBytes: number;
  /** Of a data page: rows; of a dictionary: entries. */
  readonly valueCount: number;
  readonly nullCount: number;
  readonly encoding: number;
  readonly levelBytes: number;
  readonly isCompressed: boolean;
  /** Of this head. */
  readonly bytes: number;
}

const NESTING_MAX = 8;
const ZSTD_MAGIC = 0xfd2fb528;

/** @throws Error with the cause alone */
export function readPageHead(bytes: Uint8Array): PageHead {
  const reader = new HeadReader(bytes);
  const page = reader.struct();
  const dictionary = page.get(7);
  const data = page.get(8);
  const number = (fields: Fields | undefined, id: number): number => {
    const value = fields?.get(id);
    if (typeof value !== "number" || value < 0) throw new Error(`field ${id} of a page's head is ${String(value)}`);
    return value;
  };
  const isDictionary = dictionary instanceof Map;
  const told = isDictionary ? dictionary : data instanceof Map ? data : undefined;
  return {
    type: number(page, 1),
    plainBytes: number(page, 2),
    storedBytes: number(page, 3),
    valueCount: number(told, 1),
    nullCount: isDictionary ? 0 : number(told, 2),
    encoding: number(told, isDictionary ? 2 : 4),
    levelBytes: isDictionary ? 0 : number(told, 5),
    isCompressed: isDictionary || told?.get(7) === true,
    bytes: reader.at,
  };
}

/** Undoes compression; the result has exactly `plainBytes`. @throws Error with the cause alone */
export function decompress(packed: Uint8Array, plainBytes: number): Uint8Array {
  // the frame says how long it is: nothing is allocated on trust
  const got = frameBytes(packed);
  if (got !== plainBytes) throw new Error(`a frame of ${got} bytes, ${plainBytes} expected`);
  const plain = Bun.zstdDecompressSync(packed);
  if (plain.length !== plainBytes) throw new Error(`${plain.length} bytes in a frame of ${plainBytes}`);
  return plain;
}

/** Content size of a zstd frame. Source: RFC 8878, 3.1.1.1. */
function frameBytes(packed: Uint8Array): number {
  if (packed.length < 6) throw new Error(`a frame of ${packed.length} bytes`);
  const data = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  if (data.getUint32(0, true) !== ZSTD_MAGIC) throw new Error("no zstd frame");
  const descriptor = packed[4]!;
  const isSingle = (descriptor & 0x20) !== 0;
  const at = 5 + (isSingle ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]!;
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6]!;
  if (sizeBytes === 0 || at + sizeBytes > packed.length) throw new Error("a frame that does not tell its size");
  if (sizeBytes === 1) return packed[at]!;
  if (sizeBytes === 2) return data.getUint16(at, true) + 256;
  return sizeBytes === 4 ? data.getUint32(at, true) : Number(data.getBigUint64(at, true));
}

type Fields = Map<number, number | boolean | Fields>;

class HeadReader {
  at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  struct(depth = 0): Fields {
    if (depth > NESTING_MAX) throw new Error("a page's head is nested too deep");
    const fields: Fields = new Map();
    let id = 0;
    for (;;) {
      const head = this.byte();
      if (head === 0) return fields;
      id = head >> 4 === 0 ? this.zigzag() : id + (head >> 4);
      const value = this.value(head & 15, depth);
      if (value !== undefined) fields.set(id, value);
    }
  }

  private value(type: number, depth: number): number | boolean | Fields | undefined {
    switch (type) {
      case ThriftType.true:
        return true;
      case ThriftType.false:
        return false;
      case ThriftType.i8:
        return this.byte();
      case ThriftType.i16:
      case ThriftType.i32:
      case ThriftType.i64:
        return this.zigzag();
      case ThriftType.binary:
        this.skip(this.varint());
        return undefined;
      case ThriftType.struct:
        return this.struct(depth + 1);
      default:
        throw new Error(`a page's head has a field of type ${type}`);
    }
  }

  private byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new Error("a page's head is cut off");
    return value;
  }

  private skip(count: number): void {
    this.at += count;
    if (this.at > this.bytes.length) throw new Error("a page's head is cut off");
  }

  private varint(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 53; scale *= 128) {
      const next = this.byte();
      value += (next & 127) * scale;
      if (next < 128) return value;
    }
    throw new Error("a number in a page's head is too long");
  }

  private zigzag(): number {
    const value = this.varint();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }
}
