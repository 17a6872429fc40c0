// The few shapes of an answer. Headers that every answer carries are added in one place, app.ts, but to the one that is
// given most.
import type { Failure } from "./errors.ts";

export const JSON_TYPE = "application/json";
export const TEXT_TYPE = "text/plain; charset=utf-8";

export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": JSON_TYPE, ...headers } });
}

export function text(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(body, { status, headers: { "content-type": TEXT_TYPE, ...headers } });
}

/** The headers of every answer. */
export function commonHeaders({ clusterUuid }: { readonly clusterUuid: string }): Readonly<Record<string, string>> {
  return { "cluster-uuid": clusterUuid, "access-control-allow-origin": "*" };
}

const COMPLETE = Symbol("was made with the headers of every answer");

/** Marks a response that was made with `commonHeaders`. */
export function complete(response: Response): Response {
  (response as Marked)[COMPLETE] = true;
  return response;
}

export function isComplete(response: Response): boolean {
  return (response as Marked)[COMPLETE] === true;
}

interface Marked extends Response {
  [COMPLETE]?: boolean;
}

/** Who may not: what v2 clients show is `message`, what they match is `code`. */
const ACCESS_CODES: Readonly<Record<number, string>> = { 401: "unauthorized", 403: "forbidden" };

/** Members of an error's body: `error`, and with 401 and 403 also `code` and `message`. */
export function errorMembers({ status, message }: Pick<Failure, "status" | "message">): Readonly<Record<string, string>> {
  const code = ACCESS_CODES[status];
  return code === undefined ? { error: message } : { error: message, code, message };
}

/** `{"error": …}`, the JSON form of an error on the v1 and v3 endpoints. */
export function errorJson(failure: Failure): Response {
  return json(failure.status, errorMembers(failure), failure.headers);
}

/** The message alone, the form in which the query endpoints report what is wrong with a statement. */
export function errorText(failure: Failure): Response {
  return text(failure.status, failure.message, failure.headers);
}
