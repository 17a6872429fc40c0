// The frame of a Parquet file: magic, row groups, footer. The schema is taken from a file without rows that the library of answers has
// written, so that columns have the types and metadata of answers.
//
//   | "PAR1" | chunks of row group 0 | chunks of row group 1 | ... | footer (FileMetaData) | footer length u32 | "PAR1" |
import { readFooter } from "../../encode/parquet/joiner.ts";
import { type ThriftField, type ThriftStruct, ThriftType, type ThriftValue, writeThrift } from "../../encode/parquet/thrift.ts";
import { assert } from "../../model/assert.ts";
import type { FinishedChunk } from "./chunk.ts";

const MAGIC = new TextEncoder().encode("PAR1");
const FILE_SCHEMA = 2;
const FILE_ROWS = 3;
const FILE_GROUPS = 4;
const ELEMENT_TYPE = 1;
const ELEMENT_NAME = 4;
/** A file may have more groups than this number of 16 bits can say. */
const ORDINAL_MAX = 32_767;

/** A file that is written group by group. */
export class ParquetFile {
  private readonly footer: ThriftStruct;
  /** Of the schema's columns, in order: name and physical type. */
  private readonly columns: readonly { readonly name: ThriftValue; readonly type: ThriftField }[];
  private readonly groups: ThriftStruct[] = [];
  private rowCount = 0n;
  private written = 0;

  /** @param empty a file of these columns without rows */
  constructor(empty: Uint8Array) {
    this.footer = readFooter(empty);
    const elements = this.footer.get(FILE_SCHEMA)?.value;
    assert(typeof elements === "object" && "items" in elements, "a footer has a schema");
    // the first is the root
    this.columns = (elements.items as ThriftStruct[]).slice(1).map((element) => {
      const [name, type] = [element.get(ELEMENT_NAME)?.value, element.get(ELEMENT_TYPE)];
      assert(name !== undefined && type !== undefined, "a column has a name and a type");
      return { name, type };
    });
  }

  begin(): Uint8Array {
    this.written = MAGIC.length;
    return MAGIC;
  }

  /** A chunk for each column. Its pages follow what was written before. */
  addGroup(chunks: readonly FinishedChunk[], rowCount: number): void {
    assert(chunks.length === this.columns.length, `${chunks.length} chunks for ${this.columns.length} columns`);
    const start = this.written;
    const items = chunks.map((chunk, i) => this.chunkStruct(chunk, i));
    const uncompressed = chunks.reduce((sum, chunk) => sum + chunk.uncompressedBytes, 0);
    const group: ThriftStruct = new Map([
      [1, list(ThriftType.struct, items)],
      [2, i64(uncompressed)],
      [3, i64(rowCount)],
      [5, i64(start)],
      [6, i64(this.written - start)],
    ]);
    if (this.groups.length <= ORDINAL_MAX) group.set(7, { type: ThriftType.i16, value: BigInt(this.groups.length) });
    this.groups.push(group);
    this.rowCount += BigInt(rowCount);
  }

  end(): Uint8Array {
    this.footer.set(FILE_ROWS, { type: ThriftType.i64, value: this.rowCount });
    this.footer.set(FILE_GROUPS, list(ThriftType.struct, this.groups));
    const footer = writeThrift(this.footer);
    const end = new Uint8Array(footer.length + 4 + MAGIC.length);
    end.set(footer);
    new DataView(end.buffer).setUint32(footer.length, footer.length, true);
    end.set(MAGIC, footer.length + 4);
    return end;
  }

  private chunkStruct(chunk: FinishedChunk, index: number): ThriftStruct {
    const { bytes, uncompressedBytes, rowCount, dictionaryBytes, encodings, codec } = chunk;
    const { name, type } = this.columns[index]!;
    const start = this.written;
    this.written += bytes;
    const meta: ThriftStruct = new Map([
      [1, type],
      [2, list(ThriftType.i32, encodings.map(BigInt))],
      [3, list(ThriftType.binary, [name])],
      [4, { type: ThriftType.i32, value: BigInt(codec) }],
      [5, i64(rowCount)],
      [6, i64(uncompressedBytes)],
      [7, i64(bytes)],
      [9, i64(start + dictionaryBytes)],
      [12, { type: ThriftType.struct, value: statistics(chunk) }],
    ]);
    if (dictionaryBytes > 0) meta.set(11, i64(start));
    // zero, because the metadata is in the footer alone
    return new Map([
      [2, i64(0)],
      [3, { type: ThriftType.struct, value: meta }],
    ]);
  }
}

function statistics({ nullCount, bounds }: FinishedChunk): ThriftStruct {
  const found: ThriftStruct = new Map([[3, i64(nullCount)]]);
  if (bounds === null) return found;
  const exact: ThriftField = { type: bounds.isExact ? ThriftType.true : ThriftType.false, value: bounds.isExact };
  return found
    .set(5, { type: ThriftType.binary, value: bounds.max })
    .set(6, { type: ThriftType.binary, value: bounds.min })
    .set(7, exact)
    .set(8, exact);
}

function i64(value: number): ThriftField {
  return { type: ThriftType.i64, value: BigInt(value) };
}

function list(itemType: number, items: ThriftValue[]): ThriftField {
  return { type: ThriftType.list, value: { itemType, items } };
}
