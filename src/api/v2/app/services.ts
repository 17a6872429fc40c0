// What the routes of port 8086 need from the rest of the server.

import type { BackupService } from "../../../backup/backup-service.ts";
import type { RowDeletions } from "../../../ingest/definitions/row-deletions.ts";
import type { V2Line } from "../../../metadata/line.ts";
import type { ReplicationService } from "../../../metadata/resources/replication/replications.ts";
import type { TaskRunService } from "../../../metadata/resources/task-runs.ts";
import type { QueryService } from "../../../model/query/query.ts";
import type { WriteService } from "../../../model/write.ts";
import type { WriteCounts } from "../../metrics/database-writes.ts";
import type { CountedRequest } from "../../metrics/v2-metrics.ts";
import type { ServerStatus } from "../../services.ts";
import type { QueryReports } from "../../shared/run-query.ts";
import type { RequestLimits } from "./request-limits.ts";

export interface V2Options {
  readonly strongPasswords: boolean;
  /** Of a bucket that is made without retention rules; 0 = for ever. */
  readonly defaultRetentionSeconds: number;
  /** Of a bucket; null = no limit. */
  readonly retentionSecondsMax: number | null;
  readonly metricsDisabled: boolean;
  readonly pprofDisabled: boolean;
  /** Of this process, without secrets. */
  readonly commandLine: readonly string[];
  /** Requests of scripts may go to loopback and private addresses. */
  readonly fluxAllowsPrivateNetwork: boolean;
  /** Sources may have loopback and private addresses. */
  readonly sourcesAllowPrivateNetwork: boolean;
  /** Templates may be read from URLs that requests name. */
  readonly templateUrls: boolean;
  /** Of SQLite files; null: scripts open none. */
  readonly fluxSqliteFolder: string | null;
  /** Bound on a body's bytes, as sent and again decompressed; that of JSON bodies is lower. */
  readonly maxRequestBytes: number;
  /** What /api/v2/config shows. */
  readonly shownConfig: Readonly<Record<string, unknown>>;
  /** Of Strict-Transport-Security; null = no such header. */
  readonly transportSecuritySeconds: number | null;
  /** Cookies go over https only. */
  readonly isSecure: boolean;
  readonly sessionLengthSeconds: number;
}

export interface TracedRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly milliseconds: number;
}

export interface V2Services extends QueryReports {
  /** @throws TsdbError unavailable before the log is replayed */
  readonly line: () => V2Line;
  /** @throws TsdbError unavailable before the log is replayed */
  readonly backup: () => BackupService;
  /** @throws TsdbError unavailable before the log is replayed */
  readonly taskRuns: () => TaskRunService;
  /** @throws TsdbError unavailable before the log is replayed */
  readonly replicating: () => ReplicationService;
  readonly limits: RequestLimits;
  readonly write: WriteService;
  readonly query: QueryService;
  /** Deletions of rows. @throws TsdbError unavailable before the log is replayed */
  readonly rows: () => RowDeletions;
  /** The outcome of a body of lines. */
  readonly written: (outcome: "stored" | "rejected" | "partial" | "failed", counts: WriteCounts) => void;
  readonly status: () => ServerStatus;
  readonly options: V2Options;
  /** When the server started, milliseconds since 1970. */
  readonly startedMs: number;
  /** Milliseconds since 1970. */
  readonly clockMs: () => number;
  readonly revision: string;
  readonly renderMetrics: () => Promise<{ readonly text: string; readonly contentType: string }>;
  /** A request that its client gave a name (Zap-Trace-Span) is answered. */
  readonly traced: (trace: string, answered: TracedRequest) => void;
  readonly counted: (request: CountedRequest) => void;
}
