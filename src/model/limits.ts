// All limits, with the relations between them checked when the module loads.
import { assert } from "./assert.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

export const LIMITS = {
  /** One DuckDB vector; buffer segments and pages hold a multiple of it. */
  vectorRows: 2048,
  /** Maximum rows of a buffer segment. */
  segmentRowsMax: 64 * KIB,
  /** A flush merges a table's rows in parts of about this size, counting a value in every row for each column. */
  flushMergeBytes: 384 * MIB,
  /** Rows of one encoded page of a `.pt` block. */
  pageRowsMax: 16 * KIB,
  /** Blocks with fewer rows get no file index: reading them costs no more. */
  indexedRowsMin: 1 * KIB,
  bodyBytesDefault: 10 * MIB,
  /** Largest value of --max-http-request-size: for ordinary lines, a body, its batch and its frame fit the kernel's memory. */
  bodyBytesMax: 256 * MIB,
  /** Total size of all bodies being received. */
  bodyMemoryBytesMax: 384 * MIB,
  /** A connection without traffic is closed after this time, even while the server delays reading a body; queries disable the timeout. */
  connectionIdleSeconds: 60,
  /** A reader of an answer or archive that takes nothing for so long loses it: it holds pinned rows, or a place and a file. */
  readerStallMs: 300_000,
  /** How long a body waits for a flush to make room, */
  admissionWaitSeconds: 20,
  /** and how long for other bodies to end, before it is read. */
  bodyPlaceWaitSeconds: 5,
  stringFieldBytesMax: 1 * MIB,
  /** Tags and fields of a line, and therefore of a table. */
  columnsPerTableMax: 4095,
  /** Of a table that is written through the native API, unless a flag says otherwise. */
  columnsPerTableDefault: 500,
  /** Tables read by one statement. */
  statementTablesMax: 10_000,
  databaseNameBytesMax: 511,
  /** Caches per table, of both kinds: each processes every new row. */
  cachesPerTableMax: 100,
  /** Caches of all tables, including deleted ones. */
  cachesMax: 10_000,
  /** Of all databases, deleted ones too: each has a process when it is enabled and was called. */
  triggersMax: 5000,
  /** Segments of the log that are kept only for triggers which have not seen their rows. */
  triggerLogBytesDefault: 1 * GIB,
  cacheNameBytesMax: 8 * KIB,
  /** Maximum rows per key of a last-value cache, and combinations of a distinct-value cache. */
  cacheRowsMax: 2 ** 32 - 1,
  /** Maximum age of rows shown by a cache: 64 bits of nanoseconds. */
  cacheAgeSecondsMax: 9_223_372_036,
  /** Names of tables and columns created by API calls; line protocol allows the length of a string. */
  tableNameBytesMax: 65_535,
  /** Deletions by predicate that compaction has not applied yet; every scan and every written file evaluates them. */
  tombstonesMax: 1000,
  /** Tag values of one deletion in total: deletions are held in memory, in the catalog's log and in every snapshot of their table. */
  tombstoneValuesMax: 10_000,
  tombstoneTextBytesMax: 256 * KIB,
  /** Requests to delete rows: neither completed nor aborted, and kept at all. */
  rowDeletesPendingMax: 1000,
  rowDeletesKeptMax: 10_000,
  lineErrorsReported: 100,
  /** Request line and headers: every connection may occupy this much before the request is authorized. */
  requestHeadBytesMax: 64 * KIB,
  /** Size of the process's thread pool for file I/O and native calls. */
  poolThreads: 64,
  /** Pool threads that DuckDB calls may occupy, over all query workers. */
  nativeCallsMax: 32,
  /** Minimum for a worker that replaces a stuck one, which still occupies its own. */
  nativeCallsMin: 4,
  /** Frames between the server and a plugin process: the JSON head, and the binary data behind it. */
  pluginHeadBytesMax: 16 * MIB,
  pluginBlobBytesMax: 192 * MIB,
  /** Line protocol that one run of a plugin may buffer until it returns. */
  pluginWriteBytesMax: 64 * MIB,
  /** Bodies of requests to plugins that are being received or handled, in total. */
  pluginRequestBytesMax: 256 * MIB,
  /** Headers of a plugin's HTTP answer. */
  pluginHeaderBytesMax: 64 << 10,
  /** Body of a plugin's HTTP answer. */
  pluginAnswerBytesMax: 64 * MIB,
  /** Log lines of one run, and bytes that it may print. */
  pluginLogLinesMax: 10_000,
  pluginPrintBytesMax: 1 * MIB,
  /** Cached values that the server holds for plugins, in total. */
  pluginValueBytesMax: 64 * MIB,
  /** Plugin processes; starting another one ends the process that has been idle for longest. */
  pluginProcessesMax: 256,
  /** Runs of one trigger that wait for a free process. */
  pluginWaitingMax: 1000,
  /** Replaced query workers that have not ended yet. */
  stuckWorkersMax: 4,
  /** How long a query worker may run without returning to its event loop: 500 times the intended step. */
  loopMsMax: 5000,
  /** Default of --max-concurrent-queries: the number of clients of a busy server. */
  concurrentQueriesDefault: 1000,
  concurrentQueriesMax: 100_000,
  /** Statements kept in the query log; each text takes at most 32 KiB. */
  queryLogDefault: 1000,
  queryLogMax: 100_000,
  /** Upper estimate for the program itself: code, threads, requests in progress. */
  programBytes: 1 * GIB,
  /** Tables per body: storing rows of this many in one step takes less than 100 ms. */
  bodyTablesMax: 10_000,
  /** Estimated permanent memory of a table definition, and of each column. */
  tableDefinitionBytes: 2 * KIB,
  columnDefinitionBytes: 256,
  /** Memory of all table and column definitions. */
  schemaBytesDefault: 1 * GIB,
  schemaBytesMax: 64 * GIB,
  /** Approximate text size of the rows that a query operator processes at a time, */
  chunkTextBytesMax: 1 * MIB,
  /** and of one result batch. */
  batchTextBytesMax: 4 * MIB,
  /** Approximate values per result batch: a few milliseconds of reading and encoding. */
  batchCellsMax: 64 * KIB,
  /** Columns of an answer: eight tables of the default side by side, or the widest one. */
  answerColumnsMax: 4096,
  /** A WAL segment is closed at this size; the frame of one body always fits a segment. */
  walSegmentBytes: 512 * MIB,
  /** A file that is deleted when the disk is full, to free space for what frees more: catalog and manifest operations of a few KiB each. */
  diskReserveBytesDefault: 16 * MIB,
  diskReserveBytesMax: 64 * GIB,
  walFrameBytesMax: 512 * MIB,
  /** The kernel's memory: the address space of wasm32. What the limits below leave is scratch for decoding. */
  kernelBytesMax: 4 * GIB,
  /** State that the line parsers of all databases keep between bodies; the least recently used are dropped first. */
  parserBytesMax: 256 * MIB,
  bufferBytesDefault: 1 * GIB,
  bufferBytesMax: 3 * GIB,
  /** Series dictionaries of all tables: 150 to 200 bytes per series of ten tags, hence three million series; 64 bytes more per series
   *  with out-of-order rows, for up to a million. */
  seriesBytesDefault: 512 * MIB,
  seriesBytesMax: 2 * GIB,
  /** Last-value and distinct-value caches of all tables: 100,000 keys of ten values take about 30 MB. */
  valueCacheBytesDefault: 128 * MIB,
  valueCacheBytesMax: 1 * GIB,
  /** Minimum that remains for them beside the largest possible buffer. */
  valueCacheBytesBeside: 64 * MIB,
  /** Decoded file data kept for later statements. */
  fileCacheBytesMax: 1 * GIB,
  /** Groups of one aggregation inside the scan; beyond it, DuckDB aggregates the rows. The groups' texts have a limit of the same size. */
  aggregateBytesMax: 128 * MIB,
  /** Approximate size of what a scan merges at a time. */
  mergeBytesMax: 128 * MIB,
  /** Minimum that remains for it beside the largest possible buffer. */
  fileCacheBytesBeside: 64 * MIB,
  /** Buffer, series and caches together: the rest of the kernel's memory serves parsers, bodies, merges and encoding. */
  bufferSeriesCacheBytesMax: 3.5 * GIB,
} as const;

assert(
  LIMITS.pluginWriteBytesMax + LIMITS.pluginAnswerBytesMax <= LIMITS.pluginBlobBytesMax,
  "the answer and the lines of a run fit one frame",
);
assert(LIMITS.segmentRowsMax % LIMITS.vectorRows === 0, "a segment is whole vectors");
assert(LIMITS.batchCellsMax >= 16 * LIMITS.answerColumnsMax, "a batch of the widest answer has some rows");
assert(LIMITS.answerColumnsMax > LIMITS.columnsPerTableMax, "an answer has all columns of the widest table, and its time");
assert(LIMITS.pageRowsMax % LIMITS.vectorRows === 0, "a page is whole vectors");
assert(LIMITS.walFrameBytesMax > LIMITS.bodyBytesMax, "one body's frame always fits");
assert(LIMITS.bodyMemoryBytesMax >= 1.5 * LIMITS.bodyBytesMax, "a body without a length may grow from half of the largest to all of it");
assert(
  LIMITS.admissionWaitSeconds + LIMITS.bodyPlaceWaitSeconds < LIMITS.connectionIdleSeconds / 2,
  "a client whose body is not read yet is answered before its connection counts as idle",
);
assert(
  LIMITS.nativeCallsMax + LIMITS.stuckWorkersMax * LIMITS.nativeCallsMin < LIMITS.poolThreads,
  "the log finds a thread whatever queries do, and however many of their workers stick",
);
assert(
  LIMITS.bufferSeriesCacheBytesMax + LIMITS.fileCacheBytesBeside + LIMITS.valueCacheBytesBeside + LIMITS.parserBytesMax <
    LIMITS.kernelBytesMax,
  "buffer, series, cache and parsers leave room",
);
assert(LIMITS.bufferBytesMax + LIMITS.seriesBytesDefault <= LIMITS.bufferSeriesCacheBytesMax, "the largest buffer leaves room for series");
assert(
  LIMITS.bufferBytesDefault +
    LIMITS.seriesBytesDefault +
    LIMITS.fileCacheBytesMax +
    LIMITS.valueCacheBytesDefault +
    LIMITS.bodyMemoryBytesMax +
    LIMITS.parserBytesMax +
    LIMITS.flushMergeBytes +
    LIMITS.mergeBytesMax +
    2 * LIMITS.aggregateBytesMax <=
    LIMITS.kernelBytesMax,
  "with the defaults everything fits at once",
);
