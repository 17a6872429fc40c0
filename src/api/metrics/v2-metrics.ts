// What is counted on port 8086 under the names that dashboards of the vendor's server know, in the text format that scrapers read.
import Counter from "prom-client/lib/counter.js";
import Gauge from "prom-client/lib/gauge.js";
import Registry from "prom-client/lib/registry.js";
import { Buckets, registerHistogram } from "./plain-histogram.ts";

/** Numbers of resources. */
export type V2Totals = Readonly<Record<"buckets" | "organizations" | "users" | "tokens" | "scrapers" | "tasks" | "replications", number>>;

/** Of tasks. */
export interface RunCounts {
  readonly active: number;
  readonly ended: Readonly<Record<"success" | "failed" | "canceled", number>>;
  /** Between the time at which a run was due and its start, of all runs together. */
  readonly lagSeconds: number;
  readonly runSeconds: number;
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
const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]);
const TOTALS = ["buckets", "organizations", "users", "tokens", "scrapers", "tasks", "replications"] as const;

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly latencies: Buckets;
}

/** Counts on behalf of one listener, and prints all families. */
export class V2Metrics {
  private readonly registry = new Registry();
  /** By method, route, status and client. */
  private readonly series = new Map<string, Series>();
  private readonly agents = new Set<string>();
  private readonly results: Record<QueryResult, number> = { success: 0, compile_error: 0, runtime_error: 0, queue_error: 0 };
  private readonly queryTimes = new Buckets({}, QUERY_BOUNDS_SECONDS);
  private writtenBytes = 0;
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
    this.counter("http_write_request_bytes", "Bytes of lines, decompressed", [], () => [[{}, this.writtenBytes]]);
    this.counter("http_query_response_bytes", "Bytes of answers, before they are compressed", [], () => [[{}, this.answerBytes]]);
    this.counter("qc_requests_total", "Queries, by what became of them", ["result"], () =>
      Object.entries(this.results).map(([result, count]) => [{ result }, count]),
    );
    this.gauge("qc_all_active", "Queries that are not over", () => this.queriesActive);
    const runs = () => this.options.runs();
    this.gauge("task_executor_total_runs_active", "Runs of tasks on their way", () => runs()?.active ?? 0);
    this.counter("task_executor_total_runs_complete", "Runs of tasks that have ended", ["status"], () =>
      Object.entries(runs()?.ended ?? {}).map(([status, count]) => [{ status }, count]),
    );
    this.counter("task_executor_run_latency_seconds_total", "Time by which runs started late, of all runs", [], () => [
      [{}, runs()?.lagSeconds ?? 0],
    ]);
    this.counter("task_executor_run_duration_seconds_total", "Time of all runs that have ended", [], () => [[{}, runs()?.runSeconds ?? 0]]);
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

  request({ method: asked, route = "other", status, seconds, agent }: CountedRequest): void {
    const name = this.agentOf(agent);
    const method = METHODS.has(asked) ? asked : "other";
    const key = `${method} ${route} ${status} ${name}`;
    const found = this.series.get(key) ?? this.newSeries(key, { method, route, status, name });
    found.latencies.observe(seconds);
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

  /** Lines of a body were taken. */
  wrote(bytes: number): void {
    this.writtenBytes += bytes;
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
      this.counter(`influxdb_${name}_total`, `Number of ${name}`, [], () => [[{}, totals()?.[name] ?? 0]]);
    }
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
    new Counter({
      ...{ name, help, labelNames, registers: [this.registry] },
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.inc(labels, value);
      },
    });
  }
}

function countOf({ counts }: Buckets): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
