// What is counted on port 8086 under the names that dashboards of the vendor's server know, in the text format that scrapers read.
import Gauge from "prom-client/lib/gauge.js";
import Registry from "prom-client/lib/registry.js";
import { Buckets, registerHistogram, registerSummary } from "./plain-histogram.ts";
import { registerCounter } from "./scraped-counter.ts";

const TOTALS = [
  ...["buckets", "dashboards", "organizations", "users", "tokens", "scrapers", "tasks", "telegrafs", "remotes", "replications"],
] as const;

/** Numbers of resources. */
export type V2Totals = Readonly<Record<(typeof TOTALS)[number], number>>;

/** Of tasks. */
export interface RunCounts {
  readonly active: number;
  readonly ended: Readonly<Record<"success" | "failed" | "canceled", number>>;
  /** Between the time at which a run was due and its start, of all runs together. */
  readonly lagSeconds: number;
  readonly runSeconds: number;
  readonly busyShare: number;
  readonly scheduledCount: number;
  readonly releasedCount: number;
}

/** A body of lines. */
export interface WrittenBody {
  readonly rows: number;
  readonly rejected: number;
  /** Decompressed. */
  readonly bytes: number;
}

/** Of one replication since the start. */
export interface ReplicationNumbers {
  readonly id: string;
  readonly queuedBytesNow: number;
  readonly pointsQueued: number;
  readonly bytesQueued: number;
  readonly bytesSent: number;
  readonly pointsDropped: number;
  readonly bytesDropped: number;
  readonly pointsFailedToQueue: number;
  readonly bytesFailedToQueue: number;
  /** By status; "0": no answer. */
  readonly errors: ReadonlyMap<string, number>;
}

export interface V2MetricsOptions {
  readonly version: string;
  readonly commit: string;
  readonly cpus: number;
  /** Milliseconds since the server started. */
  readonly upMs: () => number;
  /** Null before the log is replayed. */
  readonly totals: () => V2Totals | null;
  /** Statements on the records. */
  readonly metadata: () => { readonly reads: number; readonly writes: number };
  /** Null before tasks may run. */
  readonly runs: () => RunCounts | null;
  readonly replications: () => readonly ReplicationNumbers[];
}

export interface CountedRequest {
  readonly method: string;
  /** The route's pattern; undefined: no route. */
  readonly route: string | undefined;
  readonly status: number;
  readonly seconds: number;
  /** The header User-Agent. */
  readonly agent: string | null;
}

export type QueryResult = "success" | "compile_error" | "runtime_error" | "queue_error";

const BOUNDS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const QUERY_BOUNDS_SECONDS = [1e-3, 5e-3, 25e-3, 125e-3, 625e-3, 3.125, 15.625];
/** Clients choose their names. */
const AGENTS_MAX = 50;
const REPLICATIONS = [
  ["replications_queue_total_points_queued", "Points put into the queue", "pointsQueued"],
  ["replications_queue_total_bytes_queued", "Bytes put into the queue, compressed", "bytesQueued"],
  ["replications_queue_remote_write_bytes_sent", "Bytes that the remote has taken, compressed", "bytesSent"],
  ["replications_queue_remote_write_bytes_dropped", "Bytes given up: too old, or refused by the remote", "bytesDropped"],
  ["replications_queue_remote_write_points_dropped", "Points given up: too old, or refused by the remote", "pointsDropped"],
  ["replications_queue_points_failed_to_queue", "Points for which the queue had no room", "pointsFailedToQueue"],
  ["replications_queue_bytes_failed_to_queue", "Bytes for which the queue had no room", "bytesFailedToQueue"],
] as const;
/** The mark at the end of a text. */
const END = "# EOF\n";
const HELP = "# HELP ";
const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]);
type LastRequest = Omit<CountedRequest, "seconds"> & { readonly series: Series };

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly latencies: Buckets;
}

/** Counts on behalf of one listener, and prints all families. */
export class V2Metrics {
  private readonly registry = new Registry();
  /** By method, route, status and client. */
  private readonly series = new Map<string, Series>();
  private last: LastRequest | undefined;
  private readonly agents = new Set<string>();
  private readonly results: Record<QueryResult, number> = { success: 0, compile_error: 0, runtime_error: 0, queue_error: 0 };
  private readonly queryTimes = new Buckets({}, QUERY_BOUNDS_SECONDS);
  private readonly written = { bodies: 0, failed: 0, bytes: 0, rows: 0, rejected: 0, failedRows: 0 };
  private answerBytes = 0;
  private queriesActive = 0;

  constructor(private readonly options: V2MetricsOptions) {
    this.describeServer();
    const all = () => this.series.values();
    this.counter(
      "http_api_requests_total",
      "Requests answered",
      ["handler", "method", "path", "status", "response_code", "user_agent"],
      () => [...all()].map(({ labels, latencies }) => [labels, countOf(latencies)]),
    );
    const family = { name: "http_api_request_duration_seconds", help: "Time until the head of an answer" };
    registerHistogram(this.registry, family, () => [...all()].map(({ latencies }) => latencies));
    for (const kind of ["write", "query"] as const) {
      const endpoints = [`/${kind}`, `/api/v2/${kind}`];
      this.counter(`http_${kind}_request_count`, `Requests of endpoints that ${kind}`, ["endpoint", "status"], () =>
        [...all()].flatMap(({ labels, latencies }) => {
          const { path, response_code: status } = labels as { path: string; response_code: string };
          return endpoints.includes(path) ? [[{ endpoint: path, status }, countOf(latencies)]] : [];
        }),
      );
    }
    this.total("http_write_request_bytes", "Bytes of lines, decompressed", () => this.written.bytes);
    this.total("http_write_response_bytes", "Bytes of answers to lines, without errors", () => 0);
    this.total("http_query_response_bytes", "Bytes of answers, before they are compressed", () => this.answerBytes);
    this.describeStorage();
    this.counter("qc_requests_total", "Queries, by what became of them", ["result"], () =>
      Object.entries(this.results).map(([result, count]) => [{ result }, count]),
    );
    this.gauge("qc_all_active", "Queries that are not over", () => this.queriesActive);
    const runs = () => this.options.runs();
    this.gauge("task_executor_total_runs_active", "Runs of tasks on their way", () => runs()?.active ?? 0);
    this.counter("task_executor_total_runs_complete", "Runs of tasks that have ended", ["status"], () =>
      Object.entries(runs()?.ended ?? {}).map(([status, count]) => [{ status }, count]),
    );
    this.total("task_executor_run_latency_seconds_total", "Time by which runs started late, of all runs", () => runs()?.lagSeconds ?? 0);
    this.total("task_executor_run_duration_seconds_total", "Time of all runs that have ended", () => runs()?.runSeconds ?? 0);
    this.describeScheduler();
    for (const [name, help, member] of REPLICATIONS) {
      this.counter(name, help, ["replicationID"], () =>
        this.options.replications().map((each) => [{ replicationID: each.id }, each[member]]),
      );
    }
    const replications = () => this.options.replications();
    new Gauge({
      ...{ name: "replications_queue_current_bytes_queued", help: "Bytes of the queue on disk", labelNames: ["replicationID"] },
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { id, queuedBytesNow } of replications()) this.set({ replicationID: id }, queuedBytesNow);
      },
    });
    this.counter("replications_queue_remote_write_errors", "Requests that the remote did not take", ["replicationID", "code"], () =>
      this.options
        .replications()
        .flatMap(({ id, errors }) => [...errors].map(([code, count]) => [{ replicationID: id, code }, count] as const)),
    );
    registerHistogram(this.registry, { name: "qc_all_duration_seconds", help: "Time of queries to their last byte" }, () => [
      this.queryTimes,
    ]);
  }

  render(): Promise<string> {
    return this.registry.metrics();
  }

  request(request: CountedRequest): void {
    const { method, route, status, agent } = request;
    const { last } = this;
    // clients send one kind of request again and again
    const isLast = last?.method === method && last.route === route && last.status === status && last.agent === agent;
    const series = isLast ? last.series : this.seriesOf(request);
    if (!isLast) this.last = { method, route, status, agent, series };
    series.latencies.observe(request.seconds);
  }

  private seriesOf({ method: asked, route = "other", status, agent }: CountedRequest): Series {
    const name = this.agentOf(agent);
    const method = METHODS.has(asked) ? asked : "other";
    const key = `${method} ${route} ${status} ${name}`;
    return this.series.get(key) ?? this.newSeries(key, { method, route, status, name });
  }

  private newSeries(key: string, { method, route, status, name }: { method: string; route: string; status: number; name: string }): Series {
    const labels = {
      ...{ handler: "platform", method, path: route.replaceAll(/:\w+/g, ":id") },
      ...{ status: `${Math.floor(status / 100)}XX`, response_code: String(status), user_agent: name },
    };
    const made = { labels, latencies: new Buckets(labels, BOUNDS_SECONDS) };
    this.series.set(key, made);
    return made;
  }

  /** What became of a body of lines. */
  wrote(outcome: "stored" | "rejected" | "partial" | "failed", { rows, rejected, bytes }: WrittenBody): void {
    const { written } = this;
    const isWhole = outcome === "rejected" || outcome === "failed";
    written.bodies += 1;
    written.bytes += bytes;
    written.rows += rows;
    if (isWhole) written.failed += 1;
    if (isWhole) written.failedRows += rejected;
    else written.rejected += rejected;
  }

  /** A query begins; the result is called once, when it is over. */
  queryBegins(): (result: QueryResult, bytes: number, seconds: number) => void {
    this.queriesActive += 1;
    return (result, bytes, seconds) => {
      this.queriesActive -= 1;
      this.results[result] += 1;
      this.answerBytes += bytes;
      this.queryTimes.observe(seconds);
    };
  }

  /** The name of a program, without its version. */
  private agentOf(agent: string | null): string {
    const name = /^[\w.-]{1,40}/.exec(agent ?? "")?.[0] ?? "unknown";
    if (this.agents.has(name)) return name;
    if (this.agents.size >= AGENTS_MAX) return "other";
    this.agents.add(name);
    return name;
  }

  private describeServer(): void {
    const { version, commit, cpus, upMs, totals } = this.options;
    const info = { version, commit, arch: process.arch === "x64" ? "amd64" : process.arch, os: process.platform, cpus: String(cpus) };
    new Gauge({ name: "influxdb_info", help: "The server", labelNames: Object.keys(info), registers: [this.registry] }).set(info, 1);
    this.gauge("influxdb_uptime_seconds", "Time since the server started", () => upMs() / 1000);
    for (const name of TOTALS) {
      this.total(`influxdb_${name}_total`, `Number of ${name}`, () => totals()?.[name] ?? 0);
    }
  }

  /** Under the names that the vendor's dashboards have for its files of records and of rows. */
  private describeStorage(): void {
    const { written } = this;
    this.total("boltdb_reads_total", "Statements that read records", () => this.options.metadata().reads);
    this.total("boltdb_writes_total", "Statements that changed records", () => this.options.metadata().writes);
    this.total("storage_shard_write_count", "Bodies of lines", () => written.bodies);
    this.total("storage_shard_write_sum", "Lines stored", () => written.rows);
    this.total("storage_shard_write_dropped_sum", "Lines refused beside others that were stored", () => written.rejected);
    this.total("storage_shard_write_err_count", "Bodies of which nothing was stored", () => written.failed);
    this.total("storage_shard_write_err_sum", "Lines refused with their whole body", () => written.failedRows);
  }

  private describeScheduler(): void {
    const { runs } = this.options;
    const ended = () => Object.values(runs()?.ended ?? {}).reduce((sum, count) => sum + count, 0);
    const started = () => ended() + (runs()?.active ?? 0);
    this.gauge("task_executor_workers_busy", "Share of the places for runs that are taken", () => Math.min(1, runs()?.busyShare ?? 0));
    this.gauge("task_executor_promise_queue_usage", "Share of a queue of runs that is taken: there is none", () => 0);
    this.gauge("task_scheduler_current_execution", "Runs on their way", () => runs()?.active ?? 0);
    this.total("task_scheduler_total_schedule_calls", "Tasks scheduled, or again", () => runs()?.scheduledCount ?? 0);
    this.total("task_scheduler_total_schedule_fails", "Tasks that could not be scheduled: none", () => 0);
    this.total("task_scheduler_total_release_calls", "Tasks that are scheduled no longer", () => runs()?.releasedCount ?? 0);
    this.total("task_scheduler_total_execution_calls", "Runs started", started);
    this.total("task_scheduler_total_execute_failure", "Runs that failed", () => runs()?.ended.failed ?? 0);
    const summary = (name: string, help: string, read: () => { readonly sum: number; readonly count: number }) =>
      registerSummary(this.registry, { name, help }, read);
    summary("task_scheduler_schedule_delay", "Seconds by which runs started late", () => ({
      sum: runs()?.lagSeconds ?? 0,
      count: started(),
    }));
    summary("task_scheduler_execute_delta", "Seconds that runs took", () => ({ sum: runs()?.runSeconds ?? 0, count: ended() }));
  }

  private total(name: string, help: string, read: () => number): void {
    this.counter(name, help, [], () => [[{}, read()]]);
  }

  private gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      ...{ name, help, registers: [this.registry] },
      collect() {
        this.set(read());
      },
    });
  }

  private counter(
    name: string,
    help: string,
    labelNames: string[],
    read: () => Iterable<readonly [Readonly<Record<string, string>>, number]>,
  ): void {
    registerCounter(this.registry, { name, help, labelNames }, read);
  }
}

function countOf({ counts }: Buckets): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Families of several texts in the order of their names, as the vendor's server has them; the mark at the end stays there. */
export function sortedFamilies(...texts: readonly string[]): string {
  const text = texts.join("");
  const end = text.endsWith(END) ? END : "";
  const families = text.slice(0, text.length - end.length).split(/^(?=# HELP )/m);
  const nameOf = (family: string) => family.slice(HELP.length, family.indexOf(" ", HELP.length));
  return families.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)).join("") + end;
}
