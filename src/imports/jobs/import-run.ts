// Imports one file: its rows become files that belong to nothing yet, and one entry of the manifest makes them part of the data, as written
// at one moment behind all rows before. A crash leaves all of it or nothing.
import { TsdbError } from "../../model/errors.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import { joinOverlaps } from "../../model/rows/overlap-ranges.ts";
import { intersection, union } from "../../model/rows/time-ranges.ts";
import type { BlockMeta, FileMeta } from "../../storage/manifest/manifest.ts";
import { planColumns } from "../column-plan.ts";
import type { OpenImport } from "../import-engine.ts";
import type { ImportTarget } from "../rows/imported-rows.ts";
import type { ImportRecord } from "./import-log.ts";
import type { ImportParts } from "./parts.ts";
import { areSame, planTarget, tableOf } from "./target.ts";

export interface ImportRun {
  readonly record: ImportRecord;
  /** Closed by the caller. */
  readonly open: OpenImport;
  /** Records which files it will be, before they are part of the data. */
  readonly onFiles: (fileIds: readonly number[]) => Promise<void>;
  /** Records that they are, before they can be merged with others. */
  readonly onImported: (times: ImportedTimes) => Promise<void>;
}

/** Of the rows. */
export interface ImportedTimes {
  readonly rowCount: number;
  readonly range: TimeRange;
}

/** Resolves when the rows are there and recorded. @throws TsdbError bad_request naming row group and column, unknown_table: the file will
 *  never be imported; any other: it may be later. Nothing is imported then */
export async function runImport(parts: ImportParts, { record, open, onFiles, onImported }: ImportRun): Promise<void> {
  const { catalog, store } = parts;
  const { databaseId, tableId } = record;
  const table = tableOf(catalog, databaseId, tableId);
  const plan = planColumns({ facts: open.facts, wanted: record.columns, table: table.columnsByName });
  const { target } = planTarget(catalog, databaseId, table, plan);
  const written: FileMeta[] = [];
  let isDone = false;
  try {
    for await (const { bytes, directory } of open.slices(plan, target)) {
      written.push(await writeSlice(parts, bytes, directory.blocks));
    }
    await makeColumns(parts, target, () => planTarget(catalog, databaseId, tableOf(catalog, databaseId, tableId), plan));
    await onFiles(written.map(({ id }) => id));
    const times = timesOf(written);
    const resume = parts.pauseCompaction();
    try {
      await commit(parts, tableId, written, times.range);
      isDone = true;
      await onImported(times);
    } finally {
      resume();
    }
  } finally {
    if (!isDone) for (const { key } of written) await store.delete(key).catch(() => {}); // else removed at the next start
  }
}

async function writeSlice({ manifest, store, ptKey }: ImportParts, bytes: Uint8Array, blocks: readonly BlockMeta[]): Promise<FileMeta> {
  const id = manifest.allocateFileId();
  const key = ptKey(id);
  await store.put(key, bytes);
  return { id, key, bytes: bytes.byteLength, generation: 0, blocks };
}

/** Columns that the table did not have come once the whole file has been read: a file that is refused leaves none. */
async function makeColumns({ catalog }: ImportParts, target: ImportTarget, planAgain: () => ReturnType<typeof planTarget>): Promise<void> {
  const now = planAgain();
  if (!areSame(now.target, target)) throw new TsdbError("overloaded", "the table got other columns while the file was being read");
  if (now.operations.length > 0) catalog.apply(now.operations);
  await catalog.durable(catalog.version);
}

function timesOf(files: readonly FileMeta[]): ImportedTimes {
  const blocks = files.flatMap((file) => file.blocks);
  const ranges = union(blocks.map(({ minTimeNs, maxTimeNs }) => ({ minNs: minTimeNs, maxNs: maxTimeNs })));
  const rowCount = blocks.reduce((sum, block) => sum + block.rowCount, 0);
  return { rowCount, range: { minNs: ranges[0]!.minNs, maxNs: ranges.at(-1)!.maxNs } };
}

/** The rows of slice i get the sequence i + 1 behind those of all rows so far. Nothing that came later is in files before they are. */
async function commit(parts: ImportParts, tableId: number, files: readonly FileMeta[], range: TimeRange): Promise<void> {
  const { manifest, tables, barrier, nowMs } = parts;
  const arrived = tables.expectRows([tableId], range);
  try {
    const first = await barrier(files.length);
    const before = union(manifest.blocksOf(tableId).map(({ block }) => ({ minNs: block.minTimeNs, maxNs: block.maxTimeNs })));
    const flushedMs = nowMs();
    const added = files.map((file, i) => {
      const own = { seqMin: first + i, seqMax: first + i, flushedMinMs: flushedMs, flushedMaxMs: flushedMs };
      return { ...file, blocks: file.blocks.map((block) => ({ ...block, ...own, ...overlapsWith(block, before) })) };
    });
    await manifest.commit({ added }, arrived);
  } finally {
    arrived();
  }
}

/** Rows that share their series and time with earlier ones of the file, or with rows that are there. */
function overlapsWith(
  { unique, overlaps, minTimeNs, maxTimeNs }: BlockMeta,
  before: readonly TimeRange[],
): Pick<BlockMeta, "unique" | "overlaps"> {
  const within = { minNs: minTimeNs, maxNs: maxTimeNs };
  const shared = before.flatMap((range) => intersection(range, within) ?? []);
  const own = { unique, ...(overlaps === undefined ? {} : { overlaps }) };
  return joinOverlaps([own, ...(shared.length === 0 ? [] : [{ unique: false, overlaps: shared }])], within);
}
