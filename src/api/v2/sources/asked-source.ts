// Asks sources: whether they are well, and which buckets they have. An answer that is not of the
// vendor's form is told to nobody.
import { createHmac } from "node:crypto";
import type { Source } from "../../../metadata/resources/pages/sources.ts";
import { near, TsdbError } from "../../../model/errors.ts";
import { parseHumanDuration } from "../../../model/time/human-duration.ts";
import { SECOND_NS } from "../../../model/time/time-units.ts";
import { type OutgoingLimits, type OutgoingResponse, outgoingHttp } from "../../../outgoing/outgoing-http.ts";

/** What is read of a bucket of a source; others of its members are not shown. */
export interface SourceBucket {
  readonly id?: string;
  readonly orgID?: string;
  readonly name: string;
  readonly description?: string;
  readonly type?: "user" | "system";
  readonly rp?: string;
  readonly retentionRules: readonly { readonly type: "expire"; readonly everySeconds: number }[];
}

const LIMITS = { timeoutMs: 10_000, bodyBytesMax: 4 << 20 } as const;
/** Requests that wait for sources, of all senders. */
const AT_ONCE_MAX = 16;
const PAGE = 100;
export const SOURCE_BUCKETS_MAX = 5000;
const TEXT_MAX = 1000;
const TOKEN_SECONDS = 60;

/** Asks sources, a few at once. */
export class AskedSources {
  private waiting = 0;
  private readonly limits: OutgoingLimits;

  constructor(
    allowsPrivate: boolean,
    private readonly clockMs: () => number,
    limits: Partial<Omit<OutgoingLimits, "allowsPrivate">> = {},
  ) {
    this.limits = { ...LIMITS, ...limits, allowsPrivate };
  }

  /** Null: it is well; else what is wrong. @throws TsdbError too_many_requests */
  async fault(source: Source): Promise<string | null> {
    if (source.type === "self") return null;
    try {
      return await this.inTurn(async (signal) => {
        if (source.type !== "v1" && source.type !== "v2") throw unknownType(source);
        const { status } = await this.get(source, source.type === "v1" ? "/ping" : "/health", signal);
        return status === 200 || status === 204 ? null : `the source answered ${status}`;
      });
    } catch (error) {
      if (error instanceof TsdbError && (error.kind === "bad_query" || error.kind === "bad_request")) return error.message;
      throw error;
    }
  }

  /** Of a source that is another server. @param org of the name: for servers of the v2 line @throws TsdbError bad_request: it cannot be
   *  asked, or has not answered as wanted; too_many_requests */
  async buckets(source: Source, org: string | undefined): Promise<SourceBucket[]> {
    try {
      return await this.inTurn((signal) => {
        if (source.type === "v1") return this.policies(source, signal);
        if (source.type === "v2") return this.pages(source, org, signal);
        throw unknownType(source);
      });
    } catch (error) {
      if (!(error instanceof TsdbError) || error.kind === "too_many_requests") throw error;
      throw new TsdbError("bad_request", `cannot read the buckets of the source: ${error.message}`, {}, { cause: error });
    }
  }

  private async pages(source: Source, org: string | undefined, signal: AbortSignal): Promise<SourceBucket[]> {
    const found: SourceBucket[] = [];
    for (;;) {
      const query = { limit: String(PAGE), offset: String(found.length), ...(org === undefined ? {} : { org }) };
      const { buckets } = membersOf(jsonOf(await this.get(source, `/api/v2/buckets?${new URLSearchParams(query)}`, signal)));
      if (!Array.isArray(buckets)) throw notOfTheForm();
      const page = buckets.map(bucketOf);
      found.push(...page);
      requireFew(found);
      if (page.length < PAGE) return found;
    }
  }

  /** A database and its policy are a bucket. */
  private async policies(source: Source, signal: AbortSignal): Promise<SourceBucket[]> {
    const databases = rowsOf(await this.statements(source, ["SHOW DATABASES"], signal)).flatMap((rows) =>
      rows.map(([name]) => textOf(name)),
    );
    requireFew(databases);
    if (databases.length === 0) return [];
    const statements = databases.map((name) => `SHOW RETENTION POLICIES ON "${name.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`);
    const policies = rowsOf(await this.statements(source, statements, signal));
    const found = databases.flatMap((database, i) =>
      (policies[i] ?? []).map(([policy, duration]): SourceBucket => {
        const rp = textOf(policy);
        const everySeconds = Number(parseHumanDuration(textOf(duration)) / SECOND_NS);
        const retentionRules = everySeconds === 0 ? [] : [{ type: "expire", everySeconds } as const];
        return { name: `${database}/${rp}`, type: "user", rp, retentionRules };
      }),
    );
    requireFew(found);
    return found;
  }

  private async statements(source: Source, statements: readonly string[], signal: AbortSignal): Promise<unknown> {
    const body = new TextEncoder().encode(new URLSearchParams({ q: statements.join("; ") }).toString());
    const type = ["Content-Type", "application/x-www-form-urlencoded"] as const;
    return jsonOf(await this.send({ source, method: "POST", path: "/query", headers: [type], body, signal }));
  }

  private get(source: Source, path: string, signal: AbortSignal): Promise<OutgoingResponse> {
    return this.send({ source, method: "GET", path, headers: [], body: new Uint8Array(0), signal });
  }

  private send({ source, path, headers, signal, ...request }: Asked): Promise<OutgoingResponse> {
    const url = source.url.replace(/\/+$/, "") + path;
    const given = [...headers, ...credentialsOf(source, this.clockMs())];
    return outgoingHttp({ ...request, url, headers: given, timeoutMs: 0, isInsecure: source.insecureSkipVerify }, this.limits, signal);
  }

  /** All requests to a source together have the time of one. */
  private async inTurn<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.waiting >= AT_ONCE_MAX) {
      throw new TsdbError("too_many_requests", `${AT_ONCE_MAX} requests wait for answers of sources; try again`, { retryAfterSeconds: 1 });
    }
    this.waiting += 1;
    try {
      return await ask(AbortSignal.timeout(this.limits.timeoutMs));
    } finally {
      this.waiting -= 1;
    }
  }
}

interface Asked {
  readonly source: Source;
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

/** A token, a JSON Web Token signed with the shared secret, or name and password. */
function credentialsOf({ type, token, username, password, sharedSecret }: Source, nowMs: number): (readonly [string, string])[] {
  if (type === "v2" || (token !== "" && sharedSecret === "" && username === "")) {
    return token === "" ? [] : [["Authorization", `Token ${token}`]];
  }
  if (sharedSecret !== "") return [["Authorization", `Bearer ${signedToken(username, sharedSecret, nowMs)}`]];
  return username === "" ? [] : [["Authorization", `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`]];
}

/** HS256, as servers of the v1 line take it. */
function signedToken(username: string, sharedSecret: string, nowMs: number): string {
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${encoded({ alg: "HS256", typ: "JWT" })}.${encoded({ username, exp: Math.floor(nowMs / 1000) + TOKEN_SECONDS })}`;
  return `${text}.${createHmac("sha256", sharedSecret).update(text).digest("base64url")}`;
}

function unknownType({ type }: Source): TsdbError {
  return new TsdbError("bad_request", `a source of the type ${JSON.stringify(near(type))} cannot be asked: want self, v1 or v2`);
}

function notOfTheForm(): TsdbError {
  return new TsdbError("bad_request", "the answer of the source has another form");
}

function requireFew(found: readonly unknown[]): void {
  if (found.length > SOURCE_BUCKETS_MAX) throw new TsdbError("bad_request", `it has more than ${SOURCE_BUCKETS_MAX}`);
}

function jsonOf({ status, body }: OutgoingResponse): unknown {
  if (status !== 200) throw new TsdbError("bad_request", `the source answered ${status}`);
  try {
    return JSON.parse(new TextDecoder("utf-8", { ignoreBOM: false }).decode(body)) as unknown;
  } catch {
    throw notOfTheForm();
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw notOfTheForm();
  return value as Readonly<Record<string, unknown>>;
}

function textOf(value: unknown): string {
  if (typeof value !== "string" || value.length > TEXT_MAX) throw notOfTheForm();
  return value;
}

function bucketOf(value: unknown): SourceBucket {
  const { id, orgID, name, description, type, rp, retentionRules } = membersOf(value);
  const optional = { id, orgID, description, rp };
  const texts = Object.entries(optional).flatMap(([key, text]) => (text === undefined ? [] : [[key, textOf(text)] as const]));
  const rules = Array.isArray(retentionRules) ? retentionRules.map(membersOf) : [];
  return {
    ...(Object.fromEntries(texts) as Pick<SourceBucket, "id">),
    name: textOf(name),
    ...(type === "user" || type === "system" ? { type } : {}),
    retentionRules: rules.flatMap(({ everySeconds }) =>
      typeof everySeconds === "number" && Number.isSafeInteger(everySeconds) && everySeconds >= 0 ? [{ type: "expire", everySeconds }] : [],
    ),
  };
}

/** The rows of each statement. */
function rowsOf(answer: unknown): unknown[][][] {
  const { results } = membersOf(answer);
  if (!Array.isArray(results)) throw notOfTheForm();
  return results.map((result) => {
    const { series = [], error } = membersOf(result);
    if (error !== undefined) throw new TsdbError("bad_request", "the source has refused the statement");
    if (!Array.isArray(series)) throw notOfTheForm();
    return series.flatMap((each) => {
      const { values = [] } = membersOf(each);
      if (!Array.isArray(values) || !values.every(Array.isArray)) throw notOfTheForm();
      return values as unknown[][];
    });
  });
}
