// The common part of the three write endpoints: reads the body, passes it to the write path, counts, answers. A dialect provides its
// parameters and error bodies.
import type { ProvenCaller } from "../../auth/authorizer.ts";
import { TsdbError } from "../../model/errors.ts";
import { databaseOfPolicy, validateDatabaseName } from "../../model/names.ts";
import type { Precision } from "../../model/time/precision.ts";
import type { IncomingBody, WriteResult, WriteService } from "../../model/write.ts";
import { BodyReader } from "../request/body.ts";
import { loopTurns, TURN_BYTES } from "../request/loop-turns.ts";
import { UrlCache } from "../request/url-cache.ts";
import type { AppServices, ServerStatus } from "../services.ts";
import { PolicyAccess } from "../tsdbql/policy-access.ts";
import { sizedResponse } from "./body-size.ts";
import { type Failure, failureOf } from "./errors.ts";
import { commonHeaders, complete } from "./respond.ts";
import type { Call } from "./route.ts";

/** The destination of a body and the write options. */
export interface WriteTarget {
  readonly database: string;
  readonly precision: Precision;
  readonly acceptPartial: boolean;
  readonly noSync: boolean;
  /** True if retention policies have the v1 meaning. */
  readonly isOfV1?: boolean;
  /** True if `database` was given without a policy. */
  readonly takesDefaultPolicy?: boolean;
}

export interface WriteDialect {
  /** @throws TsdbError bad_request */
  readonly target: (search: string) => WriteTarget;
  /** The answer if lines were rejected. */
  readonly rejected: (result: WriteResult, target: WriteTarget) => Response;
  /** The error for a body without a line. */
  readonly emptyMessage: string;
  /** The answer if the body as a whole was rejected or failed. */
  readonly failed: (failure: Failure) => Response;
}

/** Handles write requests of one dialect. */
export class WriteRoute {
  private readonly targets: UrlCache<WriteTarget>;
  private readonly reader: BodyReader;
  private readonly written: ResponseInit;

  constructor(
    private readonly services: AppServices,
    private readonly dialect: WriteDialect,
  ) {
    this.reader = new BodyReader(services.maxRequestBytes, services.now);
    this.written = { status: 204, headers: new Headers(commonHeaders(services)) };
    this.targets = new UrlCache((search) => {
      const target = dialect.target(search);
      validateDatabaseName(target.database);
      return target;
    });
  }

  /** The destination of a v1 client's body. @throws TsdbError forbidden, unknown_database */
  private placed(asked: WriteTarget, caller: ProvenCaller): WriteTarget {
    const policies = this.services.policies();
    const policy = asked.takesDefaultPolicy ? policies.defaultPolicy(asked.database) : null;
    const target = policy === null ? asked : { ...asked, database: databaseOfPolicy(asked.database, policy) };
    new PolicyAccess(caller, policies).require(target.database, "write");
    if (asked.takesDefaultPolicy) policies.requireDefault(asked.database);
    return target;
  }

  async take({ request, target: { path, search }, caller }: Call<"database">): Promise<Response> {
    const { services, dialect, reader } = this;
    let body: IncomingBody | undefined;
    try {
      const asked = this.targets.get(search);
      requireReady(services.status());
      const target = asked.isOfV1 ? this.placed(asked, caller) : asked;
      if (!asked.isOfV1) caller.require(target.database, "write");
      body = await receiveBody(services.write, reader, request);
      const bytes = body.byteCount;
      const result = await body.write(target);
      if (result.empty) throw new TsdbError("bad_request", dialect.emptyMessage);
      const outcome = result.rejectedCount === 0 ? "stored" : result.rowCount === 0 ? "rejected" : "partial";
      services.metrics.write(outcome, { rows: result.rowCount, rejected: result.rejectedCount, bytes, database: target.database });
      return result.rejectedCount === 0 ? complete(sizedResponse(null, this.written)) : dialect.rejected(result, target);
    } catch (error) {
      services.metrics.write("failed", { rows: 0, rejected: 0, bytes: 0 });
      const failure = failureOf(error);
      if (failure.isOurs) services.report(error, `write to ${path}`);
      return dialect.failed(failure);
    } finally {
      body?.release();
    }
  }
}

/** The whole body of a write request, to be written or released. @throws TsdbError too_large, bad_request, too_slow, overloaded,
 *  cancelled */
export async function receiveBody(service: WriteService, reader: BodyReader, request: Request): Promise<IncomingBody> {
  const head = reader.head(request);
  const place = service.receive(head.announcedBytes);
  const body = place instanceof Promise ? await place : place;
  try {
    await reader.read(request, head, body);
    // The runtime closes a connection on which a request arrives while another one is being processed, and its answer is lost. Requests
    // that arrived in one piece with this body are visible within the same turn of the event loop: then the body is rejected, rather than
    // stored without an answer.
    await turnEnd.wait();
    // the pieces of a large body have used up a turn, and storing it is another one
    if (body.byteCount >= TURN_BYTES) await loopTurns.next();
    if (request.signal.aborted) throw new TsdbError("cancelled", "the connection ended before the body was stored");
    return body;
  } catch (error) {
    body.release();
    throw error;
  }
}

/** The end of the current turn of the event loop, one timer for all who wait for it. */
class TurnEnd {
  private reached: Promise<void> | null = null;

  wait(): Promise<void> {
    this.reached ??= new Promise((resolve) => {
      setImmediate(() => {
        this.reached = null;
        resolve();
      });
    });
    return this.reached;
  }
}

const turnEnd = new TurnEnd();

/** @throws TsdbError unavailable */
export function requireReady(status: ServerStatus): void {
  if (status.state === "ready") return;
  throw new TsdbError("unavailable", `the server is not ready: ${status.reason ?? status.state}`);
}

/** The names that the vendor lists to clients, in its order. */
const LISTED_UNITS = ["s", "second", "millisecond", "ms", "microsecond", "u", "us", "n", "nanosecond", "ns"];

/** The names of units that an endpoint knows. */
export interface PrecisionNames {
  readonly names: Readonly<Record<string, Precision>>;
  /** If the parameter is missing. */
  readonly absent: Precision;
  /** Starts the message. */
  readonly prefix: string;
}

/** Parses a precision parameter. @throws TsdbError bad_request */
export function readPrecision(value: string | undefined, { names, absent, prefix }: PrecisionNames): Precision {
  if (value === undefined) return absent;
  if (Object.hasOwn(names, value)) return names[value]!;
  const listed = [...(Object.hasOwn(names, "auto") ? ["auto"] : []), ...LISTED_UNITS].map((name) => `\`${name}\``);
  throw new TsdbError("bad_request", `${prefix}unknown variant \`${value}\`, expected one of ${listed.join(", ")}`);
}

/** Status for a body with rejected lines: 422 if a schema limit was the reason. */
export function rejectedStatus(result: WriteResult): number {
  return result.schemaLimit ? 422 : 400;
}

/** The rejected lines in the form that clients parse. */
export function rejectionRecords(result: WriteResult): { error_message: string; line_number: number; original_line: string }[] {
  return result.lineErrors.map((line) => ({
    error_message: line.errorMessage,
    line_number: line.lineNumber,
    original_line: line.originalLine,
  }));
}
