// What a parser keeps, drawn once: everything here is unmanaged memory reached by pointer, so that the same code serves any number of
// parsers. Entries and columns live in the parser's arena and never move; arrays are reallocated and must be read through their owner.
import { LINE_COLUMNS_MAX, LINE_ERRORS_KEPT, LINE_ERROR_WORDS } from "../abi";
import { HashSlots } from "../memory/hash-slots";
import { hostAlloc, hostFree } from "../memory/host";
import { PagedArray } from "../memory/paged-array";

/** Owners of dictionary keys: series keys, table names, and per table its tag names and field names. */
export const OWNER_SERIES: u32 = 0;
export const OWNER_TABLES: u32 = 1;
/** The owner number of a table's tags in the parser's hash table. */
// @ts-ignore: decorator
@inline
export function ownerOfTags(tableIndex: u32): u32 {
  return 2 + 2 * tableIndex;
}
/** The owner number of a table's fields in the parser's hash table. */
// @ts-ignore: decorator
@inline
export function ownerOfFields(tableIndex: u32): u32 {
  return 3 + 2 * tableIndex;
}

/** A key of the dictionary. `keyPtr` and `keyBytes` come first: the host reads names as | namePtr | nameBytes |. */
@unmanaged
export class Entry {
  keyPtr: u32;
  keyBytes: u32;
  owner: u32;
  hash: u32;
}

/** A series as written: key `table,tag=value,...` and the space that ends it. */
@unmanaged
export class SeriesEntry extends Entry {
  table: u32;
  seriesId: u32;
  /** SeriesEntry that followed this one last time: the prediction. */
  next: u32;
  /** Column that began its last line, or 0. */
  firstColumn: u32;
}

/** A tag column of a table. */
@unmanaged
export class TagEntry extends Entry {
  tagIndex: u32;
}

/** A field name and its columns, one a type. */
@unmanaged
export class FieldEntry extends Entry {
  /** The column used last, and the others in a chain through Column.sibling. */
  columns: u32;
  lastColumn: u32;
  pad0: u32;
  pad1: u32;
}

/** Values of Column.nextRow that are no row: the column has no value yet in this body; it has gaps and a bitmap. */
export const ROW_UNUSED: u32 = 0xffffffff;
export const ROW_SPARSE: u32 = 0xfffffffe;

/** Column.kind is the type, with this bit when another column has the same name: the line must be checked for a second value. */
export const KIND_SHARED: u32 = 16;
/** Column.kind: the name needs escapes. No text is a value of it but on the careful path. */
export const KIND_ESCAPED: u32 = 32;
/** The bits of Column.kind that are the type. */
export const KIND_TYPE: u32 = 15;

// | name 16 bytes | mask 16 bytes | ... : the name with its "=" and 0xff for each byte that counts; names that need escapes never match
/** A field of a table, and its values in the body. */
@unmanaged
export class Column {
  name0: u64;
  name1: u64;
  mask0: u64;
  mask1: u64;
  /** Bytes of the name with its "=". */
  keyBytes: u32;
  kind: u32;
  dataPtr: u32;
  /** The row the next value must be for, while no row lacks one. */
  nextRow: u32;
  /** Column that followed this one last time: the prediction. */
  next: u32;
  /** The name with its "=", readable to 16 bytes. */
  keyPtr: u32;
  /** Values that it has room for. */
  capacity: u32;
  bitmapPtr: u32;
  bitmapRows: u32;
  /** ROW_SPARSE: how many values it has. */
  count: u32;
  index: u32;
  entry: u32;
  sibling: u32;
  /** Log2 of the bytes of a value. */
  shift: u32;
  pad1: u32;
  pad2: u32;
}

/** A table with its columns, and what its last lines looked like. */
@unmanaged
export class Table extends Entry {
  index: u32;
  rowCount: u32;
  rowCapacity: u32;
  /** Rows that a body may have, by the number of columns. */
  rowsMax: u32;
  seriesPtr: u32;
  timePtr: u32;
  linesPtr: u32;
  /** Column that began the last line. */
  firstColumn: u32;
  /** Some field has the name of some tag: every line needs the check of the careful path. */
  nameClash: u32;
  columnCount: u32;
  columnsPtr: u32;
  columnsCapacity: u32;
  tagCount: u32;
  tagsPtr: u32;
  tagsCapacity: u32;
  seriesCount: u32;
  /** Addresses of SeriesEntries by series id. */
  seriesEntries: PagedArray;
  newSeriesFirst: u32;
  recordsPtr: u32;
  recordsBytes: u32;
  recordsCapacity: u32;
  nextTouched: u32;
  /** Column that ended the last line. */
  lastColumn: u32;
  /** The plan, see plan.ts: steps, how many, room for how many, the first row that followed it. */
  planPtr: u32;
  planCount: u32;
  planCapacity: u32;
  planRow: u32;
  /** The tags of the last series that was made, see tag-plan.ts. */
  tagPlanPtr: u32;
  tagPlanCount: u32;
  tagPlanCapacity: u32;
}

/** | Table | PagedArray of its series | */
export const TABLE_BYTES: u32 = offsetof<Table>() + offsetof<PagedArray>();

/** A tag or a field of the line in hand: `value` is | valuePtr | valueBytes | of a tag, the value or string view of a field. */
@unmanaged
export class Token {
  value0: u64;
  value1: u64;
  namePtr: u32;
  nameBytes: u32;
  type: u32;
  hash: u32;
}

export const TOKEN_BYTES: u32 = offsetof<Token>();
/** FieldEntry by a hash of its table and the first 16 bytes of its text: where findColumn (parse.ts) looks first. Names that were chosen to
 *  share a slot only make it look in the dictionary each time. */
export const NAME_SLOTS: u32 = 1024;
/** Most u16 slots of the set of names of one line (clearSeen). */
export const SEEN_SLOTS: u32 = 8192;
if (SEEN_SLOTS <= 2 * LINE_COLUMNS_MAX) ERROR("SEEN_SLOTS: the set of a line's names must stay half empty");

/** The state of one parser, kept between bodies. */
@unmanaged
export class Parser {
  /** Written by the host before a body. */
  receiveTimeNs: i64;
  /** The last timestamp of 19 digits: its text with the byte behind it, 20 bytes, and what it stands for. */
  lastTimeNs: i64;
  lastTime0: u64;
  lastTime1: u64;
  lastTime2: u32;
  precision: u32;
  /** Whose rules lines follow: DIALECT_V3 or DIALECT_V2. */
  dialect: u32;
  /** Bad lines of the body that can be parsed, and are left out. */
  droppedCount: u32;
  bodyPtr: u32;
  bodyEnd: u32;
  /** But for the slots, which count themselves. */
  memoryBytes: u32;
  /** 128-bit powers of five for float.ts. */
  powersPtr: u32;
  slots: HashSlots;
  chunkPtr: u32;
  chunkUsed: u32;
  chunkBytes: u32;
  tablesPtr: u32;
  tableCount: u32;
  tablesCapacity: u32;
  firstTouched: u32;
  lastTouched: u32;
  touchedCount: u32;
  /** Names of tables, tags and fields, each type of a field counted. */
  nameCount: u32;
  /** Of the call: names of further tables are not kept. */
  keptTablesMax: u32;
  /** Unescaped text of this body. */
  scratchPtr: u32;
  scratchBytes: u32;
  scratchUsed: u32;
  /** The last line's SeriesEntry; before any line an entry without a key. */
  lastSeries: u32;
  /** A SeriesEntry that is in no dictionary: the series of the line in hand, while it is not known whether the line is good. */
  candidate: u32;
  tokensPtr: u32;
  seenPtr: u32;
  namesPtr: u32;
  errorsPtr: u32;
  errorCount: u32;
  badLineCount: u32;
  /** Not 0: a line was refused because too many tables or columns are kept. */
  crowded: u32;
  resultPtr: u32;
  resultBytes: u32;
}

export const TOKENS_BYTES: u32 = (LINE_COLUMNS_MAX + 1) * TOKEN_BYTES;
export const ERRORS_BYTES: u32 = LINE_ERRORS_KEPT * LINE_ERROR_WORDS * 4;

/** A block of the host's heap that the parser answers for. May throw: call it before changing anything. */
export function allocate(parser: Parser, bytes: u32): u32 {
  const ptr = hostAlloc(bytes);
  parser.memoryBytes += bytes;
  return ptr;
}

/** Frees a block of the parser. */
export function release(parser: Parser, ptr: u32, bytes: u32): void {
  if (ptr == 0) return;
  parser.memoryBytes -= bytes;
  hostFree(ptr, bytes);
}

/** A block of `newBytes` that begins with the first `keptBytes` of the old one, which is freed. */
export function reallocate(parser: Parser, ptr: u32, oldBytes: u32, newBytes: u32, keptBytes: u32): u32 {
  const fresh = allocate(parser, newBytes);
  if (keptBytes > 0) memory.copy(fresh, ptr, keptBytes);
  release(parser, ptr, oldBytes);
  return fresh;
}

// Arena chunk: | next chunk u32 | bytes u32 | 8 unused | blocks ... |
const CHUNK_HEADER: u32 = 16;
const CHUNK_MIN: u32 = 4096;
const CHUNK_MAX: u32 = 1 << 20;

/** Memory that lives until the parser is reset, at a multiple of 16; 16 readable bytes follow it. */
export function arenaAlloc(parser: Parser, bytes: u32): u32 {
  const wanted = (bytes + 31) & ~15;
  if (parser.chunkUsed + wanted > parser.chunkBytes) {
    let size = min(max(parser.chunkBytes * 2, CHUNK_MIN), CHUNK_MAX);
    if (size < wanted + CHUNK_HEADER) size = wanted + CHUNK_HEADER;
    const chunk = allocate(parser, size);
    store<u32>(chunk, parser.chunkPtr);
    store<u32>(chunk, size, 4);
    parser.chunkPtr = chunk;
    parser.chunkBytes = size;
    parser.chunkUsed = CHUNK_HEADER;
  }
  const ptr = parser.chunkPtr + parser.chunkUsed;
  parser.chunkUsed += wanted;
  return ptr;
}

/** Frees all chunks of the parser's arena. */
export function arenaRelease(parser: Parser): void {
  let chunk = parser.chunkPtr;
  while (chunk != 0) {
    const next = load<u32>(chunk);
    release(parser, chunk, load<u32>(chunk, 4));
    chunk = next;
  }
  parser.chunkPtr = 0;
}
