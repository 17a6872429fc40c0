// Thrift's compact protocol, as far as Parquet footers need it: reads structs as field number -> value, and writes them back. Unknown
// fields are passed through. Source: apache/thrift, doc/specs/thrift-compact-protocol.md.
import { assert } from "../../model/assert.ts";
import { ByteWriter } from "../byte-writer.ts";

/** Wire types; 1 and 2 are a boolean field including its value. */
export const ThriftType = {
  true: 1,
  false: 2,
  i8: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  map: 11,
  struct: 12,
} as const;

export interface ThriftList {
  readonly itemType: number;
  readonly items: ThriftValue[];
}
/** By field number. Integers of every width are bigint; a double is kept as its 8 bytes. */
export type ThriftStruct = Map<number, ThriftField>;
export type ThriftValue = bigint | boolean | Uint8Array | ThriftList | ThriftStruct;
export interface ThriftField {
  readonly type: number;
  readonly value: ThriftValue;
}

/** Reads one struct from the start of `bytes`; binaries are views of it. */
export function readThrift(bytes: Uint8Array): ThriftStruct {
  return new Reader(bytes).struct();
}

/** The bytes of one struct, fields in ascending order. */
export function writeThrift(struct: ThriftStruct): Uint8Array {
  const out = new ByteWriter();
  writeStruct(out, struct);
  return out.take();
}

class Reader {
  private at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  struct(): ThriftStruct {
    const fields: ThriftStruct = new Map();
    let id = 0;
    for (;;) {
      const head = this.byte();
      if (head === 0) return fields;
      const type = head & 15;
      id = head >> 4 === 0 ? Number(this.zigzag()) : id + (head >> 4);
      fields.set(id, { type, value: type === ThriftType.true || type === ThriftType.false ? type === ThriftType.true : this.value(type) });
    }
  }

  private value(type: number): ThriftValue {
    switch (type) {
      case ThriftType.true:
      case ThriftType.false: // an item of a list: a byte of its own
        return this.byte() === ThriftType.true;
      case ThriftType.i8:
        return BigInt.asIntN(8, BigInt(this.byte()));
      case ThriftType.i16:
      case ThriftType.i32:
      case ThriftType.i64:
        return this.zigzag();
      case ThriftType.double:
        return this.take(8);
      case ThriftType.binary:
        return this.take(Number(this.varint()));
      case ThriftType.list:
      case ThriftType.set:
        return this.list();
      case ThriftType.struct:
        return this.struct();
      default:
        return assert(false, `thrift type ${type} at byte ${this.at}`) as never;
    }
  }

  private list(): ThriftList {
    const head = this.byte();
    const count = head >> 4 === 15 ? Number(this.varint()) : head >> 4;
    const itemType = head & 15;
    return { itemType, items: Array.from({ length: count }, () => this.value(itemType)) };
  }

  private byte(): number {
    const value = this.bytes[this.at++];
    assert(value !== undefined, "thrift ends early");
    return value;
  }

  private take(count: number): Uint8Array {
    this.at += count;
    assert(this.at <= this.bytes.length, "thrift ends early");
    return this.bytes.subarray(this.at - count, this.at);
  }

  private varint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const next = this.byte();
      value |= BigInt(next & 127) << shift;
      if (next < 128) return value;
      assert(shift < 63n, "a thrift integer has more than 64 bits");
    }
  }

  private zigzag(): bigint {
    const value = this.varint();
    return value & 1n ? -((value + 1n) >> 1n) : value >> 1n;
  }
}

function writeStruct(out: ByteWriter, struct: ThriftStruct): void {
  let last = 0;
  for (const [id, { type, value }] of [...struct].sort(([left], [right]) => left - right)) {
    const wire = typeof value === "boolean" ? (value ? ThriftType.true : ThriftType.false) : type;
    if (id - last <= 15) {
      out.byte(((id - last) << 4) | wire);
    } else {
      out.byte(wire);
      writeZigzag(out, BigInt(id));
    }
    last = id;
    if (typeof value !== "boolean") writeValue(out, type, value);
  }
  out.byte(0);
}

function writeValue(out: ByteWriter, type: number, value: ThriftValue): void {
  if (typeof value === "boolean") {
    out.byte(value ? ThriftType.true : ThriftType.false);
  } else if (typeof value === "bigint") {
    if (type === ThriftType.i8) out.byte(Number(BigInt.asUintN(8, value)));
    else writeZigzag(out, value);
  } else if (value instanceof Uint8Array) {
    if (type === ThriftType.binary) writeVarint(out, BigInt(value.length));
    out.copy(value, 0, value.length);
  } else if (value instanceof Map) {
    writeStruct(out, value);
  } else {
    const { itemType, items } = value;
    out.byte((Math.min(items.length, 15) << 4) | itemType);
    if (items.length >= 15) writeVarint(out, BigInt(items.length));
    for (const item of items) writeValue(out, itemType, item);
  }
}

function writeVarint(out: ByteWriter, value: bigint): void {
  let rest = value;
  while (rest > 127n) {
    out.byte(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  out.byte(Number(rest));
}

function writeZigzag(out: ByteWriter, value: bigint): void {
  writeVarint(out, value < 0n ? -value * 2n - 1n : value * 2n);
}
