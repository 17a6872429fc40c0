// The directory of a .pt file in memory.
import {
  checkHeader,
  corrupt,
  PT_HEADER_BYTES,
  PT_TRAILER_BYTES,
  PtDirectoryReader,
  parseTrailer,
  type StoredBlock,
} from "../../../src/storage/pt/format.ts";

/** Parses the directory of a whole file in memory. @throws TsdbError corrupt_file */
export function parseDirectory(file: Uint8Array, name = "file"): { blocks: StoredBlock[] } {
  try {
    if (file.length < PT_HEADER_BYTES + PT_TRAILER_BYTES) throw new Error(`${file.length} bytes are no .pt file`);
    checkHeader(file.subarray(0, PT_HEADER_BYTES));
    const extent = parseTrailer(file.subarray(file.length - PT_TRAILER_BYTES), file.length);
    return new PtDirectoryReader(file.subarray(extent.offset, extent.offset + extent.bytes), extent).all();
  } catch (error) {
    throw corrupt(name, file.length, error);
  }
}
