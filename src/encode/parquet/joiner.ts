// Joins small Parquet files with one schema into one file incrementally: parquet-wasm writes whole files only, but an answer must be
// streamed. Row groups keep their bytes; the footers are merged and their file offsets adjusted. Source: apache/parquet-format,
// parquet.thrift.
//
//   | "PAR1" | pages of row group 0 | pages of row group 1 | ... | footer (FileMetaData) | footer length u32 | "PAR1" |
import { assert } from "../../model/assert.ts";
import { readThrift, type ThriftField, type ThriftList, type ThriftStruct, ThriftType, type ThriftValue, writeThrift } from "./thrift.ts";

const MAGIC_BYTES = 4;
const TAIL_BYTES = 8;
const MAGIC = [0x50, 0x41, 0x52, 0x31];

// Field numbers of parquet.thrift.
const FILE_ROWS = 3;
const FILE_GROUPS = 4;
const GROUP_CHUNKS = 1;
const GROUP_OFFSET = 5;
const GROUP_ORDINAL = 7;
const CHUNK_OFFSET = 2;
const CHUNK_META = 3;
/** Offset and column index: they are between the row groups and the footer, and omitted. */
const CHUNK_INDEX_FIELDS = [4, 5, 6, 7];
const META_TOTAL_COMPRESSED = 7;
const META_DATA_PAGE = 9;
const META_INDEX_PAGE = 10;
const META_DICTIONARY_PAGE = 11;
const META_BLOOM_FIELDS = [14, 15];
const ORDINAL_MAX = 32_767;

/** The output file of one answer. */
export class ParquetJoiner {
  private footer: ThriftStruct | null = null;
  private readonly groups: ThriftStruct[] = [];
  private rowCount = 0n;
  private written = 0;

  /** Adds a whole file (borrowed) and returns the output bytes that are final. */
  add(file: Uint8Array): Uint8Array {
    const footer = readFooter(file);
    const groups = listAt(footer, FILE_GROUPS).items as ThriftStruct[];
    const pagesEnd = Math.max(MAGIC_BYTES, ...groups.flatMap((group) => chunksOf(group).map(chunkEnd)));
    const start = this.footer === null ? 0 : MAGIC_BYTES;
    const shift = BigInt(this.written - start);
    for (const group of groups) this.groups.push(moved(group, shift, this.groups.length));
    this.footer ??= footer;
    this.rowCount += integerAt(footer, FILE_ROWS);
    this.written += pagesEnd - start;
    return file.slice(start, pagesEnd);
  }

  /** The end of the output. At least one file must have been added. */
  finish(): Uint8Array {
    assert(this.footer !== null, "a Parquet file has a schema");
    this.footer.set(FILE_ROWS, { type: ThriftType.i64, value: this.rowCount });
    this.footer.set(FILE_GROUPS, { type: ThriftType.list, value: { itemType: ThriftType.struct, items: this.groups } });
    const footer = writeThrift(this.footer);
    const end = new Uint8Array(footer.length + TAIL_BYTES);
    end.set(footer);
    new DataView(end.buffer).setUint32(footer.length, footer.length, true);
    end.set(MAGIC, footer.length + 4);
    return end;
  }
}

/** The footer, detached from `file`'s memory. */
export function readFooter(file: Uint8Array): ThriftStruct {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const length = view.getUint32(file.length - TAIL_BYTES, true);
  const start = file.length - TAIL_BYTES - length;
  assert(start >= MAGIC_BYTES && file[file.length - 1] === MAGIC[3], `a footer of ${length} bytes in a file of ${file.length}`);
  return readThrift(file.slice(start, start + length));
}

/** `group` with every file offset moved by `shift` and its ordinal set. */
function moved(group: ThriftStruct, shift: bigint, index: number): ThriftStruct {
  const chunks = chunksOf(group).map((chunk) => {
    const meta = new Map(structAt(chunk, CHUNK_META));
    for (const id of [META_DATA_PAGE, META_INDEX_PAGE, META_DICTIONARY_PAGE]) shiftAt(meta, id, shift);
    for (const id of META_BLOOM_FIELDS) meta.delete(id);
    const next = new Map(chunk).set(CHUNK_META, { type: ThriftType.struct, value: meta });
    for (const id of CHUNK_INDEX_FIELDS) next.delete(id);
    // Zero where the writer leaves the field unused, as the current format specifies.
    if (integerAt(next, CHUNK_OFFSET) !== 0n) shiftAt(next, CHUNK_OFFSET, shift);
    return next;
  });
  const next = new Map(group).set(GROUP_CHUNKS, { type: ThriftType.list, value: { itemType: ThriftType.struct, items: chunks } });
  shiftAt(next, GROUP_OFFSET, shift);
  if (index <= ORDINAL_MAX) next.set(GROUP_ORDINAL, { type: ThriftType.i16, value: BigInt(index) });
  else next.delete(GROUP_ORDINAL);
  return next;
}

function chunksOf(group: ThriftStruct): ThriftStruct[] {
  return listAt(group, GROUP_CHUNKS).items as ThriftStruct[];
}

function chunkEnd(chunk: ThriftStruct): number {
  const meta = structAt(chunk, CHUNK_META);
  const dataPage = integerAt(meta, META_DATA_PAGE);
  const first = meta.has(META_DICTIONARY_PAGE) ? integerAt(meta, META_DICTIONARY_PAGE) : dataPage;
  return Number((first > 0n && first < dataPage ? first : dataPage) + integerAt(meta, META_TOTAL_COMPRESSED));
}

function shiftAt(struct: ThriftStruct, id: number, shift: bigint): void {
  const field = struct.get(id);
  if (field !== undefined) struct.set(id, { type: field.type, value: (field.value as bigint) + shift });
}

function integerAt(struct: ThriftStruct, id: number): bigint {
  const value = fieldAt(struct, id).value;
  assert(typeof value === "bigint", `field ${id} is an integer`);
  return value;
}

function structAt(struct: ThriftStruct, id: number): ThriftStruct {
  const value: ThriftValue = fieldAt(struct, id).value;
  assert(value instanceof Map, `field ${id} is a struct`);
  return value;
}

function listAt(struct: ThriftStruct, id: number): ThriftList {
  const value: ThriftValue = fieldAt(struct, id).value;
  assert(typeof value === "object" && "items" in value, `field ${id} is a list`);
  return value;
}

function fieldAt(struct: ThriftStruct, id: number): ThriftField {
  const field = struct.get(id);
  assert(field !== undefined, `a Parquet footer has field ${id}`);
  return field;
}
