// What operators do with a stopped server's folder: recovery of tokens and passwords, a look at what is in it, the configuration.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseConfigFile } from "../../src/cli/config-file.ts";
import { FLAGS } from "../../src/cli/flags.ts";
import { PROGRAM } from "../support/servers/program.ts";
import { TestServer } from "../support/servers/server.ts";

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };

let folder: string;
let server: TestServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tsdb-recovery-"));
  server = await TestServer.start({ withBuckets: true });
  await fetch(`${server.bucketsUrl}/api/v2/setup`, { method: "POST", body: JSON.stringify(SETUP) });
  const url = `${server.bucketsUrl}/api/v2/write?org=o&bucket=b&precision=s`;
  await fetch(url, { method: "POST", headers: { authorization: "Token tok" }, body: "m,t=a v=1 1577836800\nm,t=b v=2 1577836801" });
  await server.stop();
});
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true });
});

async function run(
  args: readonly string[],
  environment: Record<string, string> = {},
  input = "",
): Promise<{ code: number; out: string; error: string }> {
  const env = { PATH: process.env["PATH"]!, HOME: folder, ...environment };
  const child = Bun.spawn([...PROGRAM, ...args], {
    cwd: folder,
    env,
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, error, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  return { code, out, error };
}

const recover = async (...words: string[]) => {
  const { code, out, error } = await run(["recovery", ...words, "--data-dir", server.dataDir, "--format", "json"]);
  expect([code, error]).toEqual([0, ""]);
  return JSON.parse(out) as Record<string, string>[];
};
const statusOf = async (path: string, authorization: string) =>
  (await fetch(`${server.bucketsUrl}${path}`, { headers: { authorization } })).status;
const signIn = async (credentials: string) =>
  (await fetch(`${server.bucketsUrl}/api/v2/signin`, { method: "POST", headers: { authorization: `Basic ${btoa(credentials)}` } })).status;

describe("recovery", () => {
  test("lists what is there", async () => {
    expect(await recover("auth", "list")).toMatchObject([
      { user: "admin", org: "o", status: "active", token: "tok", permissions: "operator" },
    ]);
    expect(await recover("user", "list")).toMatchObject([{ name: "admin", status: "active", password: "set" }]);
    expect(await recover("org", "list")).toMatchObject([{ name: "o" }]);
    const { out } = await run(["recovery", "user", "list", "--data-dir", server.dataDir]);
    expect(out).toMatch(/^id +name +status +password\n[0-9a-f]{16} +admin +active +set\n$/);
  });

  test("what it makes counts at the next start", async () => {
    const [made] = await recover("auth", "create-operator", "--username", "admin", "--org", "o");
    await recover("user", "update", "-u", "admin", "-p", "another-password");
    const password = join(folder, "password");
    writeFileSync(password, "password-of-ann\n");
    await recover("user", "create", "-u", "ann", "--password-file", password);
    await recover("org", "create", "-o", "new org", "-u", "ann");
    await server.restart();
    const token = made!["token"]!;
    expect(await statusOf("/api/v2/config", `Token ${token}`)).toBe(200);
    expect([await signIn("admin:password12"), await signIn("admin:another-password"), await signIn("ann:password-of-ann")]).toEqual([
      401, 204, 204,
    ]);
    const { orgs } = (await (await fetch(`${server.bucketsUrl}/api/v2/orgs`, { headers: { authorization: `Token ${token}` } })).json()) as {
      orgs: { name: string }[];
    };
    expect(orgs.map(({ name }) => name)).toEqual(["o", "new org"]);
    // while the server runs, nothing touches its folder
    for (const words of [["recovery", "auth", "list"], ["recovery", "user", "create", "-u", "x", "-p", "password12"], ["inspect"]]) {
      const { code, error } = await run([...words, "--data-dir", server.dataDir]);
      expect([code, error]).toEqual([2, expect.stringContaining("is in use by another server")]);
    }
    await server.stop();
  });

  test("an operator's token keeps its hash alone where the server is to do so", async () => {
    const create = async (dataDir: string, environment: Record<string, string>, ...more: string[]) => {
      const common = ["--data-dir", dataDir, "--format", "json"];
      const made = await run(["recovery", "auth", "create-operator", "-u", "admin", "-o", "o", ...more, ...common], environment);
      const [{ id, token }] = JSON.parse(made.out) as [{ id: string; token: string }];
      expect(token).toMatch(/^[\w-]{86}==$/);
      const listed = JSON.parse((await run(["recovery", "auth", "list", ...common])).out) as { id: string; token: string | null }[];
      return listed.find((each) => each.id === id)!.token === token;
    };
    const plain = join(folder, "plain");
    cpSync(server.dataDir, plain, { recursive: true });
    expect(await create(plain, {})).toBe(true);
    expect(await create(plain, {}, "--v2-use-hashed-tokens")).toBe(false);
    expect(await create(plain, { INFLUXD_USE_HASHED_TOKENS: "true" })).toBe(false);
    const hashing = await TestServer.start({ withBuckets: true, flags: ["--v2-use-hashed-tokens"] });
    await fetch(`${hashing.bucketsUrl}/api/v2/setup`, { method: "POST", body: JSON.stringify(SETUP) });
    await hashing.stop();
    expect(await create(hashing.dataDir, {})).toBe(false);
    await hashing.dispose();
  });

  const names = (...more: string[]) => ["recovery", ...more];
  test.each<[string[], number, string]>([
    [names("user", "update", "-u", "nobody", "-p", "password12"), 1, 'there is no user "nobody"'],
    [names("user", "update", "-u", "admin", "-p", "short"), 2, "passwords must be between 8 and 72"],
    [names("user", "update", "-u", "admin"), 2, "--password is needed"],
    [names("user", "create", "-u", "admin", "-p", "password12"), 1, "already exists"],
    [names("user", "create", "-p", "password12"), 2, "--username is needed"],
    [names("auth", "create-operator", "-u", "admin", "-o", "nowhere"), 1, 'there is no organization "nowhere"'],
    [names("org", "create", "-o", "o", "-u", "admin"), 1, "already exists"],
    [names("auth", "list", "--format", "xml"), 2, "pretty or json"],
    [names("auth", "list", "--node-id", "../x"), 2, "no name of a server"],
    [names("auth", "list", "--node-id", "node9"), 2, "has no data of a server"],
    [names("auth", "list", "--v2-secret-key-file", "/nowhere"), 2, "cannot use the key"],
    [names(), 2, "recovery what? auth, user, org"],
    [names("auth"), 2, "recovery auth what? list, create-operator"],
    [names("auth", "lst"), 2, 'did you mean "recovery auth list"?'],
    [names("usr", "list"), 2, 'did you mean "recovery user"?'],
  ])("%p", async (args, code, reason) => {
    const place = args.length > 2 ? ["--data-dir", server.dataDir] : [];
    const ran = await run([...args, ...place]);
    expect([ran.code, ran.error]).toEqual([code, expect.stringContaining(reason)]);
    expect(ran.error.trim().split("\n")).toHaveLength(1);
  });

  test("a missing data folder is not created", async () => {
    const empty = join(folder, "empty");
    mkdirSync(empty);
    for (const words of [["recovery", "user", "list"], ["recovery", "user", "create", "-u", "x", "-p", "password12"], ["inspect"]]) {
      for (const path of [empty, join(folder, "nowhere")]) {
        const { code, error } = await run([...words, "--data-dir", path]);
        expect([code, error]).toEqual([2, expect.stringContaining("has no data")]);
      }
    }
    expect(readdirSync(folder)).not.toContain("nowhere");
    expect(readdirSync(empty)).toEqual([]);
  });

  test("a damaged catalog is named, and stays as it is", async () => {
    const copy = join(folder, "copy");
    cpSync(server.dataDir, copy, { recursive: true });
    const logs = join(copy, "objects/node0/catalog/log");
    const [name] = readdirSync(logs).sort();
    const bytes = readFileSync(join(logs, name!));
    bytes[bytes.byteLength >> 1]! ^= 1;
    writeFileSync(join(logs, name!), bytes);
    for (const words of [["recovery", "auth", "list"], ["inspect"]]) {
      const { code, error } = await run([...words, "--data-dir", copy]);
      expect([code, error]).toEqual([1, expect.stringContaining(name!)]);
    }
    expect(readFileSync(join(logs, name!))).toEqual(bytes);
  });
});

test("inspect: databases, files, log, records; it writes nothing", async () => {
  const list = () => Bun.spawnSync(["find", server.dataDir, "-type", "f", "-printf", "%p %s %T@\\n"]).stdout.toString().split("\n").sort();
  const before = list();
  const { code, out } = await run(["inspect", "--data-dir", server.dataDir, "--format", "json"]);
  expect(code).toBe(0);
  const summary = JSON.parse(out) as { files: { count: number }; counts: Record<string, number>; databases: Record<string, unknown>[] };
  expect(summary.counts).toMatchObject({ organizations: 2, users: 2, "API tokens": 2 });
  const b = summary.databases.find(({ database }) => database === "b");
  expect(b).toMatchObject({
    organization: "o",
    tables: 1,
    "rows in files": 2,
    from: "2020-01-01T00:00:00.000Z",
    to: "2020-01-01T00:00:01.000Z",
  });
  const pretty = await run(["inspect", "--data-dir", server.dataDir]);
  expect(pretty.out).toContain("2 organizations, 2 users, 2 API tokens");
  expect(list()).toEqual(before);
});

describe("print-config", () => {
  const VARIABLES = { TSDB_V2_SESSION_LENGTH: "2h", INFLUXD_STRONG_PASSWORDS: "true" };

  test("is a tsdb.toml that gives the same configuration, and says where values come from", async () => {
    const { code, out } = await run(["print-config", "--http-bind", "127.0.0.1:1"], VARIABLES);
    expect(code).toBe(0);
    expect(out).toContain('http-bind = "127.0.0.1:1"  # --http-bind\n');
    expect(out).toContain('v2-session-length = "2h"  # TSDB_V2_SESSION_LENGTH\n');
    expect(out).toContain("v2-strong-passwords = true  # INFLUXD_STRONG_PASSWORDS\n");
    expect(out).toContain('data-dir = "./.tsdb"\n');
    expect(out.split("\n").filter((line) => line !== "")).toHaveLength(FLAGS.length);
    const path = join(folder, "again.toml");
    writeFileSync(path, out);
    expect(parseConfigFile(path, out).serve.get("v2-session-length")).toBe("2h");
    const again = await run(["print-config", "--config", path]);
    const values = (text: string) => text.replace(/ {2}# .*$/gm, "");
    expect(values(again.out)).toBe(values(out));
  });

  test("one value, no secret, and the errors of serve", async () => {
    expect((await run(["print-config", "--key-name", "v2-session-length"], VARIABLES)).out).toBe("2h\n");
    const secrets = {
      TSDB_INIT_USERNAME: "u",
      TSDB_INIT_PASSWORD: "very secret",
      TSDB_INIT_ORG: "o",
      TSDB_INIT_BUCKET: "b",
      TSDB_INIT_ADMIN_TOKEN: "hush",
    };
    const { out } = await run(["print-config"], secrets);
    expect(out).toContain("# init-password: (not shown)  # TSDB_INIT_PASSWORD");
    expect(out).not.toMatch(/very secret|hush/);
    expect((await run(["print-config", "--key-name=init-password"], secrets)).out).toBe("(not shown)\n");
    for (const [args, reason] of [
      [["print-config", "--http-bind", "x"], "cannot read"],
      [["print-config", "--key-name", "http-bnd"], "did you mean http-bind?"],
      [["print-config", "--key-name"], "needs a value"],
      [["print-config", "x"], "unexpected argument"],
    ] as const) {
      const ran = await run(args);
      expect([ran.code, ran.error]).toEqual([2, expect.stringContaining(reason)]);
    }
  });
});
