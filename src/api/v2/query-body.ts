// The body of POST /api/v2/query: a script as it is, or JSON around it. Everything that does not depend on the script itself is checked.
import { Type as t } from "@sinclair/typebox";
import { jsonProblem } from "../../flux/library/json/json-problem.ts";
import { parseTime } from "../../flux/values/duration.ts";
import { near, TsdbError } from "../../model/errors.ts";
import type { FluxDialect } from "../../model/query/flux.ts";
import { decodeUtf8, requireFewValues } from "../../model/query/query-params.ts";
import type { BodyReader } from "../request/body.ts";
import { decoded } from "./app/decoded.ts";
import { firstValue } from "./app/first-value.ts";

export interface QueryBody {
  readonly language: "flux" | "influxql";
  readonly text: string;
  readonly dialect: FluxDialect;
  readonly nowNs: bigint;
  /** JSON. */
  readonly extern: string | null;
  /** JSON; null where there is a text. */
  readonly ast: string | null;
  /** Of an InfluxQL statement: a bucket's name or id. */
  readonly bucket: string | null;
}

const NO_JSON =
  "failed parsing request body as JSON; if sending a raw Flux script, set 'Content-Type: application/vnd.flux' in your request headers: ";
const NO_SCRIPT = "request body requires either query or AST";
/** Trees may nest 200 nodes, each in a few objects and lists. */
const JSON_DEPTH_MAX = 1000;
const any = t.Any();
/** The names, which count in any case of letters; `Members` checks the types. */
const QueryRequest = t.Object({
  ...{ query: any, type: any, ast: any, now: any, extern: any, bucket: any },
  dialect: t.Object({ delimiter: any, commentPrefix: any, dateTimeFormat: any, annotations: any, header: any }),
});
const ANNOTATIONS = ["datatype", "group", "default"] as const;
const TIME_FORMATS: readonly string[] = ["RFC3339", "RFC3339Nano"];

/** @throws TsdbError bad_request, too_large */
export async function readQueryBody(request: Request, reader: BodyReader, nowMs: number): Promise<QueryBody> {
  const isScript = /^application\/vnd\.flux\s*(?:;|$)/i.test(request.headers.get("content-type") ?? "");
  const text = decodeUtf8(await reader.readWhole(request), "the body is not valid UTF-8", true);
  const nowNs = BigInt(nowMs) * 1_000_000n;
  if (isScript && text === "") throw new TsdbError("bad_request", NO_SCRIPT);
  if (isScript) return { language: "flux", text, dialect: dialectOf({}), nowNs, extern: null, ast: null, bucket: null };
  const body = new Members(parsed(text), "QueryRequest");
  const query = body.text("query") ?? "";
  const ast = query === "" ? body.json("ast") : null;
  const type = body.text("type") ?? "";
  if (type !== "" && type !== "flux" && type !== "influxql") throw new TsdbError("bad_request", `unknown query type: ${near(type)}`);
  if (query === "" && ast === null) throw new TsdbError("bad_request", NO_SCRIPT);
  const now = body.text("now");
  return {
    language: type === "influxql" ? "influxql" : "flux",
    text: query,
    dialect: dialectOf(body.object("dialect") ?? {}),
    nowNs: now === null ? nowNs : timeOf(now),
    extern: body.json("extern"),
    ast,
    bucket: body.text("bucket"),
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === "") throw new TsdbError("bad_request", `${NO_JSON}EOF`);
  requireFewValues(text, NO_JSON);
  let value: unknown;
  try {
    value = firstValue(text).value;
  } catch {
    throw new TsdbError("bad_request", NO_JSON + faultOf(text));
  }
  if (value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return decoded(QueryRequest, value) as Readonly<Record<string, unknown>>;
  throw new TsdbError("bad_request", `${NO_JSON}json: cannot unmarshal ${wordFor(value)} into Go value of type http.QueryRequest`);
}

/** Of a text that ends too early, as it is read from a stream. */
function faultOf(text: string): string {
  const fault = jsonProblem(new TextEncoder().encode(text));
  const isCut = fault === "unexpected end of JSON input" || ["true", "false", "null"].some((literal) => literal.startsWith(text.trim()));
  return fault === null || isCut ? "unexpected EOF" : fault;
}

/** What each part of a time is called in messages. */
const TIME_PARTS: readonly (readonly [RegExp, name: string])[] = [
  ...([
    [/^\d{4}/, "2006"],
    [/^-/, "-"],
    [/^\d{2}/, "01"],
    [/^-/, "-"],
    [/^\d{2}/, "02"],
    [/^T/, "T"],
  ] as const),
  ...([
    [/^\d{2}/, "15"],
    [/^:/, ":"],
    [/^\d{2}/, "04"],
    [/^:/, ":"],
    [/^\d{2}(?:\.\d+)?/, "05"],
    [/^(?:Z|[+-]\d{2}:\d{2})/, "Z07:00"],
  ] as const),
];

function timeOf(text: string): bigint {
  const time = parseTime(text);
  const fault = timeFault(text) ?? (time === null ? `: ${outOfRange(text)} out of range` : null);
  if (time === null || fault !== null) throw new TsdbError("bad_request", `${NO_JSON}parsing time ${JSON.stringify(near(text))}${fault}`);
  return time.ns;
}

/** The part of a time that there is no such one of. */
function outOfRange(text: string): string {
  const [month, hour, minute, second] = [5, 11, 14, 17].map((at) => Number(text.slice(at, at + 2)));
  if (month! < 1 || month! > 12) return "month";
  return hour! > 23 ? "hour" : minute! > 59 ? "minute" : second! > 59 ? "second" : "day";
}

/** The first part that is missing; null: none. */
function timeFault(text: string): string | null {
  let rest = text;
  for (const [pattern, name] of TIME_PARTS) {
    const [found] = pattern.exec(rest) ?? [];
    if (found === undefined)
      return ` as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(near(rest))} as ${JSON.stringify(name)}`;
    rest = rest.slice(found.length);
  }
  return rest === "" ? null : `: extra text: ${JSON.stringify(near(rest))}`;
}

function dialectOf(given: Readonly<Record<string, unknown>>): FluxDialect {
  const members = new Members(given, "QueryDialect.dialect");
  const delimiter = members.text("delimiter") ?? "";
  const comment = members.text("commentPrefix") ?? "";
  const format = members.text("dateTimeFormat") ?? "";
  if (comment.length > 1) throw new TsdbError("bad_request", "invalid dialect comment prefix: must be length 0 or 1");
  // one byte, as recorded; what separates or quotes rows cannot separate cells
  if (Buffer.byteLength(delimiter) > 1 || /["\r\n]/.test(delimiter)) {
    throw new TsdbError("bad_request", "invalid dialect delimeter: must be length 1");
  }
  const annotations = members.texts("annotations");
  for (const annotation of annotations) {
    if (!(ANNOTATIONS as readonly string[]).includes(annotation)) {
      throw new TsdbError("bad_request", `unknown dialect annotation type: ${near(annotation)}`);
    }
  }
  if (format !== "" && !TIME_FORMATS.includes(format))
    throw new TsdbError("bad_request", `unknown dialect date time format: ${near(format)}`);
  return {
    header: members.flag("header") ?? true,
    delimiter: delimiter === "" ? "," : delimiter,
    annotations: annotations as FluxDialect["annotations"],
  };
}

/** The members of an object; null and absent are the same. */
class Members {
  constructor(
    private readonly given: Readonly<Record<string, unknown>>,
    private readonly owner: string,
  ) {}

  text(name: string): string | null {
    return this.member(name, (value) => typeof value === "string", "string") as string | null;
  }

  flag(name: string): boolean | null {
    return this.member(name, (value) => typeof value === "boolean", "bool") as boolean | null;
  }

  /** A null in a list is the empty text. */
  texts(name: string): readonly string[] {
    const list = (this.member(name, (value) => Array.isArray(value), "[]string") ?? []) as readonly unknown[];
    return list.map((item) => {
      if (typeof item !== "string" && item !== null) throw this.mistyped(name, item, "string");
      return item ?? "";
    });
  }

  object(name: string): Readonly<Record<string, unknown>> | null {
    const isObject = (value: unknown) => typeof value === "object" && !Array.isArray(value);
    return this.member(name, isObject, "http.QueryDialect") as Readonly<Record<string, unknown>> | null;
  }

  /** Any value as JSON again. */
  json(name: string): string | null {
    const value = this.given[name] ?? null;
    if (value === null) return null;
    // writing it would hold the event loop for seconds, and end with a full stack
    if (isDeep(value)) throw new TsdbError("bad_request", `${NO_JSON}${name} is nested too deep`);
    return JSON.stringify(value);
  }

  private member(name: string, isFine: (value: unknown) => boolean, type: string): unknown {
    const value = Object.hasOwn(this.given, name) ? (this.given[name] ?? null) : null;
    if (value === null || isFine(value)) return value;
    throw this.mistyped(name, value, type);
  }

  private mistyped(name: string, value: unknown, type: string): TsdbError {
    return new TsdbError(
      "bad_request",
      `${NO_JSON}json: cannot unmarshal ${wordFor(value)} into Go struct field ${this.owner}.${name} of type ${type}`,
    );
  }
}

function isDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > JSON_DEPTH_MAX) return true;
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
  }
  return false;
}

function wordFor(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}
