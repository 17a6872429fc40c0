// Pages of a Parquet file: a header, which rows have a value, and the encoded values, compressed when that pays.
import { crc32 } from "../../disk/crc32.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { ByteSink } from "../pt/column-emitter.ts";
import type { PtExtent } from "../pt/format.ts";
import { Parquet } from "./schema.ts";
import { ThriftWriter } from "./thrift-writer.ts";

/** Which rows of a page have a value: no levels where all must. */
export type PageLevels =
  | { readonly kind: "required" }
  | { readonly kind: "optional"; readonly present: number; readonly bitmapPtr: number };

export interface DataPage {
  readonly rowCount: number;
  readonly levels: PageLevels;
  readonly encoding: number;
  /** Encoded values in kernel memory, borrowed. */
  readonly valuesPtr: number;
  readonly valuesBytes: number;
  /** Level of zstd. */
  readonly level: number;
}

/** Where a page is, and how long it would be without compression. */
export interface WrittenPage extends PtExtent {
  readonly plainBytes: number;
}

/** Levels of zstd: text and whole bytes are worth more time than what is packed to bits already. */
export const LEVEL_BYTES = 3;
export const LEVEL_BITS = 1;
/** Compression that saves less than an eighth costs more to undo than it is worth; of floats, which take most of a disk, less than a
 *  twentieth. */
const WORTH = 7 / 8;
const WORTH_FLOATS = 19 / 20;

export class PageWriter {
  private readonly header = new ThriftWriter();

  constructor(
    private readonly kernel: Kernel,
    private readonly output: ByteSink,
  ) {}

  data({ rowCount, levels, encoding, valuesPtr, valuesBytes, level }: DataPage): WrittenPage {
    const plain = this.kernel.u8.subarray(valuesPtr, valuesPtr + valuesBytes);
    const packed = valuesBytes === 0 ? plain : Bun.zstdCompressSync(plain, { level });
    const worth = encoding === Parquet.byteStreamSplit ? WORTH_FLOATS : WORTH;
    const isCompressed = packed.length < valuesBytes * worth;
    const values = isCompressed ? packed : plain;
    const levelBytes = this.encodeLevels(rowCount, levels);
    const present = levels.kind === "required" ? rowCount : levels.present;
    this.header
      .i32(1, Parquet.dataPageV2)
      .i32(2, levelBytes.length + valuesBytes)
      .i32(3, levelBytes.length + values.length)
      .struct(8, (page) =>
        page
          .i32(1, rowCount)
          .i32(2, rowCount - present)
          .i32(3, rowCount)
          .i32(4, encoding)
          .i32(5, levelBytes.length)
          .i32(6, 0)
          .boolean(7, isCompressed),
      );
    return this.write([this.header.end(), levelBytes, values], levelBytes.length + valuesBytes);
  }

  /** Bytes that values would take on disk. */
  storedBytes({ valuesPtr, valuesBytes, level }: Pick<DataPage, "valuesPtr" | "valuesBytes" | "level">): number {
    const plain = this.kernel.u8.subarray(valuesPtr, valuesPtr + valuesBytes);
    return Math.min(valuesBytes, Bun.zstdCompressSync(plain, { level }).length);
  }

  /** PLAIN values that pages of the chunk name by number. */
  dictionary(valueCount: number, valuesPtr: number, valuesBytes: number): WrittenPage {
    const values = Bun.zstdCompressSync(this.kernel.u8.subarray(valuesPtr, valuesPtr + valuesBytes), { level: LEVEL_BYTES });
    this.header
      .i32(1, Parquet.dictionaryPage)
      .i32(2, valuesBytes)
      .i32(3, values.length)
      .struct(7, (page) => page.i32(1, valueCount).i32(2, Parquet.plain));
    return this.write([this.header.end(), values], valuesBytes);
  }

  private write(parts: readonly Uint8Array[], contentBytes: number): WrittenPage {
    const { bytes: offset } = this.output;
    let crc = 0;
    for (const part of parts) {
      this.output.append(part);
      crc = crc32(part, crc);
    }
    return { offset, bytes: this.output.bytes - offset, crc, plainBytes: parts[0]!.length + contentBytes };
  }

  /** One run of ones or zeros, or the bitmap as packed groups of 8. */
  private encodeLevels(rowCount: number, levels: PageLevels): Uint8Array {
    if (levels.kind === "required") return new Uint8Array(0);
    const { present, bitmapPtr } = levels;
    if (present === rowCount || present === 0) return Uint8Array.from([...varint(rowCount * 2), present === 0 ? 0 : 1]);
    const bytes = Math.ceil(rowCount / 8);
    const head = varint(bytes * 2 + 1);
    const encoded = new Uint8Array(head.length + bytes);
    encoded.set(head);
    encoded.set(this.kernel.u8.subarray(bitmapPtr, bitmapPtr + bytes), head.length);
    // the bitmap of a page may go on into the next one's
    if (rowCount % 8 > 0) encoded[encoded.length - 1]! &= (1 << (rowCount % 8)) - 1;
    return encoded;
  }
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest & 127) | 128);
  bytes.push(rest);
  return bytes;
}
