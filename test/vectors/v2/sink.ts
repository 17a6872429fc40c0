// The listener that some conversations need: it answers as they tell it and remembers what it got.
import { gunzipSync } from "node:zlib";

export interface SinkRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An HTTP server that records what it receives. */
export class Sink {
  readonly requests: SinkRequest[] = [];
  private readonly served = new Map<string, { readonly text?: string; readonly status?: number }>();
  private readonly server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => this.answer(request) });

  get url(): string {
    return this.server.url.origin;
  }

  serve({ path, ...what }: { readonly path: string; readonly text?: string; readonly status?: number }): void {
    this.served.set(path, what);
  }

  async stop(): Promise<void> {
    await this.server.stop(true);
  }

  private async answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const raw = Buffer.from(await request.arrayBuffer());
    const body = request.headers.get("content-encoding") === "gzip" ? gunzipSync(raw).toString() : raw.toString();
    const path = `${url.pathname}${url.search}`;
    this.requests.push({ method: request.method, path, headers: Object.fromEntries(request.headers), body });
    const served = this.served.get(url.pathname);
    if (served?.text !== undefined) return new Response(served.text);
    if (served?.status !== undefined) return new Response(null, { status: served.status });
    const status = /\/status\/(\d{3})/.exec(url.pathname)?.[1];
    if (status !== undefined) return new Response(null, { status: Number(status) });
    return new Response(null, { status: url.pathname.endsWith("/api/v2/write") ? 204 : 200 });
  }
}
