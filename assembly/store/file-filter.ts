// Filters of file indexes: which texts a page may have. Cells of 32 bytes: seven words, in each of which a text sets one bit, and one more
// that is the file's (storage/pt/FORMAT.md). The hash and the multipliers are those of Parquet's filters.
import { VIEW_BYTES } from "../abi";
import { viewBytes, viewText } from "../memory/views";
import { setSevenBits, xxh64 } from "../parquet/bloom";

/** Adds the texts of views[count] to a filter of `cells` cells. */
export function fileFilterAdd(views: u32, count: u32, filter: u32, cells: u32): void {
  for (let i: u32 = 0; i < count; i++, views += VIEW_BYTES) {
    const hash = xxh64(viewText(views), viewBytes(views));
    const cell = filter + (<u32>(((hash >> 32) * cells) >> 32) << 5);
    setSevenBits(cell, <u32>hash);
  }
}
