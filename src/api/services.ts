// The services that routes need from the server. server/ provides them; tests use fakes.
import type { ProviderConfig } from "../accounts/identity-provider.ts";
import type { SignIns } from "../accounts/sign-ins.ts";
import type { FirstUser, UserAccounts } from "../accounts/users.ts";
import type { AdminCaller, DatabaseGrant, ProvenCaller } from "../auth/authorizer.ts";
import type { TokenService } from "../auth/token-service.ts";
import type { CacheService } from "../model/cache-service.ts";
import type { DatabaseService } from "../model/databases.ts";
import type { NodeService } from "../model/nodes.ts";
import type { PluginService } from "../model/plugins.ts";
import type { QueryService } from "../model/query/query.ts";
import type { QueryConcurrency } from "../model/query/query-concurrency.ts";
import type { PolicyLookup } from "../model/retention-policies.ts";
import type { BackupJobs } from "../model/rows/backup-jobs.ts";
import type { DataService } from "../model/rows/deletion.ts";
import type { ExportService } from "../model/rows/export.ts";
import type { FileIndexService } from "../model/rows/file-index.ts";
import type { ImportJobs } from "../model/rows/import-jobs.ts";
import type { RowDeleteService } from "../model/rows/row-delete.ts";
import type { LatestTelemetry } from "../model/telemetry/latest-telemetry.ts";
import type { EngineService, TriggerService } from "../model/triggers.ts";
import type { WriteService } from "../model/write.ts";
import type { DefinitionService } from "../tsdbql/plan/definition-service.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { AccessControl } from "./shared/access.ts";
import type { Edition } from "./shared/aliases.ts";

export interface ServerStatus {
  readonly state: "replaying" | "ready" | "failed" | "stopping";
  /** One readable line: the progress of the replay, or which log failed and why. */
  readonly reason?: string;
  /** Why writes are rejected although the server is ready: the disk is full. */
  readonly degraded?: string;
}

/** Users, if they are on. Each is a function: @throws TsdbError unavailable until the log is replayed */
export interface AccountServices {
  readonly users: () => Pick<UserAccounts, keyof UserAccounts>;
  readonly signIns: () => Pick<SignIns, keyof SignIns>;
  /** There is no user, and an admin token: only with it the first user is made. */
  readonly needsAdmin: () => boolean;
  readonly createFirst: (first: FirstUser, admin: AdminCaller | null, address: string) => ReturnType<UserAccounts["createFirst"]>;
  /** @throws TsdbError not_found without an identity provider, unavailable */
  readonly providerConfig: () => Promise<ProviderConfig>;
  /** @throws TsdbError not_found without an identity provider */
  readonly requireProvider: () => void;
}

export interface AppServices {
  readonly write: WriteService;
  readonly query: QueryService;
  /** Runs InfluxQL statements that change something. @throws TsdbError unavailable until the log is replayed */
  readonly definitions: (caller: ProvenCaller) => DefinitionService;
  /** Resolves the database of a v1 call. @throws TsdbError unavailable until the log is replayed */
  readonly policies: () => PolicyLookup;
  /** Lists all databases: handlers show those that their caller may see. @throws TsdbError unavailable until the log is replayed */
  readonly databaseList: (caller: ProvenCaller) => Pick<DatabaseService, "list">;
  /** @throws TsdbError unavailable until the log is replayed */
  readonly databases: (grant: DatabaseGrant) => DatabaseService;
  /** @throws TsdbError unavailable until the log is replayed */
  readonly data: (grant: DatabaseGrant) => DataService;
  /** Its methods require an admin, except for the first token. @throws TsdbError unavailable until the log is replayed */
  readonly tokens: () => TokenService;
  /** @throws TsdbError unavailable until the log is replayed */
  readonly caches: (grant: DatabaseGrant) => CacheService;
  /** @throws TsdbError unavailable until the log is replayed */
  readonly nodes: (admin: AdminCaller) => NodeService;
  /** @throws TsdbError unavailable until the log is replayed */
  readonly queryConcurrency: (admin: AdminCaller) => QueryConcurrency;
  /** @throws TsdbError unavailable until the log is replayed */
  readonly fileIndexes: (grant: DatabaseGrant) => FileIndexService;
  /** @throws TsdbError unavailable before the log is replayed */
  readonly plugins: (admin: AdminCaller) => PluginService;
  /** @throws TsdbError unavailable before the log is replayed */
  readonly triggers: (admin: AdminCaller) => TriggerService;
  /** Triggers that answer requests: a handler asks for the rights on their database. @throws TsdbError unavailable before the log is
   *  replayed */
  readonly engine: (caller: ProvenCaller) => EngineService;
  /** A handler asks for the right to read the database. @throws TsdbError unavailable before the log is replayed */
  readonly exports: () => ExportService;
  /** Asked for only if `hasUpgradedEngine`. @throws TsdbError unavailable before the log is replayed */
  readonly backups: (admin: AdminCaller) => BackupJobs;
  /** Asked for only if `hasUpgradedEngine`. @throws TsdbError unavailable before the log is replayed */
  readonly imports: (admin: AdminCaller) => ImportJobs;
  /** A handler asks for the right to delete from the database. @throws TsdbError unavailable before the log is replayed */
  readonly rowDeletes: () => RowDeleteService;
  /** Of SQL statements. */
  readonly telemetry: LatestTelemetry;
  /** Null: users are off. */
  readonly accounts: AccountServices | null;
  readonly access: AccessControl;
  readonly status: () => ServerStatus;
  /** The catalog's uuid: on every response. */
  readonly clusterUuid: string;
  /** A new UUID at each start of the process. */
  readonly processId: string;
  readonly edition: Edition;
  /** --use-pacha-tree was given. */
  readonly hasUpgradedEngine: boolean;
  /** Arguments of the process, without secrets. */
  readonly commandLine: readonly string[];
  /** Short commit hash of the build. */
  readonly revision: string;
  /** Created before the services, which report to it. */
  readonly metrics: Metrics;
  /** Limit of a body's bytes, as sent and again after decompression. */
  readonly maxRequestBytes: number;
  /** Maximum rows of a v1 answer without chunks; 0 = no limit. */
  readonly v1RowsMax: number;
  /** Milliseconds of a monotonic clock; for durations only. */
  readonly now: () => number;
  /** Receives every error that ends as a 500 or interrupts an answer, for the log. */
  readonly report: (error: unknown, where: string) => void;
}
