// tsdb create|delete|show file_index.
import { Api, CONNECTION, DATABASE } from "./api.ts";
import type { ClientCommand } from "./command.ts";
import { confirmed, YES } from "./confirm.ts";
import { FORMAT, list, statement } from "./databases.ts";
import type { Input, Option } from "./options.ts";

const PATH = "/api/v3/enterprise/configure/file_index";
const TABLE: Option = {
  name: "table",
  short: "t",
  value: "NAME",
  help: "Table; default all of the database without an index of their own.",
};
const LIST = "SELECT * FROM system.file_index ORDER BY database_name, table_name";

function owner(input: Input): { db: string; table?: string } {
  const table = input.option("table");
  return { db: input.required("database"), ...(table === undefined ? {} : { table }) };
}

function shown({ db, table }: { db: string; table?: string }): string {
  return table === undefined ? `"${db}"` : `"${db}"."${table}"`;
}

export const FILE_INDEX_COMMANDS: readonly ClientCommand[] = [
  {
    words: ["create", "file_index"],
    summary: "Index files by tag and string columns, so that queries skip files without the value they look for.",
    positionals: [],
    options: [DATABASE, TABLE, { name: "columns", value: "A,B", help: "Tag and string columns." }, ...CONNECTION],
    verb: "Create",
    async run(input, { out }) {
      const of = owner(input);
      await new Api(input).call("POST", PATH, { body: { ...of, columns: list(input.required("columns")) } });
      out(`File index of ${shown(of)} created successfully\n`);
      return 0;
    },
  },
  {
    words: ["delete", "file_index"],
    summary: "Delete a file index; the rows are kept.",
    positionals: [],
    options: [DATABASE, TABLE, YES, ...CONNECTION],
    verb: "Delete",
    async run(input, terminal) {
      const of = owner(input);
      const api = new Api(input);
      if (!(await confirmed(input, terminal, `the file index of ${shown(of)}`))) return 1;
      await api.call("DELETE", PATH, { body: of });
      terminal.out(`File index of ${shown(of)} deleted successfully\n`);
      return 0;
    },
  },
  {
    words: ["show", "file_index"],
    summary: "List the file indexes of a database, with the number of files indexed.",
    positionals: [],
    options: [DATABASE, FORMAT, ...CONNECTION],
    verb: "Show",
    run: (input, { out }) => statement(input, input.required("database"), LIST, out),
  },
];
