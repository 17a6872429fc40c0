// The parameters of a /query request on port 8086: query string, form, or the statements' text as the whole body. Unlike on port 8181, a
// body of another type has none, JSON among them.
import { TsdbError } from "../../../model/errors.ts";
import { decodeUtf8 } from "../../../model/query/query-params.ts";
import type { BodyReader } from "../../request/body.ts";
import { type QueryForm, readMultipart, readPairs } from "../../v1/query-form.ts";
import type { OpenCall } from "../app/route.ts";

const TEXT_TYPES: ReadonlySet<string> = new Set(["application/vnd.influxql", "application/vnd.tsdbql"]);
const MEDIA_TYPE = /^[!#$%&'*+.^_`|~\w-]+(?:\/[!#$%&'*+.^_`|~\w-]+)?$/;
const WITH_FORM: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

/** @throws TsdbError bad_request, also for a request without statements and without a type of its body; errors of reading a body */
export async function readForm({ request, target }: Pick<OpenCall, "request" | "target">, reader: BodyReader): Promise<QueryForm> {
  const header = request.headers.get("content-type") ?? "";
  const type = header.split(";")[0]!.trim().toLowerCase();
  const fromUrl = readPairs(target.search, "the query string");
  // unlike those of a form, whose own parameters count first
  if (type === "multipart/form-data") return { ...(await readMultipart(await reader.readWhole(request), header)), ...fromUrl };
  const isForm = type === "application/x-www-form-urlencoded" && WITH_FORM.has(request.method);
  const form = isForm ? { ...fromUrl, ...readPairs(await readText(request, reader), "the form") } : fromUrl;
  if ((form.q ?? "").trim() !== "") return form;
  if (type === "") throw new TsdbError("bad_request", "mime: no media type");
  if (!MEDIA_TYPE.test(type)) throw new TsdbError("bad_request", "mime: expected slash after first token");
  return TEXT_TYPES.has(type) ? { ...form, q: await readText(request, reader) } : form;
}

async function readText(request: Request, reader: BodyReader): Promise<string> {
  return decodeUtf8(await reader.readWhole(request), "body content is not valid utf8");
}
