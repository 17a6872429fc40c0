// Values of a page to their places among merged rows: those of rows [first, first + count) whose place is below `limit` and that are
// present. Pages are brought in order of their sequences, so of equal rows the later one's value stays, and an absent value overwrites
// nothing. `bits` gets the bit of every place that is written; 0: every row has a value.
import { bitAt, putBit } from "../memory/bits";

/** Copies values of 1 byte to places below `limit`, and sets their bits. */
export function placeValues1(source: u32, validity: u32, first: u32, count: u32, places: u32, limit: u32, out: u32, bits: u32): void {
  for (const end = first + count; first < end; first++, places += 4) {
    const place = load<u32>(places);
    if (place >= limit || (validity != 0 && !bitAt(validity, first))) continue;
    store<u8>(out + place, load<u8>(source + first));
    if (bits != 0) putBit(bits, place);
  }
}

/** Copies values of 8 bytes to places below `limit`, and sets their bits. */
export function placeValues8(source: u32, validity: u32, first: u32, count: u32, places: u32, limit: u32, out: u32, bits: u32): void {
  for (const end = first + count; first < end; first++, places += 4) {
    const place = load<u32>(places);
    if (place >= limit || (validity != 0 && !bitAt(validity, first))) continue;
    store<u64>(out + (place << 3), load<u64>(source + (first << 3)));
    if (bits != 0) putBit(bits, place);
  }
}

/** Copies values of 16 bytes to places below `limit`, and sets their bits. */
export function placeValues16(source: u32, validity: u32, first: u32, count: u32, places: u32, limit: u32, out: u32, bits: u32): void {
  for (const end = first + count; first < end; first++, places += 4) {
    const place = load<u32>(places);
    if (place >= limit || (validity != 0 && !bitAt(validity, first))) continue;
    v128.store(out + (place << 4), v128.load(source + (first << 4)));
    if (bits != 0) putBit(bits, place);
  }
}
