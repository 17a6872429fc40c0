// POST /api/v2/write on port 8086: lines for a bucket. A body with a line that cannot be parsed stores nothing; lines whose types
// contradict their table are left out, and the others stored.
import type { Principal } from "../../metadata/access/principal.ts";
import type { V2Line } from "../../metadata/line.ts";
import type { Bucket } from "../../metadata/resources/buckets.ts";
import type { Organization } from "../../metadata/resources/organizations.ts";
import { databaseIdOf, parseId, readId } from "../../metadata/store/ids.ts";
import { TsdbError } from "../../model/errors.ts";
import { Precision } from "../../model/time/precision.ts";
import type { IncomingBody, WriteResult } from "../../model/write.ts";
import { BodyReader } from "../request/body.ts";
import { receiveBody } from "../shared/write.ts";
import { noContent } from "./app/answers.ts";
import { errorAnswer } from "./app/errors.ts";
import type { SearchParams } from "./app/params.ts";
import { V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";
import { faultMessage, lineFault, measurementOf } from "./line-fault.ts";

interface Unit {
  readonly precision: Precision;
  readonly ns: bigint;
}

const UNITS: Readonly<Record<string, Unit>> = {
  ns: { precision: Precision.nanosecond, ns: 1n },
  us: { precision: Precision.microsecond, ns: 1_000n },
  ms: { precision: Precision.millisecond, ns: 1_000_000n },
  s: { precision: Precision.second, ns: 1_000_000_000n },
};
/** What the schema says of a line that can be parsed; the other lines of its body are stored. */
const CONFLICT = /^invalid column type for column '([\s\S]*)', expected iox::column_type::([\w:]+), got iox::column_type::([\w:]+)$/;
/** The vendor's names of types. */
const TYPE_NAMES: Readonly<Record<string, string>> = { "field::uinteger": "unsigned", tag: "tag" };

export const bucketWriteRoutes = (services: V2Services): V2Routes => {
  const reader = new BodyReader(services.options.maxRequestBytes, services.now, true);
  const targets = new WriteTargets();
  return new V2Routes("bucket-write", services).post("/api/v2/write", async (call) => {
    let body: IncomingBody | undefined;
    try {
      const { bucket, unit } = targets.get(services.line(), call.search);
      requireWrite(call.principal, bucket);
      body = await receiveBody(services.write, reader, call.request);
      const bytes = body.byteCount;
      const { id, name } = bucket;
      const { precision } = unit;
      const request = { database: name, databaseId: databaseIdOf(id)!, precision, acceptPartial: "conflicts", noSync: false } as const;
      const result = await body.write(request);
      const outcome = result.rejectedCount === 0 ? "stored" : result.rowCount === 0 ? "rejected" : "partial";
      services.written(outcome, { rows: result.rowCount, rejected: result.rejectedCount, bytes });
      return result.rejectedCount === 0 ? noContent() : errorAnswer(rejection(result, unit));
    } catch (error) {
      services.written("failed", { rows: 0, rejected: 0, bytes: 0 });
      throw error;
    } finally {
      body?.release();
    }
  });
};

interface WriteTarget {
  readonly bucket: Bucket;
  readonly unit: Unit;
}

const TARGETS_MAX = 1000;

/** Where a body goes. Clients send the same few query strings: what was found for one is kept until a record or a database changes. */
class WriteTargets {
  private readonly known = new Map<string, WriteTarget>();
  private version = -1;

  /** @throws TsdbError bad_request, not_found */
  get(line: V2Line, search: SearchParams): WriteTarget {
    const { version } = line.metadata;
    if (version !== this.version || this.known.size >= TARGETS_MAX) {
      this.known.clear();
      this.version = version;
    }
    const found = this.known.get(search.text) ?? targetOf(line, search);
    this.known.set(search.text, found);
    return found;
  }
}

/** @throws TsdbError bad_request, not_found */
function targetOf(line: V2Line, search: SearchParams): WriteTarget {
  const name = search.get("precision") ?? "ns";
  if (!Object.hasOwn(UNITS, name)) {
    throw new TsdbError("bad_request", "invalid precision; valid precision units are ns, us, ms, and s");
  }
  const organization = organizationOf(line, search);
  const bucket = bucketOf(line, organization, search);
  return { bucket, unit: UNITS[name]! };
}

/** By `orgID`, or by `org`, which is an id or a name. @throws TsdbError bad_request, not_found */
export function organizationOf({ organizations }: V2Line, search: SearchParams): Organization {
  const [org, orgID] = [search.get("org"), search.get("orgID")];
  if (orgID !== undefined) return organizations.get(readId(orgID));
  if (org === undefined) throw new TsdbError("bad_request", "Please provide either orgID or org");
  const id = parseId(org);
  return (id === null ? null : organizations.find(id)) ?? organizations.byName(org);
}

/** By `bucket`, an id of any organization or a name within this one. @throws TsdbError not_found */
function bucketOf({ buckets }: V2Line, { id: orgID }: Organization, search: SearchParams): Bucket {
  const text = search.get("bucket");
  if (text === undefined) throw new TsdbError("not_found", "bucket not found");
  const id = parseId(text);
  const found = (id === null ? null : buckets.find(id)) ?? buckets.findByName(orgID, text);
  if (found === null) throw new TsdbError("not_found", `bucket "${text}" not found`);
  return found;
}

/** The right for the bucket's own organization counts, whichever the request names. @throws TsdbError forbidden */
function requireWrite(principal: Principal, { id, orgID }: Bucket): void {
  if (principal.allows({ action: "write", type: "buckets", id, orgID })) return;
  throw new TsdbError("forbidden", `insufficient permissions for write${principal.isActive ? "" : ": token is inactive"}`);
}

function rejection({ lineErrors, rejectedCount, rowCount, schemaLimit }: WriteResult, { ns }: Unit): TsdbError {
  const faults = lineErrors.flatMap(({ originalLine, errorMessage }) => {
    if (CONFLICT.test(errorMessage) || schemaLimit) return [];
    return [faultMessage(originalLine, lineFault(originalLine, ns) ?? errorMessage)];
  });
  // nothing was stored then
  if (faults.length > 0 && rowCount === 0) return new TsdbError("bad_request", faults.join("\n"));
  const first = lineErrors[0];
  const reason = first === undefined ? "no line could be stored" : conflictText(first.errorMessage, first.originalLine);
  return new TsdbError("unprocessable", `failure writing points to database: partial write: ${reason} dropped=${rejectedCount}`);
}

/** The vendor's words for a field of another type. */
function conflictText(message: string, line: string): string {
  const conflict = CONFLICT.exec(message);
  if (conflict === null) return message;
  const [, field, want, got] = conflict as unknown as [string, string, string, string];
  const place = `input field "${field}" on measurement "${measurementOf(line)}"`;
  return `field type conflict: ${place} is type ${typeName(got)}, already exists as type ${typeName(want)}`;
}

function typeName(type: string): string {
  return TYPE_NAMES[type] ?? type.slice("field::".length);
}
