// Reads and writes little-endian numbers, for the directory of a .pt file. The writer grows; the reader throws plain errors at the end of
// its bytes.

/** Appends numbers and texts to a growing buffer. */
export class DirectoryWriter {
  length = 0;
  private written: Uint8Array;
  private data: DataView;

  constructor(capacity: number) {
    this.written = new Uint8Array(capacity);
    this.data = new DataView(this.written.buffer);
  }

  u32(value: number): void {
    const at = this.grow(4);
    this.data.setUint32(at, value, true);
  }

  /** Overwrites a number written earlier. */
  setU32(at: number, value: number): void {
    this.data.setUint32(at, value, true);
  }

  i32(value: number): void {
    const at = this.grow(4);
    this.data.setInt32(at, value, true);
  }

  u64(value: bigint): void {
    const at = this.grow(8);
    this.data.setBigUint64(at, value, true);
  }

  i64(value: bigint): void {
    const at = this.grow(8);
    this.data.setBigInt64(at, value, true);
  }

  bytes(value: Uint8Array): void {
    const at = this.grow(value.length);
    this.written.set(value, at);
  }

  /** | byteLength u32 | UTF-8 | */
  text(value: string): void {
    const encoded = Buffer.from(value);
    this.u32(encoded.length);
    this.bytes(encoded);
  }

  /** The bytes written so far; borrowed until the next write. */
  view(): Uint8Array {
    return this.written.subarray(0, this.length);
  }

  /** The bytes written; owned by the caller. */
  take(): Uint8Array {
    return this.written.slice(0, this.length);
  }

  /** Makes room for `bytes` bytes and returns their offset; may replace `data`. */
  private grow(bytes: number): number {
    const at = this.length;
    this.length += bytes;
    if (this.length > this.written.length) {
      const grown = new Uint8Array(Math.max(this.length, this.written.length * 2));
      grown.set(this.written);
      this.written = grown;
      this.data = new DataView(grown.buffer);
    }
    return at;
  }
}

/** Reads numbers and texts from borrowed bytes. @throws Error with the cause alone */
export class DirectoryReader {
  private at = 0;
  private readonly data: DataView;

  constructor(private readonly bytes: Uint8Array) {
    this.data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  u32(): number {
    return this.data.getUint32(this.take(4), true);
  }

  i32(): number {
    return this.data.getInt32(this.take(4), true);
  }

  u64(): bigint {
    return this.data.getBigUint64(this.take(8), true);
  }

  i64(): bigint {
    return this.data.getBigInt64(this.take(8), true);
  }

  /** A u64 that is an id, a sequence or an offset: at most 2^53. */
  count(): number {
    const value = this.u64();
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error(`number ${value} is out of range`);
    return Number(value);
  }

  text(): string {
    const bytes = this.u32();
    const at = this.take(bytes);
    return Buffer.from(this.bytes.subarray(at, at + bytes)).toString();
  }

  /** The next `bytes` bytes, borrowed. */
  piece(bytes: number): Uint8Array {
    const at = this.take(bytes);
    return this.bytes.subarray(at, at + bytes);
  }

  /** Reads `count` items of at least one byte each: an implausible count is detected before memory is allocated. */
  list<T>(count: number, read: () => T): T[] {
    if (count > this.left) throw new Error(`${count} entries in ${this.left} bytes`);
    return Array.from({ length: count }, read);
  }

  private take(bytes: number): number {
    if (bytes > this.left) throw new Error(`cut off: ${bytes} bytes wanted, ${this.left} left`);
    const at = this.at;
    this.at += bytes;
    return at;
  }
}
