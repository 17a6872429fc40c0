// A table of a real server with its caches, and a naive model of both: points by series and time, from which every answer is recomputed. A
// step changes or queries something at random. Rows of different series never have equal times, and the cache keys of a point are the same
// each time it is written, so that exactly one answer is correct.

import { expect } from "bun:test";
import { query, write } from "../../e2e/client.ts";
import type { Below } from "../prng.ts";
import type { TestServer } from "../servers/server.ts";

type Field = "f" | "i" | "s" | "n";
/** Milliseconds since 1970. */
interface Point {
  readonly host: string | null;
  readonly zone: string | null;
  readonly timeMs: number;
  fields: Partial<Record<Field, number | string>>;
}
type Kind = "last" | "distinct";
interface Cache {
  readonly kind: Kind;
  readonly name: string;
  readonly keys: readonly string[];
  /** For a last-value cache; null: all other columns. */
  readonly values: readonly string[] | null;
  readonly count: number;
}

const HOSTS = [null, "a", "b", "c ç"];
const ZONES = [null, "x", "y"];
const SERIES = HOSTS.length * ZONES.length;
const TAGS = ["host", "zone"];
const FIELDS: readonly Field[] = ["f", "i", "s", "n"];
const NAMES = ["c0", "c1", "c2", "c'3"];
const MINUTE_MS = 60_000;
const OLD_MS = 55 * MINUTE_MS;
/** Files have blocks by days. */
const DAY_MS = 24 * 60 * MINUTE_MS;
const PATHS = { last: "/api/v3/configure/last_cache", distinct: "/api/v3/configure/distinct_cache" } as const;

/** A table with its caches, fed by hand. */
export class CachedTable {
  private points = new Map<string, Point>();
  private caches: Cache[] = [];
  private isDeleted = false;
  /** True if rows of an hour ago are past their retention. */
  private isShort = false;
  private hasN = false;
  /** Steps may take minutes, so new rows are at the current time, old ones an hour or days ago. */
  private readonly baseMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;

  constructor(
    private readonly server: () => TestServer,
    private readonly database: string,
    readonly name: string,
    private readonly below: Below,
  ) {}

  async create(): Promise<void> {
    const fields = ["f:float64", "i:int64", "s:utf8"].map((field) => ({ name: field.split(":")[0], type: field.split(":")[1] }));
    await this.send(200, "POST", "/api/v3/configure/table", { db: this.database, table: this.name, tags: TAGS, fields });
  }

  /** Returns a description of the step. */
  async step(): Promise<string> {
    const { below } = this;
    if (this.isDeleted) return below(3) === 0 ? this.restore() : this.askDeleted();
    const kind = below(100);
    if (kind < 40) return this.write();
    if (kind < 50) return this.createCache();
    if (kind < 55) return this.deleteCache();
    if (kind < 88) return this.ask();
    if (kind < 92) return this.deleteRows();
    if (kind < 95) return this.deleteTable();
    if (kind < 97) return this.setRetention();
    return this.checkAll();
  }

  /** Verifies the content of all caches of the table. */
  async checkAll(): Promise<string> {
    if (this.isDeleted) await this.restore();
    for (const kind of ["last", "distinct"] as const) {
      const statement = `SELECT name FROM system.${kind}_caches WHERE "table" = '${this.name}'`;
      const listed = (await this.server().sql<{ name: string }>(this.database, statement)).map(({ name }) => name);
      const own = this.caches.filter((cache) => cache.kind === kind).map(({ name }) => name);
      expect(listed, `${kind} caches of ${this.name}`).toEqual(own);
    }
    for (const cache of this.caches) await this.check(cache, "");
    return "check";
  }

  private async write(): Promise<string> {
    const { below } = this;
    const lines: string[] = [];
    for (let left = 1 + below(below(10) === 0 ? 400 : 12); left > 0; left--) {
      const series = below(SERIES);
      const [host, zone] = [HOSTS[series % HOSTS.length]!, ZONES[Math.floor(series / HOSTS.length)]!];
      const age = below(4) === 0 ? OLD_MS + below(3) * DAY_MS + below(40) * SERIES : below(60) * SERIES;
      const timeMs = this.baseMs - age - series;
      const key = `${series} ${timeMs}`;
      const point = this.points.get(key) ?? { host, zone, timeMs, fields: {} };
      // constant per point: caches may use it as a key
      const fields: Point["fields"] = { s: `s${timeMs % 3}` };
      if (below(2) === 0) fields.f = below(1000) / 4;
      if (below(2) === 0) fields.i = below(1000);
      if (below(30) === 0) fields.n = below(10);
      if (fields.n !== undefined) this.hasN = true;
      point.fields = { ...point.fields, ...fields };
      this.points.set(key, point);
      const tags = [host === null ? "" : `,host=${host.replace(" ", "\\ ")}`, zone === null ? "" : `,zone=${zone}`].join("");
      const texts = Object.entries(fields).map(([name, value]) =>
        name === "s" ? `s="${value}"` : name === "i" ? `i=${value}i` : `${name}=${value}`,
      );
      lines.push(`${this.name}${tags} ${texts.join(",")} ${timeMs}`);
    }
    const { status, text } = await write(this.server(), this.database, lines.join("\n"), { params: { precision: "ms" } });
    expect([status, text]).toEqual([204, ""]);
    return `write ${lines.length}`;
  }

  private async createCache(): Promise<string> {
    const { below } = this;
    const kind: Kind = below(3) === 0 ? "distinct" : "last";
    const name = NAMES[below(NAMES.length)]!;
    const keys = shuffled(below, [...TAGS, "s"]).slice(0, (kind === "distinct" ? 1 : 0) + below(3));
    const values = kind === "distinct" || below(2) === 0 ? null : shuffled(below, ["f", "i"]).slice(0, 1 + below(2));
    const count = 1 + below(3);
    const existing = this.caches.find((cache) => cache.kind === kind && cache.name === name);
    const isSame = kind === "distinct" && existing?.keys.join() === keys.join();
    const members = kind === "distinct" ? { columns: keys } : { key_columns: keys, value_columns: values, count };
    const status = existing === undefined ? 201 : isSame ? 409 : 400;
    await this.send(status, "POST", PATHS[kind], { db: this.database, table: this.name, name, ...members });
    if (existing === undefined) this.caches.push({ kind, name, keys, values, count });
    return `create ${kind} ${name} over ${keys}: ${status}`;
  }

  private async deleteCache(): Promise<string> {
    const { below } = this;
    const [kind, name]: [Kind, string] = [below(2) === 0 ? "distinct" : "last", NAMES[below(NAMES.length)]!];
    const at = this.caches.findIndex((cache) => cache.kind === kind && cache.name === name);
    const owner = new URLSearchParams({ db: this.database, table: this.name, name });
    await this.send(at < 0 ? 404 : 200, "DELETE", `${PATHS[kind]}?${owner}`);
    if (at >= 0) this.caches.splice(at, 1);
    return `delete ${kind} ${name}`;
  }

  private async ask(): Promise<string> {
    const { below } = this;
    const kind: Kind = below(3) === 0 ? "distinct" : "last";
    const name = NAMES[below(NAMES.length)]!;
    const cache = this.caches.find((each) => each.kind === kind && each.name === name);
    if (cache === undefined) {
      const { status, text } = await query(this.server(), this.database, `SELECT * FROM ${this.call(kind, name)}`, { format: "json" });
      expect([status, text]).toEqual([400, expect.stringContaining(`could not find ${kind === "last" ? "last" : "distinct"} value cache`)]);
      return `ask for no ${kind} ${name}`;
    }
    const where = below(2) === 0 && cache.keys.includes("host") ? `WHERE host = '${HOSTS[1 + below(3)]}'` : "";
    // concurrent queries return the same
    await Promise.all(Array.from({ length: 1 + below(4) }, () => this.check(cache, where)));
    return `ask ${kind} ${name} ${where}`;
  }

  private async check(cache: Cache, where: string): Promise<void> {
    const values = cache.kind === "distinct" ? [] : (cache.values ?? this.valuesBeside(cache.keys));
    const columns = [...cache.keys, ...values];
    const shown = [...columns, ...(cache.kind === "last" ? ["time::BIGINT AS t"] : [])];
    const found = await this.server().sql<Record<string, unknown>>(
      this.database,
      `SELECT ${shown.join(", ")} FROM ${this.call(cache.kind, cache.name)} ${where}`,
    );
    const text = (row: Record<string, unknown>) => JSON.stringify([...columns, "t"].map((name) => row[name] ?? null));
    const host = /'(.*)'/.exec(where)?.[1];
    const matches = (row: Record<string, unknown>) => host === undefined || row["host"] === host;
    const rowsOf = (points: readonly Point[]) => {
      const rows = cache.kind === "last" ? lastRows(cache, points) : points.map(rowOf).map((row) => pick(row, columns));
      return [...new Set(rows.filter(matches).map(text))].sort();
    };
    const got = found.map(text).sort();
    const what = `${cache.kind} cache ${cache.name} of ${this.name} over ${columns} ${where}`;
    if (cache.kind === "distinct") {
      // rows past their retention may have been counted before they expired
      expect(got.length, what).toBe(new Set(got).size);
      const [least, most] = [rowsOf(this.visible()), new Set(rowsOf([...this.points.values()]))];
      expect(least.filter((row) => !got.includes(row)), `${what}: missing`).toEqual([]); // biome-ignore format: one line
      expect(got.filter((row) => !most.has(row)), `${what}: too many`).toEqual([]); // biome-ignore format: one line
    } else {
      expect(got, what).toEqual(rowsOf(this.visible()));
    }
  }

  private async deleteRows(): Promise<string> {
    const { below } = this;
    const host = HOSTS[1 + below(3)]!;
    const timeMs = this.baseMs - below(60) * SERIES;
    const statement = `DELETE FROM "${this.name}" WHERE host = '${host}' AND time <= ${timeMs}ms`;
    const response = await fetch(`${this.server().url}/query?${new URLSearchParams({ db: this.database, q: statement })}`, {
      method: "POST",
    });
    expect(await response.text()).not.toContain("error");
    for (const [key, point] of this.points) if (point.host === host && point.timeMs <= timeMs) this.points.delete(key);
    return `delete rows of ${host}`;
  }

  private async deleteTable(): Promise<string> {
    const isData = this.below(2) === 0;
    const owner = { db: this.database, table: this.name, data_only: String(isData) };
    await this.send(200, "DELETE", `/api/v3/configure/table?${new URLSearchParams(owner)}`);
    if (isData) this.points = new Map();
    else this.isDeleted = true;
    return isData ? "delete all rows" : "delete the table";
  }

  private async askDeleted(): Promise<string> {
    const kind: Kind = this.below(2) === 0 ? "distinct" : "last";
    const name = NAMES[this.below(NAMES.length)]!;
    const { status, text } = await query(this.server(), this.database, `SELECT * FROM ${this.call(kind, name)}`, { format: "json" });
    expect([status, text]).toEqual([400, expect.stringContaining(`provided table name (${this.name}) is invalid`)]);
    const owner = { db: this.database, table: this.name, name };
    await this.send(404, "POST", PATHS[kind], { ...owner, columns: ["host"] });
    await this.send(404, "DELETE", `${PATHS[kind]}?${new URLSearchParams(owner)}`);
    return "ask the deleted table";
  }

  private async restore(): Promise<string> {
    await this.send(200, "POST", "/api/v3/configure/table/restore", { db: this.database, table: this.name });
    this.isDeleted = false;
    return "restore the table";
  }

  private async setRetention(): Promise<string> {
    this.isShort = this.below(2) === 0;
    const owner = { db: this.database, table: this.name, retention_period: this.isShort ? "30m" : null };
    await this.send(200, "PUT", "/api/v3/configure/table", owner);
    return `retention: ${this.isShort}`;
  }

  private visible(): Point[] {
    const points = [...this.points.values()];
    return this.isShort ? points.filter(({ timeMs }) => timeMs > this.baseMs - OLD_MS + MINUTE_MS) : points;
  }

  private valuesBeside(keys: readonly string[]): string[] {
    return [...TAGS, "f", "i", "s", ...(this.hasN ? ["n"] : [])].filter((name) => !keys.includes(name));
  }

  private call(kind: Kind, name: string): string {
    return `${kind}_cache('${this.name}', '${name.replaceAll("'", "''")}')`;
  }

  private async send(status: number, method: string, path: string, body?: object): Promise<void> {
    const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const response = await fetch(`${this.server().url}${path}`, { method, ...json });
    const text = await response.text();
    if (response.status !== status) throw new Error(`${method} ${path}: ${response.status} instead of ${status}: ${text}`);
  }
}

function rowOf({ host, zone, timeMs, fields }: Point): Record<string, unknown> {
  const row: Record<string, unknown> = { host, zone, t: timeMs * 1_000_000 };
  for (const name of FIELDS) row[name] = fields[name] ?? null;
  return row;
}

function pick(row: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}

/** The newest rows of each key. */
function lastRows({ keys, count }: Cache, points: readonly Point[]): Record<string, unknown>[] {
  const rows = points.map(rowOf).filter((row) => keys.every((name) => row[name] !== null));
  const byKey = Map.groupBy(rows, (row) => JSON.stringify(pick(row, keys)));
  return [...byKey.values()].flatMap((ofKey) => ofKey.sort((a, b) => Number(b["t"]) - Number(a["t"])).slice(0, count));
}

function shuffled<T>(below: Below, items: readonly T[]): T[] {
  const left = [...items];
  return items.map(() => left.splice(below(left.length), 1)[0]!);
}
