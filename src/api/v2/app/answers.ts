// Shapes of answers of port 8086.

export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(`${JSON.stringify(body)}\n`, { status, headers: { "content-type": "application/json; charset=utf-8", ...headers } });
}

export function noContent(): Response {
  return new Response(null, { status: 204 });
}

export function plain(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(body, { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers } });
}
