// The entries of the manifest's log, in memory and as JSON. Nanoseconds are decimal strings in JSON, whose numbers cannot represent them.
import type { TimeRange } from "../../model/query/scan.ts";
import { badValue, readArray, readBoolean, readCount, readNs, readObject, readText } from "../../object-store/operation-values.ts";

/** A block of a data file: rows of one table and one UTC day. Bounds are inclusive. */
export interface BlockMeta {
  /** Position in the file's directory. */
  readonly index: number;
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
  /** True if no two rows of the block, and no row of a block of lower sequences, share series and time. */
  readonly unique: boolean;
  /** If not unique: ranges that contain the times of all such rows, ascending and disjoint; absent = any time. */
  readonly overlaps?: readonly TimeRange[];
  /** Columns of the block, including `time`. */
  readonly columnIds: readonly number[];
  /** 0 = unknown. */
  readonly seriesCount: number;
  /** Times at which the first and the last of its rows were flushed, in milliseconds since 1970; 0 = unknown, long ago. */
  readonly flushedMinMs: number;
  readonly flushedMaxMs: number;
  /** All tombstones of the table up to this id were applied when the block was written; absent = none ... */
  readonly appliedTombstone?: number;
  /** ... except these: they were held then. */
  readonly unappliedTombstones?: readonly number[];
  /** True if compaction wrote the block for a closed day: all rows that the table had for it, or as many as a block may hold. */
  readonly closed?: true;
}

/** A data file. `blocks` are those that are part of the data, in directory order. */
export interface FileMeta {
  readonly id: number;
  /** Object key. */
  readonly key: string;
  readonly bytes: number;
  /** 0 = flushed from the buffer; compaction outputs are one above their inputs. */
  readonly generation: number;
  readonly blocks: readonly BlockMeta[];
}

/** Blocks of one file. */
export interface BlocksOfFile {
  readonly fileId: number;
  /** Positions in the file's directory. */
  readonly blocks: readonly number[];
}

/** One atomic change. `flushedSequence`: WAL frames up to it are in files. */
export interface ManifestEntry {
  readonly added: readonly FileMeta[];
  /** Ids of files removed from the data. */
  readonly removed: readonly number[];
  /** Blocks removed from the data; a file is removed with its last block. */
  readonly removedBlocks: readonly BlocksOfFile[];
  readonly flushedSequence: number;
}

/** Members that older entries lack may be missing: then `position` is the position in the file, and other values are unknown. */
function readBlock(what: string, value: unknown, position: number): BlockMeta {
  const block = readObject(what, value);
  const count = (name: string, absent?: number) =>
    absent !== undefined && block[name] === undefined ? absent : readCount(`${what}.${name}`, block[name]);
  const ns = (name: string) => readNs(`${what}.${name}`, block[name]);
  return {
    index: count("index", position),
    databaseId: count("databaseId"),
    tableId: count("tableId"),
    dayStartNs: ns("dayStartNs"),
    rowCount: count("rowCount"),
    minTimeNs: ns("minTimeNs"),
    maxTimeNs: ns("maxTimeNs"),
    seqMin: count("seqMin"),
    seqMax: count("seqMax"),
    unique: readBoolean(`${what}.unique`, block["unique"]),
    ...(block["doubts"] === undefined ? {} : { overlaps: readArray(`${what}.doubts`, block["doubts"]).map(readRange(`${what}.doubts`)) }),
    columnIds: readArray(`${what}.columnIds`, block["columnIds"]).map((id) => readCount(`${what}.columnIds`, id)),
    seriesCount: count("seriesCount", 0),
    flushedMinMs: count("flushedMinMs", 0),
    flushedMaxMs: count("flushedMaxMs", 0),
    ...(block["appliedTombstone"] === undefined ? {} : { appliedTombstone: count("appliedTombstone") }),
    ...(block["unappliedTombstones"] === undefined
      ? {}
      : { unappliedTombstones: readArray(`${what}.unappliedTombstones`, block["unappliedTombstones"]).map((id) => readCount(what, id)) }),
    ...(block["closed"] !== undefined && readBoolean(`${what}.closed`, block["closed"]) ? { closed: true } : {}),
  };
}

/** | first time | last time | */
function readRange(what: string): (value: unknown) => TimeRange {
  return (value) => {
    const ends = readArray(what, value).map((end) => readNs(what, end));
    const [minNs, maxNs] = ends;
    if (minNs === undefined || maxNs === undefined || ends.length > 2 || minNs > maxNs) badValue(what, value, "a first and a last time");
    return { minNs, maxNs };
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
    blocks: readArray(`${what}.blocks`, file["blocks"]).map((block, i) => readBlock(`${what}.blocks[${i}]`, block, i)),
  };
}

/** Unknown members are ignored. @throws TsdbError corrupt_file */
export function readEntry(value: unknown): ManifestEntry {
  const entry = readObject("entry", value);
  const { kind } = entry;
  if (kind !== "change_files" && kind !== "change_blocks")
    badValue("entry.kind", kind, "one this server knows: was it written by a newer one?");
  return {
    added: readArray("entry.added", entry["added"]).map(readFile),
    removed: readArray("entry.removed", entry["removed"]).map((id) => readCount("entry.removed", id)),
    removedBlocks: kind === "change_files" ? [] : readArray("entry.removedBlocks", entry["removedBlocks"]).map(readBlocks),
    flushedSequence: readCount("entry.flushedSequence", entry["flushedSequence"]),
  };
}

function readBlocks(value: unknown): BlocksOfFile {
  const { fileId, blocks } = readObject("entry.removedBlocks", value);
  return {
    fileId: readCount("entry.removedBlocks.fileId", fileId),
    blocks: readArray("entry.removedBlocks.blocks", blocks).map((index) => readCount("entry.removedBlocks.blocks", index)),
  };
}

/** The JSON form of a file. */
export function fileToJson(file: FileMeta): unknown {
  const { id, key, bytes, generation } = file;
  return {
    id,
    key,
    bytes,
    generation,
    blocks: file.blocks.map(blockToJson),
  };
}

/** Omits members with default values. */
function blockToJson(meta: BlockMeta, position: number): unknown {
  const { index, overlaps, seriesCount, flushedMinMs, flushedMaxMs, appliedTombstone, ...block } = meta;
  return {
    ...block,
    dayStartNs: String(block.dayStartNs),
    minTimeNs: String(block.minTimeNs),
    maxTimeNs: String(block.maxTimeNs),
    doubts: overlaps?.map(({ minNs, maxNs }) => [String(minNs), String(maxNs)]),
    index: index === position ? undefined : index,
    seriesCount: seriesCount || undefined,
    flushedMinMs: flushedMinMs || undefined,
    flushedMaxMs: flushedMaxMs || undefined,
    appliedTombstone,
  };
}

/** Entries that remove blocks have a kind of their own: a server that does not know it must stop rather than keep these blocks. */
export function entryToJson(entry: ManifestEntry): unknown {
  const { removed, removedBlocks, flushedSequence } = entry;
  const added = entry.added.map(fileToJson);
  if (removedBlocks.length === 0) return { kind: "change_files", added, removed, flushedSequence };
  return { kind: "change_blocks", added, removed, removedBlocks, flushedSequence };
}
