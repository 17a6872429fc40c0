// tsdb recovery: users, organizations and operator's tokens of the bucket-based API, in the folder of a stopped server: for who has lost
// the last token or password.
import { readFileSync } from "node:fs";
import { checkPassword } from "../../metadata/access/passwords.ts";
import { needText, operatorPermissions } from "../../metadata/access/permissions.ts";
import type { V2Line } from "../../metadata/line.ts";
import { TsdbError } from "../../model/errors.ts";
import type { ClientCommand } from "../client/command.ts";
import type { Input, Option } from "../client/options.ts";
import { Questions } from "../client/setup.ts";
import { FOLDER_OPTIONS, FORMAT_OPTION, KEY_OPTION, KEY_TEXT_OPTION } from "./options.ts";
import { printRows } from "./table.ts";

const ALL = { limit: -1, offset: 0, after: null, isDescending: false };
const USER: Option = { name: "username", short: "u", value: "NAME", help: "The user." };
const PASSWORD: readonly Option[] = [
  { name: "password", short: "p", value: "PASSWORD", help: "The new password, 8 to 72 characters; `-` reads standard input." },
  { name: "password-file", value: "FILE", help: "The same, in a file." },
];
const ORG: Option = { name: "org", short: "o", value: "NAME", help: "The organization." };
const HASHED: Option = {
  name: "v2-use-hashed-tokens",
  value: null,
  help: "Keep the token's hash alone, as the server does. So it is also where no token that the folder has keeps more.",
  env: ["TSDB_V2_USE_HASHED_TOKENS", "INFLUXD_USE_HASHED_TOKENS"],
};
const NOTES = "The server must be stopped. Its next start finds what was changed.";

interface Recovery {
  readonly words: readonly string[];
  readonly summary: string;
  readonly options?: readonly Option[];
  readonly mode: "read" | "write";
  /** Rows to print; null = nothing. */
  readonly run: (line: V2Line, input: Input, password: string) => Promise<readonly Readonly<Record<string, string | null>>[]>;
}

const RECOVERIES: readonly Recovery[] = [
  {
    words: ["auth", "list"],
    summary: "List the API tokens of the bucket-based API.",
    mode: "read",
    run: async ({ authorizations }) =>
      authorizations.list({}).map(({ id, user, org, status, description, token, permissions }) => {
        const isOperator =
          permissions.length >= operatorPermissions().length && permissions.every(({ resource }) => resource.orgID === undefined);
        const shown = isOperator ? "operator" : permissions.map(({ action, resource }) => needText({ action, ...resource })).join(" ");
        return { id, user, org, status, description, token: token === "" ? null : token, permissions: shown };
      }),
  },
  {
    words: ["auth", "create-operator"],
    summary: "Make an API token with every permission.",
    options: [USER, ORG, HASHED],
    mode: "write",
    run: async ({ users, organizations, authorizations, metadata }, input) => {
      const user = users.findByName(input.required("username")) ?? missing("user", input.required("username"));
      const org = organizations.findByName(input.required("org")) ?? missing("organization", input.required("org"));
      if (user.status !== "active") await users.update(user.id, { status: "active" });
      const description = `${user.name}'s Recovery Token`;
      const wanted = { orgID: org.id, userID: user.id, status: "active", description, permissions: operatorPermissions() } as const;
      const hashOnly = input.flag(HASHED.name) || authorizations.hasHashesOnly;
      const { id, token } = await authorizations.create(wanted, { hashOnly });
      await metadata.catalog.durable(metadata.catalog.version);
      return [{ id, user: user.name, org: org.name, token }];
    },
  },
  {
    words: ["user", "list"],
    summary: "List the users of the bucket-based API.",
    mode: "read",
    run: async ({ users }) =>
      users.list(ALL).map(({ id, name, status }) => ({ id, name, status, password: users.passwordHash(id) === null ? "none" : "set" })),
  },
  {
    words: ["user", "create"],
    summary: "Make a user of the bucket-based API.",
    options: [USER, ...PASSWORD],
    mode: "write",
    run: async ({ users, passwords }, input, password) => {
      const hash = await passwords.hash(password);
      const { id, name } = await users.create({ name: input.required("username"), status: "active", oauthID: "" });
      await users.setPassword(id, hash);
      return [{ id, name }];
    },
  },
  {
    words: ["user", "update"],
    summary: "Give a user of the bucket-based API another password.",
    options: [USER, ...PASSWORD],
    mode: "write",
    run: async ({ users, passwords }, input, password) => {
      const { id, name } = users.findByName(input.required("username")) ?? missing("user", input.required("username"));
      await users.setPassword(id, await passwords.hash(password));
      await users.update(id, { status: "active" });
      return [{ id, name }];
    },
  },
  {
    words: ["org", "list"],
    summary: "List the organizations of the bucket-based API.",
    mode: "read",
    run: async ({ organizations }) => organizations.list({}, ALL).map(({ id, name, description }) => ({ id, name, description })),
  },
  {
    words: ["org", "create"],
    summary: "Make an organization of the bucket-based API.",
    options: [ORG, { ...USER, help: "Its owner." }],
    mode: "write",
    run: async ({ organizations, users }, input) => {
      const owner = users.findByName(input.required("username")) ?? missing("user", input.required("username"));
      const { id, name } = await organizations.create({ name: input.required("org"), description: "", ownerID: owner.id });
      return [{ id, name }];
    },
  },
];

export const RECOVERY_COMMANDS: readonly ClientCommand[] = RECOVERIES.map(({ words, summary, options = [], mode, run }) => ({
  words: ["recovery", ...words],
  summary,
  notes: NOTES,
  positionals: [],
  options: [...FOLDER_OPTIONS, KEY_OPTION, KEY_TEXT_OPTION, ...options, FORMAT_OPTION],
  verb: "Recovery",
  async run(input, terminal) {
    // asked for before the folder is locked
    for (const { name } of options) if (name === "username" || name === "org") input.required(name);
    const password = options.some(({ name }) => name === "password") ? await passwordOf(input, new Questions(terminal)) : "";
    const { withFolder } = await import("./folder.ts");
    const rows = await withFolder(input, mode, (folder) => run(folder.line(input), input, password));
    printRows(input, terminal, rows);
    return 0;
  },
}));

/** @throws TsdbError config */
async function passwordOf(input: Input, ask: Questions): Promise<string> {
  const password = await readPassword(input, ask);
  try {
    checkPassword(password, { strong: false });
  } catch (error) {
    throw new TsdbError("config", `--password: ${(error as Error).message}`);
  }
  return password;
}

async function readPassword(input: Input, ask: Questions): Promise<string> {
  const [given, path] = [input.option("password"), input.option("password-file")];
  if (given === "-") return ask.piped();
  if (given !== undefined) return given;
  if (path === undefined) return ask.hidden("password");
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw new TsdbError("config", `--password-file: ${(error as Error).message}`);
  }
}

function missing(what: string, name: string): never {
  throw new TsdbError("not_found", `there is no ${what} "${name}"; tsdb recovery ${what === "user" ? "user" : "org"} list lists them`);
}
