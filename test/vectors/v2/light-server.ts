// The v2 line without sockets, threads and rows: the catalog in memory, its services and the HTTP app. For what needs no rows.
import { createV2App } from "../../../src/api/v2/app/app.ts";
import type { V2Options } from "../../../src/api/v2/app/services.ts";
import type { HashCost } from "../../../src/metadata/access/passwords.ts";
import { SecretBox } from "../../../src/metadata/access/secret-box.ts";
import { V2Line } from "../../../src/metadata/line.ts";
import type { IncomingBody, WriteResult } from "../../../src/model/write.ts";
import { MemoryObjectStore } from "../../../src/object-store/memory-object-store.ts";
import { Catalog } from "../../../src/storage/catalog/catalog.ts";
import type { PlayedServer } from "./replay.ts";

export interface LightServer extends PlayedServer {
  readonly line: V2Line;
  readonly catalog: Catalog;
  /** What was reported as a fault of the server's. */
  readonly reports: { readonly error: unknown; readonly where: string }[];
}

export interface LightOptions {
  readonly options?: Partial<V2Options>;
  readonly keepsHashesOnly?: boolean;
  readonly store?: MemoryObjectStore;
  readonly box?: SecretBox;
  /** Default: as little as there is. */
  readonly hashCost?: HashCost;
  /** Milliseconds since 1970. */
  readonly clockMs?: () => number;
}

const MINUTE_MS = 60_000;

export async function lightServer(given: LightOptions = {}): Promise<LightServer> {
  const clockMs = given.clockMs ?? (() => Date.now());
  const catalog = await Catalog.open(given.store ?? new MemoryObjectStore(), { prefix: "node0/catalog" });
  const line = new V2Line(catalog, {
    nowMs: clockMs,
    sessions: { lengthMs: 60 * MINUTE_MS, renewMs: 5 * MINUTE_MS },
    box: given.box ?? SecretBox.random(),
    keepsHashesOnly: given.keepsHashesOnly ?? false,
    hashCost: given.hashCost ?? { memoryCost: 8, timeCost: 1 },
    onDropped: () => {},
  });
  const reports: LightServer["reports"] = [];
  const app = createV2App({
    line: () => line,
    write: { receive: () => new ForgottenBody() },
    written: () => {},
    status: () => ({ state: "ready" }),
    startedMs: clockMs(),
    clockMs,
    now: () => performance.now(),
    report: (error, where) => reports.push({ error, where }),
    revision: "abcdef0",
    renderMetrics: async () => ({ text: "# HELP none\n", contentType: "text/plain; version=0.0.4; charset=utf-8" }),
    counted: () => {},
    options: {
      strongPasswords: false,
      // as the recorded server has it
      defaultRetentionSeconds: 0,
      metricsDisabled: false,
      pprofDisabled: false,
      maxRequestBytes: 1 << 20,
      shownConfig: {},
      isSecure: false,
      sessionLengthSeconds: 3600,
      ...given.options,
    },
  });
  return {
    base: "http://localhost:8086",
    send: async (request) => app.handle(request),
    stop: () => catalog.close(),
    line,
    catalog,
    reports,
  };
}

/** A server with the recorded server's flags. */
export function lightServerOf(flags: readonly string[] = []): Promise<LightServer> {
  const has = (flag: string) => flags.includes(flag);
  return lightServer({
    keepsHashesOnly: has("--use-hashed-tokens"),
    options: {
      strongPasswords: has("--strong-passwords"),
      metricsDisabled: has("--metrics-disabled"),
      pprofDisabled: has("--pprof-disabled"),
    },
  });
}

/** Takes any lines and stores nothing. */
class ForgottenBody implements IncomingBody {
  byteCount = 0;
  readonly memoryBytes = 0;

  append(bytes: Uint8Array): void {
    this.byteCount += bytes.byteLength;
  }

  async write(): Promise<WriteResult> {
    return { rowCount: 1, rejectedCount: 0, lineErrors: [], schemaLimit: false, empty: this.byteCount === 0 };
  }

  release(): void {}
}
