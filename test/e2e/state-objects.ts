// The objects of the state tables on a real server: brought into a state, asked for something, and looked at as a client sees them.
import type { TestServer } from "../support/servers/server.ts";
import type { Row, State } from "./state-rows.ts";

const CONFIGURE = "/api/v3/configure";
const ENTERPRISE = "/api/v3/enterprise/configure";
const PATHS = {
  "file index": `${ENTERPRISE}/file_index`,
  "last cache": `${CONFIGURE}/last_cache`,
  "distinct cache": `${CONFIGURE}/distinct_cache`,
} as const;
/** Where the tables, their caches and file indexes are. */
const DATABASE = "states";
const LINES = (table: string) => `${table},host=a v=1i 1\n${table},host=b v=2i 2`;

const CACHES = "SELECT name FROM system.last_caches";

export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** What is seen of an object. */
export interface Seen {
  readonly state: State | string;
  /** Milliseconds since 1970; null: never, or it is not deleted. */
  readonly dropMs: number | null;
  readonly periodNs: number | null;
  /** Of its tables; null: nobody could ask for them. */
  readonly caches: number | null;
}

interface Listed {
  readonly name: string;
  readonly deleted: boolean;
  readonly dropMs: number | null;
  readonly periodNs: number | null;
}

/** Everything that lists say, at one time. */
interface Lists {
  readonly databases: readonly Listed[];
  /** As the list that users ask for has them. */
  readonly shown: readonly string[];
  readonly shownDeleted: readonly string[];
  readonly tables: readonly Listed[];
  readonly tokens: readonly string[];
  /** Of those in the database of all tables, the table's name. */
  readonly fileIndexes: readonly string[];
  readonly lastCaches: readonly string[];
  readonly distinctCaches: readonly string[];
}

/** Creates and changes objects of a server. */
export class Objects {
  private admin = "";
  private operatorText = "";
  /** Of tokens whose creation was answered, by name. */
  private readonly texts = new Map<string, string>();
  /** What soft-deleted objects are called, by their former name. */
  private readonly renamed = new Map<string, string>();

  constructor(private readonly server: TestServer) {}

  async begin(): Promise<void> {
    this.admin = tokenOf(await this.call("POST", `${CONFIGURE}/token/admin`));
    this.admin = tokenOf(await this.call("POST", `${CONFIGURE}/token/named_admin`, { token_name: "tester" }));
    await this.succeed("POST", `${CONFIGURE}/database`, { db: DATABASE });
  }

  /** Brings the object of a row into the row's first state. */
  async prepare({ of, state, period }: Row, id: string): Promise<void> {
    if (of === "operator") {
      this.operatorText ||= tokenOf(await this.call("POST", `${CONFIGURE}/token/admin/regenerate`));
      return;
    }
    const isOfTable = of === "file index" || of === "last cache" || of === "distinct cache";
    if (isOfTable) await this.write(DATABASE, LINES(id));
    if (state === "none") return;
    if (of === "token") {
      this.texts.set(id, tokenOf(await this.call("POST", `${CONFIGURE}/token/named_admin`, { token_name: id })));
      return;
    }
    if (isOfTable) {
      const columns = { [of === "last cache" ? "key_columns" : "columns"]: ["host"] };
      const name = of === "file index" ? {} : { name: "cache" };
      await this.succeed("POST", PATHS[of], { db: DATABASE, table: id, ...name, ...columns });
      return;
    }
    if (of === "table") await this.write(DATABASE, LINES(id));
    else await this.write(id, `${LINES("t")}\n${LINES("u")}`);
    const cached = of === "table" ? { db: DATABASE, table: id } : { db: id, table: "t" };
    await this.succeed("POST", PATHS["last cache"], { ...cached, name: "cache" });
    const before = period?.[0] ?? null;
    if (before !== null) await this.succeed("PUT", `${CONFIGURE}/${of}`, { ...owner(of, id), retention_period: before });
    const remove = (more: object) => this.succeed("DELETE", `${CONFIGURE}/${of}?${query({ ...owner(of, id), ...more })}`);
    if (state === "empty" && before === null) await remove({ data_only: "true" });
    if (state === "hard-deleted") await remove({ hard_delete_at: "now" });
    if (state !== "soft-deleted") return;
    await remove({});
    const lists = await this.lists();
    const { name } = (of === "database" ? lists.databases : lists.tables).find((each) => isFormer(each, id))!;
    this.renamed.set(id, name);
  }

  /** Does what the row says. */
  async trigger({ of, trigger, condition, state }: Row, id: string): Promise<Reply> {
    if (of === "token" || of === "operator") return this.triggerToken(of, trigger, condition, id);
    if (of === "file index") return this.call(trigger, PATHS[of], { db: DATABASE, table: id, ...condition });
    if (of === "last cache" || of === "distinct cache") {
      const members = { db: DATABASE, table: id, name: "cache", ...condition };
      return trigger === "DELETE" ? this.call("DELETE", `${PATHS[of]}?${query(members)}`) : this.call("POST", PATHS[of], members);
    }
    const retention = of === "database" ? `${CONFIGURE}/database/retention_period` : `${ENTERPRISE}/table/retention_period`;
    const name = state === "soft-deleted" && trigger === "DELETE" ? this.renamed.get(id)! : id;
    const members = { ...owner(of, name), ...condition };
    if (trigger === "DELETE") return this.call("DELETE", `${CONFIGURE}/${of}?${query(members)}`);
    if (trigger === "POST restore") return this.call("POST", `${CONFIGURE}/${of}/restore`, members);
    if (trigger === "POST retention" || trigger === "DELETE retention") {
      return this.call(trigger.split(" ")[0]!, `${retention}?${query(members)}`);
    }
    return this.call(trigger, `${CONFIGURE}/${of}`, members);
  }

  private async triggerToken(of: "token" | "operator", trigger: Row["trigger"], condition: object, id: string): Promise<Reply> {
    const path = `${CONFIGURE}/token`;
    if (trigger === "DELETE") return this.call("DELETE", `${path}?${query({ token_name: of === "operator" ? "_admin" : id })}`);
    if (of === "operator") return this.call("POST", `${path}/admin${trigger === "POST" ? "" : "/regenerate"}`);
    const reply = await this.call("POST", `${path}/named_admin`, { token_name: id, ...condition });
    if (reply.status === 201) this.texts.set(id, tokenOf(reply));
    return reply;
  }

  /** After this an operator's token that was replaced is another object. */
  forgetOperator(): void {
    this.operatorText = "";
  }

  async lists(): Promise<Lists> {
    const rows = <T>(db: string, q: string) => this.rows<T>(`/api/v3/query_sql?${query({ db, q, format: "json" })}`);
    const shown = (more: object) =>
      this.rows<{ "iox::database": string; deleted?: boolean }>(`${CONFIGURE}/database?${query({ format: "json", ...more })}`);
    const columns = "deleted, hard_deletion_time AS at";
    const [databases, tables, tokens, indexes, lastCaches, distinctCaches, live, all] = await Promise.all([
      rows<RawListed>("_internal", `SELECT database_name AS name, ${columns}, retention_period_ns AS period FROM system.databases`),
      rows<RawListed>(DATABASE, `SELECT table_name AS name, ${columns} FROM system.tables`),
      rows<{ name: string }>("_internal", "SELECT name FROM system.tokens"),
      rows<{ name: string }>(DATABASE, "SELECT table_name AS name FROM system.file_index"),
      rows<{ name: string }>(DATABASE, 'SELECT "table" AS name FROM system.last_caches'),
      rows<{ name: string }>(DATABASE, 'SELECT "table" AS name FROM system.distinct_caches'),
      shown({}),
      shown({ show_deleted: "true" }),
    ]);
    return {
      databases: databases.map(listed),
      tables: tables.map(listed),
      tokens: tokens.map(({ name }) => name),
      fileIndexes: indexes.map(({ name }) => name),
      lastCaches: lastCaches.map(({ name }) => name),
      distinctCaches: distinctCaches.map(({ name }) => name),
      shown: live.map((row) => row["iox::database"]),
      shownDeleted: all.filter((row) => row.deleted).map((row) => row["iox::database"]),
    };
  }

  /** What is seen of the object; a `state` that no table has says what does not fit. */
  async look({ of }: Row, id: string, lists: Lists): Promise<Seen> {
    if (of === "database") return this.lookAtDatabase(id, lists);
    if (of === "table") return this.lookAtTable(id, lists);
    const nothing = { dropMs: null, periodNs: null, caches: null };
    const ofTables = { "file index": lists.fileIndexes, "last cache": lists.lastCaches, "distinct cache": lists.distinctCaches };
    if (of !== "token" && of !== "operator") return { state: ofTables[of].includes(id) ? "active" : "none", ...nothing };
    const isListed = lists.tokens.includes(of === "operator" ? "_admin" : id);
    const text = of === "operator" ? this.operatorText : this.texts.get(id);
    if (text === undefined) return { state: isListed ? "active" : "none", ...nothing };
    const { status } = await this.call("GET", "/ping", undefined, text);
    if (isListed && status === 401) return { state: "other text", ...nothing };
    const isOpen = status === 200;
    return { state: isListed === isOpen ? (isOpen ? "active" : "none") : `listed: ${isListed}, status ${status}`, ...nothing };
  }

  private async lookAtDatabase(id: string, lists: Lists): Promise<Seen> {
    const rows = await this.count(id, "t");
    const live = lists.databases.find(({ name }) => name === id);
    const deleted = lists.databases.find((each) => isFormer(each, id));
    const isShown = lists.shown.includes(id);
    const shownDeleted = lists.shownDeleted.some((name) => isFormerName(name, id));
    const parts = `${live?.deleted}, ${deleted?.deleted}, ${isShown}, ${shownDeleted}, ${rows}`;
    const seen = { dropMs: deleted?.dropMs ?? null, periodNs: (live ?? deleted)?.periodNs ?? null };
    const states: Readonly<Record<string, State>> = {
      "undefined, undefined, false, false, 404": "none",
      "false, undefined, true, false, 2": "active",
      "false, undefined, true, false, 0": "empty",
      "false, undefined, true, false, 400": "without tables",
      "undefined, true, false, true, 404": "soft-deleted",
    };
    const caches = isShown ? (await this.rows(`/api/v3/query_sql?${query({ db: id, q: CACHES, format: "json" })}`)).length : null;
    return { state: states[parts] ?? parts, caches, ...seen };
  }

  private async lookAtTable(id: string, { tables, lastCaches }: Lists): Promise<Seen> {
    const rows = await this.count(DATABASE, id);
    const live = tables.find(({ name }) => name === id);
    const deleted = tables.find((each) => isFormer(each, id));
    const parts = `${live?.deleted}, ${deleted?.deleted}, ${rows}`;
    const states: Readonly<Record<string, State>> = {
      "undefined, undefined, 400": "none",
      "false, undefined, 2": "active",
      "false, undefined, 0": "empty",
      "undefined, true, 400": "soft-deleted",
    };
    const caches = live === undefined ? null : lastCaches.filter((name) => name === id).length;
    return { state: states[parts] ?? parts, dropMs: deleted?.dropMs ?? null, periodNs: null, caches };
  }

  /** Brings a soft-deleted object back. */
  async restore({ of }: Row, id: string): Promise<number> {
    return (await this.call("POST", `${CONFIGURE}/${of}/restore`, owner(of, id))).status;
  }

  /** Rows of a table, or the status that says why there are none. */
  private async count(db: string, table: string): Promise<number> {
    const { status, text } = await this.call(
      "GET",
      `/api/v3/query_sql?${query({ db, q: `SELECT count(*) AS n FROM "${table}"`, format: "json" })}`,
    );
    return status === 200 ? (JSON.parse(text) as { n: number }[])[0]!.n : status;
  }

  private async rows<T>(path: string): Promise<T[]> {
    return JSON.parse((await this.succeed("GET", path)).text) as T[];
  }

  private async write(db: string, lines: string): Promise<void> {
    await this.succeed("POST", `/api/v3/write_lp?${query({ db, precision: "ns" })}`, lines);
  }

  private async succeed(method: string, path: string, body?: object | string): Promise<Reply> {
    const reply = await this.call(method, path, body);
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
    return reply;
  }

  private async call(method: string, path: string, body?: object | string, token = this.admin): Promise<Reply> {
    const response = await fetch(this.server.url + path, {
      method,
      headers: {
        ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
        ...(typeof body === "object" ? { "content-type": "application/json" } : {}),
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  }
}

interface RawListed {
  readonly name: string;
  readonly deleted: boolean;
  readonly at?: string;
  readonly period?: number;
}

function listed({ name, deleted, at, period }: RawListed): Listed {
  return { name, deleted, dropMs: at === undefined ? null : Date.parse(at), periodNs: period ?? null };
}

function isFormer({ name, deleted }: Listed, id: string): boolean {
  return deleted && isFormerName(name, id);
}

/** What deleted objects are called: facts 3.3. */
function isFormerName(name: string, id: string): boolean {
  return name.startsWith(`${id}-`) && /^-\d{8}T\d{6}$/.test(name.slice(id.length));
}

function owner(of: Row["of"], id: string): { db: string; table?: string } {
  return of === "database" ? { db: id } : { db: DATABASE, table: id };
}

function query(members: object): URLSearchParams {
  return new URLSearchParams(members as Record<string, string>);
}

function tokenOf({ status, text }: Reply): string {
  if (status !== 201) throw new Error(`a token: ${status} ${text}`);
  return (JSON.parse(text) as { token: string }).token;
}
