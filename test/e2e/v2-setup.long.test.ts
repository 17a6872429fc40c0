// The first setup from the shell and by environment, in both spellings; what is wrong with it ends the start, or the command, in one line.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM } from "../support/servers/program.ts";
import { TestServer } from "../support/servers/server.ts";

const PATH = { PATH: process.env["PATH"]! };
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tsdb-setup-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(
  args: readonly string[],
  environment: Record<string, string> = {},
  input = "",
): Promise<{ code: number; out: string; error: string }> {
  const env = { ...PATH, HOME: folder, ...environment };
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

async function get(
  server: TestServer,
  path: string,
  token = "tok",
): Promise<{ status: number; body: Record<string, { name: string; [key: string]: unknown }[]> }> {
  const response = await fetch(`${server.bucketsUrl}${path}`, { headers: { authorization: `Token ${token}` } });
  return { status: response.status, body: await response.json() };
}

const signIn = async (server: TestServer, credentials: string) =>
  (await fetch(`${server.bucketsUrl}/api/v2/signin`, { method: "POST", headers: { authorization: `Basic ${btoa(credentials)}` } })).status;

describe("tsdb setup", () => {
  test("makes what its options say, once", async () => {
    await using server = await TestServer.start({ withBuckets: true });
    expect(server.output).toContain(`tsdb setup --host ${server.bucketsUrl}`);
    const names = ["setup", "--host", server.bucketsUrl, "-u", "admin", "-o", "my org", "-b", "b"];
    for (const [args, reason] of [
      [[...names, "-p", "short"], "passwords must be between 8 and 72 characters long"],
      [names, "--password is needed, or --password-file"],
      [[...names, "-p", "password12", "-r", "10m"], "at least 1h"],
      [[...names, "-p", "password12", "-r", "soon"], "--retention:"],
      [[...names, "-p", "password12", "--format", "xml"], "pretty or json"],
      [[...names, "--password-file", "nowhere"], "--password-file"],
      [["setup", "--host", server.bucketsUrl, "-p", "password12"], "--username is needed"],
    ] as const) {
      const refused = await run(args);
      expect([refused.code === 0, refused.error]).toEqual([false, expect.stringContaining(reason)]);
      expect(refused.error.trim().split("\n")).toHaveLength(1);
      expect(refused.error).not.toContain("password12");
    }
    const made = await run([...names, "--password", "-", "-t", "tok", "-r", "30d"], {}, "password12\n");
    expect(made).toEqual({
      code: 0,
      out: expect.stringMatching(/^user {10}admin\norganization {2}my org \([0-9a-f]{16}\)\nbucket/),
      error: "",
    });
    expect(made.out.replace("with the token in place", "")).not.toContain("tok");
    // the command that it prints keeps the connection
    expect(made.out).toEndWith(`  tsdb v2 config create -n default -u ${server.bucketsUrl} -o 'my org' -t TOKEN -a\n`);
    const kept = ["v2", "config", "create", "-n", "default", "-u", server.bucketsUrl, "-o", "my org", "-t", "tok", "-a"];
    const configs = { INFLUX_CONFIGS_PATH: join(folder, "configs") };
    expect((await run(kept, configs)).code).toBe(0);
    expect((await run(["v2", "bucket", "list", "--hide-headers"], configs)).out).toContain("\tb\t");
    const { body } = await get(server, "/api/v2/buckets?name=b");
    expect(body["buckets"]![0]).toMatchObject({ name: "b", retentionRules: [{ everySeconds: 2_592_000 }] });
    expect(await signIn(server, "admin:password12")).toBe(204);
    const again = await run([...names, "-p", "password12"]);
    expect([again.code, again.error]).toEqual([1, expect.stringContaining("set up already")]);
  });

  test("takes its values from the environment and from a file, and shows the token that was made", async () => {
    await using server = await TestServer.start({ withBuckets: true });
    writeFileSync(join(folder, "password"), "password12\n");
    const environment = {
      TSDB_V2_HOST_URL: server.bucketsUrl,
      TSDB_INIT_USERNAME: "ann",
      TSDB_INIT_PASSWORD_FILE: join(folder, "password"),
      TSDB_INIT_ORG: "o",
      TSDB_INIT_BUCKET: "b",
    };
    const { code, out } = await run(["setup", "--format", "json"], environment);
    expect(code).toBe(0);
    const { token } = (JSON.parse(out) as { auth: { token: string } }).auth;
    expect((await get(server, "/api/v2/users", token)).body["users"]!.map(({ name }) => name)).toEqual(["ann"]);
    expect(await signIn(server, "ann:password12")).toBe(204);
  });

  test("without a server it says so", async () => {
    const { code, error } = await run(["setup", "--host", "http://127.0.0.1:1", "-u", "a", "-p", "password12", "-o", "o", "-b", "b"]);
    expect([code, error]).toEqual([1, expect.stringContaining("no server at http://127.0.0.1:1")]);
  });
});

describe("the first start", () => {
  const VENDOR = {
    DOCKER_INFLUXDB_INIT_MODE: "setup",
    DOCKER_INFLUXDB_INIT_USERNAME: "admin",
    DOCKER_INFLUXDB_INIT_PASSWORD: "password12",
    DOCKER_INFLUXDB_INIT_ORG: "o",
    DOCKER_INFLUXDB_INIT_BUCKET: "b",
    DOCKER_INFLUXDB_INIT_RETENTION: "1w",
    DOCKER_INFLUXDB_INIT_ADMIN_TOKEN: "tok",
  };
  const own = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name.replace("DOCKER_INFLUXDB_", "TSDB_"), value]));

  test.each([
    ["the vendor's variables", VENDOR],
    ["our variables", own(VENDOR)],
  ])("%s", async (_, variables) => {
    await using server = await TestServer.start({ withBuckets: true, env: { ...PATH, ...variables } });
    const check = async () => {
      const { body } = await get(server, "/api/v2/buckets?name=b");
      expect(body["buckets"]![0]).toMatchObject({ name: "b", retentionRules: [{ everySeconds: 604_800 }] });
      expect((await get(server, "/api/v2/orgs")).body["orgs"]!.map(({ name }) => name)).toEqual(["o"]);
      expect(await signIn(server, "admin:password12")).toBe(204);
    };
    await check();
    expect(server.output).not.toContain("tsdb setup");
    expect(server.output).not.toContain("password12");
    // a later start finds it done
    await server.kill();
    await server.restart();
    await check();
    expect(server.output.match(/set up user=admin/g)).toHaveLength(1);
  });

  test("files of secrets, as containers mount them", async () => {
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
    const { DOCKER_INFLUXDB_INIT_USERNAME: _, DOCKER_INFLUXDB_INIT_PASSWORD: __, DOCKER_INFLUXDB_INIT_ADMIN_TOKEN: ___, ...rest } = VENDOR;
    const env = {
      ...PATH,
      ...rest,
      DOCKER_INFLUXDB_INIT_USERNAME_FILE: file("u", "admin\n"),
      DOCKER_INFLUXDB_INIT_PASSWORD_FILE: file("p", "password12\r\n"),
      DOCKER_INFLUXDB_INIT_ADMIN_TOKEN_FILE: file("t", "tok"),
    };
    await using server = await TestServer.start({ withBuckets: true, env });
    expect((await get(server, "/api/v2/users")).body["users"]!.map(({ name }) => name)).toEqual(["admin"]);
    expect(await signIn(server, "admin:password12")).toBe(204);
  });

  const BASE = { TSDB_INIT_USERNAME: "u", TSDB_INIT_PASSWORD: "password12", TSDB_INIT_ORG: "o", TSDB_INIT_BUCKET: "b" };
  test.each<[string, Record<string, string>, string]>([
    ["no bucket", { ...BASE, TSDB_INIT_BUCKET: "" }, "the first setup needs --init-bucket too"],
    [
      "a token alone",
      { TSDB_INIT_ADMIN_TOKEN: "t" },
      "the first setup needs --init-username, --init-password, --init-org, --init-bucket too",
    ],
    ["a short password", { ...BASE, TSDB_INIT_PASSWORD: "short" }, "passwords must be between 8 and 72"],
    ["a weak one", { ...BASE, TSDB_V2_STRONG_PASSWORDS: "true" }, "passwords must contain at least three"],
    ["a system bucket", { ...BASE, TSDB_INIT_BUCKET: "_b" }, "Buckets may not start with underscore"],
    ["a short retention", { ...BASE, TSDB_INIT_RETENTION: "5m" }, "at least 1h"],
    ["an invalid retention", { ...BASE, TSDB_INIT_RETENTION: "soon" }, "--init-retention"],
    ["an upgrade", { ...BASE, DOCKER_INFLUXDB_INIT_MODE: "upgrade" }, "DOCKER_INFLUXDB_INIT_MODE: must be setup"],
    [
      "a file that is not there",
      { ...BASE, TSDB_INIT_PASSWORD: "", TSDB_INIT_PASSWORD_FILE: "/nowhere" },
      "TSDB_INIT_PASSWORD_FILE: cannot read",
    ],
    ["both", { ...BASE, TSDB_INIT_PASSWORD_FILE: import.meta.path }, "TSDB_INIT_PASSWORD_FILE"],
  ])("%s: exit code 2 and one line", async (_, environment, reason) => {
    const bind = [
      "--http-bind",
      "127.0.0.1:0",
      "--flight-bind",
      "none",
      "--v2-http-bind",
      "127.0.0.1:0",
      "--object-store",
      "memory",
      "--log-filter",
      "off",
    ];
    const { code, error } = await run(["serve", ...bind], environment);
    expect([code, error]).toEqual([2, expect.stringContaining(reason)]);
    expect(error.trim().split("\n")).toHaveLength(1);
    expect(error).not.toContain("password12");
  });
});
