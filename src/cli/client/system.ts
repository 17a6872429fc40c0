// tsdb show system: lists the tables of schema `system`, one of them, or the first rows of all.
import { TsdbError } from "../../model/errors.ts";
import { Api, CONNECTION, DATABASE } from "./api.ts";
import type { ClientCommand } from "./command.ts";
import { FORMAT, list, statement, withNewline } from "./databases.ts";
import type { Input } from "./options.ts";

const VIEWS = ["table-list", "table", "summary"] as const;
const LIMIT_DEFAULT = "10";

/** Lists as text where the format does not support them. */
function tableList(format: string): string {
  const order = "ORDER BY ordinal_position";
  const columns = format === "csv" ? `string_agg(column_name, ' ' ${order})` : `array_agg(column_name ${order})`;
  return `SELECT table_name, ${columns} AS column_names FROM information_schema.columns
    WHERE table_schema = 'system' GROUP BY table_name ORDER BY table_name`;
}

/** Most relevant rows first, for tables ordered by time. */
const ORDER: Readonly<Record<string, string>> = { queries: "issue_time DESC" };

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

interface Column {
  readonly column_name: string;
  readonly data_type: string;
}

/** `a,b` as a list of columns, all unless some are named; lists as in `tableList`. */
async function columns(input: Input, database: string, table: string): Promise<string> {
  const names = list(input.option("select"));
  if (input.option("format") !== "csv") return names.length === 0 ? "*" : names.map(quoted).join(", ");
  const all = await new Api(input).rows<Column>(
    database,
    `SELECT column_name, data_type FROM information_schema.columns
    WHERE table_schema = 'system' AND table_name = '${table.replaceAll("'", "''")}' ORDER BY ordinal_position`,
  );
  const lists = new Set(all.filter(({ data_type }) => data_type.startsWith("List")).map(({ column_name }) => column_name));
  const shown = names.length > 0 ? names : all.map(({ column_name }) => column_name);
  // of a table that is not there the server tells which there are
  if (shown.length === 0) return "*";
  return shown.map((name) => (lists.has(name) ? `array_to_string(${quoted(name)}, ' ') AS ${quoted(name)}` : quoted(name))).join(", ");
}

/** `a,b desc` */
function order(text: string | undefined, table: string): string {
  const terms = list(text).map((term) => {
    const [, name, direction = ""] = /^(.*?)(\s+(?:asc|desc))?$/i.exec(term)!;
    return `${quoted(name!)}${direction.toUpperCase()}`;
  });
  const chosen = terms.length > 0 ? terms.join(", ") : ORDER[table];
  return chosen === undefined ? "" : ` ORDER BY ${chosen}`;
}

/** @throws TsdbError config */
function limit(input: Input): string {
  const text = input.option("limit")!;
  if (!/^\d{1,9}$/.test(text)) throw new TsdbError("config", `--limit must be a whole number, 0 for all rows, got "${text}"`, {});
  return Number(text) === 0 ? "" : ` LIMIT ${Number(text)}`;
}

async function rowsOf(input: Input, database: string, name: string): Promise<string> {
  const table = name.replace(/^system\./, "");
  const ordered = order(input.option("order-by"), table);
  const selected = await columns(input, database, table);
  return `SELECT ${selected} FROM system.${quoted(table)}${ordered}${limit(input)}`;
}

/** All tables with their names: as text for people; for programs as one object, or one per line. */
async function summary(input: Input, database: string, out: (text: string | Uint8Array) => void): Promise<void> {
  const format = input.option("format")!;
  if (format === "parquet") throw new TsdbError("config", "--format parquet holds one table; a summary has several", {});
  for (const name of ["select", "order-by"]) {
    if (input.option(name) !== undefined) throw new TsdbError("config", `--${name} is for one table: tsdb show system table NAME`, {});
  }
  const api = new Api(input);
  const names = (await api.rows<{ table_name: string }>(database, tableList("json"))).map((row) => row.table_name);
  const whole: Record<string, unknown> = {};
  for (const name of names) {
    const q = await rowsOf(input, database, name);
    if (format === "json" || format === "jsonl") {
      const rows = await api.rows(database, q);
      if (format === "json") whole[name] = rows;
      else out(`${JSON.stringify({ table: name, rows })}\n`);
      continue;
    }
    const response = await api.call("POST", "/api/v3/query_sql", { body: { db: database, q, format } });
    out(`${name} summary:\n`);
    out(withNewline(await response.bytes(), format));
  }
  if (format === "json") out(`${JSON.stringify(whole)}\n`);
}

export const SYSTEM_COMMANDS: readonly ClientCommand[] = [
  {
    words: ["show", "system"],
    summary: "Show the server's state: tables of schema `system`.",
    notes: `tsdb show system -d home table-list                     their names and columns
tsdb show system -d home table queries -s query_text,end2end_duration -o 'end2end_duration desc'
tsdb show system -d home summary                        the first rows of each
The database _internal has further tables about all databases.`,
    positionals: [
      { name: "WHAT", choices: VIEWS },
      { name: "NAME", isOptional: true },
    ],
    options: [
      DATABASE,
      { name: "limit", short: "l", value: "COUNT", help: "Maximum number of rows per table; 0 is all.", default: LIMIT_DEFAULT },
      { name: "order-by", short: "o", value: "A,B", help: "Columns to sort by; `A desc` begins with the greatest.", joinedBy: "," },
      { name: "select", short: "s", value: "A,B", help: "Columns to show; default all.", joinedBy: "," },
      FORMAT,
      ...CONNECTION,
    ],
    verb: "Show",
    async run(input, { out }) {
      const [view, name] = input.positionals as [(typeof VIEWS)[number], string | undefined];
      const database = input.required("database");
      if (view === "table") {
        if (name === undefined) throw new TsdbError("config", "which table? tsdb show system table NAME; table-list names them", {});
        return statement(input, database, await rowsOf(input, database, name), out);
      }
      if (name !== undefined) throw new TsdbError("config", `unexpected argument "${name}"; tsdb show system ${view} takes none`, {});
      if (view === "table-list") return statement(input, database, tableList(input.option("format")!), out);
      await summary(input, database, out);
      return 0;
    },
  },
  {
    words: ["show", "nodes"],
    summary: "List the servers of the cluster.",
    positionals: [],
    options: [FORMAT, ...CONNECTION],
    verb: "Show",
    run: (input, { out }) => statement(input, "_internal", "SELECT * FROM system.nodes ORDER BY node_id", out),
  },
  {
    words: ["stop", "node"],
    summary: "Record that a server has been stopped; no process is ended.",
    positionals: [{ name: "NODE_ID", isOptional: true }],
    options: [{ name: "node-id", value: "NAME", help: "Its name." }, ...CONNECTION],
    verb: "Stop",
    async run(input, { out }) {
      const nodeId = input.positionals[0] ?? input.required("node-id");
      await new Api(input).call("POST", "/api/v3/enterprise/configure/node/stop", { body: { node_id: nodeId } });
      out(`Node "${nodeId}" marked as stopped successfully\n`);
      return 0;
    },
  },
  {
    words: ["remove", "node"],
    summary: "Take a server that is marked as stopped out of the cluster; rows stay.",
    positionals: [{ name: "NODE_ID", isOptional: true }],
    options: [{ name: "node-id", value: "NAME", help: "Its name." }, ...CONNECTION],
    verb: "Remove",
    async run(input, { out }) {
      const nodeId = input.positionals[0] ?? input.required("node-id");
      await new Api(input).call("POST", "/api/v3/enterprise/configure/node/remove", { body: { node_id: nodeId } });
      out(`Node "${nodeId}" removed successfully\n`);
      return 0;
    },
  },
];
