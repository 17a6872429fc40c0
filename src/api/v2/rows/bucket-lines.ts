// Stores the lines of a request in a bucket. A body with a line that cannot be parsed stores nothing; lines whose types contradict their
// table, or whose values are too long, are left out, and the others stored.
import type { Principal } from "../../../metadata/access/principal.ts";
import type { Bucket } from "../../../metadata/resources/buckets.ts";
import { secondsNs } from "../../../metadata/resources/retention.ts";
import { databaseIdOf } from "../../../metadata/store/ids.ts";
import { near, TsdbError } from "../../../model/errors.ts";
import { Precision } from "../../../model/time/precision.ts";
import type { IncomingBody, LineDialect, OldLine, OldLines, WriteRequest, WriteResult } from "../../../model/write.ts";
import { goDuration } from "../../../tsdbql/parse/go-duration.ts";
import { formatTime } from "../../../tsdbql/parse/print.ts";
import { BodyReader } from "../../request/body.ts";
import { complete } from "../../shared/respond.ts";
import { receiveBody } from "../../shared/write.ts";
import { commonHeaders } from "../app/answers.ts";
import { errorAnswer } from "../app/errors.ts";
import type { V2Services } from "../app/services.ts";
import { faultMessage, lineFault } from "./line-fault.ts";
import { isLeftOut, leftOutText } from "./partial-write.ts";

/** Of the times of a body. */
export interface Unit {
  readonly precision: Precision;
  readonly ns: bigint;
}

export const UNITS: Readonly<Record<string, Unit>> = {
  ns: { precision: Precision.nanosecond, ns: 1n },
  us: { precision: Precision.microsecond, ns: 1_000n },
  ms: { precision: Precision.millisecond, ns: 1_000_000n },
  s: { precision: Precision.second, ns: 1_000_000_000n },
};
/** Characters of a series in an error. */
const SHOWN_KEY = 200;

/** In front of what requests for writing are refused with. */
const WRITE_HEAD = "failure writing points to database: ";

/** Where lines go. */
export interface LineTarget {
  readonly bucket: Bucket;
  readonly unit: Unit;
}

/** What storing lines needs from the rest of the server. */
export interface LineServices extends Pick<V2Services, "write" | "written" | "clockMs" | "now"> {
  readonly options: Pick<V2Services["options"], "maxRequestBytes" | "transportSecuritySeconds">;
}

/** For one route. */
export class BucketLines {
  private readonly reader: BodyReader;
  private readonly allStored: ResponseInit;

  constructor(private readonly services: LineServices) {
    const { options, now } = services;
    this.reader = new BodyReader(options.maxRequestBytes, now, true);
    this.allStored = { status: 204, headers: new Headers(commonHeaders(options)) };
  }

  /** Stores lines with times in nanoseconds. Resolves with what was refused, null: nothing. @throws TsdbError forbidden, overloaded,
   *  unavailable */
  async store(lines: Uint8Array, principal: Principal, bucket: Bucket): Promise<string | null> {
    requireWrite(principal, bucket);
    const body = await this.services.write.receive(lines.byteLength);
    const target = { bucket, unit: UNITS["ns"]! };
    try {
      body.append(lines);
      const wanted = this.requestFor(target, "v3");
      const refused = this.refused(await body.write(wanted), lines.byteLength, target, wanted.minTimeNs);
      return refused === null ? null : refused.message.replace(WRITE_HEAD, "");
    } catch (error) {
      this.services.written("failed", { rows: 0, rejected: 0, bytes: 0 });
      throw error;
    } finally {
      body.release();
    }
  }

  /** Receives and stores the lines of a request. @param find their target, called once. @throws TsdbError what `find` throws; forbidden;
   *  what receiving and writing throw */
  async take(request: Request, principal: Principal, find: () => LineTarget): Promise<Response> {
    const { services } = this;
    let body: IncomingBody | undefined;
    try {
      const target = find();
      requireWrite(principal, target.bucket);
      body = await receiveBody(services.write, this.reader, request);
      const { byteCount } = body;
      const wanted = this.requestFor(target, "v2");
      const refused = this.refused(await body.write(wanted), byteCount, target, wanted.minTimeNs);
      return refused === null ? complete(new Response(null, this.allStored)) : errorAnswer(refused);
    } catch (error) {
      services.written("failed", { rows: 0, rejected: 0, bytes: 0 });
      throw error;
    } finally {
      body?.release();
    }
  }

  private requestFor({ bucket: { id, name, retentionSeconds }, unit: { precision } }: LineTarget, dialect: LineDialect): WriteRequest {
    const request = {
      database: name,
      databaseId: databaseIdOf(id)!,
      precision,
      dialect,
      acceptPartial: "conflicts",
      noSync: false,
    } as const;
    if (retentionSeconds === 0) return request;
    return { ...request, minTimeNs: BigInt(this.services.clockMs()) * 1_000_000n - secondsNs(retentionSeconds) };
  }

  /** Counts the outcome. Returns what was refused; null: nothing. */
  private refused(result: WriteResult, bytes: number, { bucket, unit }: LineTarget, minTimeNs: bigint | undefined): TsdbError | null {
    const { rowCount: rows, rejectedCount: rejected } = result;
    const outcome = rejected === 0 ? "stored" : rows === 0 ? "rejected" : "partial";
    this.services.written(outcome, { rows, rejected, bytes, database: bucket.name });
    return rejected === 0 ? null : rejection(result, unit, bucket, minTimeNs);
  }
}

/** The right for the bucket's own organization counts, whichever the request names. @throws TsdbError forbidden */
function requireWrite(principal: Principal, { id, orgID }: Bucket): void {
  if (principal.allows({ action: "write", type: "buckets", id, orgID })) return;
  throw new TsdbError("forbidden", `insufficient permissions for write${principal.isActive ? "" : ": token is inactive"}`);
}

function rejection(result: WriteResult, { ns }: Unit, bucket: Bucket, minTimeNs: bigint | undefined): TsdbError {
  const { lineErrors, rejectedCount, rowCount, schemaLimit, old } = result;
  const faults = lineErrors.flatMap(({ originalLine, errorMessage }) => {
    if (isLeftOut(errorMessage) || schemaLimit) return [];
    // open quotes take the end of the line with them
    const line = originalLine.replace(/\n$/, "");
    return [faultMessage(line, lineFault(line, ns) ?? errorMessage)];
  });
  // nothing was stored then
  if (faults.length > 0 && rowCount === 0) return new TsdbError("bad_request", faults.join("\n"));
  if (old !== undefined && minTimeNs !== undefined) {
    return new TsdbError("unprocessable", `${WRITE_HEAD}partial write: ${oldText(old, bucket, minTimeNs)}`);
  }
  const first = lineErrors[0];
  const reason = first === undefined ? "no line could be stored" : leftOutText(first.errorMessage, first.originalLine);
  return new TsdbError("unprocessable", `${WRITE_HEAD}partial write: ${reason} dropped=${rejectedCount}`);
}

/** The vendor's words for rows past the retention. */
function oldText({ count, oldest, newest }: OldLines, { id, retentionSeconds }: Bucket, minTimeNs: bigint): string {
  const bound = `dropped because it violates a Retention Policy Lower Bound at ${formatTime(minTimeNs)}`;
  const point = ({ line, timeNs }: OldLine) => `point ${seriesKeyOf(line)} at ${formatTime(timeNs)} ${bound}`;
  const duration = goDuration(secondsNs(retentionSeconds));
  const dropped = `dropped ${count} points outside retention policy of duration ${duration} - oldest ${point(oldest)}, newest ${point(newest)}`;
  return `${dropped} dropped=${count} for database: ${id} for retention policy: autogen`;
}

/** Measurement and tags as written, the tags in the order of their keys. */
function seriesKeyOf(line: string): string {
  const [measurement = "", ...tags] = /^(?:\\.|[^\\ ])*/s.exec(line.trimStart())![0].match(/(?:\\.|[^\\,])+/gs) ?? [];
  const sorted = tags.map((tag) => [/^(?:\\.|[^\\=])*/s.exec(tag)![0], tag] as const).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return near([measurement, ...sorted.map(([, tag]) => tag)].join(","), SHOWN_KEY);
}
