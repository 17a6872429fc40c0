// What the server counts, in the text format that scrapers read. Made before the services: routes, log and queries push into it,
// and gauges are read from them when the endpoint is scraped.
// the package's entry also loads a push client, and with it all of node:http: a seventh of the processor time of a start
import Counter from "prom-client/lib/counter.js";
import Gauge from "prom-client/lib/gauge.js";
import Registry from "prom-client/lib/registry.js";
import type { CacheKind } from "../../model/caches.ts";
import { METRIC_ALIASES } from "../shared/aliases.ts";
import { LATENCY_BUCKETS_SECONDS, SIZE_BUCKETS } from "./buckets.ts";
import { DatabaseWrites, type WriteCounts } from "./database-writes.ts";
import { GrpcMetrics } from "./grpc-metrics.ts";
import { type PermitCounts, registerPermits } from "./permit-metrics.ts";
import { Buckets, registerHistogram } from "./plain-histogram.ts";
import { registerCounter } from "./scraped-counter.ts";
import { StatementMetrics } from "./statement-metrics.ts";
import { StoreMetrics } from "./store-metrics.ts";

/** Current sizes, read at each scrape: must be cheap. */
export interface ServerStats {
  readonly bufferBytes: number;
  readonly bufferRows: number;
  /** Bytes of the kernel's shared memory. */
  readonly kernelBytes: number;
  readonly pins: number;
  readonly walBytes: number;
  readonly walSegments: number;
  readonly files: number;
  readonly fileBytes: number;
  readonly databases: number;
  readonly tables: number;
  readonly series: number;
  readonly seriesBytes: number;
  /** Since the server started. */
  readonly seriesEvictions: number;
  /** Operations of the catalog's log, since the first start. */
  readonly catalogOperations: number;
}

/** The block caches: current bytes, the rest since the server started. */
export interface FileCacheStats {
  readonly bytes: number;
  /** That have something in it; of each worker's cache. */
  readonly files: number;
  readonly gen0Hits: number;
  readonly gen0Misses: number;
  readonly compactedHits: number;
  readonly compactedMisses: number;
  readonly bytesRead: number;
}

/** Last-value and distinct-value caches. */
export interface CacheStats {
  readonly caches: Readonly<Record<CacheKind, number>>;
  readonly totals: Readonly<Record<CacheKind, { readonly bytes: number; readonly keys: number; readonly rows: number }>>;
  /** Since the server started. */
  readonly feeds: number;
  readonly feedSeconds: number;
}

const CACHE_KINDS: readonly CacheKind[] = ["last", "distinct"];

export type WriteOutcome = "stored" | "partial" | "rejected" | "failed";
export type QueryOutcome = "answered" | "refused" | "failed" | "cancelled";

const METHODS = new Set(["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]);

const GAUGES: readonly (readonly [name: string, help: string, key: keyof ServerStats])[] = [
  ["tsdb_buffer_bytes", "Bytes of rows that are not in a file yet", "bufferBytes"],
  ["tsdb_buffer_rows", "Rows that are not in a file yet", "bufferRows"],
  ["tsdb_kernel_memory_bytes", "Bytes of the memory shared by parser, buffer and scans", "kernelBytes"],
  ["tsdb_pins", "Snapshots that statements and caches read, which hold memory and files", "pins"],
  ["tsdb_wal_bytes", "Bytes of the write-ahead log", "walBytes"],
  ["tsdb_wal_segments", "Segments of the write-ahead log", "walSegments"],
  ["tsdb_files", "Data files in the manifest", "files"],
  ["tsdb_file_bytes", "Bytes of the data files in the manifest", "fileBytes"],
  ["tsdb_databases", "Databases", "databases"],
  ["tsdb_tables", "Tables of all databases", "tables"],
  ["tsdb_series", "Series in memory", "series"],
  ["tsdb_series_bytes", "Bytes of the series in memory", "seriesBytes"],
];

interface RouteCount {
  readonly labels: { readonly method: string; readonly path: string; readonly status: string };
  readonly seconds: Buckets;
  readonly sizes: Buckets;
  requests: number;
}

interface RequestKind {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly count: RouteCount;
}

/** All metric families of one server. Label values are bounded: known methods, route patterns and statuses, never raw paths; names of
 *  databases in families of their own, for readers that may see them. */
export class Metrics {
  readonly #registry = new Registry();
  /** Families that name databases. */
  readonly #named = new Registry();
  readonly #databaseWrites = new DatabaseWrites(this.#named);
  readonly statements = new StatementMetrics(this.#registry);
  readonly store = new StoreMetrics(this.#registry);
  readonly grpc = new GrpcMetrics(this.#registry);
  readonly #routes = new Map<string, RouteCount>();
  /** The labels of the last request: the next one is usually of the same kind. */
  #lastRequest: RequestKind | undefined;
  readonly #requestSeconds = new Map<string, Buckets>();
  readonly #answerSizes = new Map<string, Buckets>();
  readonly #walSyncSeconds = new Buckets({}, LATENCY_BUCKETS_SECONDS);
  readonly #queryFirstByteSeconds = new Buckets({}, LATENCY_BUCKETS_SECONDS);
  readonly #querySeconds = new Buckets({}, LATENCY_BUCKETS_SECONDS);
  readonly #writes: Record<WriteOutcome, number> = { stored: 0, partial: 0, rejected: 0, failed: 0 };
  readonly #queries: Record<QueryOutcome, number> = { answered: 0, refused: 0, failed: 0, cancelled: 0 };
  readonly #cacheReadSeconds: Readonly<Record<CacheKind, Buckets>> = {
    last: new Buckets({}, LATENCY_BUCKETS_SECONDS),
    distinct: new Buckets({}, LATENCY_BUCKETS_SECONDS),
  };
  #lines = 0;
  #rejectedLines = 0;
  #writeBytes = 0;
  #walSyncedBytes = 0;
  #queriesRunning = 0;
  readonly #compactions: Record<"done" | "failed", number> = { done: 0, failed: 0 };
  readonly #compacted = { rowCount: 0, inputBytes: 0, outputBytes: 0, droppedBlocks: 0, milliseconds: 0 };
  #answerBytes = 0;
  #failedThreads = 0;
  readonly #ruledOut = { blocks: 0, pages: 0 };

  constructor(stats: () => ServerStats) {
    const histogram = (name: string, help: string, all: () => Iterable<Buckets>) => registerHistogram(this.#registry, { name, help }, all);
    histogram("http_request_duration_seconds", "Time from a request's head to its answer's head", () => this.#requestSeconds.values());
    histogram("http_response_body_size_bytes", "Bytes of answers' bodies, where they are known", () => this.#answerSizes.values());
    histogram("tsdb_wal_sync_duration_seconds", "Time of one write and sync of the log", () => [this.#walSyncSeconds]);
    histogram("tsdb_query_first_byte_seconds", "Time from a query's arrival to its first bytes", () => [this.#queryFirstByteSeconds]);
    histogram("tsdb_query_duration_seconds", "Time from a query's arrival to the end of its answer", () => [this.#querySeconds]);
    for (const kind of CACHE_KINDS) {
      const name = `tsdb_${kind}_values_cache_query_duration_seconds`;
      const help = `Time from the arrival of a query that reads a ${kind}-value cache to the end of its answer`;
      for (const each of namesOf(name)) histogram(each, help, () => [this.#cacheReadSeconds[kind]]);
    }
    this.#registerWrites();
    this.#registerCompactions();
    this.#registerRequests();
    this.#registerGauges(stats);
    this.#registerProcess();
  }

  /** Counts an answered request. `path` is the route's pattern, or "other". Returns what counts the bytes of its body, once they are
   *  known. */
  request(method: string, path: string, status: number, seconds: number): { observe(bytes: number): void } {
    const last = this.#lastRequest;
    const isAlike = last !== undefined && last.method === method && last.path === path && last.status === status;
    const { count } = isAlike ? last : this.#findRoute(method, path, status);
    count.requests++;
    count.seconds.observe(seconds);
    return count.sizes;
  }

  /** Counts a body of line protocol. */
  write(outcome: WriteOutcome, counts: WriteCounts): void {
    this.#writes[outcome]++;
    this.#lines += counts.rows;
    this.#rejectedLines += counts.rejected;
    this.#writeBytes += counts.bytes;
    if (counts.database !== undefined) this.#databaseWrites.add(counts.database, counts);
  }

  /** Counts a sync of the log. */
  walSynced(seconds: number, bytes: number): void {
    this.#walSyncSeconds.observe(seconds);
    this.#walSyncedBytes += bytes;
  }

  queryStarted(): void {
    this.#queriesRunning++;
  }

  /** The first bytes of an answer were sent. */
  queryAnswered(seconds: number): void {
    this.#queryFirstByteSeconds.observe(seconds);
  }

  /** The query has ended: read completely, refused, failed or abandoned. */
  queryEnded(outcome: QueryOutcome, { seconds, bytes }: { seconds: number; bytes: number }): void {
    this.#queriesRunning--;
    this.#queries[outcome]++;
    this.#querySeconds.observe(seconds);
    this.#answerBytes += bytes;
  }

  /** Counts a completed compaction job. */
  compacted(report: Readonly<Record<"rowCount" | "inputBytes" | "outputBytes" | "droppedBlocks" | "milliseconds", number>>): void {
    this.#compactions.done++;
    this.#compacted.rowCount += report.rowCount;
    this.#compacted.inputBytes += report.inputBytes;
    this.#compacted.outputBytes += report.outputBytes;
    this.#compacted.droppedBlocks += report.droppedBlocks;
    this.#compacted.milliseconds += report.milliseconds;
  }

  compactionFailed(): void {
    this.#compactions.failed++;
  }

  /** Registers the block caches, read at each scrape. */
  watchFileCache(read: () => FileCacheStats): void {
    this.#gauge("tsdb_file_cache_bytes", "Bytes of the cache of decoded data of files", () => read().bytes);
    this.#gauge("influxdb3_parquet_cache_size_number_of_files", "Data files that have something in it", () => read().files);
    const registers = [this.#registry];
    const labelNames = ["generation"] as const;
    const hits = { name: "tsdb_file_cache_hits_total", help: "Columns of pages and dictionaries that were found decoded" };
    const misses = { name: "tsdb_file_cache_misses_total", help: "Columns of pages and dictionaries that had to be read and decoded" };
    const families = [
      { ...hits, gen0: "gen0Hits", compacted: "compactedHits" },
      { ...misses, gen0: "gen0Misses", compacted: "compactedMisses" },
    ] as const;
    for (const { name, help, gen0, compacted } of families) {
      new Counter({
        name,
        help,
        labelNames,
        registers,
        collect() {
          this.reset();
          const stats = read();
          this.inc({ generation: "gen0" }, stats[gen0]);
          this.inc({ generation: "compacted" }, stats[compacted]);
        },
      });
    }
    new Counter({
      ...{ name: "influxdb3_parquet_cache_access_total", help: "Uses of the cache of decoded data of files", registers },
      labelNames: ["status"],
      collect() {
        this.reset();
        const { gen0Hits, gen0Misses, compactedHits, compactedMisses } = read();
        this.inc({ status: "cached" }, gen0Hits + compactedHits);
        this.inc({ status: "miss" }, gen0Misses + compactedMisses);
      },
    });
    this.#total("tsdb_file_read_bytes_total", "Bytes that statements have read from data files", () => read().bytesRead);
  }

  /** Registers the counts of stuck query workers, read at each scrape. */
  watchQueryWorkers(read: () => { readonly replacedCount: number; readonly stuckCount: number }): void {
    const replaced = "Query workers that were replaced, because they stuck or failed";
    this.#total("tsdb_query_workers_replaced_total", replaced, () => read().replacedCount);
    const failed = "Threads that failed or were stuck, and were replaced";
    this.#total("thread_panic_count_total", failed, () => read().replacedCount + this.#failedThreads);
    this.#gauge("tsdb_query_workers_stuck", "Query workers that were replaced and have not ended yet", () => read().stuckCount);
  }

  /** Counts a thread other than a query worker that has died and is replaced. */
  threadFailed(): void {
    this.#failedThreads++;
  }

  /** Registers who waits to run a statement, and the memory that statements may take. */
  watchStatements({ permits, memoryBytesMax }: { readonly permits: () => PermitCounts; readonly memoryBytesMax: number }): void {
    registerPermits(this.#registry, permits, this.statements.waits);
    const help = "Bytes that statements may take together";
    const pool = new Gauge({ name: "datafusion_mem_pool_bytes", help, labelNames: ["state"], registers: [this.#registry] });
    pool.set({ state: "limit" }, memoryBytesMax);
  }

  /** Counts the blocks and pages that file indexes excluded from an ended scan. */
  ruledOut({ blocksRuledOut, pagesRuledOut }: { readonly blocksRuledOut: number; readonly pagesRuledOut: number }): void {
    this.#ruledOut.blocks += blocksRuledOut;
    this.#ruledOut.pages += pagesRuledOut;
  }

  /** Registers the file indexes, read at each scrape. */
  watchFileIndexes(read: () => { readonly count: number; readonly bytes: number }): void {
    this.#gauge("tsdb_file_indexes", "Data files that have a file index", () => read().count);
    this.#gauge("tsdb_file_index_bytes", "Bytes of file indexes", () => read().bytes);
    this.#total(
      "tsdb_file_index_blocks_ruled_out_total",
      "Blocks that statements passed over by a file index",
      () => this.#ruledOut.blocks,
    );
    this.#total("tsdb_file_index_pages_ruled_out_total", "Pages of blocks that they passed over by one", () => this.#ruledOut.pages);
  }

  /** Counts a statement that read caches. */
  cacheRead(kind: CacheKind, seconds: number): void {
    this.#cacheReadSeconds[kind].observe(seconds);
  }

  /** Registers the last-value and distinct-value caches, read at each scrape. */
  watchCaches(read: () => CacheStats): void {
    const families = [
      ["tsdb_caches", "Last-value and distinct-value caches", (kind: CacheKind) => read().caches[kind]],
      ["tsdb_cache_bytes", "Bytes of their state", (kind: CacheKind) => read().totals[kind].bytes],
      ["tsdb_cache_keys", "Keys that they hold", (kind: CacheKind) => read().totals[kind].keys],
      ["tsdb_cache_rows", "Rows that they hold", (kind: CacheKind) => read().totals[kind].rows],
    ] as const;
    for (const [name, help, of] of families) {
      new Gauge({
        ...{ name, help, labelNames: ["kind"], registers: [this.#registry] },
        collect() {
          for (const kind of CACHE_KINDS) this.set({ kind }, of(kind));
        },
      });
    }
    this.#total("tsdb_cache_feeds_total", "Messages that brought caches up to date", () => read().feeds);
    this.#total("tsdb_cache_feed_seconds_total", "Time from such a message to its answer", () => read().feedSeconds);
  }

  /** All metrics as text. @param withDatabases also those that name databases */
  async render({ withDatabases }: { readonly withDatabases: boolean }): Promise<{ readonly contentType: string; readonly text: string }> {
    const texts = await Promise.all([this.#registry.metrics(), ...(withDatabases ? [this.#named.metrics()] : [])]);
    return { contentType: this.#registry.contentType, text: `${texts.join("")}# EOF\n` };
  }

  #findRoute(method: string, path: string, status: number): RequestKind {
    const known = METHODS.has(method) ? method : "other";
    const key = `${known} ${path} ${status}`;
    const count = this.#routes.get(key) ?? this.#addRoute(key, { method: known, path, status: String(status) });
    this.#lastRequest = { method, path, status, count };
    return this.#lastRequest;
  }

  #addRoute(key: string, labels: RouteCount["labels"]): RouteCount {
    const { method, path } = labels;
    const timed = `${method} ${path}`;
    const seconds = this.#requestSeconds.get(timed) ?? new Buckets({ method, path }, LATENCY_BUCKETS_SECONDS);
    this.#requestSeconds.set(timed, seconds);
    const sizes = this.#answerSizes.get(timed) ?? new Buckets({ method, path }, SIZE_BUCKETS);
    this.#answerSizes.set(timed, sizes);
    const count = { labels, seconds, sizes, requests: 0 };
    this.#routes.set(key, count);
    return count;
  }

  #registerWrites(): void {
    this.#total("tsdb_write_lines_total", "Lines stored", () => this.#lines);
    this.#total("tsdb_write_lines_rejected_total", "Lines rejected", () => this.#rejectedLines);
    this.#total("tsdb_write_bytes_total", "Bytes of line protocol taken, decompressed", () => this.#writeBytes);
    this.#total("tsdb_wal_synced_bytes_total", "Bytes made durable in the write-ahead log", () => this.#walSyncedBytes);
    this.#byOutcome("tsdb_writes_total", "Bodies taken, by what became of them", this.#writes);
    this.#total("tsdb_query_bytes_total", "Bytes of answers", () => this.#answerBytes);
    this.#byOutcome("tsdb_queries_total", "Queries, by what became of them", this.#queries);
  }

  #registerCompactions(): void {
    const done = this.#compacted;
    this.#byOutcome("tsdb_compactions_total", "Jobs of compaction, by what became of them", this.#compactions);
    this.#total("tsdb_compaction_rows_total", "Rows that compaction has written", () => done.rowCount);
    this.#total("tsdb_compaction_read_bytes_total", "Bytes of blocks that compaction has replaced", () => done.inputBytes);
    this.#total("tsdb_compaction_written_bytes_total", "Bytes of files that compaction has written", () => done.outputBytes);
    this.#total("tsdb_dropped_blocks_total", "Blocks past their retention or deleted, dropped unread", () => done.droppedBlocks);
    this.#total("tsdb_compaction_seconds_total", "Time that jobs of compaction have taken", () => done.milliseconds / 1000);
  }

  #registerRequests(): void {
    const total = { name: "http_requests_total", help: "Requests answered", labelNames: ["method", "path", "status"] };
    registerCounter(this.#registry, total, () => [...this.#routes.values()].map(({ labels, requests }) => [labels, requests]));
  }

  #registerGauges(stats: () => ServerStats): void {
    for (const [name, help, key] of GAUGES) this.#gauge(name, help, () => stats()[key]);
    this.#total("tsdb_series_evictions_total", "Tables whose series had to leave memory", () => stats().seriesEvictions);
    this.#total("tsdb_catalog_operations_total", "Operations of the catalog's log", () => stats().catalogOperations);
    // dashboards compare it with the one above
    this.#total("influxdb3_catalog_operation_retries_total", "Operations of the catalog tried again: none, it has one writer", () => 0);
    this.#gauge("tsdb_queries_running", "Queries that are not over", () => this.#queriesRunning);
  }

  #registerProcess(): void {
    const startedAt = Math.floor(Date.now() / 1000 - process.uptime());
    this.#gauge("process_start_time_seconds", "Start of the process since 1970", () => startedAt);
    this.#gauge("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage.rss());
    this.#total("process_cpu_seconds_total", "Processor time, user and system", () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    });
  }

  /** Registers a gauge under each of its names. */
  #gauge(name: string, help: string, read: () => number): void {
    for (const each of namesOf(name)) {
      new Gauge({
        ...{ name: each, help, registers: [this.#registry] },
        collect() {
          this.set(read());
        },
      });
    }
  }

  /** Registers a counter that hot code keeps as a plain number, under each of its names. */
  #total(name: string, help: string, read: () => number): void {
    for (const each of namesOf(name)) registerCounter(this.#registry, { name: each, help }, () => [[{}, read()]]);
  }

  #byOutcome(name: string, help: string, counts: Readonly<Record<string, number>>): void {
    const family = { name, help, labelNames: ["outcome"] };
    registerCounter(this.#registry, family, () => Object.entries(counts).map(([outcome, count]) => [{ outcome }, count]));
  }
}

function namesOf(name: string): readonly string[] {
  const alias = (METRIC_ALIASES as Readonly<Record<string, string>>)[name];
  return alias === undefined ? [name] : [name, alias];
}
