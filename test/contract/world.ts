// The server that the contract is tested on: tokens are asked for, and it has a database with a table, another one, and tokens for them.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CLIENT_ID, type FakeProvider, fakeProvider } from "../support/identity/fake-provider.ts";
import { TestServer } from "../support/servers/server.ts";
import { CatalogLog, type LoggedOperation } from "../support/storage/catalog-log.ts";

export const DATABASE = "contract";
export const TABLE = "readings";
/** In the server's --plugin-dir. */
export const WRITES_PLUGIN = "writes.py";
export const SCHEDULE_PLUGIN = "schedule.py";
export const REQUEST_PLUGIN = "request.py";
export const REQUIREMENTS = "requirements.txt";
/** Wants a body when it is told so, as an author of plugins would. */
const REQUEST_SOURCE = `
def process_request(local, query, headers, body, args=None):
    return ({"error": "a body is wanted"}, 400) if args["wants_body"] == "yes" and not body else {"n": len(body)}
`;
const OTHER_DATABASE = "other";
const NS_PER_DAY = 86_400_000_000_000n;

export interface Sent {
  readonly method: string;
  /** With the query string. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | null;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly text: string;
}

/** Stands for uv: real package managers take tens of seconds (test/e2e/plugin-packages.long.test.ts runs pip). It knows `pip` alone. */
const UV = `#!/bin/sh
for last; do :; done
case "$1 $last" in
venv*) exec python3 -I -m venv --without-pip "$last" ;;
"pip pip" | *${REQUIREMENTS}) exit 0 ;;
esac
echo "no package $last" >&2
exit 1
`;

/** The objects that requests of the contract refer to. */
export class World {
  admin = "";
  /** For everything in the other database, and for nothing else. */
  stranger = "";
  readonly user = { username: "first", password: "first password" };
  /** What the catalog is, in order: a change of anything but rows and files is in it. */
  readonly log: CatalogLog;
  private names = 0;
  private fences = 0;

  private constructor(
    readonly server: TestServer,
    private readonly provider: FakeProvider,
    private readonly folders: readonly string[],
  ) {
    this.log = new CatalogLog(server.dataDir);
  }

  static async start(flags: readonly string[] = []): Promise<World> {
    const folder = mkdtempSync(join(tmpdir(), "tsdb-contract-plugins-"));
    writeFileSync(join(folder, WRITES_PLUGIN), "def process_writes(local, batches, args=None): local.write('m v=1')\n");
    writeFileSync(join(folder, SCHEDULE_PLUGIN), "def process_scheduled_call(local, time, args=None): local.info(time)\n");
    writeFileSync(join(folder, REQUEST_PLUGIN), REQUEST_SOURCE);
    writeFileSync(join(folder, REQUIREMENTS), "# none\n");
    const tools = mkdtempSync(join(tmpdir(), "tsdb-contract-tools-"));
    writeFileSync(join(tools, "uv"), UV, { mode: 0o755 });
    const provider = await fakeProvider();
    const users = ["--without-user-auth", "false", "--oauth-issuer", provider.issuer, "--oauth-client-id", CLIENT_ID];
    const plugins = ["--plugin-dir", folder, "--package-manager", "uv", "--use-pacha-tree", "--compaction-check-interval", "24h"];
    const env = { ...(process.env as Record<string, string>), PATH: `${tools}:${process.env["PATH"]}` };
    const server = await TestServer.start({ withAuth: true, env, flags: [...plugins, ...users, ...flags] });
    const world = new World(server, provider, [folder, tools]);
    const first = await world.send({ method: "POST", path: "/api/v3/configure/token/admin" }, null);
    world.admin = tokenOf(first);
    // not the first one, which an operation replaces
    world.admin = tokenOf(await world.post("/api/v3/configure/token/named_admin", { token_name: "tester" }));
    await world.write(DATABASE, `${TABLE},host=a,room=x v=1.5,n=2i,s="x",b=true 1\n${TABLE},host=b v=2.5 2`);
    await world.write(OTHER_DATABASE, `${TABLE},host=a v=1 1`);
    return world;
  }

  async dispose(): Promise<void> {
    await this.server.dispose();
    this.provider.stop();
    for (const folder of this.folders) rmSync(folder, { recursive: true });
  }

  /** Needs the extended edition. */
  async makeStranger(): Promise<void> {
    await this.post("/api/v3/configure/user", this.user);
    // failures of others from this address do not count for a user who was here before
    await this.signIn();
    const permissions = [{ resource_type: "db", resource_names: [OTHER_DATABASE], actions: ["*"] }];
    this.stranger = tokenOf(await this.post("/api/v3/enterprise/configure/token", { token_name: "stranger", permissions }));
  }

  /** A name that nothing has yet: of a database, a table or a token. */
  fresh(): string {
    return `new${++this.names}`;
  }

  /** `authorization`: the header's value; undefined: the admin's, null: none. */
  async send({ method, path, headers = {}, body = null }: Sent, authorization: string | null = `Bearer ${this.admin}`): Promise<Answer> {
    const response = await fetch(this.server.url + path, {
      method,
      headers: { ...headers, ...(authorization === null ? {} : { authorization }) },
      body,
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, bytes, text: new TextDecoder().decode(bytes) };
  }

  post(path: string, body: unknown): Promise<Answer> {
    return this.succeed({ method: "POST", path, headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  }

  write(database: string, lines: string): Promise<Answer> {
    return this.succeed({ method: "POST", path: `/api/v3/write_lp?db=${database}&precision=ns`, body: lines });
  }

  /** Tokens of the first user. */
  async signIn(): Promise<{ token: string; refreshToken: string }> {
    return JSON.parse((await this.post("/api/v3/authorize", this.user)).text) as { token: string; refreshToken: string };
  }

  /** A new user without roles, who must choose a password. */
  async freshUser(): Promise<{ userId: number; username: string; password: string; oauthId: string }> {
    const username = this.fresh();
    const user = { username, password: `password of ${username}`, oauthId: `subject of ${username}` };
    const { userId } = JSON.parse((await this.post("/api/v3/users", user)).text) as { userId: number };
    return { ...user, userId };
  }

  /** A new database with a table in it. */
  async freshDatabase(): Promise<string> {
    const name = this.fresh();
    await this.write(name, `${TABLE},host=a v=1 1`);
    return name;
  }

  async freshTable(): Promise<string> {
    const name = this.fresh();
    await this.write(DATABASE, `${name},host=a v=1 1`);
    return name;
  }

  /** Statuses by operation, from /openapi.json. */
  async documented(): Promise<Map<string, Set<number>>> {
    const { text } = await this.succeed({ method: "GET", path: "/openapi.json" });
    const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { responses: object }>> };
    const operations = Object.entries(paths).flatMap(([path, methods]) => {
      return Object.entries(methods).map(([method, { responses }]) => [`${method.toUpperCase()} ${path}`, responses] as const);
    });
    return new Map(operations.map(([key, responses]) => [key, new Set(Object.keys(responses).map(Number))]));
  }

  /** No restore that an earlier request has started runs any more. */
  async restored(): Promise<void> {
    for (;;) {
      const { text } = await this.succeed({ method: "GET", path: "/api/v3/enterprise/restore" });
      const { restores } = JSON.parse(text) as { restores: readonly { status: string }[] };
      if (restores.every(({ status }) => status !== "in_progress")) return;
      await Bun.sleep(2);
    }
  }

  /** Operations of the log from number `begin`, but for what the server does by itself. */
  async changesSince(begin: number): Promise<LoggedOperation[]> {
    // a change that all changes before it precede in the log
    const days = 10_000 + ++this.fences;
    const body = JSON.stringify({ db: OTHER_DATABASE, retention_period: `${days}d` });
    await this.succeed({ method: "PUT", path: "/api/v3/configure/database", headers: { "content-type": "application/json" }, body });
    const fence = String(BigInt(days) * NS_PER_DAY);
    const changes = this.log.since(begin).filter(({ kind }) => kind !== "retire_tombstones");
    return changes.filter((operation) => !JSON.stringify(operation).includes(fence));
  }

  /** What the log does not have. */
  async rowsAndFiles(): Promise<string[]> {
    return await Promise.all([
      this.rows(DATABASE, `SELECT count(*) AS n FROM ${TABLE}`),
      this.rows("_internal", "SELECT * FROM system.plugin_files ORDER BY ALL"),
    ]);
  }

  /** Everything that operations of the contract change, as a client sees it. */
  async state(): Promise<Record<string, string>> {
    await this.restored();
    const tables = await this.rows("_internal", "SELECT table_name FROM information_schema.tables WHERE table_schema = 'system'");
    const internal = (JSON.parse(tables) as { table_name: string }[]).map(({ table_name: name }) => name);
    // these say what was asked, not what there is
    const states = internal.filter((name) => !["queries", "influxdb_schema", "parquet_files", "audit_log"].includes(name));
    const asked = [
      ...states.map((name) => ["_internal", `SELECT * FROM system.${name} ORDER BY ALL`]),
      [DATABASE, "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'iox' ORDER BY ALL"],
      [DATABASE, `SELECT count(*) AS n FROM ${TABLE}`],
      ...states.filter((name) => /cache|index|trigger/.test(name)).map((name) => [DATABASE, `SELECT * FROM system.${name} ORDER BY ALL`]),
    ] as const;
    const found = await Promise.all(asked.map(async ([database, q]) => [`${database}: ${q}`, await this.rows(database!, q!)] as const));
    return Object.fromEntries(found);
  }

  private async rows(db: string, q: string): Promise<string> {
    return (await this.succeed({ method: "GET", path: `/api/v3/query_sql?${new URLSearchParams({ db, q, format: "json" })}` })).text;
  }

  async succeed(sent: Sent): Promise<Answer> {
    const answer = await this.send(sent);
    if (answer.status >= 300) throw new Error(`${sent.method} ${sent.path}: ${answer.status} ${answer.text}`);
    return answer;
  }
}

function tokenOf({ text }: Answer): string {
  return (JSON.parse(text) as { token: string }).token;
}
