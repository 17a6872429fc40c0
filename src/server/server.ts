// The life cycle of a server: opening → replaying → serving → stopping, or failed. The parts of each state are one object, created on
// entering it, and `stop` takes them apart in an order in which nothing acknowledged is lost.
import { Metrics } from "../api/metrics/metrics.ts";
import type { ServerStatus } from "../api/services.ts";
import type { TokenService } from "../auth/token-service.ts";
import type { ServeConfig } from "../cli/serve-config.ts";
import { assert } from "../model/assert.ts";
import { TsdbError } from "../model/errors.ts";
import type { NodeService } from "../model/nodes.ts";
import type { DataService } from "../model/rows/deletion.ts";
import type { QueryTelemetry } from "../model/telemetry/query-telemetry.ts";
import type { SpawnedWorker } from "../workers/query/spawn.ts";
import { Foundation, type Logs } from "./foundation.ts";
import { type Listening, listen } from "./listening.ts";
import { replayLog } from "./replay-log.ts";
import { prepareServing, Serving } from "./serving.ts";
import { upgradeFolder } from "./upgrade-folder.ts";

/** The parts of each state. `serving`: null if the previous state was replaying. */
type Life =
  | { readonly state: "opening" }
  | { readonly state: "replaying"; readonly listening: Listening; readonly serving: null; readonly progress: string }
  | { readonly state: "serving"; readonly listening: Listening; readonly serving: Serving }
  | { readonly state: "stopping"; readonly listening: Listening; readonly serving: Serving | null }
  | { readonly state: "failed"; readonly listening: Listening; readonly serving: Serving | null; readonly reason: string };

type OpenLife = Exclude<Life, { readonly state: "opening" }>;

/** One running server, created by `start`; after `stop` has resolved its data folder can be opened again. */
export class Server {
  /** Resolves when the server cannot continue: the process must end. */
  readonly failed: Promise<Error>;
  private readonly reportFailure: (error: Error) => void;
  private life: Life = { state: "opening" };

  private constructor(private readonly logs: Logs) {
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failed = promise;
    this.reportFailure = resolve;
  }

  /** Opens the data folder and listens; `ready` resolves when the log is replayed and writes and queries are accepted. @throws TsdbError
   *  config, io, corrupt_file; then nothing is left open. `ready` rejects with the same kinds */
  static async start(
    config: ServeConfig,
    logs: Logs,
    firstWorker: SpawnedWorker | undefined,
  ): Promise<{ server: Server; ready: Promise<void> }> {
    const server = new Server(logs);
    const metrics = new Metrics(() => server.open.listening.foundation.stats(server.serving?.wal ?? null));
    const foundation = await Foundation.open(config, logs, metrics, {
      onSpace: () => server.serving?.backgroundJobs.spaceChanged(),
      onFailure: (error) => server.fail(error),
    });
    try {
      const view = { status: () => server.status(), serving: () => server.running() };
      const listening = listen(foundation, view, firstWorker);
      server.life = { state: "replaying", listening, serving: null, progress: "starting" };
      return { server, ready: server.replay(listening) };
    } catch (error) {
      foundation.storage.release();
      throw error;
    }
  }

  /** Telemetry of the most recently completed statement. */
  get telemetry(): QueryTelemetry | undefined {
    return this.open.listening.queries.lastTelemetry;
  }

  /** `http://127.0.0.1:8181`, without a trailing slash. */
  get url(): string {
    return this.open.listening.http.url;
  }

  /** Of the bucket-based API; null when it is off. */
  get v2Url(): string | null {
    return this.open.listening.v2?.url ?? null;
  }

  /** Nobody has set the bucket-based API up. */
  get wantsSetup(): boolean {
    return this.v2Url !== null && this.running().v2Line().onboarding.isAllowed;
  }

  /** URL of Arrow Flight, which answers HTTP as well; null if it is off. Call it when the server is ready. @throws TsdbError config if a
   *  requested address cannot be bound */
  async flightUrl(): Promise<string | null> {
    return (await this.serving?.flight)?.url ?? null;
  }

  /** Deletions and retention. @throws TsdbError unavailable until the log is replayed */
  get data(): DataService {
    return this.running().admin.data;
  }

  /** @throws TsdbError unavailable before the log is replayed */
  get tokens(): TokenService {
    this.running();
    return this.open.listening.foundation.auth.tokens;
  }

  /** The servers of the cluster. @throws TsdbError unavailable until the log is replayed */
  get nodes(): NodeService {
    this.running();
    return this.open.listening.foundation.node;
  }

  /** True if no token exists: the first admin token must be created. */
  get wantsOperator(): boolean {
    return this.open.listening.foundation.auth.wantsOperator;
  }

  /** Stops accepting, finishes running requests (at most `shutdownTimeoutMs`), flushes, and releases the data folder. */
  async stop(): Promise<void> {
    const { state, listening, serving } = this.open;
    const { foundation, http, v2, queries, maintenance } = listening;
    const { shutdownTimeoutMs } = foundation.config;
    if (state !== "failed") this.life = { state: "stopping", listening, serving };
    serving?.backgroundJobs.stopTimers();
    serving?.stopWarmUp();
    foundation.auth.stop();
    // concurrently, because HTTP requests arrive by both
    await Promise.all([
      serving?.stopFlight(shutdownTimeoutMs),
      http.stop(shutdownTimeoutMs),
      v2?.stop(shutdownTimeoutMs),
      serving?.stopPlugins(),
    ]);
    await queries.close();
    await serving?.close();
    maintenance.close();
    await foundation.release();
  }

  /** From replaying to serving. */
  private async replay(listening: Listening): Promise<void> {
    await upgradeFolder(listening.foundation);
    const replayed = await replayLog(listening.foundation, (progress) => {
      if (this.life.state === "replaying") this.life = { ...this.life, progress };
    });
    const parts = await prepareServing(listening, replayed, (error) => this.fail(error));
    // otherwise the server was stopped, or has failed, meanwhile
    if (this.life.state !== "replaying") return;
    const serving = new Serving(listening, parts);
    this.life = { state: "serving", listening, serving };
    if (listening.foundation.config.warmsUp) void serving.warmUp();
  }

  private fail(error: Error): void {
    const { life } = this;
    // the caller of `start` receives the error
    if (life.state === "opening" || life.state === "failed") return;
    this.life = { state: "failed", listening: life.listening, serving: life.serving, reason: error.message };
    this.logs("server").error("cannot go on", { err: error });
    this.reportFailure(error);
  }

  private get open(): OpenLife {
    assert(this.life.state !== "opening", "a server is handed out, and listens, when it is open");
    return this.life;
  }

  /** Null until the log is replayed. */
  private get serving(): Serving | null {
    return this.life.state === "opening" ? null : this.life.serving;
  }

  /** Also available while stopping: running requests are finished. @throws TsdbError unavailable until the log is replayed */
  private running(): Serving {
    const { serving } = this;
    if (serving !== null) return serving;
    const { state, reason = "" } = this.status();
    throw new TsdbError("unavailable", `the server is ${state}: ${reason}`.trim());
  }

  /** A full disk does not affect readiness: reads continue. */
  private status(): ServerStatus {
    const life = this.open;
    if (life.state === "replaying") return { state: "replaying", reason: life.progress };
    if (life.state === "failed") return { state: "failed", reason: life.reason };
    if (life.state === "stopping") return { state: "stopping" };
    const problem = life.listening.foundation.spaceProblem;
    return problem === null ? { state: "ready" } : { state: "ready", degraded: problem.message };
  }
}
