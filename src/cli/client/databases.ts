// tsdb create|delete|update|restore|show of databases and tables.
import { TsdbError } from "../../model/errors.ts";
import { Api, CONNECTION, DATABASE } from "./api.ts";
import type { ClientCommand } from "./command.ts";
import { confirmed, YES } from "./confirm.ts";
import type { Input, Option } from "./options.ts";

const NAME = [{ name: "NAME" }];
const RETENTION: Option = {
  name: "retention-period",
  value: "DURATION",
  help: "How long rows are kept, such as 30d, 24h or 1y; `none` is unlimited.",
};
const HARD_DELETE: Option = {
  name: "hard-delete",
  value: "WHEN",
  help: "When it is deleted permanently: never, now, default (as the server says: 72 hours) or an RFC 3339 time.",
  default: "never",
};
export const FORMAT: Option = { name: "format", value: "FORMAT", help: "pretty, json, jsonl, csv or parquet.", default: "pretty" };
const NEW_NAME: Option = { name: "new-name", value: "NAME", help: "New name; default the old one." };

/** Absent or `none`: null. */
function retention(input: Input): string | null {
  const period = input.option("retention-period");
  return period === undefined || period === "none" ? null : period;
}

/** `a,b` */
export function list(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** `f:float64,g:utf8` @throws TsdbError config */
function fields(text: string | undefined): { name: string; type: string }[] {
  return list(text).map((item) => {
    const colon = item.lastIndexOf(":");
    if (colon <= 0) throw new TsdbError("config", `--fields: "${item}" has no type; write NAME:TYPE, such as temp:float64`, {});
    return { name: item.slice(0, colon), type: item.slice(colon + 1) };
  });
}

export const DATABASE_COMMANDS: readonly ClientCommand[] = [
  {
    words: ["create", "database"],
    summary: "Create a database.",
    positionals: NAME,
    options: [RETENTION, ...CONNECTION],
    verb: "Create",
    async run(input, { out }) {
      const [db] = input.positionals as [string];
      const period = retention(input);
      const body = { db, ...(period === null ? {} : { retention_period: period }) };
      await new Api(input).call("POST", "/api/v3/configure/database", { body });
      out(`Database "${db}" created successfully\n`);
      return 0;
    },
  },
  {
    words: ["create", "table"],
    summary: "Create a table with its columns.",
    positionals: NAME,
    options: [
      DATABASE,
      { name: "tags", value: "A,B", help: "Tag columns, in the order of the series key.", joinedBy: "," },
      { name: "fields", value: "F:TYPE,…", help: "Field columns; types are utf8, int64, uint64, float64, bool.", joinedBy: "," },
      RETENTION,
      ...CONNECTION,
    ],
    verb: "Create",
    async run(input, { out }) {
      const [table] = input.positionals as [string];
      const db = input.required("database");
      const period = retention(input);
      const body = {
        ...{ db, table, tags: list(input.option("tags")), fields: fields(input.option("fields")) },
        ...(period === null ? {} : { retention_period: period }),
      };
      await new Api(input).call("POST", "/api/v3/configure/table", { body });
      out(`Table "${db}"."${table}" created successfully\n`);
      return 0;
    },
  },
  {
    words: ["update", "database"],
    summary: "Change how long a database keeps its rows.",
    positionals: [{ name: "NAME", isOptional: true }],
    options: [DATABASE, RETENTION, ...CONNECTION],
    verb: "Update",
    async run(input, { out }) {
      const db = input.positionals[0] ?? input.required("database");
      input.required("retention-period");
      await new Api(input).call("PUT", "/api/v3/configure/database", { body: { db, retention_period: retention(input) } });
      out(`Database "${db}" updated successfully\n`);
      return 0;
    },
  },
  {
    words: ["update", "table"],
    summary: "Change how long a table keeps its rows.",
    positionals: NAME,
    options: [DATABASE, RETENTION, ...CONNECTION],
    verb: "Update",
    async run(input, { out }) {
      const [table] = input.positionals as [string];
      const db = input.required("database");
      input.required("retention-period");
      await new Api(input).call("PUT", "/api/v3/configure/table", { body: { db, table, retention_period: retention(input) } });
      out(`Table "${db}"."${table}" updated successfully\n`);
      return 0;
    },
  },
  {
    words: ["delete", "database"],
    summary: "Delete a database; it can be restored until it is dropped.",
    positionals: NAME,
    options: [
      HARD_DELETE,
      { name: "data-only", value: null, help: "Delete the rows only." },
      { name: "remove-tables", value: null, help: "With --data-only: delete the caches of the tables too." },
      YES,
      ...CONNECTION,
    ],
    verb: "Delete",
    async run(input, terminal) {
      const [db] = input.positionals as [string];
      const api = new Api(input);
      if (!(await confirmed(input, terminal, `"${db}"`))) return 1;
      const query = {
        ...{ db, hard_delete_at: input.option("hard-delete") },
        data_only: String(input.flag("data-only")),
        remove_tables: String(input.flag("remove-tables")),
      };
      await api.call("DELETE", "/api/v3/configure/database", { query });
      terminal.out(`Database "${db}" deleted successfully\n`);
      return 0;
    },
  },
  {
    words: ["delete", "table"],
    summary: "Delete a table; it can be restored until it is dropped.",
    positionals: NAME,
    options: [DATABASE, HARD_DELETE, { name: "data-only", value: null, help: "Delete the rows only." }, YES, ...CONNECTION],
    verb: "Delete",
    async run(input, terminal) {
      const [table] = input.positionals as [string];
      const db = input.required("database");
      const api = new Api(input);
      if (!(await confirmed(input, terminal, `"${db}"."${table}"`))) return 1;
      const query = { db, table, hard_delete_at: input.option("hard-delete"), data_only: String(input.flag("data-only")) };
      await api.call("DELETE", "/api/v3/configure/table", { query });
      terminal.out(`Table "${db}"."${table}" deleted successfully\n`);
      return 0;
    },
  },
  {
    words: ["restore", "database"],
    summary: "Restore a deleted database by its current or former name.",
    positionals: NAME,
    options: [NEW_NAME, ...CONNECTION],
    verb: "Restore",
    async run(input, { out }) {
      const [db] = input.positionals as [string];
      const body = { db, new_name: input.option("new-name") ?? null };
      await new Api(input).call("POST", "/api/v3/configure/database/restore", { body });
      out(`Database "${input.option("new-name") ?? db}" restored successfully\n`);
      return 0;
    },
  },
  {
    words: ["restore", "table"],
    summary: "Restore a deleted table by its current or former name.",
    positionals: NAME,
    options: [DATABASE, NEW_NAME, ...CONNECTION],
    verb: "Restore",
    async run(input, { out }) {
      const [table] = input.positionals as [string];
      const db = input.required("database");
      const body = { db, table, new_name: input.option("new-name") ?? null };
      await new Api(input).call("POST", "/api/v3/configure/table/restore", { body });
      out(`Table "${db}"."${input.option("new-name") ?? table}" restored successfully\n`);
      return 0;
    },
  },
  {
    words: ["show", "databases"],
    summary: "List databases.",
    positionals: [],
    options: [FORMAT, { name: "show-deleted", value: null, help: "Include deleted databases that can be restored." }, ...CONNECTION],
    verb: "Show",
    async run(input, { out }) {
      const query = { format: input.option("format"), show_deleted: String(input.flag("show-deleted")) };
      const response = await new Api(input).call("GET", "/api/v3/configure/database", { query });
      out(withNewline(await response.bytes(), input.option("format")));
      return 0;
    },
  },
  {
    words: ["show", "tables"],
    summary: "List the tables of a database.",
    positionals: [],
    options: [DATABASE, FORMAT, ...CONNECTION],
    verb: "Show",
    run: (input, { out }) => statement(input, input.required("database"), TABLE_LIST, out),
  },
  {
    words: ["show", "retention"],
    summary: "List the retention periods of databases.",
    positionals: [],
    options: [DATABASE, FORMAT, ...CONNECTION],
    verb: "Show",
    run(input, { out }) {
      const database = input.option("database");
      const where = database === undefined ? "" : `AND database_name = '${database.replaceAll("'", "''")}'`;
      return statement(input, "_internal", RETENTION_LIST.replace("{where}", where), out);
    },
  },
  {
    words: ["show", "tokens"],
    summary: "List tokens, without their texts.",
    positionals: [],
    options: [FORMAT, ...CONNECTION],
    verb: "Show",
    run: (input, { out }) => statement(input, "_internal", "SELECT * FROM system.tokens ORDER BY token_id", out),
  },
];

export const TABLE_LIST = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'iox' ORDER BY table_name";
const DAY_NS = 86_400_000_000_000;
const RETENTION_LIST = `SELECT database_name, CASE
    WHEN retention_period_ns IS NULL THEN 'infinite'
    WHEN retention_period_ns % ${DAY_NS} = 0 THEN concat(retention_period_ns / ${DAY_NS}, 'd')
    WHEN retention_period_ns % ${DAY_NS / 24} = 0 THEN concat(retention_period_ns / ${DAY_NS / 24}, 'h')
    WHEN retention_period_ns % 60000000000 = 0 THEN concat(retention_period_ns / 60000000000, 'm')
    ELSE concat(retention_period_ns / 1000000000, 's') END AS retention_period
  FROM system.databases WHERE NOT deleted {where} ORDER BY database_name`;

/** Runs a statement and prints its answer. */
export async function statement(input: Input, database: string, q: string, out: (bytes: Uint8Array) => void): Promise<number> {
  const format = input.option("format");
  const response = await new Api(input).call("POST", "/api/v3/query_sql", { body: { db: database, q, format } });
  out(withNewline(await response.bytes(), format));
  return 0;
}

/** Adds a missing final newline; Parquet is unchanged. */
export function withNewline(bytes: Uint8Array, format: string | undefined): Uint8Array {
  if (format === "parquet" || bytes.length === 0 || bytes.at(-1) === 10) return bytes;
  const ended = new Uint8Array(bytes.length + 1);
  ended.set(bytes);
  ended[bytes.length] = 10;
  return ended;
}
