// A recorded case in this process: the script over the recorded data in memory.
import type { Annotation, Dialect } from "../../src/flux/encode/annotated-csv.ts";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { filesOfJson } from "../../src/flux/parse/json.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { FluxError } from "../../src/flux/values/flux-error.ts";
import { bucketLines, type FluxCase } from "./cases.ts";
import { csvDifference } from "./compare-csv.ts";
import { MemorySource, ORGANIZATION_ID } from "./memory-source.ts";

const BUCKETS = ["hosts", "types", "odd", "late", "dst", "prom", "money", "big", "mixed", "states", "sparse", "geo", "empty"];

function newSource(): MemorySource {
  const source = new MemorySource();
  for (const name of BUCKETS) source.addBucket(name, name === "empty" ? "" : bucketLines(name));
  source.addBucket("scratch", "");
  source.addBucket("scratch2", "");
  return source;
}
let known: MemorySource | null = null;

/** What differs from the recorded answer, or null. */
export function caseDifference(each: FluxCase): string | null {
  if (each.quirk !== undefined || each.panic === true) return null;
  known ??= newSource();
  const want = each.status;
  let body: string;
  try {
    body = answerOf(each, known);
  } catch (error) {
    if (!(error instanceof FluxError)) return `BUG: ${error instanceof Error ? error.stack : String(error)}`;
    if (each.unstable === true) return null;
    if (want < 400) return `error: ${error.message}`;
    if (want >= 500 || each.text === false) return null;
    const message = String((JSON.parse(each.body) as { message: unknown }).message);
    return error.message === message ? null : `error: ${error.message}\n    want: ${message}`;
  }
  if (each.unstable === true) return null;
  if (want >= 400) return `an answer, want ${want} ${each.body.slice(0, 300)}`;
  if (want === 204) return null;
  // some answers are compared byte for byte too
  const difference = csvDifference(body, each.body, each);
  return difference === null && each.exact === true && body !== each.body ? "other bytes" : difference;
}

function answerOf({ script, now, dialect, extern, raw }: FluxCase, source: MemorySource): string {
  const text = script.replaceAll("{{orgID}}", ORGANIZATION_ID).replace(/\{\{bucketID:(\w+)\}\}/g, (_, name: string) => {
    return source.buckets().find((bucket) => bucket.name === name)!.id;
  });
  const query = {
    text,
    extern: extern === undefined ? [] : filesOfJson(extern),
    now: parseTime(now)!,
    dialect: dialectOf(dialect ?? { annotations: raw === true ? [] : DEFAULT_ANNOTATIONS }),
  };
  let body = "";
  for (const piece of answerQuery(query, fluxLibrary(), source)) body += piece ?? "";
  return body;
}

function dialectOf(given: Readonly<Record<string, unknown>>): Dialect {
  return {
    header: given["header"] !== false,
    delimiter: String(given["delimiter"] ?? ","),
    annotations: (given["annotations"] ?? []) as readonly Annotation[],
  };
}
