// A recorded case in this process: the script over the recorded data in memory.
import { BodyReader } from "../../src/api/request/body.ts";
import { noContentOf, withoutContent } from "../../src/api/v2/no-content.ts";
import { type QueryBody, readQueryBody } from "../../src/api/v2/query-body.ts";
import { answerQuery, DEFAULT_ANNOTATIONS, type FluxQuery } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { externFiles } from "../../src/flux/parse/json.ts";
import { Time } from "../../src/flux/values/value.ts";
import { TsdbError } from "../../src/model/errors.ts";
import { bucketLines, type FluxCase } from "./cases.ts";
import { csvDifference } from "./compare-csv.ts";
import { MemorySource, ORGANIZATION_ID } from "./memory-source.ts";

export const RECORDED_BUCKETS = [
  "hosts",
  "types",
  "odd",
  "late",
  "dst",
  "prom",
  "money",
  "big",
  "mixed",
  "states",
  "sparse",
  "geo",
  "empty",
];

const DAY_NS = 86_400_000_000_000n;

function newSource(): MemorySource {
  const source = new MemorySource();
  for (const name of RECORDED_BUCKETS) source.addBucket(name, name === "empty" ? "" : bucketLines(name));
  source.addBucket("scratch", "");
  source.addBucket("scratch2", "");
  source.addBucket("_monitoring", "", 7n * DAY_NS);
  source.addBucket("_tasks", "", 3n * DAY_NS);
  return source;
}
let known: MemorySource | null = null;

/** What differs from the recorded answer when the rows are in memory, or null. */
export function caseDifference(each: FluxCase): Promise<string | null> {
  known ??= newSource();
  const source = known;
  return differenceOf(each, async () => {
    for (const name of each.fresh ?? []) source.empty(source.buckets().find((bucket) => bucket.name === name)!.id);
    for (const script of each.setup ?? []) await answerOf({ ...each, script }, source);
    return answerOf(each, source);
  });
}

/** What differs from the recorded answer, or null. @param answer the CSV @throws FluxError */
export async function differenceOf(each: FluxCase, answer: () => Promise<string>): Promise<string | null> {
  if (each.quirk !== undefined || each.panic === true) return null;
  const want = each.status;
  let body: string;
  try {
    body = await answer();
  } catch (error) {
    if (!(error instanceof TsdbError)) return `BUG: ${error instanceof Error ? error.stack : String(error)}`;
    if (each.unstable === true) return null;
    if (want < 400) return `error: ${error.message}`;
    if (want >= 500 || each.text === false) return null;
    const message = String((JSON.parse(each.body) as { message: unknown }).message);
    return error.message === message ? null : `error: ${error.message}\n    want: ${message}`;
  }
  if (each.unstable === true) return null;
  if (want >= 400) return `an answer, want ${want} ${each.body.slice(0, 300)}`;
  if (want === 204) return body === "" ? null : "a body, want none";
  // some answers are compared byte for byte too
  const difference = csvDifference(body, each.body, each);
  return difference === null && each.exact === true && body !== each.body ? "other bytes" : difference;
}

/** A case's script for these buckets, as it arrives in a request. @throws TsdbError bad_request */
export async function queryOf(each: FluxCase, bucketId: (name: string) => string): Promise<FluxQuery> {
  const { text, dialect, extern, nowNs } = await decoded(requestOf(each, bucketId));
  return { text, extern: extern === null ? [] : externFiles(extern), now: new Time(nowNs), dialect };
}

async function decoded(request: Request): Promise<QueryBody> {
  try {
    return await readQueryBody(request, reader, RAW_NOW_MS);
  } catch (error) {
    if (!(error instanceof TsdbError)) throw error;
    throw new TsdbError("bad_request", `failed to decode request body: ${error.message}`);
  }
}

const reader = new BodyReader(1 << 20, () => 0);
/** Of scripts that are sent without a time. */
const RAW_NOW_MS = Date.parse("2024-03-05T10:30:00Z");

function requestOf(each: FluxCase, bucketId: (name: string) => string): Request {
  const named = each.script.replaceAll("{{orgID}}", ORGANIZATION_ID);
  const query = named.replace(/\{\{bucketID:(\w+)\}\}/g, (_, name: string) => bucketId(name));
  const { now, extern, params, prefer } = each;
  const dialect = each.dialect ?? { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
  const headers = new Headers({ "content-type": each.raw === true ? "application/vnd.flux" : "application/json" });
  if (prefer !== undefined) headers.set("prefer", prefer);
  const body = each.raw === true ? query : JSON.stringify({ query, type: "flux", now, dialect, extern, params });
  return new Request("http://localhost/api/v2/query", { method: "POST", headers, body });
}

async function answerOf(each: FluxCase, source: MemorySource): Promise<string> {
  const query = await queryOf(each, (name) => source.bucket({ name })!.id);
  return preferredText(each, query, () => answerTo(query, source));
}

async function answerTo(query: FluxQuery, source: MemorySource): Promise<string> {
  const services = { write: (bucketId: string, lines: string) => source.write(bucketId, lines) };
  let body = "";
  for (const piece of answerQuery({ ...query, services }, fluxLibrary(), source)) {
    if (piece instanceof Promise) await piece;
    else body += piece ?? "";
  }
  return withoutIds(body, source.buckets());
}

/** Ids are recorded by the names of what they belong to. */
export function withoutIds(body: string, buckets: readonly { readonly id: string; readonly name: string }[]): string {
  const named = body.replaceAll(ORGANIZATION_ID, "{{orgID}}");
  return buckets.reduce((text, { id, name }) => (text.includes(id) ? text.replaceAll(id, `{{bucketID:${name}}}`) : text), named);
}

/** What is left of the answer for a client that prefers none. */
export async function preferredText(each: FluxCase, { dialect }: FluxQuery, answer: () => Promise<string>): Promise<string> {
  const kind = noContentOf(requestOf(each, () => ""));
  if (kind === null) return answer();
  const whole = async () => ({ contentType: "text/csv", body: new TextEncoder().encode(await answer()), headers: {} });
  return (await withoutContent(kind, dialect, whole)).text();
}
