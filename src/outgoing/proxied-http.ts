// One HTTP request by way of a proxy: an absolute URL for HTTP, a tunnel for HTTPS. The proxy resolves the name and connects.
import type { AnswerBody } from "./answer-body.ts";

export interface ProxiedRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The certificate of the server is not checked. */
  readonly isInsecure: boolean;
}

export interface ProxiedResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
}

/** @param arriving ended by the caller @throws Error: the proxy cannot be reached or refuses, or the limit of the body */
export async function exchangeThrough(
  proxy: URL,
  url: URL,
  { method, headers, body, isInsecure }: ProxiedRequest,
  arriving: AnswerBody,
  signal: AbortSignal,
): Promise<ProxiedResponse> {
  const init: BunFetchRequestInit = {
    // fetch would ask for compressed answers by itself
    ...{ method, headers: { "Accept-Encoding": "identity", ...headers } },
    ...(body.length > 0 ? { body: new Uint8Array(body) } : {}),
    ...{ proxy: proxy.href, redirect: "manual", decompress: false, keepalive: false, signal },
    ...(isInsecure ? { tls: { rejectUnauthorized: false } } : {}),
  };
  const response = await fetch(url, init).catch((error: Error) => {
    throw new Error(`by way of the proxy ${proxy.host}: ${error.message}`);
  });
  for await (const part of response.body ?? []) arriving.append(part);
  return { status: response.status, headers: [...response.headers], body: arriving.whole() };
}
