// Handles the requests of a run to the server (statements, writes, cached values) and its result.
import { TsdbError } from "../../model/errors.ts";
import type { PluginCaller, PluginFailure, PluginFailureKind, PluginOutcome, PluginWrite } from "../plugin-call.ts";
import type { PluginHost, PluginQuery } from "../plugin-host.ts";
import { GarbageError } from "./frames.ts";
import type { SharedValues } from "./shared-values.ts";

type Head = Readonly<Record<string, unknown>>;

/** `reply` has a type: "part" of a long answer, or "reply", the last. */
export interface Reply {
  readonly reply: object;
  readonly data: Uint8Array;
}

/** The result of a run that returned. */
interface Finished {
  readonly failure: null;
  readonly response: PluginOutcome["response"];
  /** By database; each line ends with a line feed. */
  readonly lines: readonly { readonly database: string; readonly lines: Uint8Array }[];
}

const NOTHING = new Uint8Array();
const END = { reply: { t: "reply" }, data: NOTHING };

export interface RunRequestsParts {
  readonly host: PluginHost;
  readonly values: SharedValues;
  readonly caller: PluginCaller;
  /** Lifetime of cached values without a ttl; null: unlimited. */
  readonly defaultTtlSeconds: number | null;
}

/** The requests of one run. */
export class RunRequests {
  constructor(private readonly parts: RunRequestsParts) {}

  /** @throws GarbageError for an invalid request */
  async *answer(head: Head, blob: Uint8Array, signal: AbortSignal): AsyncGenerator<Reply> {
    try {
      if (head["t"] === "query") yield* this.query(queryOf(head, signal));
      else if (head["t"] === "write") yield await this.write(head, blob);
      else if (head["t"] === "cache") yield this.cached(head, blob);
      else throw new GarbageError(`a frame of type ${JSON.stringify(head["t"])?.slice(0, 40)}`);
    } catch (error) {
      if (error instanceof GarbageError) throw error;
      // internal errors are logged by the server; the plugin receives a generic message
      yield { reply: { t: "reply", error: messageOf(error) }, data: NOTHING };
    }
  }

  /** Stores the buffered writes of the run. */
  async store({ response, lines }: Finished): Promise<PluginOutcome> {
    const { caller, host } = this.parts;
    if (caller.kind === "test") return { failure: null, response, writes: lines.flatMap(linesOf) };
    for (const { database, lines: bytes } of lines) {
      try {
        await host.write({ database, lines: bytes, noSync: false, writer: caller });
      } catch (error) {
        const message = `the lines that the plugin wrote to ${database} were refused: ${messageOf(error)}`;
        return { failure: { kind: "write", message, traceback: null }, response: null, writes: [] };
      }
    }
    return { failure: null, response, writes: [] };
  }

  private async *query(query: PluginQuery): AsyncGenerator<Reply> {
    const body = await this.parts.host.query(query);
    if (body instanceof Uint8Array) {
      yield { reply: { t: "reply" }, data: body };
      return;
    }
    for await (const data of body) yield { reply: { t: "part" }, data };
    yield END;
  }

  private async write(head: Head, lines: Uint8Array): Promise<Reply> {
    const { database, noSync } = head;
    if (typeof database !== "string" || typeof noSync !== "boolean") throw new GarbageError("a write without a database");
    await this.parts.host.write({ database, lines, noSync, writer: this.parts.caller });
    return END;
  }

  private cached(head: Head, blob: Uint8Array): Reply {
    const { values, defaultTtlSeconds } = this.parts;
    const { op, scope, key, ttl = null } = head;
    if (typeof scope !== "string" || typeof key !== "string") throw new GarbageError("a cached value without a key");
    if (op === "get") {
      const found = values.get(scope, key);
      return { reply: { t: "reply", found: found !== undefined }, data: found ?? NOTHING };
    }
    if (op === "delete") return { reply: { t: "reply", found: values.delete(scope, key) }, data: NOTHING };
    const seconds = typeof ttl === "number" ? ttl : defaultTtlSeconds;
    if (values.put(scope, key, blob, seconds)) return { reply: { t: "reply", found: true }, data: NOTHING };
    return { reply: { t: "reply", error: "the values that plugins share take too much memory" }, data: NOTHING };
  }
}

/** Decodes a frame of type "done". */
export function finished(head: Head, blob: Uint8Array): Finished | { readonly failure: PluginFailure } | GarbageError {
  const { failure, lines, response } = head as { failure?: unknown; lines?: unknown; response?: unknown };
  if (failure !== undefined) return isRecord(failure) ? { failure: failureOf(failure) } : new GarbageError("an invalid failure");
  if (!Array.isArray(lines) || !lines.every(areLines)) return new GarbageError("a result without lines");
  const lineBytes = lines.reduce((sum, [, , bytes]) => sum + bytes, 0);
  let at = blob.byteLength - lineBytes;
  if (at < 0) return new GarbageError("a result whose lines are longer than it");
  const answer = responseOf(response, blob.subarray(0, at));
  if (answer instanceof GarbageError) return answer;
  const byDatabase = lines.map(([database, , bytes]) => {
    at += bytes;
    return { database, lines: blob.subarray(at - bytes, at) };
  });
  return { failure: null, response: answer, lines: byDatabase };
}

/** | database | count of lines | bytes | */
function areLines(one: unknown): one is [string, number, number] {
  return Array.isArray(one) && typeof one[0] === "string" && Number.isSafeInteger(one[2]) && one[2] >= 0;
}

function isRecord(value: unknown): value is Head {
  return typeof value === "object" && value !== null;
}

function responseOf(response: unknown, body: Uint8Array): PluginOutcome["response"] | GarbageError {
  if (!isRecord(response)) return null;
  const { status, headers = [] } = response;
  const isHeader = (pair: unknown) => Array.isArray(pair) && typeof pair[0] === "string" && typeof pair[1] === "string";
  if (!Number.isInteger(status) || !Array.isArray(headers) || !headers.every(isHeader)) return new GarbageError("an invalid answer");
  return { status: status as number, headers: headers.map(([name, value]) => [name, value] as const), body };
}

function failureOf({ kind, message, traceback }: Head): PluginFailure {
  const kinds: readonly PluginFailureKind[] = ["exception", "memory", "stopped", "no-python"];
  const known = kinds.find((each) => each === kind);
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return { kind: known ?? "exception", message: text(message), traceback: text(traceback) || null };
}

function linesOf({ database, lines }: { database: string; lines: Uint8Array }): PluginWrite[] {
  const texts = new TextDecoder("utf-8", { ignoreBOM: true }).decode(lines).split("\n");
  return texts.filter((line) => line !== "").map((line) => ({ database, line }));
}

function queryOf(head: Head, signal: AbortSignal): PluginQuery {
  const { database, statement, params } = head;
  if (typeof database !== "string" || typeof statement !== "string" || typeof params !== "object" || params === null) {
    throw new GarbageError("a statement without a database");
  }
  const entries = Object.entries(params).map(([name, value]) => [name, paramOf(value)] as const);
  return { database, statement, params: Object.fromEntries(entries), signal };
}

/** Numbers are sent as text, so that integers keep all digits and whole floats stay floats. */
function paramOf(value: unknown): string | number | bigint | boolean | null {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  const { int, float } = value as { int?: unknown; float?: unknown };
  if (typeof int === "string" && /^-?\d{1,40}$/.test(int)) return BigInt(int);
  if (typeof float === "string") return Number(float.replace("inf", "Infinity"));
  throw new GarbageError("a parameter that is no text, number or boolean");
}

function messageOf(error: unknown): string {
  return error instanceof TsdbError ? error.message : "internal error";
}
