// One random stream of writes, deletions, restorations, drops, flushes and crashes of databases and tables goes to a real server and to
// maps of points; both must say the same of every name. Then the same things happen at the same time as writes, and no row may be lost or
// be in two tables. `ROUNDS=… SEED=… bun test test/fuzz/databases.long.test.ts` runs longer or again.
import { describe, expect, test } from "bun:test";
import { query, write } from "../e2e/client.ts";
import { type Below, pick, prng } from "../support/prng.ts";
import { TestServer } from "../support/servers/server.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const STEPS = Number(process.env["ROUNDS"] ?? 50);
/** Long runs take as long as they take. */
const TIMEOUT_MS = 60_000 + STEPS * 200;
const CONFIGURE = "/api/v3/configure";
const DATABASES = ["d0", "d1", "d1/rp"];
const TABLES = ["t0", "t1", "t2"];
/** Flushed every few hundred rows, merged at once, files removed at once. */
const FLAGS = ["--compaction-cleanup-wait", "0s", "--gen0-duration", "1s", "--compaction-delay", "0s"];

/** Value by series and time; a column that no row has any more is still one. */
interface Table {
  points: Map<string, number>;
  columns: Set<string>;
}
type Database = Map<string, Table>;
interface Gone<T> {
  readonly former: string;
  readonly item: T;
}

/** What there should be: by name, and what is deleted by the name that it has now. */
class Model {
  readonly live = new Map<string, Database>();
  readonly gone = new Map<string, Gone<Database>>();
  readonly goneTables = new Map<Database, Map<string, Gone<Table>>>();

  database(name: string): Database {
    let found = this.live.get(name);
    if (found === undefined) {
      found = new Map();
      this.live.set(name, found);
      this.goneTables.set(found, new Map());
    }
    return found;
  }
}

async function send(server: TestServer, method: string, path: string, body?: unknown): Promise<number> {
  const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await fetch(`${server.url}${CONFIGURE}${path}`, { method, ...json });
  await response.arrayBuffer();
  return response.status;
}

const params = (values: Readonly<Record<string, string>>) => `?${new URLSearchParams(values)}`;

async function databaseNames(server: TestServer): Promise<{ live: string[]; gone: string[] }> {
  const response = await fetch(`${server.url}${CONFIGURE}/database?format=json&show_deleted=true`);
  const rows = (await response.json()) as { "iox::database": string; deleted: boolean }[];
  const named = (deleted: boolean) => rows.filter((row) => row.deleted === deleted).map((row) => row["iox::database"]);
  return { live: named(false).filter((name) => name !== "_internal"), gone: named(true) };
}

async function tableNames(server: TestServer, database: string): Promise<{ live: string[]; gone: string[] }> {
  const rows = await server.sql<{ table_name: string; deleted: boolean }>(
    database,
    "SELECT table_name, deleted FROM system.tables ORDER BY 1",
  );
  const named = (deleted: boolean) => rows.filter((row) => row.deleted === deleted).map((row) => row.table_name);
  return { live: named(false), gone: named(true) };
}

/** The one name that was not there before. */
const added = (before: Iterable<string>, now: readonly string[]): string => {
  const known = new Set(before);
  const fresh = now.filter((name) => !known.has(name));
  expect(fresh).toHaveLength(1);
  return fresh[0]!;
};

class Run {
  private readonly model = new Model();
  private value = 0;

  constructor(
    private readonly server: TestServer,
    private readonly below: Below,
  ) {}

  async step(): Promise<string> {
    const { below } = this;
    const kind = below(100);
    if (kind < 45) return this.write();
    if (kind < 58) return this.deleteTable();
    if (kind < 66) return this.deleteDatabase();
    if (kind < 78) return this.restoreTable();
    if (kind < 86) return this.restoreDatabase();
    if (kind < 91) return this.createTable();
    if (kind < 95) return this.createDatabase();
    if (kind < 98) return this.check();
    const how = below(2) === 0 ? "kill" : "stop";
    await this.server[how]();
    await this.server.restart();
    return how;
  }

  async check(): Promise<string> {
    const { server, model } = this;
    const names = await databaseNames(server);
    expect(names.live.sort()).toEqual([...model.live.keys()].sort());
    expect(names.gone.sort()).toEqual([...model.gone.keys()].sort());
    for (const [database, tables] of model.live) {
      const known = await tableNames(server, database);
      expect(known.live).toEqual([...tables.keys()].sort());
      expect(known.gone).toEqual([...model.goneTables.get(tables)!.keys()].sort());
      for (const [name, { points, columns }] of tables) {
        if (!columns.has("h") || !columns.has("v")) continue;
        const { status, text } = await query(server, database, `SELECT h, time::BIGINT AS t, v FROM "${name}"`, { format: "csv" });
        expect([status, text.split("\n").slice(1).filter(Boolean).sort()], `${database}.${name}`).toEqual([
          200,
          [...points].map(([key, v]) => `${key},${v}`).sort(),
        ]);
      }
    }
    return "check";
  }

  private async write(): Promise<string> {
    const { below, model } = this;
    const database = pick(below, DATABASES);
    const lines: string[] = [];
    const tables = model.database(database);
    for (let count = 1 + below(below(8) === 0 ? 300 : 6); count > 0; count--) {
      const [name, host, time, value] = [pick(below, TABLES), pick(below, ["a", "b", "c"]), 1 + below(40), ++this.value];
      lines.push(`${name},h=${host} v=${value}i ${time}`);
      const table = tables.get(name) ?? { points: new Map(), columns: new Set() };
      tables.set(name, table);
      table.columns.add("h").add("v");
      table.points.set(`${host},${time}`, value);
    }
    const { status, text } = await write(this.server, database, lines.join("\n"), { params: { precision: "ns" } });
    expect([status, text]).toEqual([204, ""]);
    return `write ${lines.length} to ${database}`;
  }

  private async deleteTable(): Promise<string> {
    const { below, model, server } = this;
    const [db, name] = [pick(below, DATABASES), pick(below, TABLES)];
    const how = pick(below, ["data", "never", "never", "now"]);
    const status = await send(server, "DELETE", `/table${params({ db, table: name, ...deletion(how) })}`);
    const tables = model.live.get(db);
    const table = tables?.get(name);
    expect(status).toBe(table === undefined ? 404 : 200);
    if (tables === undefined || table === undefined) return "delete no table";
    if (how === "data") {
      table.points = new Map();
      return `delete the rows of ${db}.${name}`;
    }
    tables.delete(name);
    const gone = model.goneTables.get(tables)!;
    if (how === "never") gone.set(added(gone.keys(), (await tableNames(server, db)).gone), { former: name, item: table });
    return `delete ${db}.${name} (${how})`;
  }

  private async deleteDatabase(): Promise<string> {
    const { below, model, server } = this;
    const name = pick(below, DATABASES);
    const how = pick(below, ["data", "never", "never", "now"]);
    const status = await send(server, "DELETE", `/database${params({ db: name, ...deletion(how) })}`);
    const database = model.live.get(name);
    expect(status).toBe(database === undefined ? 404 : 200);
    if (database === undefined) return "delete no database";
    if (how === "data") {
      for (const table of database.values()) table.points = new Map();
      return `delete the rows of ${name}`;
    }
    model.live.delete(name);
    if (how === "never") {
      model.gone.set(added(model.gone.keys(), (await databaseNames(server)).gone), { former: name, item: database });
    }
    return `delete ${name} (${how})`;
  }

  private async restoreTable(): Promise<string> {
    const { below, model, server } = this;
    const db = pick(below, DATABASES);
    const tables = model.live.get(db);
    const gone = tables && model.goneTables.get(tables);
    if (tables === undefined || gone === undefined || gone.size === 0) return "nothing to restore";
    const name = pick(below, [...gone.keys()]);
    if (below(4) === 0) {
      expect(await send(server, "DELETE", `/table${params({ db, table: name, hard_delete_at: "now" })}`)).toBe(200);
      gone.delete(name);
      return `drop ${db}.${name}`;
    }
    const { former, item } = gone.get(name)!;
    const newName = below(2) === 0 ? null : pick(below, TABLES);
    const status = await send(server, "POST", "/table/restore", { db, table: name, new_name: newName });
    const target = newName ?? former;
    expect(status).toBe(tables.has(target) ? 409 : 200);
    if (status === 409) return "restore over another table";
    gone.delete(name);
    tables.set(target, item);
    return `restore ${db}.${name} as ${target}`;
  }

  private async restoreDatabase(): Promise<string> {
    const { below, model, server } = this;
    if (model.gone.size === 0) return "nothing to restore";
    const name = pick(below, [...model.gone.keys()]);
    if (below(4) === 0) {
      expect(await send(server, "DELETE", `/database${params({ db: name, hard_delete_at: "now" })}`)).toBe(200);
      model.gone.delete(name);
      return `drop ${name}`;
    }
    const { former, item } = model.gone.get(name)!;
    const newName = below(2) === 0 ? null : pick(below, DATABASES);
    const status = await send(server, "POST", "/database/restore", { db: name, new_name: newName });
    const target = newName ?? former;
    expect(status).toBe(model.live.has(target) ? 409 : 200);
    if (status === 409) return "restore over another database";
    model.gone.delete(name);
    model.live.set(target, item);
    return `restore ${name} as ${target}`;
  }

  private async createTable(): Promise<string> {
    const { below, model } = this;
    const [db, table] = [pick(below, DATABASES), pick(below, TABLES)];
    const fields = below(2) === 0 ? [] : [{ name: "v", type: "int64" }];
    const status = await send(this.server, "POST", "/table", { db, table, tags: ["h"], fields });
    const tables = model.live.get(db);
    expect(status).toBe(tables === undefined ? 404 : tables.has(table) ? 409 : 200);
    if (status === 200) tables!.set(table, { points: new Map(), columns: new Set(["h", ...fields.map(({ name }) => name)]) });
    return `create ${db}.${table}: ${status}`;
  }

  private async createDatabase(): Promise<string> {
    const { below, model } = this;
    const db = pick(below, DATABASES);
    const status = await send(this.server, "POST", "/database", { db });
    expect(status).toBe(model.live.has(db) ? 409 : 200);
    model.database(db);
    return `create ${db}: ${status}`;
  }
}

function deletion(how: string): Record<string, string> {
  return how === "data" ? { data_only: "true" } : { hard_delete_at: how };
}

describe("databases and tables against a model", () => {
  test(
    `${STEPS} steps from seed ${SEED}`,
    async () => {
      await using server = await TestServer.start({ flags: FLAGS });
      const run = new Run(server, prng(SEED));
      const done: string[] = [];
      try {
        for (let i = 0; i < STEPS; i++) done.push(await run.step());
        await run.check();
        await server.restart();
        await run.check();
      } catch (error) {
        throw new Error(`after ${done.slice(-30).join("; ")}\n${server.output.slice(-2000)}`, { cause: error });
      }
    },
    TIMEOUT_MS,
  );

  test(
    "rows that come while their table and database are deleted and restored are each in one table",
    async () => {
      await using server = await TestServer.start({ flags: FLAGS });
      const below = prng(SEED);
      let [time, stored, isOver] = [0, 0, false];
      const writer = async () => {
        while (!isOver) {
          const lines = Array.from({ length: 1 + below(50) }, () => `t,h=${below(30)} v=1i ${++time}`);
          const { status, text } = await write(server, "d", lines.join("\n"), { params: { precision: "ns" } });
          expect([status, text]).toEqual([204, ""]);
          stored += lines.length;
        }
      };
      const reader = async () => {
        while (!isOver) {
          const { status } = await query(server, "d", "SELECT count(*), min(h) FROM t", { format: "json" });
          expect([200, 400, 404]).toContain(status);
        }
      };
      const changer = async () => {
        for (let i = 0; i < STEPS / 2; i++) {
          const kind = below(4);
          if (kind === 0) await send(server, "DELETE", `/database${params({ db: "d" })}`);
          if (kind === 1) await send(server, "DELETE", `/table${params({ db: "d", table: "t" })}`);
          const [gone] = (await databaseNames(server)).gone;
          if (kind === 2 && gone !== undefined)
            await send(server, "POST", "/database/restore", { db: gone, new_name: pick(below, ["d", "e"]) });
          if (kind === 3) await send(server, "POST", "/table/restore", { db: "d", table: "t" });
        }
        isOver = true;
      };
      await Promise.all([writer(), writer(), writer(), reader(), changer()]);
      const count = async () => {
        for (const [i, name] of (await databaseNames(server)).gone.entries()) {
          expect(await send(server, "POST", "/database/restore", { db: name, new_name: `back${i}${time++}` })).toBe(200);
        }
        let rows = 0;
        for (const db of (await databaseNames(server)).live) {
          for (const name of (await tableNames(server, db)).gone) {
            expect(await send(server, "POST", "/table/restore", { db, table: name, new_name: `back${time++}` })).toBe(200);
          }
          for (const name of (await tableNames(server, db)).live)
            rows += Number((await server.sql(db, `SELECT count(v) AS n FROM "${name}"`))[0]!["n"]);
        }
        return rows;
      };
      expect(await count()).toBe(stored);
      await server.kill();
      await server.restart();
      expect(await count()).toBe(stored);
    },
    TIMEOUT_MS,
  );
});
