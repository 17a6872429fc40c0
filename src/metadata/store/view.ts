// The view: all records as rows of SQLite tables in memory, for queries that join, sort and page. Foreign keys and unique columns hold at
// every step, so a change that would leave something dangling fails before it reaches the log.
import { Database, type SQLQueryBindings } from "bun:sqlite";
import { KINDS, type RecordKind, type RecordTypes } from "./kinds.ts";
import { migrate } from "./migrations.ts";

/** The SQLite tables of all records. */
export class MetadataView {
  private db = new Database(":memory:", { strict: true });
  private readonly puts = new Map<RecordKind, string>();
  private readsDone = 0;
  private writesDone = 0;

  constructor() {
    this.db.run("pragma foreign_keys = on");
    migrate(this.db);
    for (const kind of Object.keys(KINDS) as RecordKind[]) this.puts.set(kind, putStatement(kind));
  }

  put<K extends RecordKind>(kind: K, id: string, value: RecordTypes[K]): void {
    const members = value as Readonly<Record<string, unknown>>;
    const { columns, derived = {} } = KINDS[kind];
    const made = Object.values(derived).map((derive) => stored(derive(value)));
    this.run(this.puts.get(kind)!, id, ...columns.map((column) => stored(members[column])), ...made);
  }

  /** Throws for what is not there: the log would refuse it, in the middle of a change. */
  remove(kind: RecordKind, id: string): void {
    this.writesDone += 1;
    const { changes } = this.db.query(`delete from ${KINDS[kind].table} where id = ?`).run(id);
    if (changes !== 1) throw new Error(`BUG: the ${kind} ${id} is removed, and is not there`);
  }

  run(sql: string, ...values: SQLQueryBindings[]): void {
    this.writesDone += 1;
    this.db.query(sql).run(...values);
  }

  get<Row>(sql: string, ...values: SQLQueryBindings[]): Row | null {
    this.readsDone += 1;
    return this.db.query<Row, SQLQueryBindings[]>(sql).get(...values);
  }

  all<Row>(sql: string, ...values: SQLQueryBindings[]): Row[] {
    this.readsDone += 1;
    return this.db.query<Row, SQLQueryBindings[]>(sql).all(...values);
  }

  count(sql: string, ...values: SQLQueryBindings[]): number {
    return this.get<{ count: number }>(`select count(*) as count ${sql}`, ...values)!.count;
  }

  /** Statements since the start. */
  get statements(): { readonly reads: number; readonly writes: number } {
    return { reads: this.readsDone, writes: this.writesDone };
  }

  /** What all rows take. */
  get bytes(): number {
    const sql =
      "select (c.page_count - f.freelist_count) * s.page_size as bytes from pragma_page_count() c, pragma_freelist_count() f, pragma_page_size() s";
    return this.get<{ bytes: number }>(sql)!.bytes;
  }

  /** All or nothing. */
  transaction<T>(run: () => T): T {
    return this.db.transaction(run)();
  }

  /** Takes the rows of another view, which ends with that. */
  become(other: MetadataView): void {
    this.db.close();
    this.db = other.db;
  }

  /** As a file of SQLite. */
  serialize(): Uint8Array {
    return this.db.serialize();
  }

  close(): void {
    this.db.close();
  }
}

function putStatement(kind: RecordKind): string {
  const { table, columns, derived = {} } = KINDS[kind];
  const names = ["id", ...columns, ...Object.keys(derived)];
  const changes = names
    .slice(1)
    .map((name) => `${name} = excluded.${name}`)
    .join(", ");
  return `insert into ${table} (${names.join(", ")}) values (${names.map(() => "?").join(", ")}) on conflict (id) do update set ${changes}`;
}

function stored(value: unknown): SQLQueryBindings {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "object" && value !== null) return JSON.stringify(value);
  return (value ?? null) as SQLQueryBindings;
}
