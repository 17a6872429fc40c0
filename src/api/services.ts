// What the routes need from the rest of the server. main.ts fills it; tests fill it with fakes.
import type { AdminCaller, DatabaseGrant, ProvenCaller } from "../auth/authorizer.ts";
import type { TokenService } from "../auth/token-service.ts";
import type { CacheService } from "../model/cache-service.ts";
import type { DatabaseService } from "../model/databases.ts";
import type { NodeService } from "../model/nodes.ts";
import type { QueryService } from "../model/query/query.ts";
import type { PolicyLookup } from "../model/retention-policies.ts";
import type { DataService } from "../model/rows/deletion.ts";
import type { FileIndexService } from "../model/rows/file-index.ts";
import type { WriteService } from "../model/write.ts";
import type { DefinitionService } from "../tsdbql/plan/definition-service.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { AccessControl } from "./shared/access.ts";
import type { Edition } from "./shared/aliases.ts";

export interface ServerStatus {
  readonly state: "replaying" | "ready" | "failed" | "stopping";
  /** One line for people: how far the replay is, which log failed and why. */
  readonly reason?: string;
  /** Why writes are refused although the server is ready: the disk is full. */
  readonly degraded?: string;
}

export interface AppServices {
  readonly write: WriteService;
  readonly query: QueryService;
  /** Statements of the v1-style language that change something. @throws TsdbError unavailable before the log is replayed */
  readonly definitions: (caller: ProvenCaller) => DefinitionService;
  /** Which database a v1 call means. @throws TsdbError unavailable before the log is replayed */
  readonly policies: () => PolicyLookup;
  /** The names of all databases: a handler shows those that its caller may see. @throws TsdbError unavailable before the log is replayed */
  readonly databaseList: (caller: ProvenCaller) => Pick<DatabaseService, "list">;
  /** @throws TsdbError unavailable before the log is replayed */
  readonly databases: (grant: DatabaseGrant) => DatabaseService;
  /** @throws TsdbError unavailable before the log is replayed */
  readonly data: (grant: DatabaseGrant) => DataService;
  /** Its methods ask for an admin, but for the first token. @throws TsdbError unavailable before the log is replayed */
  readonly tokens: () => TokenService;
  /** @throws TsdbError unavailable before the log is replayed */
  readonly caches: (grant: DatabaseGrant) => CacheService;
  /** @throws TsdbError unavailable before the log is replayed */
  readonly nodes: (admin: AdminCaller) => NodeService;
  /** @throws TsdbError unavailable before the log is replayed */
  readonly fileIndexes: (grant: DatabaseGrant) => FileIndexService;
  readonly access: AccessControl;
  readonly status: () => ServerStatus;
  /** The catalog's uuid: on every response. */
  readonly clusterUuid: string;
  /** A new uuid at each start of the process. */
  readonly processId: string;
  readonly edition: Edition;
  /** Short hash of the build. */
  readonly revision: string;
  /** Counters and gauges; made before the services because they feed it. */
  readonly metrics: Metrics;
  /** Bound on a body's bytes, as sent and again decompressed. */
  readonly maxRequestBytes: number;
  /** Rows of the answer to a v1 request at most, unless it asks for chunks; 0 = no limit. */
  readonly v1RowsMax: number;
  /** Milliseconds of a clock that never goes back; for durations only. */
  readonly now: () => number;
  /** Called with every error that ends as a 500 or breaks an answer half way, for the log. */
  readonly report: (error: unknown, where: string) => void;
}
