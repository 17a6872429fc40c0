// What clients call their requests, to find them in the log: the header Zap-Trace-Span.

const TRACE_CHARACTERS_MAX = 256;

/** The beginning of the header; null without one. */
export function traceOf({ headers }: Request): string | null {
  return headers.get("zap-trace-span")?.slice(0, TRACE_CHARACTERS_MAX) || null;
}

/** Where something failed, for the log. @param path as asked, or the route's pattern */
export function placeOf(request: Request, path: string): string {
  const trace = traceOf(request);
  return `${request.method} ${path}${trace === null ? "" : `, trace ${trace}`}`;
}
