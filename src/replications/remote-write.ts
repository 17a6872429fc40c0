// Sends lines to a remote's /api/v2/write, as the vendor's clients do.
import type { Remote } from "../metadata/resources/replication/remotes.ts";
import type { ReplicationTarget } from "../metadata/resources/replication/replications.ts";
import { near } from "../model/errors.ts";
import { type OutgoingLimits, outgoingHttp } from "../outgoing/outgoing-http.ts";

export interface RemoteAnswer {
  /** Null: none came. */
  readonly status: number | null;
  /** "" when the lines were taken. */
  readonly message: string;
  /** What Retry-After says. */
  readonly retryAfterMs: number | null;
}

/** Where and as whom. */
export type RemoteAccess = Remote & { readonly token: string };

const DONE = 204;
/** The longest wait that a remote may ask for. */
const RETRY_AFTER_MAX_MS = 3_600_000;
const MESSAGE_MAX = 200;
const TEXTS: Readonly<Record<number, string>> = {
  ...{ 200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed" },
  ...{ 408: "Request Timeout", 413: "Request Entity Too Large", 422: "Unprocessable Entity", 429: "Too Many Requests" },
  ...{ 500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout" },
};

/** @param body gzip; a failure to ask is an answer without a status */
export async function writeToRemote(
  remote: RemoteAccess,
  target: ReplicationTarget,
  body: Uint8Array,
  { limits, nowMs, signal }: { readonly limits: OutgoingLimits; readonly nowMs: number; readonly signal?: AbortSignal },
): Promise<RemoteAnswer> {
  const url = urlOf(remote, target);
  const headers = [
    ["User-Agent", "tsdb"],
    ["Authorization", `Token ${remote.token}`],
    ["Content-Encoding", "gzip"],
    ["Content-Type", "text/plain"],
  ] as const;
  try {
    const request = { method: "POST", url, headers, body, timeoutMs: 0, isInsecure: remote.allowInsecureTLS };
    const answer = await outgoingHttp(request, limits, signal);
    const { status } = answer;
    if (status === DONE) return { status, message: "", retryAfterMs: null };
    const said = saidIn(answer.body);
    const message = `invalid response code ${status}, must be ${DONE}: ${status} ${TEXTS[status] ?? "Unknown"}: ${said}`;
    const wait = status === 429 || status === 503 ? answer.headers.find(([name]) => name === "Retry-After")?.[1] : undefined;
    return { status, message, retryAfterMs: wait === undefined ? null : retryAfterOf(wait, nowMs) };
  } catch (error) {
    return { status: null, message: error instanceof Error ? error.message : String(error), retryAfterMs: null };
  }
}

function urlOf({ remoteURL, remoteOrgID }: Remote, { remoteBucketID, remoteBucketName }: ReplicationTarget): string {
  // the name goes before an id
  const bucket = remoteBucketName === "" ? (remoteBucketID ?? "") : remoteBucketName;
  const query = new URLSearchParams({ bucket, ...(remoteOrgID === null ? {} : { org: remoteOrgID }) });
  return `${remoteURL.replace(/\/+$/, "")}/api/v2/write?${query}`;
}

/** Seconds, or a date; null for anything else. */
function retryAfterOf(text: string, nowMs: number): number | null {
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(milliseconds) ? null : Math.min(Math.max(0, milliseconds), RETRY_AFTER_MAX_MS);
}

/** The message of an error of the API. What other servers answer is not shown: the sender may not be able to reach them. */
function saidIn(body: Uint8Array): string {
  try {
    const { message } = JSON.parse(new TextDecoder("utf-8", { ignoreBOM: false }).decode(body)) as { message?: unknown };
    return typeof message === "string" ? near(message, MESSAGE_MAX) : "";
  } catch {
    return "";
  }
}
