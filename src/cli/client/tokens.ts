// tsdb create|delete token.
import { writeFileSync } from "node:fs";
import { parsePermission } from "../../auth/permissions.ts";
import { newTokenText } from "../../auth/token-text.ts";
import { OPERATOR_TOKEN, type Permission } from "../../model/access.ts";
import { TsdbError } from "../../model/errors.ts";
import { parseHumanDuration } from "../../model/time/human-duration.ts";
import { SECOND_NS } from "../../model/time/time-units.ts";
import { Api, CONNECTION, jsonOf } from "./api.ts";
import type { ClientCommand } from "./command.ts";
import { confirmed, YES } from "./confirm.ts";
import type { Input } from "./options.ts";

const PERMISSION_GRAMMAR = "write db:NAMES:ACTIONS or system:NAMES:read";
const HELP_MESSAGE = "Store this token securely, as it will not be shown again.";

interface Made {
  readonly token: string;
}

/** Seconds; null = never. @throws TsdbError config */
function expirySeconds(input: Input): number | null {
  const expiry = input.option("expiry");
  if (expiry === undefined) return null;
  try {
    return Number(parseHumanDuration(expiry) / SECOND_NS);
  } catch (error) {
    throw new TsdbError("config", `--expiry: ${(error as Error).message}`, {});
  }
}

function show(format: string, { token }: Made): string {
  if (format === "json") return `${JSON.stringify({ token, help_msg: `${HELP_MESSAGE} HTTP header: Authorization: Bearer ${token}` })}\n`;
  return `\nNew token created successfully!\n\nToken: ${token}\nHTTP Requests Header: Authorization: Bearer ${token}\n\nIMPORTANT: ${HELP_MESSAGE}\n`;
}

/** Writes a file for `tsdb serve --admin-token-file` that only its owner can read. */
function makeOffline(input: Input): Made & { path: string } {
  const path = input.required("output-file");
  const token = newTokenText();
  const seconds = expirySeconds(input);
  const content = {
    token,
    name: input.option("name") ?? OPERATOR_TOKEN,
    ...(seconds === null ? {} : { expiry_millis: Date.now() + seconds * 1000 }),
  };
  try {
    writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw new TsdbError("config", `--output-file: ${(error as Error).message}`, {});
  }
  return { token, path };
}

/** @throws TsdbError config */
function permissionOf(text: string): object {
  let parsed: Permission | null;
  try {
    parsed = parsePermission(text);
  } catch (error) {
    const { message } = error as Error;
    const hint = message.includes(PERMISSION_GRAMMAR) ? "" : `; ${PERMISSION_GRAMMAR}, such as db:home,work:read,write`;
    throw new TsdbError("config", `--permission: ${message}${hint}`, {}, { cause: error });
  }
  if (parsed === null) throw new TsdbError("config", "--permission: *:*:* is everything; use --admin", {});
  return { resource_type: parsed.resourceType, resource_names: parsed.names, actions: parsed.actions };
}

async function make(input: Input): Promise<Made> {
  const api = new Api(input);
  const name = input.option("name");
  const permission = input.option("permission");
  const made = (response: Response) => jsonOf<Made>(response);
  if (permission !== undefined) {
    // several permissions are separated by semicolons, because names and actions contain commas
    const permissions = permission.split(";").map(permissionOf);
    const body = { token_name: input.required("name"), permissions, expiry_secs: expirySeconds(input) };
    return made(await api.call("POST", "/api/v3/enterprise/configure/token", { body }));
  }
  if (input.flag("regenerate")) return made(await api.call("POST", "/api/v3/configure/token/admin/regenerate"));
  if (name === undefined) return made(await api.call("POST", "/api/v3/configure/token/admin"));
  const body = { token_name: name, expiry_secs: expirySeconds(input) };
  return made(await api.call("POST", "/api/v3/configure/token/named_admin", { body }));
}

export const TOKEN_COMMANDS: readonly ClientCommand[] = [
  {
    words: ["create", "token"],
    summary: "Create a token; its text is shown once.",
    notes: `The first admin token needs no token:  tsdb create token --admin
A token for two databases:            tsdb create token --permission "db:home,work:read,write" --name dashboard`,
    positionals: [],
    options: [
      { name: "admin", value: null, help: "An admin token: the first one, or with --name another." },
      {
        name: "permission",
        value: "P",
        help:
          "A permission, may be repeated: db:NAMES:ACTIONS or system:NAMES:read. NAMES and ACTIONS are separated by commas or *; " +
          "actions are read, write, create, describe, delete.",
        joinedBy: ";",
      },
      { name: "name", value: "NAME", help: "Its name.", aliases: ["token-name"] },
      { name: "expiry", value: "DURATION", help: "How long it is valid, such as 1y; default unlimited." },
      { name: "regenerate", value: null, help: "Replace the text of the first admin token." },
      { name: "offline", value: null, help: "Without a server: write a file for `tsdb serve --admin-token-file`." },
      { name: "output-file", value: "FILE", help: "File that --offline writes." },
      { name: "format", value: "text|json", help: "Output format of the token.", default: "text" },
      ...CONNECTION,
    ],
    verb: "Create",
    async run(input, { out }) {
      const format = input.option("format")!;
      if (format !== "text" && format !== "json") throw new TsdbError("config", `--format must be text or json, got "${format}"`, {});
      if (input.flag("admin") === (input.option("permission") !== undefined)) {
        throw new TsdbError("config", "either --admin or --permission is needed: what may the token do?", {});
      }
      if (!input.flag("offline")) {
        out(show(format, await make(input)));
        return 0;
      }
      const { token, path } = makeOffline(input);
      out(format === "json" ? `${JSON.stringify({ token, file: path })}\n` : `Token saved to: ${path}\n${show(format, { token })}`);
      return 0;
    },
  },
  {
    words: ["delete", "token"],
    summary: "Delete a token, which revokes it.",
    positionals: [{ name: "NAME", isOptional: true }],
    options: [{ name: "token-name", value: "NAME", help: "Its name.", aliases: ["name"] }, YES, ...CONNECTION],
    verb: "Delete",
    async run(input, terminal) {
      const name = input.positionals[0] ?? input.required("token-name");
      const api = new Api(input);
      if (!(await confirmed(input, terminal, `token "${name}"`))) return 1;
      await api.call("DELETE", "/api/v3/configure/token", { query: { token_name: name } });
      terminal.out(`Token "${name}" deleted successfully\n`);
      return 0;
    },
  },
];
