// tsdb create|delete last_cache|distinct_cache.
import { TsdbError } from "../../model/errors.ts";
import { parseHumanDuration } from "../../model/time/human-duration.ts";
import { Api, CONNECTION, DATABASE, Refused } from "./api.ts";
import type { ClientCommand } from "./command.ts";
import { confirmed, YES } from "./confirm.ts";
import { list } from "./databases.ts";
import type { Input, Option } from "./options.ts";

const LAST = "/api/v3/configure/last_cache";
const DISTINCT = "/api/v3/configure/distinct_cache";
const TABLE: Option = { name: "table", short: "t", value: "NAME", help: "Table." };
const NODES: Option = {
  name: "node-spec",
  short: "n",
  value: "SPEC",
  help: "Servers that maintain it: all, or nodes:a,b.",
  default: "all",
};
const SECOND_NS = 1_000_000_000n;

/** Undefined if not given. @throws TsdbError config */
function seconds(input: Input, name: string): number | undefined {
  const text = input.option(name);
  if (text === undefined) return undefined;
  try {
    const ns = parseHumanDuration(text);
    if (ns % SECOND_NS === 0n) return Number(ns / SECOND_NS);
  } catch (error) {
    throw new TsdbError("config", `--${name}: ${(error as Error).message}`, {});
  }
  throw new TsdbError("config", `--${name}: must be whole seconds, got "${text}"`, {});
}

function count(input: Input, name: string): number | undefined {
  const text = input.option(name);
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new TsdbError("config", `--${name} must be a whole number, got "${text}"`, {});
}

/** Undefined if not given; an empty text is an empty list. */
function names(input: Input, name: string): string[] | undefined {
  const text = input.option(name);
  return text === undefined ? undefined : list(text);
}

async function create(
  input: Input,
  path: string,
  members: Readonly<Record<string, unknown>>,
  out: (text: string) => void,
): Promise<number> {
  const owner = { db: input.required("database"), table: input.required("table"), name: input.positionals[0] };
  const body = { ...owner, ...members, node_spec: input.option("node-spec") };
  try {
    out(`new cache created: ${await (await new Api(input).call("POST", path, { body })).text()}\n`);
  } catch (error) {
    const isThere = error instanceof Refused && /already exists with the same configuration/.test(error.body);
    if (!isThere) throw error;
    out("a cache already exists for the provided parameters\n");
  }
  return 0;
}

/** A cache contains no data of its own, so deleting it needs no confirmation. */
function deletion(kind: "last" | "distinct", path: string): ClientCommand {
  return {
    words: ["delete", `${kind}_cache`],
    summary: `Delete a ${kind}-value cache; the table's rows are kept.`,
    positionals: [{ name: "NAME" }],
    options: [DATABASE, TABLE, YES, ...CONNECTION],
    verb: "Delete",
    async run(input, terminal) {
      const [name] = input.positionals as [string];
      const owner = { db: input.required("database"), table: input.required("table") };
      const api = new Api(input);
      if (terminal.isInputTerminal && !(await confirmed(input, terminal, `the ${kind} cache "${name}"`))) return 1;
      await api.call("DELETE", path, { query: { ...owner, name } });
      terminal.out(`${kind} cache deleted successfully\n`);
      return 0;
    },
  };
}

export const CACHE_COMMANDS: readonly ClientCommand[] = [
  {
    words: ["create", "last_cache"],
    summary: "Keep the newest rows of each key in memory; SELECT * FROM last_cache('table', 'cache') reads them.",
    positionals: [{ name: "NAME", isOptional: true }],
    options: [
      DATABASE,
      TABLE,
      {
        name: "key-columns",
        value: "A,B",
        help: "Key columns: tags, strings, integers, booleans; default all tags.",
        joinedBy: ",",
      },
      { name: "value-columns", value: "A,B", help: "Columns kept in addition to them and time; default all others.", joinedBy: "," },
      { name: "count", value: "COUNT", help: "Rows of each key; default 1." },
      { name: "ttl", value: "DURATION", help: "How long a row is kept, such as 30m; default 4h." },
      NODES,
      ...CONNECTION,
    ],
    verb: "Create",
    run(input, { out }) {
      const columns = { key_columns: names(input, "key-columns"), value_columns: names(input, "value-columns") };
      return create(input, LAST, { ...columns, count: count(input, "count"), ttl: seconds(input, "ttl") }, out);
    },
  },
  {
    words: ["create", "distinct_cache"],
    summary: "Keep the combinations of values of columns in memory; SELECT * FROM distinct_cache('table', 'cache') reads them.",
    positionals: [{ name: "NAME", isOptional: true }],
    options: [
      DATABASE,
      TABLE,
      { name: "columns", value: "A,B", help: "Tags and string fields, in the order of the cache's columns.", joinedBy: "," },
      { name: "max-cardinality", value: "COUNT", help: "Maximum number of combinations; default 100000." },
      { name: "max-age", value: "DURATION", help: "How long a combination is kept after its last occurrence, such as 30d; default 24h." },
      NODES,
      ...CONNECTION,
    ],
    verb: "Create",
    run(input, { out }) {
      const bounds = { max_cardinality: count(input, "max-cardinality"), max_age: seconds(input, "max-age") };
      return create(input, DISTINCT, { columns: list(input.required("columns")), ...bounds }, out);
    },
  },
  deletion("last", LAST),
  deletion("distinct", DISTINCT),
];
