// The v2 line without sockets, threads and rows: the catalog in memory, its services and the HTTP app. For what needs no rows.
import type { App } from "../../../src/api/app.ts";
import { sortedFamilies, V2Metrics } from "../../../src/api/metrics/v2-metrics.ts";
import { V2_VERSION } from "../../../src/api/shared/aliases.ts";
import { createV2App } from "../../../src/api/v2/app/app.ts";
import { type RequestLimitOptions, RequestLimits } from "../../../src/api/v2/app/request-limits.ts";
import type { V2Options } from "../../../src/api/v2/app/services.ts";
import { parseServeFlags } from "../../../src/cli/serve-config.ts";
import type { HashCost } from "../../../src/metadata/access/passwords.ts";
import { SecretBox } from "../../../src/metadata/access/secret-box.ts";
import type { SessionLimits } from "../../../src/metadata/access/sessions.ts";
import { V2Line } from "../../../src/metadata/line.ts";
import { type BucketLimits, NO_BUCKET_LIMITS } from "../../../src/metadata/resources/buckets.ts";
import { TsdbError } from "../../../src/model/errors.ts";
import type { IncomingBody, WriteResult } from "../../../src/model/write.ts";
import { MemoryObjectStore } from "../../../src/object-store/memory-object-store.ts";
import { shownV2Config } from "../../../src/server/shown-v2-config.ts";
import { Catalog } from "../../../src/storage/catalog/catalog.ts";
import { TaskScheduler } from "../../../src/tasks/scheduler.ts";
import { SYSTEM_CLOCK } from "../../../src/triggers/clock.ts";
import type { PlayedServer } from "./replay.ts";
import { NO_ROWS } from "./scope.ts";

export interface LightServer extends PlayedServer {
  readonly app: App;
  readonly line: V2Line;
  readonly catalog: Catalog;
  /** What was reported as a fault of the server's. */
  readonly reports: { readonly error: unknown; readonly where: string }[];
}

export interface LightOptions {
  readonly requestLimits?: Partial<RequestLimitOptions>;
  readonly bucketLimits?: Partial<BucketLimits>;
  readonly recordBytesMax?: number;
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs?: () => number;
  readonly options?: Partial<V2Options>;
  readonly sessions?: Partial<SessionLimits>;
  readonly keepsHashesOnly?: boolean;
  readonly store?: MemoryObjectStore;
  readonly box?: SecretBox;
  /** Default: as little as there is. */
  readonly hashCost?: HashCost;
  /** Milliseconds since 1970. */
  readonly clockMs?: () => number;
}

const MINUTE_MS = 60_000;
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8; escaping=values";

/** Starts the application of port 8086 in this process, to replay conversations against. */
export async function lightServer(given: LightOptions = {}): Promise<LightServer> {
  // no two changes at the same time, as with a clock of nanoseconds
  let lastMs = 0;
  const clockMs = given.clockMs ?? (() => (lastMs = Math.max(lastMs + 1, Date.now())));
  const catalog = await Catalog.open(given.store ?? new MemoryObjectStore(), { prefix: "node0/catalog" });
  const line = new V2Line(catalog, {
    nowMs: clockMs,
    sessions: { lengthMs: 60 * MINUTE_MS, renewMs: 5 * MINUTE_MS, ...given.sessions },
    box: given.box ?? SecretBox.random(),
    bucketLimits: { ...NO_BUCKET_LIMITS, ...given.bucketLimits },
    ...(given.recordBytesMax === undefined ? {} : { recordBytesMax: given.recordBytesMax }),
    keepsHashesOnly: given.keepsHashesOnly ?? false,
    hashCost: given.hashCost ?? { memoryCost: 8, timeCost: 1 },
    onDropped: () => {},
  });
  const reports: LightServer["reports"] = [];
  const query = { query: () => Promise.reject(new TsdbError("unavailable", NO_ROWS)) };
  const write = { receive: () => new ForgottenBody() };
  const taskRuns = new TaskScheduler({
    ...{ tasks: line.tasks, buckets: line.buckets, writes: write, queries: query, clock: SYSTEM_CLOCK, isOn: false },
    principalOf: (userID) => line.authentication.ofUser(userID),
    runScript: query.query,
    prepareScript: query.query,
    ...{ rehearses: false, isBusy: () => false, rehearsed: () => {} },
    report: () => {},
    warn: () => {},
  });
  const metrics = new V2Metrics({
    ...{ version: V2_VERSION, commit: "abcdef0", cpus: 2, upMs: () => 0, totals: () => null, runs: () => null, replications: () => [] },
    metadata: () => line.metadata.view.statements,
  });
  const app = createV2App({
    line: () => line,
    limits: new RequestLimits(
      { concurrentMax: null, perMinuteMax: null, ...given.requestLimits },
      given.nowMs ?? (() => performance.now()),
    ),
    backup: () => {
      throw new TsdbError("not_implemented", "this server has no rows");
    },
    taskRuns: () => taskRuns,
    replicating: () => ({
      state: () => ({ queueBytes: 8, remainingBytes: 0 }),
      sequence: () => 0,
      validate: () => Promise.reject(new TsdbError("unavailable", NO_ROWS)),
    }),
    write,
    written: () => {},
    query,
    rows: () => {
      throw new TsdbError("unavailable", NO_ROWS);
    },
    metrics: { queryStarted: () => {}, queryAnswered: () => {}, queryEnded: () => {} },
    status: () => ({ state: "ready" }),
    startedMs: clockMs(),
    clockMs,
    now: given.nowMs ?? (() => performance.now()),
    report: (error, where) => reports.push({ error, where }),
    revision: "abcdef0",
    renderMetrics: async () => ({ text: sortedFamilies(await metrics.render()), contentType: METRICS_TYPE }),
    traced: () => {},
    counted: () => {},
    options: {
      strongPasswords: false,
      // as the recorded server has it
      defaultRetentionSeconds: 0,
      metricsDisabled: false,
      retentionSecondsMax: given.bucketLimits?.retentionSecondsMax ?? null,
      pprofDisabled: false,
      commandLine: ["tsdb", "serve"],
      fluxAllowsPrivateNetwork: false,
      sourcesAllowPrivateNetwork: true,
      templateUrls: false,
      fluxSqliteFolder: null,
      maxRequestBytes: 1 << 20,
      shownConfig: shownV2Config(parseServeFlags([], {})),
      transportSecuritySeconds: null,
      isSecure: false,
      sessionLengthSeconds: 3600,
      ...given.options,
    },
  });
  return {
    app,
    base: "http://localhost:8086",
    send: async (request) => app.handle(request),
    stop: () => catalog.close(),
    line,
    catalog,
    reports,
  };
}

/** A server with the recorded server's flags. */
export function lightServerOf(flags: readonly string[] = []): Promise<LightServer> {
  const has = (flag: string) => flags.includes(flag);
  return lightServer({
    keepsHashesOnly: has("--use-hashed-tokens"),
    options: {
      strongPasswords: has("--strong-passwords"),
      metricsDisabled: has("--metrics-disabled"),
      pprofDisabled: has("--pprof-disabled"),
      // as the recorded server reads templates
      ...{ templateUrls: true, fluxAllowsPrivateNetwork: !has("--hardening-enabled") },
    },
  });
}

/** Takes any lines and stores nothing. */
class ForgottenBody implements IncomingBody {
  byteCount = 0;
  readonly memoryBytes = 0;

  append(bytes: Uint8Array): void {
    this.byteCount += bytes.byteLength;
  }

  async write(): Promise<WriteResult> {
    return { rowCount: 1, rejectedCount: 0, lineErrors: [], schemaLimit: false, empty: this.byteCount === 0 };
  }

  release(): void {}
}
