// What the flags of the bucket-based API say.
import { TsdbError } from "../../model/errors.ts";
import type { FlagReader } from "../flag-reader.ts";
import type { Address } from "../units.ts";
import { type InitialSetup, readSetup } from "./setup-flags.ts";

/** Of scripts and statements of its address. */
export interface V2QueryLimits {
  /** That run at a time; null = no limit. */
  readonly concurrentMax: number | null;
  /** That wait; null = no limit. */
  readonly waitingMax: number | null;
  /** Of rows that one holds; null = no limit of its own. */
  readonly memoryBytesMax: number | null;
}

export interface V2Config {
  /** The bucket-based API; null = off. */
  readonly v2Bind: Address | null;
  /** Of buckets that are made without rules; 0 = for ever. */
  readonly v2DefaultRetentionMs: number;
  readonly v2SessionMs: number;
  readonly v2RenewsSessions: boolean;
  readonly v2StrongPasswords: boolean;
  readonly v2HashedTokens: boolean;
  /** Null: beside the data. */
  readonly v2SecretKeyFile: string | null;
  /** The key itself, instead of the file. */
  readonly v2SecretKey: string | null;
  /** Of the key that tokens and secrets may still be encrypted with. */
  readonly v2PreviousSecretKeyFile: string | null;
  /** Of an organization; null = no limit. */
  readonly v2BucketsMax: number | null;
  /** Null = no limit. */
  readonly v2RetentionMaxMs: number | null;
  /** At a time; null = no limit. */
  readonly v2RequestsMax: number | null;
  /** Of an organization; null = no limit. */
  readonly v2RequestsPerMinuteMax: number | null;
  readonly v2Queries: V2QueryLimits;
  /** PEM texts; null = as port 8181. */
  readonly v2Tls: { readonly cert: string; readonly key: string } | null;
  /** Null = as port 8181. */
  readonly v2TlsMinimum: "tls-1.2" | "tls-1.3" | null;
  /** Of Strict-Transport-Security; null = no such header. */
  readonly v2TransportSecurityMs: number | null;
  readonly v2MetricsDisabled: boolean;
  readonly v2PprofDisabled: boolean;
  /** False: tasks, checks and rules wait. */
  readonly v2RunsTasks: boolean;
  readonly v2TemplateUrls: boolean;
  readonly fluxAllowsPrivateNetwork: boolean;
  /** Absolute or from the working directory. */
  readonly fluxSqliteFolder: string | null;
  /** What a server that nobody has set up begins with; null = nothing. */
  readonly v2Setup: InitialSetup | null;
}

const V2_BIND: Address = { hostname: "127.0.0.1", port: 8086 };
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const COUNT_MAX = 999_999_999;
const QUERY_BYTES_MIN = 64 * 1024;
const TLS_VERSIONS = { "1.2": "tls-1.2", "1.3": "tls-1.3" } as const;

/** @throws TsdbError config */
export function readV2(read: FlagReader): V2Config {
  const transportSecurityMs = read.durationMs("v2-strict-transport-security-max-age", { min: 0, max: 100 * 365 * DAY_MS, bareMs: 1000 });
  return {
    v2Bind: read.addressOrNone("v2-http-bind", V2_BIND, "0.0.0.0"),
    v2DefaultRetentionMs: read.durationMs("v2-default-bucket-retention", { min: 0, max: 100 * 365 * DAY_MS }),
    v2SessionMs: read.durationMs("v2-session-length", { min: 1000, max: 365 * DAY_MS, bareMs: MINUTE_MS }),
    v2RenewsSessions: !read.boolean("v2-session-renew-disabled"),
    v2StrongPasswords: read.boolean("v2-strong-passwords"),
    v2HashedTokens: read.boolean("v2-use-hashed-tokens"),
    v2SecretKeyFile: read.optional("v2-secret-key-file"),
    v2SecretKey: secretKey(read),
    v2PreviousSecretKeyFile: read.optional("v2-previous-secret-key-file"),
    v2BucketsMax: read.count("v2-max-buckets-per-org", { min: 0, max: COUNT_MAX, absent: 0 }) || null,
    v2RetentionMaxMs: read.durationMs("v2-max-bucket-retention", { min: 0, max: 100 * 365 * DAY_MS }) || null,
    v2RequestsMax: read.count("v2-max-requests", { min: 0, max: COUNT_MAX, absent: 0 }) || null,
    v2RequestsPerMinuteMax: read.count("v2-max-requests-per-minute", { min: 0, max: COUNT_MAX, absent: 0 }) || null,
    v2Queries: queryLimits(read),
    v2Tls: certificate(read),
    v2TlsMinimum: read.given.has("v2-tls-min-version") ? TLS_VERSIONS[read.oneOf("v2-tls-min-version", ["1.2", "1.3"])] : null,
    v2TransportSecurityMs: read.boolean("v2-hardening-enabled") ? transportSecurityMs : null,
    v2MetricsDisabled: read.boolean("v2-metrics-disabled"),
    v2PprofDisabled: read.boolean("v2-pprof-disabled"),
    v2RunsTasks: !read.boolean("no-tasks"),
    v2TemplateUrls: read.boolean("v2-template-urls"),
    fluxAllowsPrivateNetwork: read.boolean("flux-allow-private-network"),
    fluxSqliteFolder: read.optional("flux-sqlite-dir"),
    v2Setup: readSetup(read),
  };
}

function queryLimits(read: FlagReader): V2QueryLimits {
  return {
    concurrentMax: read.count("v2-query-concurrency", { min: 0, max: COUNT_MAX, absent: 0 }) || null,
    waitingMax: read.count("v2-query-queue-size", { min: 0, max: COUNT_MAX, absent: 0 }) || null,
    memoryBytesMax: read.bytesOrNone("v2-query-memory-bytes", { min: QUERY_BYTES_MIN, max: Number.MAX_SAFE_INTEGER }),
  };
}

/** @throws TsdbError config */
function secretKey(read: FlagReader): string | null {
  const [key, file] = [read.optional("v2-secret-key"), read.optional("v2-secret-key-file")];
  if (key !== null && file !== null) throw new TsdbError("config", "--v2-secret-key and --v2-secret-key-file are both given; one of them");
  return key;
}

function certificate(read: FlagReader): V2Config["v2Tls"] {
  const tls = read.tls("v2-tls-cert", "v2-tls-key", null);
  return tls === "self-signed" ? null : tls;
}
