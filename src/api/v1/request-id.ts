// The request id in response headers: the client's own, or a new one.
const OWN_ID = /^[\x21-\x7e]{1,128}$/;

/** Both header names, as v1 servers send them. */
export function requestIds(request: Request): { readonly "Request-Id": string; readonly "X-Request-Id": string } {
  const given = request.headers.get("x-request-id") ?? request.headers.get("request-id");
  const id = given !== null && OWN_ID.test(given) ? given : Bun.randomUUIDv7();
  return { "Request-Id": id, "X-Request-Id": id };
}
