// What is to be deleted, as clients of the native API send it: in the query string, or in a JSON body where there is none.
import type { Static, TObject } from "@sinclair/typebox";
import type { BodyReader } from "./body.ts";
import { readJsonBody } from "./json-body.ts";
import { readQueryString, readRequiredQuery } from "./query-string.ts";
import type { RequestTarget } from "./request-target.ts";

/** For the documentation of such a route. */
export const QUERY_OR_BODY = "Without a query string a JSON body with the same members does as well.";

/** @throws TsdbError bad_request; UnacceptableType: a body, or a content type, that is not JSON */
export async function readQueryOrBody<T extends TObject>(
  schema: T,
  { request, target }: { readonly request: Request; readonly target: RequestTarget },
  reader: BodyReader,
): Promise<Static<T>> {
  if (request.body === null && !request.headers.has("content-type")) return readRequiredQuery(schema, target.search);
  return readQueryString(schema, target.search) ?? (await readJsonBody(schema, request, reader));
}
