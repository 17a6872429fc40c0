// Recorded cases over HTTP: a server process with the recorded buckets, asked as its README says.
import { TestServer } from "../support/servers/server.ts";
import { bucketLines, type FluxCase } from "./cases.ts";
import { csvDifference } from "./compare-csv.ts";
import { RECORDED_BUCKETS } from "./play-case.ts";

const TOKEN = "tok";
const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: TOKEN, retentionPeriodSeconds: 0 };
const DIALECT = { header: true, delimiter: ",", annotations: ["datatype", "group", "default"] };

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Runs recorded cases against a server process. */
export class HttpPlayer {
  private readonly bucketIds = new Map<string, string>();
  private orgId = "";

  private constructor(readonly server: TestServer) {}

  /** With the recorded buckets, filled, and `scratch` and `scratch2`. */
  static async start(): Promise<HttpPlayer> {
    const server = await TestServer.start({ withBuckets: true, flags: ["--v2-default-bucket-retention", "0"] });
    const player = new HttpPlayer(server);
    await player.fill();
    return player;
  }

  stop(): Promise<void> {
    return this.server.dispose();
  }

  /** What differs from the recorded answer, or null. */
  async difference(each: FluxCase): Promise<string | null> {
    for (const name of each.fresh ?? []) await this.empty(name);
    for (const script of each.setup ?? []) {
      const { status, body } = await this.ask({ script, now: each.now });
      if (status !== 200) return `the script before it: ${status} ${body}`;
    }
    return this.compared(each, await this.ask(each));
  }

  private compared(each: FluxCase, { status, body }: Answer): string | null {
    if (each.panic === true || each.quirk !== undefined) return null;
    if (each.unstable === true) return each.statuses!.includes(status) || each.status === status ? null : `status ${status}`;
    if (each.status >= 500) return status >= 400 || body.includes(",error,reference\r\n") ? null : `an answer: ${body.slice(0, 200)}`;
    if (status !== each.status) return `status ${status}, want ${each.status}: ${body.slice(0, 300)}`;
    if (status >= 400) {
      const [got, want] = [JSON.parse(body), JSON.parse(each.body)] as [Record<string, unknown>, Record<string, unknown>];
      if (got["code"] !== want["code"]) return `code ${got["code"]}, want ${want["code"]}`;
      return each.text === false || got["message"] === want["message"] ? null : `error: ${got["message"]}\n    want: ${want["message"]}`;
    }
    if (each.exact === true) return body === each.body ? null : `other bytes: ${body.slice(0, 300)}`;
    return status === 204 ? null : csvDifference(this.named(body), each.body, each);
  }

  /** A request as it is. @param type of the body */
  async post(body: string, type: string): Promise<Answer> {
    const response = await this.send("POST", "/query?org=o", body, { "content-type": type });
    return { status: response.status, body: await response.text() };
  }

  private async fill(): Promise<void> {
    const { org } = (await this.json("POST", "/setup", SETUP)) as { org: { id: string } };
    this.orgId = org.id;
    const recorded = RECORDED_BUCKETS.map((name) => [name, name === "empty" ? "" : bucketLines(name)] as const);
    for (const [name, lines] of [...recorded, ["scratch", ""], ["scratch2", ""]] as const) {
      await this.make(name);
      // a field has one type here: what is refused of `mixed` is told, and the rest stored
      if (lines !== "") await this.send("POST", `/write?org=o&bucket=${name}&precision=ns`, lines);
    }
  }

  private async make(name: string): Promise<void> {
    const { id } = (await this.json("POST", "/buckets", { orgID: this.orgId, name, retentionRules: [] })) as { id: string };
    this.bucketIds.set(name, id);
  }

  private async empty(name: string): Promise<void> {
    await this.send("DELETE", `/buckets/${this.bucketIds.get(name)}`);
    await this.make(name);
  }

  private async ask(each: Pick<FluxCase, "script" | "now"> & Partial<FluxCase>): Promise<Answer> {
    const query = each.script
      .replaceAll("{{orgID}}", this.orgId)
      .replace(/\{\{bucketID:(\w+)\}\}/g, (_, name: string) => this.bucketIds.get(name) ?? "0000000000000fff");
    const { now, dialect = DIALECT, extern, params, prefer, raw } = each;
    const body = raw === true ? query : JSON.stringify({ query, type: "flux", now, dialect, extern, params });
    const type = raw === true ? "application/vnd.flux" : "application/json";
    const response = await this.send("POST", "/query?org=o", body, { "content-type": type, ...(prefer === undefined ? {} : { prefer }) });
    return { status: response.status, body: await response.text() };
  }

  /** Ids as the recorded answers have them. */
  private named(body: string): string {
    let text = body.replaceAll(this.orgId, "{{orgID}}");
    for (const [name, id] of this.bucketIds) text = text.replaceAll(id, `{{bucketID:${name}}}`);
    return text;
  }

  private async json(method: string, path: string, body: unknown): Promise<unknown> {
    const response = await this.send(method, path, JSON.stringify(body), { "content-type": "application/json" });
    if (response.status !== 201) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  private send(method: string, path: string, body?: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.server.bucketsUrl}/api/v2${path}`, {
      method,
      headers: { authorization: `Token ${TOKEN}`, ...headers },
      ...(body === undefined ? {} : { body }),
    });
  }
}
