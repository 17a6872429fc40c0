// Plays a conversation against a server of its own and compares each answer.
import { gzipSync } from "node:zlib";
import { type Conversation, type ExpectStep, isRequest, type Json, type RequestStep } from "./conversation.ts";
import { Matcher, type Mismatch } from "./match.ts";
import { Bindings, filled, type Surroundings } from "./placeholders.ts";
import { adjusted } from "./seed-rules.ts";
import { Sink } from "./sink.ts";

/** A fresh server of the v2 line. */
export interface PlayedServer {
  /** `http://host:port`. */
  readonly base: string;
  send(request: Request): Promise<Response>;
  stop(): Promise<void>;
}

export interface StepOutcome {
  readonly index: number;
  readonly mismatch: Mismatch;
  /** `POST /api/v2/labels`, with its placeholders. */
  readonly request: string;
}

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const BOUND_BY_SETUP: Json = {
  user: { id: "{{user.id}}", "{{rest}}": "{{any}}" },
  org: { id: "{{org.id}}", "{{rest}}": "{{any}}" },
  bucket: { id: "{{bucket.id}}", "{{rest}}": "{{any}}" },
  auth: { id: "{{auth.id}}", "{{rest}}": "{{any}}" },
};
/** `now` is so long before the start that it equals no time that the server makes. */
const BEFORE_START_SECONDS = 37;
const POLL_MS = 20;

/** Sends the requests of a conversation, and compares their answers. */
export async function replay(conversation: Conversation, server: PlayedServer): Promise<StepOutcome[]> {
  const sink = new Sink();
  const nowSeconds = Math.floor(Date.now() / 1000) - BEFORE_START_SECONDS;
  const player = new Player(server, sink, { nowSeconds, base: server.base, sink: sink.url });
  try {
    return await player.play(conversation);
  } finally {
    await sink.stop();
  }
}

class Player {
  private readonly bindings = new Bindings();

  constructor(
    private readonly server: PlayedServer,
    private readonly sink: Sink,
    private readonly surroundings: Surroundings,
  ) {}

  async play({ start, steps }: Conversation): Promise<StepOutcome[]> {
    if (start === "set up") await this.setUp();
    const outcomes: StepOutcome[] = [];
    for (const [index, step] of steps.entries()) {
      if (isRequest(step)) {
        outcomes.push({ index, mismatch: await this.request(adjusted(step)), request: `${step.method} ${step.path}` });
      } else if ("serve" in step) this.sink.serve(step.serve);
      else outcomes.push({ index, mismatch: await this.expected(step), request: `the listener gets ${step.expect.path}` });
    }
    return outcomes;
  }

  private async setUp(): Promise<void> {
    const init = { method: "POST", body: JSON.stringify(SETUP), headers: { "content-type": "application/json" } };
    const response = await this.server.send(new Request(`${this.server.base}/api/v2/setup`, init));
    const body = await response.text();
    const mismatch = response.status === 201 ? this.matcher([]).match(BOUND_BY_SETUP, JSON.parse(body)) : `status ${response.status}`;
    if (mismatch !== null) throw new Error(`setup failed: ${mismatch} ${body}`);
  }

  private async request(step: RequestStep): Promise<Mismatch> {
    if (step.delay !== undefined) await Bun.sleep(step.delay * 1000);
    const endMs = performance.now() + (step.repeat ?? 0) * 1000;
    for (;;) {
      let mismatch: Mismatch;
      try {
        mismatch = await this.compare(step, await this.server.send(this.built(step)));
      } catch (error) {
        mismatch = (error as Error).message;
      }
      if (mismatch === null || performance.now() >= endMs) return mismatch;
      await Bun.sleep(POLL_MS);
    }
  }

  private built(step: RequestStep): Request {
    const { base } = this.surroundings;
    const path = this.fill(step.path).split("/").map(encodeURIComponent).join("/");
    const query = Object.entries(step.query ?? {}).flatMap(([name, value]) =>
      [value].flat().map((each) => `${encodeURIComponent(name)}=${encodeURIComponent(this.fill(each as string))}`),
    );
    const headers = new Headers(this.credentials(step.as));
    const body = this.body(step, headers);
    for (const [name, value] of Object.entries(step.headers ?? {})) headers.set(name, this.fill(value));
    const url = `${base}${path}${query.length === 0 ? "" : `?${query.join("&")}`}`;
    return new Request(url, { method: step.method, headers, ...(body === undefined ? {} : { body }), redirect: "manual" });
  }

  private body(step: RequestStep, headers: Headers): Uint8Array<ArrayBuffer> | undefined {
    const bytes = this.plainBody(step, headers);
    if (!step.gzip || bytes === undefined) return bytes;
    headers.set("content-encoding", "gzip");
    return new Uint8Array(gzipSync(bytes));
  }

  private plainBody({ body, bodyBase64 }: RequestStep, headers: Headers): Uint8Array<ArrayBuffer> | undefined {
    if (bodyBase64 !== undefined) return new Uint8Array(Buffer.from(bodyBase64, "base64"));
    if (body === undefined) return undefined;
    if (typeof body === "string" && isBytes(body)) return new Uint8Array(Buffer.from(this.fill(body), "latin1"));
    if (typeof body === "string") return new TextEncoder().encode(this.fill(body));
    headers.set("content-type", "application/json");
    return new TextEncoder().encode(this.fill(JSON.stringify(body)));
  }

  private credentials(as: string): Record<string, string> {
    if (as === "none") return {};
    if (as === "operator") return { authorization: "Token tok" };
    if (as.startsWith("basic:")) {
      return { authorization: `Basic ${Buffer.from(this.fill(as.slice("basic:".length))).toString("base64")}` };
    }
    const session = /^cookie(?::(\d+))?$/.exec(as);
    if (session !== null) return { cookie: `influxdb-oss-session=${this.fill(`{{session:${session[1] ?? 1}}}`)}` };
    return { authorization: `Token ${this.fill(`{{token:${as}}}`)}` };
  }

  private async compare(step: RequestStep, response: Response): Promise<Mismatch> {
    const bytes = Buffer.from(await response.arrayBuffer());
    const body = bytes.toString(isBytes(step.answer) || step.answerParts !== undefined ? "latin1" : "utf8");
    const matcher = this.matcher(step.unordered ?? []);
    if (response.status !== step.status) {
      if (response.ok && step.answer !== undefined) matcher.bindWhatFits(step.answer, parsed(response, body));
      return `status ${response.status}, want ${step.status}: ${body.slice(0, 300)}`;
    }
    for (const [name, wanted] of Object.entries(step.answerHeaders ?? {})) {
      const got = name === "set-cookie" ? response.headers.getSetCookie().join(", ") : response.headers.get(name);
      if (got === null || !matcher.textMatches(wanted, got)) return `header ${name}: got ${got}, want ${wanted}`;
    }
    if (step.answerParts !== undefined) return this.compareParts(step, response, body);
    if (step.answer === undefined) return body === "" ? null : `the body is not empty: ${body.slice(0, 300)}`;
    const value = parsed(response, body);
    if (step.unordered?.includes("results") && typeof step.answer === "string" && typeof value === "string") {
      return this.matcher([""]).match(blocksOf(step.answer), blocksOf(value));
    }
    const mismatch = matcher.match(step.answer, value);
    if (mismatch !== null) matcher.bindWhatFits(step.answer, value);
    return mismatch;
  }

  /** `part N` of `unordered` is an array whose order is open. */
  private compareParts({ answerParts = [], unordered = [] }: RequestStep, response: Response, body: string): Mismatch {
    const boundary = /;\s*boundary=(.*)$/.exec(response.headers.get("content-type") ?? "")?.[1] ?? "";
    const parts = partsOf(body, boundary);
    if (parts === null) return "the body does not have the parts of its boundary";
    if (parts.length !== answerParts.length) return `${parts.length} parts, want ${answerParts.length}`;
    for (const [i, wanted] of answerParts.entries()) {
      const got = parts[i]!;
      const headers = this.matcher([]).match(wanted.headers, got.headers, `part ${i}`);
      if (headers !== null) return headers;
      const isJson = (wanted.headers["content-type"] ?? "").startsWith("application/json");
      const value: unknown = isJson ? JSON.parse(Buffer.from(got.body, "latin1").toString()) : got.body;
      const mismatch = this.matcher(unordered.includes(`part ${i}`) ? [""] : []).match(wanted.body, value);
      if (mismatch !== null) return `part ${i}: ${mismatch}`;
    }
    return null;
  }

  private async expected({ expect, within }: ExpectStep): Promise<Mismatch> {
    const endMs = performance.now() + within * 1000;
    for (;;) {
      const all = this.sink.requests.filter(({ path }) => this.matcher([]).match(expect.path, path) === null);
      const found = all[(expect.count ?? 1) - 1];
      if (found !== undefined) {
        const { method, headers, body } = expect;
        const pattern = { ...(method === undefined ? {} : { method }), ...(body === undefined ? {} : { body }) };
        const got = { method: found.method, body: typeof body === "string" ? found.body : JSON.parse(found.body || "null") };
        const asked = Object.fromEntries(Object.entries(got).filter(([name]) => name in pattern));
        const wanted = Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
        return this.matcher([]).match(pattern, asked) ?? this.matcher([]).match({ ...wanted, "{{rest}}": "{{any}}" }, found.headers);
      }
      if (performance.now() >= endMs) return `the listener got ${all.length} requests of ${expect.path} within ${within} s`;
      await Bun.sleep(POLL_MS);
    }
  }

  private fill(text: string): string {
    return filled(text, this.bindings, this.surroundings);
  }

  private matcher(unordered: readonly string[]): Matcher {
    return new Matcher(this.bindings, this.surroundings, new Set(unordered));
  }
}

/** Opaque bytes, kept as text of one character for each. */
function isBytes(value: Json | undefined): value is string {
  return typeof value === "string" && /^\{\{bytes:[^{}]+\}\}$/.test(value);
}

/** Of a body of one character for each byte; null: it is no multipart body of this boundary (RFC 2046, 5.1.1). */
function partsOf(body: string, boundary: string): { headers: Record<string, string>; body: string }[] | null {
  const pieces = `\r\n${body}`.split(`\r\n--${boundary}`);
  if (pieces.shift() !== "" || pieces.pop() !== "--\r\n") return null;
  return pieces.map((piece) => {
    const [head = "", ...rest] = piece.slice(2).split("\r\n\r\n");
    const headers = head.split("\r\n").map((line) => {
      const [name = "", ...value] = line.split(": ");
      return [name.toLowerCase(), value.join(": ")] as const;
    });
    return { headers: Object.fromEntries(headers), body: rest.join("\r\n\r\n") };
  });
}

/** Of annotated CSV: what stands between empty lines. */
function blocksOf(csv: string): string[] {
  return csv.split("\r\n\r\n");
}

/** JSON as a value, whole numbers beyond those of JavaScript as bigints; YAML as the list of its documents; everything else as a text. */
function parsed(response: Response, body: string): unknown {
  if ((response.headers.get("content-type") ?? "").includes("yaml")) return [Bun.YAML.parse(body)];
  if (!(response.headers.get("content-type") ?? "").startsWith("application/json")) return body;
  try {
    return JSON.parse(body, exact as Parameters<typeof JSON.parse>[1]);
  } catch {
    return body;
  }
}

function exact(_: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return typeof value === "number" && /^-?\d+$/.test(source ?? "") && !Number.isSafeInteger(value) ? BigInt(source!) : value;
}
