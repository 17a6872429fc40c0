// The schema of a table's Parquet files: numbers of parquet.thrift, the columns, and the Arrow schema that tells readers of dictionaries.
import { ColumnType } from "../../model/rows/column.ts";
import type { ThriftWriter } from "./thrift-writer.ts";

/** "PAR1", at both ends of a file. */
export const PARQUET_MAGIC = new Uint8Array([0x50, 0x41, 0x52, 0x31]);

/** Numbers of parquet.thrift. */
export const Parquet = {
  boolean: 0,
  int64: 2,
  double: 5,
  byteArray: 6,
  plain: 0,
  rle: 3,
  deltaBinaryPacked: 5,
  deltaLengthByteArray: 6,
  rleDictionary: 8,
  byteStreamSplit: 9,
  zstd: 6,
  dictionaryPage: 2,
  dataPageV2: 3,
} as const;

const CONVERTED_UTF8 = 0;
const CONVERTED_UINT_64 = 14;
const REQUIRED = 0;
const OPTIONAL = 1;

/** A column of a file. */
export interface ParquetColumn {
  readonly columnId: number;
  readonly name: string;
  readonly type: ColumnType;
}

export const PHYSICAL_TYPE: Readonly<Record<ColumnType, number>> = {
  [ColumnType.time]: Parquet.int64,
  [ColumnType.tag]: Parquet.byteArray,
  [ColumnType.float]: Parquet.double,
  [ColumnType.integer]: Parquet.int64,
  [ColumnType.unsigned]: Parquet.int64,
  [ColumnType.string]: Parquet.byteArray,
  [ColumnType.boolean]: Parquet.boolean,
};

/** FileMetaData.schema: the root, then the columns. */
export function writeSchema(footer: ThriftWriter, id: number, columns: readonly ParquetColumn[]): void {
  footer.structList<ParquetColumn | null>(id, [null, ...columns], (element, column) => {
    if (column === null) {
      element.binary(4, "schema").i32(5, columns.length);
      return;
    }
    const { type } = column;
    element
      .i32(1, PHYSICAL_TYPE[type])
      .i32(3, type === ColumnType.time ? REQUIRED : OPTIONAL)
      .binary(4, column.name);
    if (type === ColumnType.tag || type === ColumnType.string) element.i32(6, CONVERTED_UTF8);
    if (type === ColumnType.unsigned) element.i32(6, CONVERTED_UINT_64);
    element.i32(9, column.columnId);
    writeLogicalType(element, type);
  });
}

function writeLogicalType(element: ThriftWriter, type: ColumnType): void {
  if (type === ColumnType.tag || type === ColumnType.string) {
    element.struct(10, (logical) => logical.struct(1, () => {}));
  } else if (type === ColumnType.unsigned) {
    element.struct(10, (logical) => logical.struct(10, (integer) => integer.i8(1, 64).boolean(2, false)));
  } else if (type === ColumnType.time) {
    // of no zone, in nanoseconds
    element.struct(10, (logical) =>
      logical.struct(8, (timestamp) => timestamp.boolean(1, false).struct(2, (unit) => unit.struct(3, () => {}))),
    );
  }
}

/** The Arrow schema as `ARROW:schema` wants it: an IPC message in base64. Tags are dictionaries of i32. */
export async function arrowSchema(columns: readonly ParquetColumn[]): Promise<string> {
  // large, and not needed before the first Parquet file
  const arrow = await import("apache-arrow");
  const types: Readonly<Record<ColumnType, () => InstanceType<typeof arrow.DataType>>> = {
    [ColumnType.time]: () => new arrow.TimestampNanosecond(),
    [ColumnType.tag]: () => new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()),
    [ColumnType.float]: () => new arrow.Float64(),
    [ColumnType.integer]: () => new arrow.Int64(),
    [ColumnType.unsigned]: () => new arrow.Uint64(),
    [ColumnType.string]: () => new arrow.Utf8(),
    [ColumnType.boolean]: () => new arrow.Bool(),
  };
  const fields = columns.map(({ name, type }) => new arrow.Field(name, types[type](), type !== ColumnType.time));
  const stream = arrow.tableToIPC(new arrow.Table(new arrow.Schema(fields)), "stream");
  // the first message: | 0xffffffff | bytes i32 | flatbuffer |
  const bytes = 8 + new DataView(stream.buffer, stream.byteOffset).getInt32(4, true);
  return Buffer.from(stream.subarray(0, bytes)).toString("base64");
}
