// What the manifest's log is made of, in memory and as JSON. Nanoseconds are decimal strings in JSON: they do not fit its numbers.
import { badValue, readArray, readBoolean, readCount, readNs, readObject, readText } from "../object-store/operation-values.ts";

/** A block of a data file: rows of one table and one UTC day. Bounds are inclusive. */
export interface BlockMeta {
  readonly databaseId: number;
  readonly tableId: number;
  /** Start of the UTC day. */
  readonly dayStartNs: bigint;
  readonly rowCount: number;
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  /** Log sequences of the rows. */
  readonly seqMin: number;
  readonly seqMax: number;
  /** No two rows of the block, and no row of a block of lower sequences, have its series and time. */
  readonly unique: boolean;
  /** Columns that the block holds, `time` included. */
  readonly columnIds: readonly number[];
  /** All tombstones of the table up to this id were applied when the block was written; absent = none. */
  readonly appliedTombstone?: number;
}

/** A data file. `blocks` is in the order of the file's own directory. */
export interface FileMeta {
  readonly id: number;
  /** Object key. */
  readonly key: string;
  readonly bytes: number;
  /** 0 = flushed from the buffer; a compaction's output is one above its inputs. */
  readonly generation: number;
  readonly blocks: readonly BlockMeta[];
}

/** One atomic change. `flushedSequence`: frames of the WAL up to it are in files. */
export interface ManifestEntry {
  readonly added: readonly FileMeta[];
  /** Ids of files that are no longer part of the data. */
  readonly removed: readonly number[];
  readonly flushedSequence: number;
}

function readBlock(what: string, value: unknown): BlockMeta {
  const block = readObject(what, value);
  const count = (name: string) => readCount(`${what}.${name}`, block[name]);
  const ns = (name: string) => readNs(`${what}.${name}`, block[name]);
  return {
    databaseId: count("databaseId"),
    tableId: count("tableId"),
    dayStartNs: ns("dayStartNs"),
    rowCount: count("rowCount"),
    minTimeNs: ns("minTimeNs"),
    maxTimeNs: ns("maxTimeNs"),
    seqMin: count("seqMin"),
    seqMax: count("seqMax"),
    unique: readBoolean(`${what}.unique`, block["unique"]),
    columnIds: readArray(`${what}.columnIds`, block["columnIds"]).map((id) => readCount(`${what}.columnIds`, id)),
    ...(block["appliedTombstone"] === undefined ? {} : { appliedTombstone: count("appliedTombstone") }),
  };
}

/** @throws TsdbError corrupt_file */
export function readFile(value: unknown): FileMeta {
  const file = readObject("file", value);
  const id = readCount("file.id", file["id"]);
  const what = `file ${id}`;
  return {
    id,
    key: readText(`${what}.key`, file["key"]),
    bytes: readCount(`${what}.bytes`, file["bytes"]),
    generation: readCount(`${what}.generation`, file["generation"]),
    blocks: readArray(`${what}.blocks`, file["blocks"]).map((block, i) => readBlock(`${what}.blocks[${i}]`, block)),
  };
}

/** Members that it does not know are ignored. @throws TsdbError corrupt_file */
export function readEntry(value: unknown): ManifestEntry {
  const entry = readObject("entry", value);
  if (entry["kind"] !== "change_files") badValue("entry.kind", entry["kind"], "one this server knows: was it written by a newer one?");
  return {
    added: readArray("entry.added", entry["added"]).map(readFile),
    removed: readArray("entry.removed", entry["removed"]).map((id) => readCount("entry.removed", id)),
    flushedSequence: readCount("entry.flushedSequence", entry["flushedSequence"]),
  };
}

/** The file as JSON can hold it. */
export function fileToJson(file: FileMeta): unknown {
  const { id, key, bytes, generation } = file;
  return {
    id,
    key,
    bytes,
    generation,
    blocks: file.blocks.map((block) => ({
      ...block,
      dayStartNs: String(block.dayStartNs),
      minTimeNs: String(block.minTimeNs),
      maxTimeNs: String(block.maxTimeNs),
    })),
  };
}

export function entryToJson(entry: ManifestEntry): unknown {
  const { removed, flushedSequence } = entry;
  return { kind: "change_files", added: entry.added.map(fileToJson), removed, flushedSequence };
}
