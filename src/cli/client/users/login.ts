// tsdb auth login|logout|reset-password, and tsdb manage init-admin.
import { readFileSync } from "node:fs";
import { TsdbError } from "../../../model/errors.ts";
import { ADVICE, Api, CONNECTION, jsonOf } from "../api.ts";
import type { ClientCommand, Terminal } from "../command.ts";
import type { Input, Option } from "../options.ts";
import { Questions } from "../setup.ts";
import { loginByProvider } from "./provider-login.ts";
import { type Login, loginsPath, readLogins, saveLogin } from "./saved-logins.ts";

/** The user's own credentials are in the request. */
const SERVER = CONNECTION.filter(({ name }) => name !== "token");
const USERNAME: Option = { name: "username", short: "u", value: "NAME", help: "The user; asked for without it.", env: ["TSDB_USERNAME"] };
const PASSWORD: Option = {
  name: "password",
  short: "p",
  value: "PASSWORD",
  help: "The password; `-` reads standard input; asked for without it. Better by environment: arguments are seen by others.",
  env: ["TSDB_PASSWORD"],
};
const SHOW: Option = { name: "show-token", value: null, help: "Print the token, and keep nothing." };

/** Without a token, whatever the environment has. */
function openApi(input: Input): Api {
  return new Api(
    { flag: (name) => input.flag(name), option: (name) => (name === "token" ? undefined : input.option(name)) },
    { ...ADVICE, withoutToken: "users sign in where the server runs with --without-user-auth false" },
  );
}

async function secretOf(input: Input, name: string, ask: Questions): Promise<string> {
  const given = input.option(name);
  if (given === undefined) return ask.hidden(name);
  return given === "-" ? ask.piped() : given;
}

/** Of a password that is set. */
export function passwordFile(path: string): string {
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw new TsdbError("config", `--password-file: ${(error as Error).message}`);
  }
}

function keep(input: Input, { environment, out }: Terminal, api: Api, login: Login): void {
  if (input.flag("show-token")) {
    out(`${login.token}\n`);
    return;
  }
  const path = loginsPath(environment);
  saveLogin(path, api.host, login);
  const { username, displayName, userId } = login.user;
  out(`Signed in to ${api.host} as ${username ?? displayName ?? userId}; kept in ${path}\n`);
}

function portOf(input: Input): number {
  const text = input.option("callback-port")!;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new TsdbError("config", `--callback-port must be a port, got "${text}"`);
  return Number(text);
}

export const LOGIN_COMMANDS: readonly ClientCommand[] = [
  {
    words: ["auth", "login"],
    summary: "Sign in as a user: commands without a token use it from then on.",
    notes: "By the server's identity provider:  tsdb auth login --oauth",
    positionals: [],
    options: [
      ...SERVER,
      USERNAME,
      PASSWORD,
      { name: "oauth", value: null, help: "By the identity provider, in a browser." },
      { name: "callback-port", value: "PORT", help: "Port of 127.0.0.1 that the browser comes back to; 0 is a free one.", default: "0" },
      SHOW,
    ],
    verb: "Login",
    async run(input, terminal) {
      const api = openApi(input);
      if (input.flag("oauth")) {
        keep(input, terminal, api, await loginByProvider(api, terminal, portOf(input)));
        return 0;
      }
      const ask = new Questions(terminal);
      const username = input.option("username") ?? (await ask.line("username"));
      const password = await secretOf(input, "password", ask);
      keep(input, terminal, api, await jsonOf<Login>(await api.call("POST", "/api/v3/authorize", { body: { username, password } })));
      return 0;
    },
  },
  {
    words: ["auth", "logout"],
    summary: "Sign out: the server ends the sign-in, and it is forgotten here.",
    positionals: [],
    options: SERVER,
    verb: "Logout",
    async run(input, { environment, out }) {
      const api = openApi(input);
      const path = loginsPath(environment);
      const login = readLogins(path)[api.host];
      if (login === undefined) throw new TsdbError("not_found", `nobody has signed in to ${api.host}`);
      await api.call("POST", "/api/v3/authorize/logout", { body: { refreshToken: login.refreshToken } });
      saveLogin(path, api.host, null);
      out(`Signed out of ${api.host}\n`);
      return 0;
    },
  },
  {
    words: ["auth", "reset-password"],
    summary: "Set a new password of one's own, and sign in with it.",
    positionals: [],
    options: [...SERVER, USERNAME, PASSWORD, { ...PASSWORD, name: "new-password", short: "n", env: ["TSDB_NEW_PASSWORD"] }, SHOW],
    verb: "Reset",
    async run(input, terminal) {
      const api = openApi(input);
      const ask = new Questions(terminal);
      const username = input.option("username") ?? (await ask.line("username"));
      const password = await secretOf(input, "password", ask);
      const newPassword = await secretOf(input, "new-password", ask);
      const body = { username, password, newPassword };
      keep(input, terminal, api, await jsonOf<Login>(await api.call("POST", "/api/v3/authorize/reset-password", { body })));
      return 0;
    },
  },
  {
    words: ["manage", "init-admin"],
    summary: "Make the first user, an admin, and the first admin token unless there is one.",
    notes: "Needs `tsdb serve --without-user-auth false`, and an admin token if there is one.",
    positionals: [],
    options: [...CONNECTION, USERNAME, PASSWORD, { name: "display-name", value: "NAME", help: "The user's name for people." }],
    verb: "Init-admin",
    async run(input, terminal) {
      const ask = new Questions(terminal);
      const username = input.option("username") ?? (await ask.line("username"));
      const password = await secretOf(input, "password", ask);
      const displayName = input.option("display-name");
      const body = { username, password, ...(displayName === undefined ? {} : { displayName }) };
      const made = await jsonOf<{ operatorToken?: string }>(await new Api(input).call("POST", "/api/v3/configure/user", { body }));
      terminal.out(`User "${username}" created successfully\n`);
      if (made.operatorToken !== undefined)
        terminal.out(`Token: ${made.operatorToken}\nStore this token securely, as it will not be shown again.\n`);
      return 0;
    },
  },
];
