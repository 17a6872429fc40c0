// A parsed /query request: the statements, the database, and the format of the answer.
import { near, TsdbError } from "../../model/errors.ts";
import type { V1Answer, V1Form, V1Shape } from "../../model/query/v1-answer.ts";
import type { PlacedStatement } from "../../tsdbql/parse/ast.ts";
import { NO_PARAMS, parseParams } from "../../tsdbql/parse/params.ts";
import { parseQuery } from "../../tsdbql/parse/parser.ts";
import type { Grammar } from "../../tsdbql/parse/token-stream.ts";
import type { QueryForm } from "./query-form.ts";

const CHUNK_ROWS_DEFAULT = 10_000;
const MICRO = 1e3;
const EPOCHS: ReadonlyMap<string, number> = new Map([
  ["ns", 1],
  ["n", 1],
  ["u", MICRO],
  // the micro sign and the Greek letter
  ["\u00b5", MICRO],
  ["\u03bc", MICRO],
  ["ms", 1e6],
  ["s", 1e9],
  ["m", 60e9],
  ["h", 3600e9],
  ["d", 86_400e9],
  ["w", 604_800e9],
]);

const FORMS: Readonly<Record<string, V1Form>> = {
  "application/json": "json",
  "*/*": "json",
  "application/*": "json",
  "application/csv": "csv",
  "text/csv": "csv",
  "application/x-msgpack": "msgpack",
};

export interface V1Query {
  readonly statements: readonly PlacedStatement[];
  /** "" if the request names none. */
  readonly database: string;
  readonly retentionPolicy: string | null;
  /** Bind parameters, a JSON object. */
  readonly params: string | null;
  /** True if statements that change data are deprecated, as for GET. */
  readonly isReadOnly: boolean;
  /** True if the client does not wait for the answer. */
  readonly isAsync: boolean;
  readonly answer: Omit<V1Answer, "statementId" | "isFirst" | "isLast" | "rowLimit">;
}

/** The answer's format, as far as it can be determined before anything else is parsed. */
export function shapeOf(request: Request, form: QueryForm): V1Shape {
  return { form: formOf(request.headers.get("accept")), isPretty: form.pretty === "true" };
}

/** The first known media range; unknown ones are answered as JSON. */
function formOf(accept: string | null): V1Form {
  for (const range of (accept ?? "").split(",")) {
    const type = range.split(";")[0]!.trim().toLowerCase();
    if (Object.hasOwn(FORMS, type)) return FORMS[type]!;
  }
  return "json";
}

/** No text has no statements in version 2.x. @throws TsdbError bad_request, bad_query with the texts of version 1.x */
export function readV1Query(request: Request, form: QueryForm, grammar: Grammar = "1.x"): V1Query {
  const text = form.q?.trim() ?? "";
  if (text === "" && grammar === "1.x") throw new TsdbError("bad_request", 'missing required parameter "q"');
  const params = form.params === undefined || form.params === "" ? null : form.params;
  const statements = parseQuery(text, params === null ? NO_PARAMS : parseParams(params), grammar);
  return {
    statements,
    params,
    database: form.db ?? "",
    retentionPolicy: form.rp === undefined || form.rp === "" ? null : form.rp,
    isReadOnly: request.method === "GET",
    isAsync: form.async === "true",
    answer: {
      ...shapeOf(request, form),
      epochNs: epochOf(form.epoch),
      chunkRows: form.chunked === "true" ? chunkRowsOf(form.chunk_size) : null,
      statementCount: statements.length,
    },
  };
}

/** Unknown units mean nanoseconds, as in 1.x. */
function epochOf(unit: string | undefined): number | null {
  const name = unit?.trim() ?? "";
  return name === "" ? null : (EPOCHS.get(name) ?? 1);
}

/** Anything but a positive number means the default, as in 1.x. */
function chunkRowsOf(size: string | undefined): number {
  const rows = /^\+?\d{1,18}$/.test(size ?? "") ? Number(size) : 0;
  return rows > 0 ? rows : CHUNK_ROWS_DEFAULT;
}

/** Removes characters that are invalid in a header value. */
export function headerText(text: string): string {
  return near(text, 1000)
    .replace(/…$/, "...")
    .replace(/[^\x20-\x7e]+/g, "?");
}
