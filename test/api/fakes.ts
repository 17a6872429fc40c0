// Fake services that record what the routes ask and answer what a test tells them to.

import type { SignedIn } from "../../src/accounts/sign-ins.ts";
import { createApp } from "../../src/api/app.ts";
import { Metrics, type ServerStats } from "../../src/api/metrics/metrics.ts";
import type { AccountServices, AppServices, ServerStatus } from "../../src/api/services.ts";
import { AccessControl } from "../../src/api/shared/access.ts";
import { Authorizer, NO_AUTH } from "../../src/auth/authorizer.ts";
import type { TokenService } from "../../src/auth/token-service.ts";
import type { RoleDef, UserDef } from "../../src/model/access.ts";
import type { QueryAnswer, QueryRequest } from "../../src/model/query/query.ts";
import type { PolicyLookup } from "../../src/model/retention-policies.ts";
import type { BackupJobs } from "../../src/model/rows/backup-jobs.ts";
import type { ExportService } from "../../src/model/rows/export.ts";
import type { ImportInfo, ImportJobs } from "../../src/model/rows/import-jobs.ts";
import type { RowDeleteService } from "../../src/model/rows/row-delete.ts";
import { LatestTelemetry } from "../../src/model/telemetry/latest-telemetry.ts";
import type { EngineRoute, EngineService } from "../../src/model/triggers.ts";
import type { IncomingBody, LineError, WriteRequest, WriteResult } from "../../src/model/write.ts";
import type { DefinitionService } from "../../src/tsdbql/plan/definition-service.ts";

export const CLUSTER_UUID = "9b8f6c1e-0000-4000-8000-000000000001";
export const PROCESS_ID = "9b8f6c1e-0000-4000-8000-000000000002";

const STATS: ServerStats = {
  bufferBytes: 11,
  bufferRows: 12,
  kernelBytes: 13,
  pins: 0,
  walBytes: 14,
  walSegments: 15,
  files: 16,
  fileBytes: 17,
  databases: 18,
  tables: 19,
  series: 20,
  seriesBytes: 21,
  seriesEvictions: 22,
  catalogOperations: 23,
};

export const STORED: WriteResult = { rowCount: 1, rejectedCount: 0, lineErrors: [], schemaLimit: false, empty: false };

/** `count` rejected lines beside `rowCount` stored ones. */
export function rejected(count: number, rowCount: number, over: Partial<WriteResult> = {}): WriteResult {
  const lineErrors: LineError[] = Array.from({ length: Math.min(count, 100) }, (_, index) => ({
    errorMessage: "No fields were provided",
    lineNumber: index + 1,
    originalLine: `cpu,host=${index}`,
  }));
  return { rowCount, rejectedCount: count, lineErrors, schemaLimit: false, empty: false, ...over };
}

export interface Fakes {
  /** Requests the write service got; bodies copied to text. */
  readonly writes: (WriteRequest & { readonly body: string })[];
  /** Bodies that were received and not given back. */
  readonly bodiesHeld: () => number;
  readonly queries: QueryRequest[];
  readonly reports: { readonly error: unknown; readonly where: string }[];
  readonly services: AppServices;
  /** Every route that the app has. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  /** Sends a request through the app, without a socket. */
  send(method: string, path: string, init?: { body?: BodyInit; headers?: Record<string, string> }): Promise<Response>;
}

export interface FakeOptions {
  readonly write?: (request: WriteRequest) => WriteResult | Promise<WriteResult>;
  readonly query?: (request: QueryRequest) => QueryAnswer | Promise<QueryAnswer>;
  readonly status?: () => ServerStatus;
  readonly edition?: AppServices["edition"];
  readonly hasUpgradedEngine?: boolean;
  readonly exports?: ExportService;
  readonly maxRequestBytes?: number;
  readonly v1RowsMax?: number;
  readonly now?: () => number;
  readonly access?: AccessControl;
  readonly tokens?: TokenService;
  readonly definitions?: DefinitionService;
  /** Null: users are off. */
  readonly accounts?: AccountServices | null;
  /** Default: every path is a trigger's of the database `d`. */
  readonly engine?: EngineService;
  /** Default: no database has a default policy of its own. */
  readonly policies?: PolicyLookup;
  /** Is told of each call of a service that is not given; without it, such a call is an error. */
  readonly onCall?: (service: string, method: string) => void;
}

/** A query's answer with this body. */
export function answer(text: string, contentType = "application/json"): QueryAnswer {
  return { contentType, body: new Response(text).body! };
}

const ANY_TRIGGER: EngineRoute = { database: "d", run: async () => ({ status: 200, headers: [], body: new Uint8Array() }) };

async function* chunksOf(text: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield new TextEncoder().encode(text);
}

/** Answers with what routes pass on. */
function recordedExports(onCall: NonNullable<FakeOptions["onCall"]>): ExportService {
  const called = <T>(method: string, answer: T): T => {
    onCall("exports", method);
    return answer;
  };
  return {
    databases: () => called("databases", []),
    tables: () => called("tables", []),
    windows: async () => called("windows", []),
    archive: async () => called("archive", chunksOf("archive")),
  };
}

/** Knows one backup and one restore, whatever they are called. */
function recordedImports(onCall: NonNullable<FakeOptions["onCall"]>): ImportJobs {
  const called = async <T>(method: string, answer: T): Promise<T> => {
    onCall("imports", method);
    return answer;
  };
  const times = { createdMs: 0, startedMs: 0, completedMs: 0, updatedMs: 0, minTimeNs: 0n, maxTimeNs: 0n };
  const file = { fileName: "f", byteCount: 1, rowCount: 1, columns: null, isOwn: false };
  const job: ImportInfo = { id: "i", databaseId: 1, tableId: 1, status: "imported", message: null, ...times, ...file };
  const receiving = { id: "i", byteCount: 1, append: async () => {}, finish: async () => {}, discard: async () => {} };
  return { receive: () => called("receive", receiving), start: () => called("start", job), list: () => called("list", [job]) };
}

function recordedBackups(onCall: NonNullable<FakeOptions["onCall"]>): BackupJobs {
  const called = async <T>(method: string, answer: T): Promise<T> => {
    onCall("backups", method);
    return answer;
  };
  const times = { createdMs: 0, completedMs: 0, status: "completed", error: null } as const;
  const job = { ...times, totalFiles: 0, totalBytes: 0, doneFiles: 0, doneBytes: 0 };
  const backup = { ...job, name: "b", type: "full", parent: null } as const;
  const restore = { ...job, id: "r", backup: "b" };
  return {
    start: () => called("start", "b"),
    list: () => called("list", [backup]),
    find: () => called("find", backup),
    cancel: () => called("cancel", undefined),
    delete: () => called("delete", "full" as const),
    startRestore: () => called("startRestore", "r"),
    restores: () => called("restores", [restore]),
    findRestore: () => called("findRestore", restore),
    cancelRestore: () => called("cancelRestore", undefined),
  };
}

/** Knows one request of the database `d`, whatever its sequence. */
function recordedRowDeletes(onCall: NonNullable<FakeOptions["onCall"]>): RowDeleteService {
  const called = <T>(method: string, answer: T): T => {
    onCall("rowDeletes", method);
    return answer;
  };
  const names = { database: "d", table: "t", predicate: "", isDatabaseStale: false, isTableStale: false } as const;
  const bounds = { minTimeNs: null, endTimeNs: null, createdMs: 0, endedMs: null, abortReason: null };
  const request = { sequence: 1, databaseId: 1, tableId: 1, ...names, ...bounds, state: "held", tombstoneIds: [1] } as const;
  return {
    create: async () => called("create", request),
    list: () => called("list", [request]),
    // a handler looks for the database of the request before it knows whether the caller may ask
    find: () => request,
    progress: () => called("progress", null),
    abort: async () => called("abort", request),
  };
}

/** Services of the HTTP application without storage; `options` replaces some. */
export function fakes(options: FakeOptions = {}): Fakes {
  const writes: Fakes["writes"] = [];
  const queries: QueryRequest[] = [];
  const reports: Fakes["reports"] = [];
  const bodies: FakeBody[] = [];
  const { onCall } = options;
  const service = <T extends object>(name: string): T => (onCall === undefined ? unused(name) : recorded<T>(name, onCall));
  const services: AppServices = {
    write: {
      receive: () => {
        const body = new FakeBody(async (request, text) => {
          writes.push({ ...request, body: text });
          return (options.write ?? (() => STORED))(request);
        });
        bodies.push(body);
        return body;
      },
    },
    query: {
      query: async (request) => {
        queries.push(request);
        return (options.query ?? (() => answer("[]")))(request);
      },
    },
    definitions: () => options.definitions ?? service("definitions"),
    policies: () => options.policies ?? { defaultPolicy: () => null, requireDefault: () => {}, rules: () => null },
    databaseList: () => service("databaseList"),
    databases: () => service("databases"),
    data: () => service("data"),
    tokens: () => options.tokens ?? service("tokens"),
    nodes: () => service("nodes"),
    queryConcurrency: () => ({ concurrentMax: 1000, limitConcurrent: (countMax) => onCall?.("queryConcurrency", `limit ${countMax}`) }),
    caches: () => service("caches"),
    fileIndexes: () => service("fileIndexes"),
    triggers: () => service("triggers"),
    engine: () => options.engine ?? { find: () => ANY_TRIGGER },
    plugins: () => service("plugins"),
    exports: () => options.exports ?? (onCall === undefined ? service("exports") : recordedExports(onCall)),
    backups: () => (onCall === undefined ? service("backups") : recordedBackups(onCall)),
    imports: () => (onCall === undefined ? service("imports") : recordedImports(onCall)),
    rowDeletes: () => recordedRowDeletes(onCall ?? (() => {})),
    accounts: options.accounts === undefined ? recordedAccounts(onCall ?? (() => {})) : options.accounts,
    telemetry: new LatestTelemetry(),
    hasUpgradedEngine: options.hasUpgradedEngine ?? true,
    access: options.access ?? new AccessControl(new Authorizer(NO_AUTH)),
    status: options.status ?? (() => ({ state: "ready" })),
    clusterUuid: CLUSTER_UUID,
    processId: PROCESS_ID,
    edition: options.edition ?? "enterprise",
    revision: "abc1234",
    commandLine: ["tsdb", "serve"],
    metrics: new Metrics(() => STATS),
    maxRequestBytes: options.maxRequestBytes ?? 1000,
    v1RowsMax: options.v1RowsMax ?? 0,
    now: options.now ?? (() => performance.now()),
    report: (error, where) => reports.push({ error, where }),
  };
  const app = createApp(services);
  const send: Fakes["send"] = async (method, path, init = {}) =>
    app.handle(new Request(`http://localhost:8181${path}`, { method, ...init }));
  const bodiesHeld = () => bodies.filter(({ released }) => !released).length;
  return { writes, bodiesHeld, queries, reports, services, routes: app.routes, send };
}

const USER: UserDef = {
  ...{ id: 1, username: "u", displayName: null, passwordHash: "-", requiresReset: false, oauthId: null, roleIds: [] },
  ...{ createdMs: 0, updatedMs: 0, deletedMs: null },
};
const ROLE: RoleDef = { id: 1, name: "r", description: null, isRequired: false, permissions: [], createdMs: 0, updatedMs: 0 };
const SIGNED_IN: SignedIn = { user: USER, token: "t", expiryMs: 0, refreshToken: "r", refreshExpiryMs: 0 };
const INVITED = { user: USER, temporaryPassword: null };
const PROVIDER = { issuer: "i", clientId: "c", authorizationEndpoint: "a", scopes: "openid" };

/** Users whose calls are recorded, and answered with what routes pass on. */
function recordedAccounts(onCall: NonNullable<FakeOptions["onCall"]>): AccountServices {
  const of = <T extends object>(name: string, answers: Readonly<Record<string, unknown>>): T => {
    return new Proxy(
      {},
      {
        get: (_target, method: string) => () => {
          onCall(name, method);
          return answers[method] ?? answers["else"];
        },
      },
    ) as T;
  };
  const lists = { list: [USER], rolesOf: [ROLE], setRoles: [ROLE], roles: [ROLE], roleNamed: ROLE, role: ROLE };
  return {
    users: () => of("users", { ...lists, invite: INVITED, else: USER }),
    signIns: () => of("signIns", { else: SIGNED_IN }),
    needsAdmin: () => false,
    createFirst: async () => {
      onCall("users", "createFirst");
      return { user: USER, operatorToken: null };
    },
    providerConfig: async () => {
      onCall("provider", "config");
      return PROVIDER;
    },
    requireProvider: () => {},
  };
}

/** Routes that change the catalog are tested with the real one. */
function unused(service: string): never {
  throw new Error(`no test of these fakes asks for ${service}`);
}

/** What a list of databases gives, and the answer of every other method: enough for handlers to end. */
const NOTHING: readonly unknown[] = [];

/** A service that does nothing in all of its methods. */
function recorded<T extends object>(name: string, onCall: (service: string, method: string) => void): T {
  const method = (_target: object, property: string) => () => {
    onCall(name, property);
    return NOTHING;
  };
  return new Proxy({}, { get: method }) as T;
}

class FakeBody implements IncomingBody {
  byteCount = 0;
  released = false;
  private readonly pieces: Uint8Array[] = [];

  constructor(private readonly onWrite: (request: WriteRequest, body: string) => Promise<WriteResult>) {}

  get memoryBytes(): number {
    return this.byteCount;
  }

  append(bytes: Uint8Array): void {
    this.pieces.push(bytes.slice());
    this.byteCount += bytes.byteLength;
  }

  write(request: WriteRequest): Promise<WriteResult> {
    return this.onWrite(request, Buffer.concat(this.pieces).toString());
  }

  release(): void {
    this.released = true;
  }
}

/** Status and body, the body parsed when it says that it is JSON. */
export async function outcome(response: Response): Promise<[status: number, body: unknown]> {
  const text = await response.text();
  return [response.status, response.headers.get("content-type") === "application/json" ? JSON.parse(text) : text];
}
