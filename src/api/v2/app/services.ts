// What the routes of port 8086 need from the rest of the server.
import type { V2Line } from "../../../metadata/line.ts";
import type { WriteService } from "../../../model/write.ts";
import type { ServerStatus } from "../../services.ts";

export interface V2Options {
  readonly strongPasswords: boolean;
  /** Of a bucket that is made without retention rules; 0 = for ever. */
  readonly defaultRetentionSeconds: number;
  readonly metricsDisabled: boolean;
  readonly pprofDisabled: boolean;
  /** Bound on a body's bytes, as sent and again decompressed; that of JSON bodies is lower. */
  readonly maxRequestBytes: number;
  /** What /api/v2/config shows. */
  readonly shownConfig: Readonly<Record<string, unknown>>;
  /** Cookies go over https only. */
  readonly isSecure: boolean;
  readonly sessionLengthSeconds: number;
}

export interface WriteCounts {
  readonly rows: number;
  readonly rejected: number;
  readonly bytes: number;
}

export interface V2Services {
  /** @throws TsdbError unavailable before the log is replayed */
  readonly line: () => V2Line;
  readonly write: WriteService;
  /** The outcome of a body of lines. */
  readonly written: (outcome: "stored" | "rejected" | "partial" | "failed", counts: WriteCounts) => void;
  readonly status: () => ServerStatus;
  readonly options: V2Options;
  /** When the server started, milliseconds since 1970. */
  readonly startedMs: number;
  /** Milliseconds since 1970. */
  readonly clockMs: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly report: (error: unknown, where: string) => void;
  readonly revision: string;
  readonly renderMetrics: () => Promise<{ readonly text: string; readonly contentType: string }>;
  readonly counted: (method: string, route: string, status: number, seconds: number) => void;
}
