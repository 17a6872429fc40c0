// Every limit in one place, with the relations between them checked when the module loads.
import { assert } from "./assert.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

export const LIMITS = {
  /** One DuckDB vector; buffer segments and pages hold a multiple of it. */
  vectorRows: 2048,
  /** Rows of one buffer segment at most. */
  segmentRowsMax: 64 * KIB,
  /** A flush merges a table's rows in parts that take about this much, every column with a value for each row. */
  flushMergeBytes: 384 * MIB,
  /** Rows of one encoded page of a `.pt` block. */
  pageRowsMax: 16 * KIB,
  /** Blocks of fewer rows have no file index: to read them is as cheap. */
  indexedRowsMin: 1 * KIB,
  bodyBytesDefault: 10 * MIB,
  /** Largest value of --max-http-request-size: with ordinary lines a body, its batch and its frame fit the kernel's memory. */
  bodyBytesMax: 256 * MIB,
  /** Bodies on their way in, together. */
  bodyMemoryBytesMax: 384 * MIB,
  /** A connection that is silent for longer is closed, also while the server leaves a body unread; queries lift it for themselves. */
  connectionIdleSeconds: 60,
  /** A body waits so long for flushes to make room, */
  admissionWaitSeconds: 20,
  /** and so long for other bodies to end, before it is read. */
  bodyPlaceWaitSeconds: 5,
  stringFieldBytesMax: 1 * MIB,
  /** Tags and fields of a line, and so of a table; a flag may lower it. */
  columnsPerTableMax: 500,
  /** Tables that one statement reads. */
  statementTablesMax: 10_000,
  databaseNameBytesMax: 511,
  /** Caches of one table, of both kinds: each looks at every new row. */
  cachesPerTableMax: 100,
  /** Of all tables, deleted ones too. */
  cachesMax: 10_000,
  cacheNameBytesMax: 8 * KIB,
  /** Rows of a key that a last-value cache may be asked to keep, and combinations that a distinct-value cache may. */
  cacheRowsMax: 2 ** 32 - 1,
  /** The longest age of what a cache shows: 64 bits of nanoseconds. */
  cacheAgeSecondsMax: 9_223_372_036,
  /** Of tables and columns that are made by name; line protocol allows what a string may have. */
  tableNameBytesMax: 65_535,
  /** Deletions of some rows of a table that compaction has not applied yet; every scan and every file written looks at them. */
  tombstonesMax: 1000,
  /** Tag values of one deletion, together: all deletions are in memory, in the catalog's log and in every snapshot of their table. */
  tombstoneValuesMax: 10_000,
  tombstoneTextBytesMax: 256 * KIB,
  lineErrorsReported: 100,
  /** Request line and headers: a connection may hold as much before anything is known of it. */
  requestHeadBytesMax: 64 * KIB,
  /** Threads of the process for file and native calls. */
  poolThreads: 64,
  /** Of these, how many may be held by DuckDB's calls, over all query workers. */
  nativeCallsMax: 32,
  /** And by those of a worker at least that takes the place of one that sticks, which holds its own. */
  nativeCallsMin: 4,
  /** Query workers that have been replaced and have not ended yet. */
  stuckWorkersMax: 4,
  /** How long a query worker's work may take without coming back to its event loop: 500 times of what it should. */
  loopMsMax: 5000,
  /** Statements that run at a time, unless a flag says otherwise: as many as a busy server has clients. */
  concurrentQueriesDefault: 1000,
  concurrentQueriesMax: 100_000,
  /** Statements that are remembered; their texts take 32 KiB each at most. */
  queryLogDefault: 1000,
  queryLogMax: 100_000,
  /** The program itself, at most: its code, its threads, requests on their way. */
  programBytes: 1 * GIB,
  /** Tables that one body may have rows of: to store so many, in one go, takes under 100 ms. */
  bodyTablesMax: 10_000,
  /** What the definition of a table takes for ever, and of each of its columns, about. */
  tableDefinitionBytes: 2 * KIB,
  columnDefinitionBytes: 256,
  /** Definitions of all tables and columns. */
  schemaBytesDefault: 1 * GIB,
  schemaBytesMax: 64 * GIB,
  /** Text of the rows that an operator of a query works on at a time, about. */
  chunkTextBytesMax: 1 * MIB,
  /** And of one batch of an answer. */
  batchTextBytesMax: 4 * MIB,
  /** Values of one batch of an answer, about: what reading and encoding them takes a few milliseconds for. */
  batchCellsMax: 64 * KIB,
  /** Columns of an answer: eight whole tables beside each other. */
  answerColumnsMax: 4096,
  /** A WAL segment is closed at this size; one body's frame always fits a segment. */
  walSegmentBytes: 512 * MIB,
  /** A file that is given up when the disk is full, for what frees space: operations of catalog and manifest take some KiB each. */
  diskReserveBytesDefault: 16 * MIB,
  diskReserveBytesMax: 64 * GIB,
  walFrameBytesMax: 512 * MIB,
  /** The kernel's memory: the address space of wasm32 is 4 GiB; the rest is scratch for decoding. */
  kernelBytesMax: 4 * GIB,
  /** What line parsers of all databases may keep from one body to the next; the least recently used are forgotten first. */
  parserBytesMax: 256 * MIB,
  bufferBytesDefault: 1 * GIB,
  bufferBytesMax: 3 * GIB,
  /** Series dictionaries of all tables: 150 to 200 bytes a series of ten tags, so three million of them; 64 more where rows come out of
   *  order, of up to a million. */
  seriesBytesDefault: 512 * MIB,
  seriesBytesMax: 2 * GIB,
  /** Last-value and distinct-value caches of all tables: 100,000 keys of ten values are some 30 MB. */
  valueCacheBytesDefault: 128 * MIB,
  valueCacheBytesMax: 1 * GIB,
  /** Beside the largest buffer there is still room for so much. */
  valueCacheBytesBeside: 64 * MIB,
  /** Decoded data of files, kept for the next statement. */
  fileCacheBytesMax: 1 * GIB,
  /** Groups of one aggregation within the storage; of more, the engine takes the rows. Text that they show counts apart, as much again. */
  aggregateBytesMax: 128 * MIB,
  /** What a scan merges at a time, about. */
  mergeBytesMax: 128 * MIB,
  /** Beside the largest buffer there is still room for so much. */
  fileCacheBytesBeside: 64 * MIB,
  /** Buffer, series and caches together: the rest of the kernel's memory is for parsers, bodies, merges and encoding. */
  bufferSeriesCacheBytesMax: 3.5 * GIB,
} as const;

assert(LIMITS.segmentRowsMax % LIMITS.vectorRows === 0, "a segment is whole vectors");
assert(LIMITS.batchCellsMax >= 16 * LIMITS.answerColumnsMax, "a batch of the widest answer has some rows");
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
