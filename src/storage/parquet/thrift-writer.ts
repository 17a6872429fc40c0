// Thrift's compact protocol, written as it comes: what Parquet's page headers and footer are in. The structs of parquet.thrift are small
// and many - one per column and row group - so each becomes bytes at once. Source: apache/thrift, doc/specs/thrift-compact-protocol.md.

export const ThriftType = { true: 1, false: 2, i8: 3, i16: 4, i32: 5, i64: 6, binary: 8, list: 9, struct: 12 } as const;

const encoder = new TextEncoder();

export class ThriftWriter {
  private bytes = new Uint8Array(256);
  private length = 0;
  /** Field ids of the open structs. */
  private readonly last: number[] = [0];

  /** Fields of one struct come with ascending ids. */
  i8(id: number, value: number): this {
    this.head(id, ThriftType.i8);
    this.byte(value & 255);
    return this;
  }

  i16(id: number, value: number): this {
    this.head(id, ThriftType.i16);
    this.zigzag(BigInt(value));
    return this;
  }

  i32(id: number, value: number): this {
    this.head(id, ThriftType.i32);
    this.zigzag(BigInt(value));
    return this;
  }

  i64(id: number, value: number | bigint): this {
    this.head(id, ThriftType.i64);
    this.zigzag(BigInt(value));
    return this;
  }

  boolean(id: number, value: boolean): this {
    this.head(id, value ? ThriftType.true : ThriftType.false);
    return this;
  }

  binary(id: number, value: Uint8Array | string): this {
    this.head(id, ThriftType.binary);
    this.blob(value);
    return this;
  }

  struct(id: number, write: (writer: this) => void): this {
    this.head(id, ThriftType.struct);
    this.nested(write);
    return this;
  }

  /** A field that is a list of i32. */
  i32List(id: number, values: readonly number[]): this {
    this.list(id, ThriftType.i32, values.length);
    for (const value of values) this.zigzag(BigInt(value));
    return this;
  }

  textList(id: number, values: readonly string[]): this {
    this.list(id, ThriftType.binary, values.length);
    for (const value of values) this.blob(value);
    return this;
  }

  structList<T>(id: number, items: readonly T[], write: (writer: this, item: T) => void): this {
    this.list(id, ThriftType.struct, items.length);
    for (const item of items) this.nested(() => write(this, item));
    return this;
  }

  /** A list of structs that are bytes already, as `end` returned them. */
  encodedList(id: number, items: readonly Uint8Array[]): this {
    this.list(id, ThriftType.struct, items.length);
    for (const item of items) this.put(item);
    return this;
  }

  /** The bytes of the struct, owned; the writer begins anew. */
  end(): Uint8Array {
    this.byte(0);
    const written = this.bytes.slice(0, this.length);
    this.length = 0;
    this.last.splice(0, this.last.length, 0);
    return written;
  }

  private nested(write: (writer: this) => void): void {
    this.last.push(0);
    write(this);
    this.last.pop();
    this.byte(0);
  }

  private list(id: number, itemType: number, count: number): void {
    this.head(id, ThriftType.list);
    this.byte((Math.min(count, 15) << 4) | itemType);
    if (count >= 15) this.varint(BigInt(count));
  }

  private head(id: number, type: number): void {
    const step = id - this.last.at(-1)!;
    this.last[this.last.length - 1] = id;
    if (step > 0 && step <= 15) {
      this.byte((step << 4) | type);
      return;
    }
    this.byte(type);
    this.zigzag(BigInt(id));
  }

  private blob(value: Uint8Array | string): void {
    const bytes = typeof value === "string" ? encoder.encode(value) : value;
    this.varint(BigInt(bytes.length));
    this.put(bytes);
  }

  private zigzag(value: bigint): void {
    this.varint(value < 0n ? -value * 2n - 1n : value * 2n);
  }

  private varint(value: bigint): void {
    let rest = value;
    for (; rest > 127n; rest >>= 7n) this.byte(Number(rest & 127n) | 128);
    this.byte(Number(rest));
  }

  private byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  private put(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  private reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.length + count, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }
}
