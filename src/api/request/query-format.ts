// Selects the format of an answer: the `format` parameter, otherwise the Accept header, otherwise the default.
import { near, TsdbError } from "../../model/errors.ts";
import type { QueryFormat } from "../../model/query/query.ts";

/** Values of `format`. */
export const FORMATS: Readonly<Record<string, QueryFormat>> = {
  json: "json",
  jsonl: "jsonl",
  json_lines: "jsonl",
  csv: "csv",
  pretty: "pretty",
  parquet: "parquet",
  arrow: "arrow",
};

/** Media ranges of Accept. What browsers and plain clients send selects the default. */
const MEDIA_RANGES: Readonly<Record<string, QueryFormat>> = {
  "*/*": "seed",
  "application/*": "seed",
  "application/json": "seed",
  "text/html": "seed",
  "application/jsonl": "jsonl",
  "application/x-ndjson": "jsonl",
  "text/csv": "csv",
  "application/csv": "csv",
  "text/*": "pretty",
  "text/plain": "pretty",
  "application/vnd.apache.parquet": "parquet",
  "application/vnd.apache.arrow.stream": "arrow",
};

/** Accept is validated even if `format` decides, as on existing servers. @throws TsdbError bad_format */
export function chooseFormat(format: string | undefined, accept: string | null): QueryFormat {
  const accepted = fromAccept(accept);
  if (format === undefined) return accepted;
  if (!Object.hasOwn(FORMATS, format)) {
    throw new TsdbError("bad_format", `unknown format \`${near(format)}\`, expected one of ${Object.keys(FORMATS).join(", ")}`);
  }
  return FORMATS[format]!;
}

/** The known media range of the highest quality; among equals the first. */
function fromAccept(accept: string | null): QueryFormat {
  if (accept === null || accept.trim() === "") return "seed";
  let best: QueryFormat | null = null;
  let bestQuality = 0;
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const quality = qualityOf(parameters);
    if (!Object.hasOwn(MEDIA_RANGES, type) || quality <= bestQuality) continue;
    best = MEDIA_RANGES[type]!;
    bestQuality = quality;
  }
  if (best === null) throw new TsdbError("bad_format", `invalid mime type (${near(accept)})`);
  return best;
}

function qualityOf(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith("q="));
  if (weight === undefined) return 1;
  const quality = Number(weight.slice(2));
  return quality >= 0 && quality <= 1 ? quality : 0;
}
