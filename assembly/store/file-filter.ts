// Filters of file indexes: which texts a page may have. Cells of 32 bytes: seven words, in each of which a text sets one bit, and one more
// that is the file's (storage/pt/FORMAT.md). The hash and the multipliers are those of Parquet's split
// block Bloom filters (apache/parquet-format, BloomFilter.md).
import { VIEW_BYTES } from "../abi";
import { viewBytes, viewText } from "../memory/views";
import { xxh64 } from "../memory/xxh64";

/** Adds the texts of views[count] to a filter of `cells` cells. */
export function fileFilterAdd(views: u32, count: u32, filter: u32, cells: u32): void {
  for (let i: u32 = 0; i < count; i++, views += VIEW_BYTES) {
    const hash = xxh64(viewText(views), viewBytes(views));
    const cell = filter + (<u32>(((hash >> 32) * cells) >> 32) << 5);
    setSevenBits(cell, <u32>hash);
  }
}

/** One in each of the first seven words of a cell. */
// @ts-ignore: decorator
@inline
function setSevenBits(cell: u32, key: u32): void {
  setBit(cell, key * 0x47b6137b);
  setBit(cell + 4, key * 0x44974d91);
  setBit(cell + 8, key * 0x8824ad5b);
  setBit(cell + 12, key * 0xa2b7289d);
  setBit(cell + 16, key * 0x705495c7);
  setBit(cell + 20, key * 0x2df1424b);
  setBit(cell + 24, key * 0x9efc4947);
}

// @ts-ignore: decorator
@inline
function setBit(word: u32, mixed: u32): void {
  store<u32>(word, load<u32>(word) | (<u32>1 << (mixed >> 27)));
}
