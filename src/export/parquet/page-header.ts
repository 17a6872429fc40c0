// The header of a page, in Thrift's compact protocol. All it has are numbers, and there are many of them: it is written without the maps
// that `thrift.ts` takes. Source: apache/parquet-format, parquet.thrift.
import { ThriftType } from "../../encode/parquet/thrift.ts";

/** Two numbers of each kind below take six bytes each, with what says of them that they are numbers. */
const HEADER_BYTES_MAX = 64;

/** Headers of pages, one at a time. */
export class PageHeader {
  private readonly bytes = new Uint8Array(HEADER_BYTES_MAX);
  private length = 0;

  /** Borrowed until the next call.
   *  @param numbers its fields from 1 on
   *  @param detail what field `id`, behind them, has from 1 on */
  write(numbers: readonly number[], id: number, detail: readonly number[]): Uint8Array {
    this.length = 0;
    this.fields(numbers);
    this.byte(((id - numbers.length) << 4) | ThriftType.struct);
    this.fields(detail);
    this.byte(0);
    this.byte(0);
    return this.bytes.subarray(0, this.length);
  }

  private fields(numbers: readonly number[]): void {
    for (const number of numbers) {
      this.byte((1 << 4) | ThriftType.i32);
      // not negative: its double
      let rest = number * 2;
      for (; rest > 127; rest = Math.floor(rest / 128)) this.byte((rest % 128) | 128);
      this.byte(rest);
    }
  }

  private byte(value: number): void {
    this.bytes[this.length++] = value;
  }
}
