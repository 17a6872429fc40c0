// The commands of users against a real server: the first user, sign-in, what is kept of it, and sign-in by an identity provider.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Terminal } from "../../src/cli/client/command.ts";
import { findCommand } from "../../src/cli/client/commands.ts";
import { runClient } from "../../src/cli/client/run.ts";
import { CLIENT_ID, type FakeProvider, fakeProvider } from "../support/identity/fake-provider.ts";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), "tsdb-users-cli-"));
const LOGINS = join(folder, "config", "tsdb", "logins.json");
let server: TestServer;
let provider: FakeProvider;

beforeAll(async () => {
  provider = await fakeProvider();
  const oauth = ["--oauth-issuer", provider.issuer, "--oauth-client-id", CLIENT_ID];
  // tokens that end before they are used
  server = await TestServer.start({
    withAuth: true,
    flags: ["--user-auth-type", "basic,oauth", "--jwt-default-ttl-seconds", "20", ...oauth],
  });
});
afterAll(async () => {
  await server.dispose();
  provider.stop();
  rmSync(folder, { recursive: true });
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

async function tsdb(args: readonly string[], input = "", onError: (text: string) => void = () => {}): Promise<Ran> {
  const ran = { out: "", error: "" };
  const terminal: Terminal = {
    out: (text) => {
      ran.out += typeof text === "string" ? text : new TextDecoder().decode(text);
      return undefined;
    },
    error: (text) => {
      ran.error += text;
      onError(text);
    },
    control: () => {},
    input: () => new Blob([input]).stream(),
    ...{ isInputTerminal: false, isOutputTerminal: false, columns: 80, rows: 24 },
    environment: { TSDB_HOST_URL: server.url, HOME: folder, XDG_CONFIG_HOME: join(folder, "config") },
  };
  const { command, wordCount } = findCommand(args)!;
  return { code: await runClient(command, args.slice(wordCount), terminal, {}), ...ran };
}

const logins = () => JSON.parse(readFileSync(LOGINS, "utf8")) as Record<string, { token: string; refreshToken: string; expiresAt: number }>;

test("a user is made, signs in, does what the roles permit, and signs out", async () => {
  const made = await tsdb(["manage", "init-admin", "-u", "ann", "-p", "-"], "correct horse\n");
  expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^User "ann" created successfully\nToken: apiv3_\S{86}\n/)]);
  expect((await tsdb(["show", "users"])).error).toContain("401");
  const wrong = await tsdb(["auth", "login", "-u", "ann", "-p", "wrong"]);
  expect(wrong.error).toBe("Login command failed: server responded with error [401 Unauthorized]: the username or the password is wrong\n");
  const signedIn = await tsdb(["auth", "login", "-u", "ann", "-p", "-"], "correct horse\n");
  expect(signedIn.out).toBe(`Signed in to ${server.url} as ann; kept in ${LOGINS}\n`);
  expect([statSync(LOGINS).mode & 0o777, statSync(join(folder, "config", "tsdb")).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(Object.keys(logins())).toEqual([server.url]);

  // the token has less than half a minute left: each command gets the next one first, and several at a time do not take it from each other
  const before = logins()[server.url]!;
  const shown = await Promise.all([tsdb(["show", "roles"]), tsdb(["show", "users"]), tsdb(["show", "databases"])]);
  expect(shown.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(shown[0]!.out).toContain("Auditor");
  expect(shown[1]!.out).toMatch(/^id +username .*\n1 +ann +Admin +false/);
  expect(logins()[server.url]!.refreshToken).not.toBe(before.refreshToken);
  expect(existsSync(`${LOGINS}.lock`)).toBe(false);

  const created = await tsdb(["create", "user", "bob", "--role", "member,Auditor", "--display-name", "Bob"]);
  const [, password] = /Password for the first sign-in: (\S+)/.exec(created.out)!;
  expect((await tsdb(["update", "user", "bob", "--role", "Member"])).out).toBe('User "bob" updated successfully\n');
  expect((await tsdb(["show", "users", "--format", "json"])).out).toContain('"roles": "Member"');
  expect((await tsdb(["update", "user", "bob", "--role", "King"])).error).toContain(
    "role not found: King; there are Admin, Auditor, Member",
  );
  expect((await tsdb(["update", "user", "eve", "--role", "Member"])).error).toContain("user not found: eve");

  const refused = await tsdb(["auth", "login", "-u", "bob", "-p", "-"], `${password}\n`);
  expect([refused.code, refused.error]).toEqual([1, expect.stringContaining("password reset required")]);
  const reset = await tsdb(
    ["auth", "reset-password", "-u", "bob", "-p", password!, "--new-password", "-", "--show-token"],
    "bobs own password\n",
  );
  expect(reset.out).toMatch(/^eyJ\S+\n$/);
  expect((await tsdb(["show", "users", "--token", reset.out.trim()])).error).toContain("403");
  expect((await tsdb(["delete", "user", "bob", "--yes"])).out).toBe('User "bob" deleted successfully\n');
  expect((await tsdb(["show", "databases", "--token", reset.out.trim()])).error).toContain("401");

  const { token } = logins()[server.url]!;
  expect((await tsdb(["auth", "logout"])).out).toBe(`Signed out of ${server.url}\n`);
  expect(logins()).toEqual({});
  expect((await tsdb(["show", "users", "--token", token])).error).toContain("401");
  expect((await tsdb(["auth", "logout"])).error).toContain(`nobody has signed in to ${server.url}`);
});

test("a user signs in by the identity provider, and an answer to another question is refused", async () => {
  await tsdb(["auth", "login", "-u", "ann", "-p", "correct horse"]);
  expect((await tsdb(["create", "user", "--oauth-id", "carl", "--display-name", "Carl", "--role", "Member"])).code).toBe(0);
  const asked = Promise.withResolvers<URL>();
  const signingIn = tsdb(["auth", "login", "--oauth"], "", (text) => {
    const found = /https?:\/\/\S+/.exec(text);
    if (found !== null) asked.resolve(new URL(found[0]));
  });
  const { searchParams, origin } = await asked.promise;
  expect(origin).toBe(provider.issuer);
  expect([searchParams.get("code_challenge_method"), searchParams.get("client_id"), searchParams.get("scope")]).toEqual([
    "S256",
    CLIENT_ID,
    "openid",
  ]);
  const back = searchParams.get("redirect_uri")!;
  const bring = (state: string) => fetch(`${back}?${new URLSearchParams({ code: `carl/${searchParams.get("nonce")}`, state })}`);
  expect((await bring("other")).status).toBe(400);
  expect((await bring(searchParams.get("state")!)).status).toBe(200);
  expect((await signingIn).out).toContain("as Carl");
});

test("a server without users says so", async () => {
  await using other = await TestServer.start({ withAuth: true });
  const { error } = await tsdb(["auth", "login", "-u", "ann", "-p", "correct horse", "--host", other.url]);
  expect(error).toContain("the request was not authenticated (users sign in where the server runs with --without-user-auth false)");
});

test("a sign-in that the server has ended is forgotten, and a broken file is told", async () => {
  const saved = logins();
  writeFileSync(LOGINS, JSON.stringify({ [server.url]: { ...saved[server.url], refreshToken: "eyJ.e.x" } }));
  const ended = await tsdb(["show", "databases"]);
  expect([ended.code, ended.error]).toEqual([1, expect.stringContaining("sign in again: tsdb auth login")]);
  expect(logins()).toEqual({});
  writeFileSync(LOGINS, "nonsense");
  await expect(tsdb(["show", "databases"])).rejects.toThrow("holds no sign-ins");
});
