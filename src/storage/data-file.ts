// Opens a data file of any format behind the interface of data-block.ts. An object's key tells its format by its ending.
import type { Kernel } from "../kernel/memory/kernel.ts";
import { TsdbError } from "../model/errors.ts";
import type { ByteSource } from "./block/byte-source.ts";
import type { DataFile } from "./block/data-block.ts";
import { ParquetReader } from "./parquet/reader.ts";
import { PtReader } from "./pt/reader.ts";

export type DataFormat = "pt" | "parquet";

/** @throws TsdbError corrupt_file for a key of no data file */
export function formatOf(key: string): DataFormat {
  if (key.endsWith(".pt")) return "pt";
  if (key.endsWith(".parquet")) return "parquet";
  throw new TsdbError("corrupt_file", `the manifest names ${key}, which is no data file`, { file: key });
}

/** Opens a file and reads its directory. The source is the file's to close. @throws TsdbError corrupt_file naming file and offset, io */
export function openDataFile(kernel: Kernel, source: ByteSource, format: DataFormat): DataFile {
  return format === "pt" ? new PtReader(kernel, source) : new ParquetReader(kernel, source);
}
