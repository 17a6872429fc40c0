// Parses the parameters of a /query request in all forms that v1 clients use: query string, form, JSON, or the statements' text as the
// whole body. The body takes precedence over the query string, unless it is text.
import { near, TsdbError } from "../../model/errors.ts";
import { decodeUtf8, requireFewValues } from "../../model/query/query-params.ts";
import type { BodyReader } from "../request/body.ts";
import { shownMember } from "../request/json-body.ts";
import type { AnyCall } from "../shared/route.ts";

const QUERY_FIELDS = ["q", "db", "rp", "epoch", "chunked", "chunk_size", "pretty", "params", "async", "format"] as const;
type Field = (typeof QUERY_FIELDS)[number];
export type QueryForm = Partial<Record<Field, string>>;

const FIELDS: ReadonlySet<string> = new Set(QUERY_FIELDS);
/** Content types of bodies that are the statements themselves: the vendor's, ours, and none. */
const TEXT_TYPES: ReadonlySet<string> = new Set(["", "application/vnd.influxql", "application/vnd.tsdbql"]);
/** Maximum form fields, and pairs of the query string; the body as a whole is limited separately. */
const FORM_FIELDS_MAX = 1000;

/** @throws TsdbError bad_request, and errors of reading a body */
export async function readQueryForm({ request, target }: Pick<AnyCall, "request" | "target">, reader: BodyReader): Promise<QueryForm> {
  const fromUrl = readPairs(target.search, "the query string");
  // some clients say gzip without a body
  if (request.method !== "POST" || request.body === null) return fromUrl;
  const contentType = request.headers.get("content-type") ?? "";
  const bytes = await reader.readWhole(request);
  if (bytes.byteLength === 0) return fromUrl;
  const fromBody = await readBody(bytes, contentType);
  // statements of the query string count before a body that is text
  return isText(contentType) ? { ...fromBody, ...fromUrl } : { ...fromUrl, ...fromBody };
}

async function readBody(bytes: Uint8Array, contentType: string): Promise<QueryForm> {
  const type = typeOf(contentType);
  if (type === "multipart/form-data") return readMultipart(bytes, contentType);
  const isForm = type === "application/x-www-form-urlencoded";
  const isJson = type === "application/json" || /^application\/[\w.-]+\+json$/.test(type);
  // other bodies are ignored, as in 1.x
  if (!isForm && !isJson && !isText(contentType)) return {};
  const text = decodeUtf8(bytes, "body content is not valid utf8");
  if (isForm) return readPairs(text, "the form");
  if (isJson) return readJsonForm(text);
  return text.trim() === "" ? {} : { q: text };
}

function typeOf(contentType: string): string {
  return contentType.split(";")[0]!.trim().toLowerCase();
}

function isText(contentType: string): boolean {
  return TEXT_TYPES.has(typeOf(contentType));
}

/** `name=value` pairs; the first of repeated names counts. @throws TsdbError bad_request */
export function readPairs(text: string, where: string): QueryForm {
  const found: QueryForm = {};
  const pairs = text.split("&", FORM_FIELDS_MAX + 1);
  if (pairs.length > FORM_FIELDS_MAX) throw new TsdbError("bad_request", `${where} has more than ${FORM_FIELDS_MAX} fields`);
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals), where);
    if (FIELDS.has(name)) found[name as Field] ??= decode(equals < 0 ? "" : pair.slice(equals + 1), where);
  }
  return found;
}

function decode(encoded: string, where: string): string {
  if (!/[%+]/.test(encoded)) return encoded;
  try {
    return decodeURIComponent(encoded.replaceAll("+", " "));
  } catch {
    throw new TsdbError("bad_request", `invalid percent-encoding in ${where} near "${near(encoded)}"`);
  }
}

/** The command-line shell sends `q` as a file. @throws TsdbError bad_request */
export async function readMultipart(bytes: Uint8Array, contentType: string): Promise<QueryForm> {
  let form: FormData;
  try {
    form = (await new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { "content-type": contentType } }).formData()) as FormData;
  } catch (error) {
    throw new TsdbError("bad_request", `the multipart form cannot be read: ${near((error as Error).message, 100)}`);
  }
  const found: QueryForm = {};
  let count = 0;
  for (const [name, value] of form as unknown as Iterable<[string, string | Blob]>) {
    if (++count > FORM_FIELDS_MAX) throw new TsdbError("bad_request", `the multipart form has more than ${FORM_FIELDS_MAX} fields`);
    if (FIELDS.has(name)) found[name as Field] ??= typeof value === "string" ? value : await value.text();
  }
  return found;
}

/** Numbers, booleans and objects are converted to the text that a form would contain. @throws TsdbError bad_request */
function readJsonForm(text: string): QueryForm {
  requireFewValues(text, "the JSON body has ");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new TsdbError("bad_request", `the JSON body cannot be read: ${near((error as Error).message, 100)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TsdbError("bad_request", "the JSON body must be an object with the member `q`");
  }
  const found: QueryForm = {};
  for (const [name, member] of Object.entries(value)) {
    if (!FIELDS.has(name) || member === null) continue;
    const isText = typeof member === "string";
    if (typeof member === "object" && name !== "params") {
      throw new TsdbError("bad_request", `\`${name}\` must be a string, a number or a boolean, got ${shownMember(member)}`);
    }
    found[name as Field] = isText ? member : name === "params" ? paramsSource(text, member) : String(member);
  }
  return found;
}

type SourceReviver = (key: string, value: unknown, context: { source?: string }) => unknown;

/** Member `params` of a JSON text as JSON source, with numbers as written: 3.0 and 1e-7 are floats, and integers keep all digits.
 *  @throws TsdbError bad_request */
export function paramsSource(text: string, params: unknown): string {
  if (typeof params !== "object") return JSON.stringify(params);
  try {
    return withSource(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // nested beyond the stack limit, hence deeper than parameters may be
    throw new TsdbError("bad_request", "error parsing query parameters: exceeded max depth");
  }
}

function withSource(text: string): string {
  const kept: string[] = [];
  const place = (json: string) => `\u0000${kept.push(json) - 1}`;
  const keep: SourceReviver = (_key, value, { source }) => {
    // a text may look like a place
    if (typeof value === "string" && value.includes("\u0000")) return place(JSON.stringify(value));
    if (typeof value !== "number" || source === undefined) return value;
    return place(/^[^.]*e/i.test(source) ? source.replace(/e/i, ".0e") : source);
  };
  const { params: again } = JSON.parse(text, keep as (key: string, value: unknown) => unknown) as { params: unknown };
  return JSON.stringify(again).replace(/"\\u0000(\d+)"(?!:)/g, (found, index: string) => kept[Number(index)] ?? found);
}
