// Phases and times of statements, for scrapers: the families that the vendor's server makes of its query log.
import Gauge from "prom-client/lib/gauge.js";
import type Registry from "prom-client/lib/registry.js";
import { TsdbError } from "../../model/errors.ts";
import type { QueryTelemetry } from "../../model/telemetry/query-telemetry.ts";
import { Buckets, registerHistogram } from "./plain-histogram.ts";
import { registerCounter } from "./scraped-counter.ts";

const PREFIX = "influxdb_iox_query_log";
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const FILES = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const ROWS = [0, 1, 10, 100, 1000, 10_000, 100_000, 1e6, 1e7, 1e8];
const NS_PER_SECOND = 1e9;

const PHASES = ["received", "permit", "planned", "success", "fail", "cancel"] as const;
type Phase = (typeof PHASES)[number];
/** Phases of statements that have not ended. */
const RUNNING: readonly Phase[] = ["received", "permit", "planned"];

/** Nanoseconds; null: not reached. */
export interface StatementTimes {
  readonly permitNs: bigint | null;
  readonly planNs: bigint | null;
  readonly executeNs: bigint | null;
  readonly end2endNs: bigint | null;
  readonly fileCount: bigint | null;
}

/** What no statement of this server does: it has no ingesters to ask. Dashboards show a zero rather than a gap. */
const INGESTERS = [
  ["ingester_latency_to_full_data_seconds", "Time until ingesters had answered in full: there are none"],
  ["ingester_latency_to_plan_seconds", "Time until ingesters had planned: there are none"],
  ["ingester_partition_count", "Partitions of ingesters: there are none"],
  ["ingester_response_rows", "Rows of ingesters: there are none"],
  ["ingester_response_size", "Bytes of ingesters: there are none"],
] as const;

const TIMES = [
  ["permit", "Wait for a permit to run", "permitNs"],
  ["plan", "Planning", "planNs"],
  ["execute", "From the permit to the end, without planning", "executeNs"],
  ["end2end", "From the statement's arrival to its end", "end2endNs"],
] as const;

/** How errors begin that the limit of memory makes. */
const EXHAUSTED = "Resources exhausted";
const NEVER = new Buckets({}, []);

/** Told by the query log what becomes of statements. */
export class StatementMetrics {
  private readonly times = new Map(TIMES.map(([name]) => [name, new Buckets({}, SECONDS)]));
  private readonly compute = new Buckets({}, SECONDS);
  private readonly files = new Buckets({}, FILES);
  private readonly rows = new Buckets({}, ROWS);
  private exhausted = 0;
  private readonly entered: Record<Phase, number> = { received: 0, permit: 0, planned: 0, success: 0, fail: 0, cancel: 0 };
  private readonly current: Record<Phase, number> = { received: 0, permit: 0, planned: 0, success: 0, fail: 0, cancel: 0 };

  constructor(registry: Registry) {
    for (const [name, help] of TIMES) {
      registerHistogram(registry, { name: `${PREFIX}_${name}_duration_seconds`, help }, () => [this.times.get(name)!]);
    }
    const work = "Time in which the statement's worker computed";
    registerHistogram(registry, { name: `${PREFIX}_compute_duration_seconds`, help: work }, () => [this.compute]);
    registerHistogram(registry, { name: `${PREFIX}_parquet_files`, help: "Data files that a statement read" }, () => [this.files]);
    registerHistogram(registry, { name: `${PREFIX}_num_rows`, help: "Rows that its scans gave to a statement" }, () => [this.rows]);
    for (const [name, help] of INGESTERS) registerHistogram(registry, { name: `${PREFIX}_${name}`, help }, () => [NEVER]);
    this.registerPhases(registry);
    const ooms = { name: "query_datafusion_query_execution_ooms_total", help: "Statements ended by the limit of memory" };
    registerCounter(registry, ooms, () => [[{}, this.exhausted]]);
  }

  /** Waits for permits. */
  get waits(): Buckets {
    return this.times.get("permit")!;
  }

  private registerPhases(registry: Registry): void {
    const { entered, current } = this;
    const labelNames = ["phase"];
    const registers = [registry];
    const phases = { name: `${PREFIX}_phase_entered_total`, help: "Statements that have entered a phase", labelNames };
    registerCounter(registry, phases, () => PHASES.map((phase) => [{ phase }, entered[phase]]));
    new Gauge({
      ...{ name: `${PREFIX}_phase_current`, help: "Statements that are in a phase", labelNames, registers },
      collect() {
        for (const phase of RUNNING) this.set({ phase }, current[phase]);
      },
    });
  }

  /** @param from null: it has just arrived */
  moved(from: Phase | null, to: Phase): void {
    this.entered[to]++;
    if (from !== null) this.current[from]--;
    if (RUNNING.includes(to)) this.current[to]++;
  }

  /** @param error why the answer is incomplete */
  ended(statement: StatementTimes, error?: unknown): void {
    if (error instanceof TsdbError && error.kind === "query_limit" && error.message.startsWith(EXHAUSTED)) this.exhausted++;
    for (const [name, , key] of TIMES) {
      const nanoseconds = statement[key];
      if (nanoseconds !== null) this.times.get(name)!.observe(Number(nanoseconds) / NS_PER_SECOND);
    }
    if (statement.fileCount !== null) this.files.observe(Number(statement.fileCount));
  }

  /** What its scans have read. */
  scanned({ chunks }: Pick<QueryTelemetry, "chunks">): void {
    this.rows.observe(chunks.reduce((sum, { rowsReturned }) => sum + rowsReturned, 0));
  }

  /** What the worker says about its own time, perhaps after the end. */
  computed(nanoseconds: bigint): void {
    this.compute.observe(Number(nanoseconds) / NS_PER_SECOND);
  }
}
