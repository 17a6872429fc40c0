// One request to an app of port 8086, and its answer with the body parsed.
import type { LightServer } from "../vectors/v2/light-server.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** `{}` where the answer is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect, and fail where it is not
  readonly body: any;
}

/** Sends a request to the application of port 8086. */
export async function ask(
  server: Pick<LightServer, "base" | "send">,
  method: string,
  path: string,
  token?: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const init: RequestInit = { method, headers: { ...(token === undefined ? {} : { authorization: `Token ${token}` }), ...headers } };
  if (body !== undefined) {
    const isRaw = typeof body === "string" || body instanceof Uint8Array;
    init.body = isRaw ? (body as BodyInit) : JSON.stringify(body);
    if (!isRaw) init.headers = { "content-type": "application/json", ...init.headers };
  }
  const response = await server.send(new Request(`${server.base}${path}`, init));
  const text = await response.text();
  const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} };
}
