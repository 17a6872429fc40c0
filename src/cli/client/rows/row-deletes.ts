// tsdb delete rows, show row_deletes, cancel row_delete.
import { TsdbError } from "../../../model/errors.ts";
import { printRows, type Row } from "../../offline/table.ts";
import { Api, CONNECTION, DATABASE, jsonOf } from "../api.ts";
import type { ClientCommand } from "../command.ts";
import { confirmed, YES } from "../confirm.ts";
import type { Input, Option } from "../options.ts";

const PATH = "/api/v3/row_delete_requests";
const FORMAT: Option = { name: "format", value: "FORMAT", help: "pretty or json.", default: "pretty" };
const TABLE: Option = { name: "table", short: "t", value: "NAME", help: "Table." };

/** A request as the server tells of it. */
interface RowDelete {
  readonly sequence: number;
  readonly db_name: string;
  readonly table_name: string;
  readonly delete_predicate: string;
  readonly created_at: number;
  readonly disposition: string;
  readonly completed_at?: number;
  readonly aborted_at?: number;
  readonly abort_reason?: string;
}

function rowOf(request: RowDelete): Row {
  const time = (seconds: number | undefined) => (seconds === undefined ? "" : new Date(seconds * 1000).toISOString());
  const { sequence, db_name: database, table_name: table, delete_predicate: predicate, disposition, abort_reason: reason } = request;
  const times = { created: time(request.created_at), ended: time(request.completed_at ?? request.aborted_at) };
  return { sequence, database, table, predicate, disposition, ...times, reason: reason ?? "" };
}

/** @throws TsdbError config unless it is clear which times are meant */
function timesOf(input: Input): Record<string, unknown> {
  const [min, max] = [input.option("min-time"), input.option("max-time")];
  const isAll = input.flag("all-time");
  if (isAll && (min !== undefined || max !== undefined)) {
    throw new TsdbError("config", "--all-time and a bound of time exclude each other");
  }
  if (!isAll && min === undefined && max === undefined) {
    throw new TsdbError("config", "which times? --min-time TIME (inclusive), --max-time TIME (exclusive), or --all-time");
  }
  return {
    ...(min === undefined ? {} : { min_time: min }),
    ...(max === undefined ? {} : { max_time: max }),
    ...(isAll ? { all_time: true } : {}),
  };
}

export const ROW_DELETE_COMMANDS: readonly ClientCommand[] = [
  {
    words: ["delete", "rows"],
    summary: "Delete rows of a table by tags and time.",
    notes: `tsdb delete rows -d home -t temp --all-time --predicate "room = 'kitchen'"
tsdb delete rows -d home -t temp --max-time 2026-01-01T00:00:00Z
The rows are gone at once. Until --row-delete-min-age of the server (24h) the
request can be taken back: tsdb cancel row_delete SEQUENCE.`,
    positionals: [],
    options: [
      DATABASE,
      TABLE,
      { name: "min-time", value: "TIME", help: "First instant: RFC 3339, or nanoseconds since 1970." },
      { name: "max-time", value: "TIME", help: "The instant after the last." },
      { name: "all-time", value: null, help: "Rows of all times." },
      { name: "predicate", short: "p", value: "CONDITION", help: "Condition of SQL over tags, such as \"room = 'kitchen'\"." },
      YES,
      ...CONNECTION,
    ],
    verb: "Delete",
    async run(input, terminal) {
      const [db, table] = [input.required("database"), input.required("table")];
      const predicate = input.option("predicate");
      const body = { db, table, ...timesOf(input), ...(predicate === undefined ? {} : { predicate }) };
      const api = new Api(input);
      if (!(await confirmed(input, terminal, `rows of "${db}"."${table}"`))) return 1;
      const { sequence, disposition } = await jsonOf<RowDelete>(await api.call("POST", PATH, { body }));
      terminal.out(
        disposition === "completed"
          ? `No row of "${db}"."${table}" fits\n`
          : `Rows of "${db}"."${table}" deleted successfully, as request ${sequence}\n`,
      );
      return 0;
    },
  },
  {
    words: ["show", "row_deletes"],
    summary: "List requests to delete rows.",
    positionals: [],
    options: [
      { ...DATABASE, help: "Only of this database." },
      { ...TABLE, help: "Only of this table." },
      { name: "disposition", value: "STATE", help: "Only pending, completed or aborted ones." },
      FORMAT,
      ...CONNECTION,
    ],
    verb: "Show",
    async run(input, terminal) {
      const query = { db: input.option("database"), table: input.option("table"), disposition: input.option("disposition") };
      const requests = await jsonOf<readonly RowDelete[]>(await new Api(input).call("GET", PATH, { query }));
      printRows(input, terminal, requests.map(rowOf));
      return 0;
    },
  },
  {
    words: ["cancel", "row_delete"],
    summary: "Take back a request to delete rows: they are there again.",
    positionals: [{ name: "SEQUENCE" }],
    options: [{ name: "reason", value: "TEXT", help: "Why.", default: "cancelled by a user" }, ...CONNECTION],
    verb: "Cancel",
    async run(input, { out }) {
      const sequence = input.positionals[0]!;
      const body = { reason: input.option("reason") };
      await new Api(input).call("POST", `${PATH}/${encodeURIComponent(sequence)}/abort`, { body });
      out(`Row delete request ${sequence} cancelled successfully\n`);
      return 0;
    },
  },
];
