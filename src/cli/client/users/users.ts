// tsdb create|show|update|delete user, and tsdb show roles.
import { TsdbError } from "../../../model/errors.ts";
import { printRows, type Row } from "../../offline/table.ts";
import { Api, CONNECTION, jsonOf } from "../api.ts";
import type { ClientCommand } from "../command.ts";
import { confirmed, YES } from "../confirm.ts";
import { list } from "../databases.ts";
import type { Input, Option, Positional } from "../options.ts";
import { passwordFile } from "./login.ts";

interface User {
  readonly userId: number;
  readonly username?: string;
  readonly displayName?: string;
  readonly oauthId?: string;
  readonly requiresPasswordReset?: boolean;
  readonly createdAt: number;
  readonly temporaryPassword?: string;
}

interface Role {
  readonly id: number;
  readonly name: string;
  readonly description?: string;
}

const PATH = "/api/v3/users";
const FORMAT: Option = { name: "format", value: "FORMAT", help: "pretty or json.", default: "pretty" };
const USER: Positional = { name: "USER" };
const ROLES: Option = { name: "role", value: "ROLES", help: "Roles, separated by commas: Admin, Auditor, Member.", joinedBy: "," };
const DISPLAY_NAME: Option = { name: "display-name", value: "NAME", help: "The user's name for people." };

/** By number or name. @throws TsdbError not_found */
async function userOf(api: Api, text: string): Promise<User> {
  if (/^\d+$/.test(text)) return jsonOf<User>(await api.call("GET", `${PATH}/${text}`));
  const { items } = await jsonOf<{ items: User[] }>(await api.call("GET", PATH));
  const found = items.find(({ username }) => username === text);
  if (found === undefined) throw new TsdbError("not_found", `user not found: ${text}`);
  return found;
}

async function roleIdsOf(api: Api, text: string): Promise<number[]> {
  const { items } = await jsonOf<{ items: Role[] }>(await api.call("GET", "/api/v3/roles"));
  return list(text).map((name) => {
    const role = items.find((each) => each.name.toLowerCase() === name.toLowerCase());
    if (role === undefined)
      throw new TsdbError("not_found", `role not found: ${name}; there are ${items.map((each) => each.name).join(", ")}`);
    return role.id;
  });
}

function given(input: Input, names: Readonly<Record<string, string>>): Record<string, string> {
  const found = Object.entries(names).map(([option, member]) => [member, input.option(option)] as const);
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

export const USER_COMMANDS: readonly ClientCommand[] = [
  {
    words: ["create", "user"],
    summary: "Create a user, who must choose a password with the first sign-in.",
    notes: "Without a password one is made and shown. Not with --oauth-id: the identity provider knows the user.",
    positionals: [{ name: "NAME", isOptional: true }],
    options: [
      ROLES,
      DISPLAY_NAME,
      { name: "oauth-id", value: "SUBJECT", help: "What the identity provider calls the user." },
      { name: "password-file", value: "FILE", help: "The password for the first sign-in." },
      ...CONNECTION,
    ],
    verb: "Create",
    async run(input, { out }) {
      const api = new Api(input);
      const [username] = input.positionals;
      const [roles, file] = [input.option("role"), input.option("password-file")];
      const body = {
        ...(username === undefined ? {} : { username }),
        ...given(input, { "display-name": "displayName", "oauth-id": "oauthId" }),
        ...(file === undefined ? {} : { password: passwordFile(file) }),
        ...(roles === undefined ? {} : { roleIds: await roleIdsOf(api, roles) }),
      };
      const { userId, temporaryPassword } = await jsonOf<User>(await api.call("POST", PATH, { body }));
      out(`User "${username ?? input.option("oauth-id")}" created successfully, with the id ${userId}\n`);
      if (temporaryPassword !== undefined) out(`Password for the first sign-in: ${temporaryPassword}\n`);
      return 0;
    },
  },
  {
    words: ["show", "users"],
    summary: "List users.",
    positionals: [],
    options: [FORMAT, ...CONNECTION],
    verb: "Show",
    async run(input, terminal) {
      const api = new Api(input);
      const { items } = await jsonOf<{ items: User[] }>(await api.call("GET", PATH));
      const rows: Row[] = [];
      for (const { userId, username = "", displayName = "", oauthId = "", requiresPasswordReset = false, createdAt } of items) {
        const roles = await jsonOf<{ items: Role[] }>(await api.call("GET", `${PATH}/${userId}/roles`));
        rows.push({
          ...{ id: userId, username, display_name: displayName, oauth_id: oauthId, roles: roles.items.map(({ name }) => name).join(", ") },
          ...{ requires_password_reset: String(requiresPasswordReset), created_at: new Date(createdAt * 1000).toISOString() },
        });
      }
      printRows(input, terminal, rows);
      return 0;
    },
  },
  {
    words: ["show", "roles"],
    summary: "List roles.",
    positionals: [],
    options: [FORMAT, ...CONNECTION],
    verb: "Show",
    async run(input, terminal) {
      const { items } = await jsonOf<{ items: Role[] }>(await new Api(input).call("GET", "/api/v3/roles"));
      printRows(
        input,
        terminal,
        items.map(({ id, name, description = "" }) => ({ id, name, description })),
      );
      return 0;
    },
  },
  {
    words: ["update", "user"],
    summary: "Change the roles or the display name of a user, or require a new password.",
    positionals: [USER],
    options: [
      ROLES,
      DISPLAY_NAME,
      { name: "require-password-reset", value: null, help: "End all sign-ins, and ask for a new password." },
      ...CONNECTION,
    ],
    verb: "Update",
    async run(input, { out }) {
      const api = new Api(input);
      const [name, roles] = [input.option("display-name"), input.option("role")];
      const resets = input.flag("require-password-reset");
      if (name === undefined && roles === undefined && !resets) {
        throw new TsdbError("config", "nothing to change: --role, --display-name or --require-password-reset");
      }
      const { userId } = await userOf(api, input.positionals[0]!);
      if (name !== undefined) await api.call("PATCH", `${PATH}/${userId}`, { body: { displayName: name } });
      if (roles !== undefined) await api.call("PUT", `${PATH}/${userId}/roles`, { body: { roleIds: await roleIdsOf(api, roles) } });
      if (resets) await api.call("POST", `${PATH}/${userId}/require-password-reset`);
      out(`User "${input.positionals[0]}" updated successfully\n`);
      return 0;
    },
  },
  {
    words: ["delete", "user"],
    summary: "Delete a user, whose sign-ins end.",
    positionals: [USER],
    options: [YES, ...CONNECTION],
    verb: "Delete",
    async run(input, terminal) {
      const api = new Api(input);
      const [name] = input.positionals as [string];
      const { userId } = await userOf(api, name);
      if (!(await confirmed(input, terminal, `user "${name}"`))) return 1;
      await api.call("DELETE", `${PATH}/${userId}`);
      terminal.out(`User "${name}" deleted successfully\n`);
      return 0;
    },
  },
];
