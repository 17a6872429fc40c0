// Writes MessagePack with the same widths as v1 servers: the smallest possible, for integers the smallest signed one.
// https://github.com/msgpack/msgpack/blob/master/spec.md
import { SECOND_NS } from "../../model/time/time-units.ts";
import { ByteWriter } from "../byte-writer.ts";

const NIL = 0xc0;
const FALSE = 0xc2;
const EXT_8 = 0xc7;
const FLOAT_64 = 0xcb;
const STRING_8 = 0xd9;
const ARRAY_16 = 0xdc;
const MAP_16 = 0xde;
/** The vendor's extension type for times: seconds i64 and nanoseconds u32 since 1970, big-endian. */
const TIME_TYPE = 5;
const TIME_BYTES = 12;

const utf8 = new TextEncoder();

/** A byte buffer for MessagePack values. */
export class MsgpackWriter extends ByteWriter {
  /** A view of `bytes`. */
  private view = new DataView(this.bytes.buffer);

  nil(): void {
    this.byte(NIL);
  }

  bool(value: boolean): void {
    this.byte(value ? FALSE + 1 : FALSE);
  }

  float(value: number): void {
    const at = this.room(9);
    this.view.setUint8(at, FLOAT_64);
    this.view.setFloat64(at + 1, value);
  }

  int64(value: bigint): void {
    const size = Number(value);
    if (size >= -32 && size <= 127) this.byte(size & 0xff);
    else if (size >= -128 && size < 0) this.sized(0xd0, 1, BigInt.asUintN(8, value));
    else if (size >= -32768 && size <= 32767) this.sized(0xd1, 2, BigInt.asUintN(16, value));
    else if (size >= -2147483648 && size <= 2147483647) this.sized(0xd2, 4, BigInt.asUintN(32, value));
    else this.sized(0xd3, 8, BigInt.asUintN(64, value));
  }

  uint64(value: bigint): void {
    if (value <= 0x7fn) this.byte(Number(value));
    else if (value <= 0xffn) this.sized(0xcc, 1, value);
    else if (value <= 0xffffn) this.sized(0xcd, 2, value);
    else if (value <= 0xffffffffn) this.sized(0xce, 4, value);
    else this.sized(0xcf, 8, value);
  }

  time(timeNs: bigint): void {
    const nanoseconds = ((timeNs % SECOND_NS) + SECOND_NS) % SECOND_NS;
    const at = this.room(3 + TIME_BYTES);
    const { view } = this;
    view.setUint8(at, EXT_8);
    view.setUint8(at + 1, TIME_BYTES);
    view.setUint8(at + 2, TIME_TYPE);
    view.setBigInt64(at + 3, (timeNs - nanoseconds) / SECOND_NS);
    view.setUint32(at + 11, Number(nanoseconds));
  }

  text(value: string): void {
    const bytes = utf8.encode(value);
    this.textBytes(bytes, 0, bytes.length);
  }

  /** `source[start, end)` is UTF-8. */
  textBytes(source: Uint8Array, start: number, end: number): void {
    const bytes = end - start;
    if (bytes < 32) this.byte(0xa0 | bytes);
    else if (bytes < 0x100) this.sized(STRING_8, 1, BigInt(bytes));
    else if (bytes < 0x10000) this.sized(STRING_8 + 1, 2, BigInt(bytes));
    else this.sized(STRING_8 + 2, 4, BigInt(bytes));
    this.copy(source, start, end);
  }

  /** The header of an array. */
  array(count: number): void {
    this.counted(0x90, ARRAY_16, count);
  }

  /** The header of a map, with its number of pairs. */
  map(count: number): void {
    this.counted(0x80, MAP_16, count);
  }

  private counted(small: number, large: number, count: number): void {
    if (count < 16) this.byte(small | count);
    else if (count < 0x10000) this.sized(large, 2, BigInt(count));
    else this.sized(large + 1, 4, BigInt(count));
  }

  private sized(lead: number, bytes: 1 | 2 | 4 | 8, value: bigint): void {
    const at = this.room(1 + bytes);
    const { view } = this;
    view.setUint8(at, lead);
    if (bytes === 1) view.setUint8(at + 1, Number(value));
    else if (bytes === 2) view.setUint16(at + 1, Number(value));
    else if (bytes === 4) view.setUint32(at + 1, Number(value));
    else view.setBigUint64(at + 1, value);
  }

  /** Appends `count` bytes and returns their offset, to be written through `view`. */
  private room(count: number): number {
    this.reserve(count);
    if (this.view.buffer !== this.bytes.buffer) this.view = new DataView(this.bytes.buffer);
    const at = this.length;
    this.length += count;
    return at;
  }
}
