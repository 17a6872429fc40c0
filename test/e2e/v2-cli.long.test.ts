// `tsdb v2 …` against a real server: what people do with it from the first setup on, as tables and as JSON.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { PROGRAM } from "../support/servers/program.ts";
import { SetUpCli } from "../support/servers/v2-cli.ts";

setDefaultTimeout(60_000);

const ID = /^[0-9a-f]{16}$/;
let cli: SetUpCli;
let folder: string;
let configs: string;

beforeAll(async () => {
  cli = await SetUpCli.start();
  ({ folder, configs } = cli);
});
afterAll(() => cli.dispose());

const run: SetUpCli["run"] = (...args) => cli.run(...args);
const json: SetUpCli["json"] = (...args) => cli.json(...args);
const table: SetUpCli["table"] = (...args) => cli.table(...args);

test("setup says what it made", () => expect(cli.madeBySetup).toBe("User\tOrganization\tBucket\nadmin\thome\t\tfirst\n"));

describe("connections", () => {
  test("setup makes a connection for its owner's eyes, and all commands use it", async () => {
    const text = readFileSync(configs, "utf8");
    expect(text).toMatch(/^\[default\]\n {2}url = "http:\/\/127.0.0.1:\d+"\n {2}token = "[^"]+"\n {2}org = "home"\n {2}active = true\n$/);
    expect((statSync(configs).mode & 0o777).toString(8)).toBe("600");
    expect(await run("ping")).toEqual({ code: 0, out: "OK\n", error: "" });
    expect((await table("org list")).map((cells) => cells[1])).toEqual(["Name", "home"]);
  });

  test("a second setup is refused, and touches no connection", async () => {
    const before = readFileSync(configs, "utf8");
    const again = await run(`setup --host ${cli.url} -u a -p password12 -o o -b b -n other`);
    expect([again.code, again.out]).toEqual([1, ""]);
    expect(again.error).toContain("has been set up already");
    expect(readFileSync(configs, "utf8")).toBe(before);
  });

  test("are made, changed, chosen and removed in a file of any place", async () => {
    const path = join(folder, "elsewhere", "my configs");
    const on = (args: string) => run(`${args} --configs-path '${path}'`);
    expect((await on("config create -n a -u http://a:1 -t ta -o oa -a")).out).toBe("Active\tName\tURL\t\tOrg\n*\ta\thttp://a:1\toa\n");
    expect((await on("config create -n 'b \"x\"' -u http://b:2 -t tb")).code).toBe(0);
    expect(await on("config create -n a -u http://b:2 -t tb")).toMatchObject({ code: 1, out: "" });
    expect((await on("config ls --hide-headers")).out.split("\n").map((line) => line.split(/\t+/))).toEqual([
      ["*", "a", "http://a:1", "oa"],
      ["", 'b "x"', "http://b:2", ""],
      [""],
    ]);
    expect((await on("config set -n a -o other")).out).toContain("other");
    expect((await on("config 'b \"x\"'")).out).toMatch(/^Active.*\n\*\tb "x"/);
    expect((await on("config rm a")).code).toBe(0);
    expect(Bun.TOML.parse(readFileSync(path, "utf8"))).toEqual({ 'b "x"': { url: "http://b:2", token: "tb", active: true } });
    expect((await on("config rm a")).error).toContain('there is no connection "a"');
  });

  test("environment comes before the connection, an argument before the environment", async () => {
    const wrong = { INFLUX_HOST: "http://127.0.0.1:1", INFLUX_TOKEN: "wrong" };
    expect((await run("ping", { env: wrong })).error).toContain("no server at http://127.0.0.1:1");
    expect((await run(`ping --host ${cli.url}`, { env: wrong })).code).toBe(0);
    const unauthorized = await run("bucket list", { env: { INFLUX_TOKEN: "wrong" } });
    expect([unauthorized.code, unauthorized.out]).toEqual([1, ""]);
    expect(unauthorized.error).toContain("List command failed: server responded with error [401 Unauthorized]: unauthorized access");
    const absent = { INFLUX_ORG_ID: "0000000000000001" };
    expect((await run("secret list", { env: absent })).code).toBe(1);
    expect((await run("secret list -o home", { env: absent })).code).toBe(0);
    expect((await run("bucket list", { env: { INFLUX_OUTPUT_JSON: "true", INFLUX_BUCKET_NAME: "first" } })).out).toMatch(/^\[\n\t\{/);
    expect(await run("bucket list", { env: { INFLUX_ACTIVE_CONFIG: "none" } })).toMatchObject({
      code: 2,
      error: 'tsdb: --active-config: no connection "none"; there are default\n',
    });
  });

  test("a file that is no TOML, and values that are no texts, are named", async () => {
    const path = join(folder, "broken");
    for (const [text, message] of [
      ["[a", path],
      ["a = 1", "a must be a table"],
      ["[a]\ntoken = 7", "a.token must be a text"],
    ] as const) {
      writeFileSync(path, text);
      const { code, error } = await run("ping", { env: { INFLUX_CONFIGS_PATH: path } });
      expect(code).toBe(2);
      expect(error).toContain(message);
    }
  });

  test("requests are shown without the token", async () => {
    const { code, error } = await run("org list --http-debug");
    expect([code, error]).toEqual([0, "> GET /api/v2/orgs?limit=100&offset=0\n< 200\n"]);
  });
});

test("buckets are made, listed page by page, changed and deleted", async () => {
  const made = await json("bucket create -n b1 -d 'for tests' -r 30d --shard-group-duration 1d");
  expect(made).toMatchObject({
    name: "b1",
    description: "for tests",
    retentionRules: [{ everySeconds: 2_592_000, shardGroupDurationSeconds: 86_400 }],
  });
  expect(await table("bucket list -n b1")).toEqual([
    ["ID", "Name", "Retention", "Shard group duration", "Organization ID", "Schema Type"],
    [made.id, "b1", "720h0m0s", "24h0m0s", made.orgID, "implicit"],
  ]);
  expect(await json("bucket create -n for-ever")).toMatchObject({ retentionRules: [{ everySeconds: 0 }] });
  for (let i = 0; i < 105; i++) await json(`bucket create -n many${i}`);
  const all = await json("bucket list");
  expect(all.filter(({ name }: { name: string }) => name.startsWith("many"))).toHaveLength(105);
  expect(await json("bucket list --limit 101 --offset 3")).toEqual(all.slice(3, 104));
  expect((await json(`bucket update -i ${made.id} -n b2 -r 0`)).retentionRules[0].everySeconds).toBe(0);
  expect((await json("bucket delete -n b2")).id).toBe(made.id);
  expect(await run(`bucket delete -i ${made.id}`)).toEqual({
    code: 1,
    out: "",
    error: "Delete command failed: server responded with error [404 Not Found]: bucket not found\n",
  });
  expect(await run("bucket create -n x -r soon")).toMatchObject({ code: 2, out: "" });
});

test("rows are written, asked for and deleted", async () => {
  await json("bucket create -n rows");
  const path = join(folder, "lines.lp.gz");
  writeFileSync(path, gzipSync("m,t=a v=1 1\nm,t=b v=2 2"));
  expect(await run(`write -b rows -p s -q -f ${path}`)).toEqual({ code: 0, out: "success\n", error: "" });
  expect((await run("write -b rows -p s -q", { input: "m,t=c v=3 3\n" })).code).toBe(0);
  const { id } = (await json("bucket list -n rows"))[0];
  expect((await run(`write --bucket-id ${id} -p s -q 'm,t=d v=4 4'`)).code).toBe(0);
  const script = 'from(bucket: "rows") |> range(start: 0) |> keep(columns: ["t", "_value"]) |> group() |> sort(columns: ["t"])';
  const values = async () =>
    (await run(`query --raw '${script}'`)).out
      .split("\r\n")
      .filter((line) => line.startsWith(",,"))
      .map((line) => line.slice(",,0,".length));
  expect((await values()).map((line) => line.split(",").toSorted())).toEqual([
    ["1", "a"],
    ["2", "b"],
    ["3", "c"],
    ["4", "d"],
  ]);
  expect((await run("query -f -", { input: script })).out).toMatch(/_value/);
  expect((await run("delete -b rows --start 1970-01-01T00:00:00Z --stop 1970-01-01T00:00:02Z -p 't=\"a\"'")).code).toBe(0);
  expect(await values()).toHaveLength(3);
  expect(await run("write -b rows 'm v='")).toMatchObject({ code: 1, out: "" });
  expect(await run("write -b none 'm v=1'")).toMatchObject({ code: 1, out: "" });
  expect((await run("query 'from('")).code).toBe(1);
  expect((await run("delete -b rows --start yesterday --stop now")).code).toBe(2);
  const profiled = (await run(`query --raw -p query '${script}'`)).out;
  expect(profiled).toContain("profiler/query");
});

test("organizations, users and members", async () => {
  const org = await json("org create -n second -d text");
  expect(await table("org list -n second")).toEqual([
    ["ID", "Name"],
    [org.id, "second"],
  ]);
  // a password that the server refuses makes no user
  expect((await run("user create -n eve -p short -o second")).code).toBe(1);
  const user = await json("user create -n eve -p password34 -o second");
  expect(await table(`org members list -i ${org.id}`)).toEqual([
    ["ID", "User Name", "User Type", "Status"],
    expect.arrayContaining(["admin", "owner"]),
    [user.id, "eve", "member", "active"],
  ]);
  expect((await run(`org members remove -n second -m ${user.id}`)).code).toBe(0);
  expect((await run(`org members add -n second -m ${user.id} --owner`)).code).toBe(0);
  expect(
    (await json(`org members list -n second`)).map(({ name, role }: { name: string; role: string }) => [name, role]).toSorted(),
  ).toEqual([
    ["admin", "owner"],
    ["eve", "owner"],
  ]);
  const signIn = (password: string) =>
    fetch(`${cli.url}/api/v2/signin`, { method: "POST", headers: { authorization: `Basic ${btoa(`eve:${password}`)}` } });
  expect((await signIn("password34")).status).toBe(204);
  expect((await run("user password -n eve -p -", { input: "password56\n" })).code).toBe(0);
  expect([(await signIn("password34")).status, (await signIn("password56")).status]).toEqual([401, 204]);
  expect((await json(`user update -i ${user.id} -n eva`)).name).toBe("eva");
  expect((await json("user list -n eva"))[0].id).toBe(user.id);
  expect((await run(`user delete -i ${user.id}`)).code).toBe(0);
  expect((await json(`org update -i ${org.id} -n third`)).name).toBe("third");
  expect((await run(`org delete -i ${org.id}`)).code).toBe(0);
  expect((await json("org list")).map(({ name }: { name: string }) => name)).toEqual(["home"]);
});

test("tokens: what they may, and whether they are used", async () => {
  const { id: bucket, orgID } = (await json("bucket list -n first"))[0];
  const one = await json(`auth create --read-bucket ${bucket} --write-tasks -d robot`);
  expect(
    one.permissions.map(({ action, resource: { type, id } }: { action: string; resource: Record<string, string> }) => [action, type, id]),
  ).toEqual([
    ["read", "buckets", bucket],
    ["write", "tasks", undefined],
  ]);
  const row = (await table("auth list")).find(([id]) => id === one.id)!;
  expect(row.at(-1)).toBe(`[read:orgs/${orgID}/buckets/${bucket} write:orgs/${orgID}/tasks]`);
  const names = async (token: string) => await run("bucket list --json", { env: { INFLUX_TOKEN: token } });
  expect(JSON.parse((await names(one.token)).out).map(({ name }: { name: string }) => name)).toEqual(["first"]);
  expect((await json(`auth inactive -i ${one.id}`)).status).toBe("inactive");
  // still a token, without any right
  expect(JSON.parse((await names(one.token)).out)).toEqual([]);
  expect((await json(`auth active -i ${one.id}`)).status).toBe("active");
  const all = await json("auth create --all-access -u admin");
  const { id: me } = (await json("user list -n admin"))[0];
  expect(
    all.permissions.filter(({ resource: { type } }: { resource: { type: string } }) => ["orgs", "users"].includes(type)),
  ).toMatchObject([
    { action: "read", resource: { type: "orgs", id: orgID } },
    { action: "read", resource: { type: "users", id: me } },
    { action: "write", resource: { type: "users", id: me } },
  ]);
  // 22 types, without the right to write the organization
  expect(all.permissions).toHaveLength(43);
  expect((await json("auth create --operator")).permissions).toHaveLength(44);
  expect(await run("auth create")).toMatchObject({ code: 2, out: "" });
  expect((await run(`auth delete -i ${one.id}`)).code).toBe(0);
  expect((await names(one.token)).code).toBe(1);
});

test("secrets are kept, and only their names are shown", async () => {
  expect((await run("secret update -k KEY -v 'a b'")).out).toMatch(/^Key\tOrganization ID\nKEY\t[0-9a-f]{16}\n$/);
  expect((await run("secret update -k OTHER", { input: "piped\n" })).code).toBe(0);
  expect((await table("secret list")).map(([key]) => key)).toEqual(["Key", "KEY", "OTHER"]);
  expect((await run("secret delete -k KEY")).code).toBe(0);
  expect(await run("secret delete -k KEY")).toMatchObject({ code: 1, out: "", error: 'Delete command failed: there is no secret "KEY"\n' });
});

test("clients of v1: a user name, a mapping, and rows by both", async () => {
  const { id: bucket } = await json("bucket create -n old");
  const auth = await json(`v1 auth create --username vera --password password78 --read-bucket ${bucket} --write-bucket ${bucket}`);
  expect(auth.id).toMatch(ID);
  const mapping = await json(`v1 dbrp create --db mydb --rp auto --bucket-id ${bucket} --default`);
  expect(await table("v1 dbrp list --db mydb")).toEqual([
    ["ID", "Database", "Bucket ID", "Retention Policy", "Default", "Organization ID"],
    [mapping.id, "mydb", bucket, "auto", "true", mapping.orgID],
  ]);
  const write = (password: string) =>
    fetch(`${cli.url}/write?db=mydb&u=vera&p=${password}`, { method: "POST", body: "m v=1" }).then(({ status }) => status);
  expect(await write("password78")).toBe(204);
  expect((await run("v1 auth set-password --username vera --password password90")).code).toBe(0);
  expect([await write("password78"), await write("password90")]).toEqual([401, 204]);
  expect((await run("v1 auth set-inactive --username vera")).code).toBe(0);
  expect(await write("password90")).not.toBe(204);
  expect((await run("v1 auth set-active --username vera")).code).toBe(0);
  expect((await table("v1 auth list --username vera"))[1]!.slice(0, 2)).toEqual([auth.id, "vera"]);
  expect((await json(`v1 dbrp update -i ${mapping.id} --rp other`)).retention_policy).toBe("other");
  expect((await run(`v1 dbrp delete -i ${mapping.id}`)).code).toBe(0);
  expect((await run("v1 auth delete --username vera")).code).toBe(0);
  expect((await run("v1 auth delete --username vera")).error).toContain('there is no v1 user "vera"');
  // a password that is refused leaves no user name behind
  expect((await run("v1 auth create --username short --password x")).code).toBe(1);
  expect(await json("v1 auth list --username short")).toEqual([]);
});

test("a shell of InfluxQL, from a file", async () => {
  const { id: bucket } = await json("bucket create -n shell");
  await json(`v1 dbrp create --db shelldb --rp auto --bucket-id ${bucket} --default`);
  expect((await run("write -b shell -p s -q", { input: "m,t=a v=1 1\nm,t=b v=2.5 2" })).code).toBe(0);
  const shell = async (lines: string) => {
    const child = Bun.spawn([...PROGRAM, "v2", "v1", "shell"], {
      ...{
        cwd: folder,
        env: { PATH: process.env["PATH"]!, ...cli.environment },
        stdin: Buffer.from(lines),
        stdout: "pipe",
        stderr: "pipe",
      },
    });
    const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { code: await child.exited, out, error };
  };
  expect(await shell("use shelldb\nprecision s\nSELECT v FROM m GROUP BY t\nformat csv\nSELECT v FROM m;\nexit\nSHOW DATABASES\n")).toEqual(
    {
      code: 0,
      out: "name: m\ntags: t=a\ntime\tv\n1\t1\n\nname: m\ntags: t=b\ntime\tv\n2\t2.5\nname,tags,time,v\nm,,1,1\nm,,2,2.5\n",
      error: "",
    },
  );
  const failing = await shell("use none\nSELECT v FROM m\nformat x\nSELEC\nhelp\n");
  expect(failing.code).toBe(1);
  expect(failing.error.split("\n")).toHaveLength(4);
  expect(failing.out).toContain("precision UNIT");
});

test("tasks, their runs and logs", async () => {
  const script = 'option task = {name: "t1", every: 1h}\nfrom(bucket: "first") |> range(start: -1h)';
  const task = await json("task create -f -", { input: script });
  expect(task).toMatchObject({ name: "t1", every: "1h", status: "active" });
  expect(await table(`task list -i ${task.id}`)).toEqual([
    ["ID", "Name", "Organization ID", "Organization", "Status", "Every", "Cron"],
    [task.id, "t1", task.orgID, "home", "active", "1h", ""],
  ]);
  expect((await json(`task update -i ${task.id} --status inactive`)).status).toBe("inactive");
  expect((await json(`task update -i ${task.id} '${script.replace("t1", "t2")}'`)).name).toBe("t2");
  expect((await json("task list --status inactive")).map(({ id }: { id: string }) => id)).toEqual([task.id]);
  expect((await run(`task update -i ${task.id} --status maybe`)).code).toBe(2);
  expect((await run(`task run list --task-id ${task.id}`)).code).toBe(0);
  expect((await run(`task log list --task-id ${task.id}`)).code).toBe(0);
  expect((await run("task retry-failed --dry-run")).out).toBe("0 failed runs\n");
  expect((await run(`task delete -i ${task.id}`)).code).toBe(0);
  expect(await json("task list")).toEqual([]);
});

test("the configuration of the server", async () => {
  const { code, out } = await run("server-config");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toHaveProperty("http-bind-address");
  expect(existsSync(configs)).toBe(true);
});

describe("backup and restore", () => {
  const count = async (bucket: string) => {
    const script = `from(bucket: "${bucket}") |> range(start: 0) |> group() |> count()`;
    const { code, out } = await run(`query --raw '${script}'`);
    expect(code).toBe(0);
    return out
      .split("\r\n")
      .filter((line) => line.startsWith(",,"))
      .map((line) => line.split(",").at(-1));
  };

  test.each(["gzip", "none"])("a bucket under another name, in another organization, %s", async (compression) => {
    const path = join(folder, `one-${compression}`);
    await json(`bucket create -n from-${compression}`);
    const lines = Array.from({ length: 30 }, (_, day) => `m,t=a v=${day} ${1_700_000_000 + day * 86_400}`).join("\n");
    expect((await run(`write -b from-${compression} -p s -q`, { input: lines })).code).toBe(0);
    const { code, out } = await run(`backup ${path} -b from-${compression} --compression ${compression}`);
    expect([code, out]).toEqual([0, expect.stringMatching(/^\d{8}T\d{6}Z: 1 bucket, [1-9]\d* shards\n$/)]);
    const files = readdirSync(path);
    expect(files.filter((name) => name.endsWith(".gz")).length > 0).toBe(compression === "gzip");
    expect(files.filter((name) => (statSync(join(path, name)).mode & 0o077) !== 0)).toEqual([]);
    expect((await run(`restore ${path} -b from-${compression} --new-bucket to-${compression}`)).code).toBe(0);
    expect(await count(`to-${compression}`)).toEqual(["30"]);
    expect((await run(`restore ${path} --new-org new-${compression}`)).code).toBe(0);
    expect(await json(`bucket list -n from-${compression} -o new-${compression}`)).toHaveLength(1);
    // it is there
    expect(await run(`restore ${path}`)).toMatchObject({ code: 1, out: "" });
    expect((await run(`restore ${path} --full --new-bucket x`)).code).toBe(2);
    expect((await run(`backup ${path} -b no-such-bucket`)).code).toBe(1);
  });

  test("of a folder that is not whole is refused before anything is sent", async () => {
    const path = join(folder, "one-none");
    const shard = readdirSync(path).find((name) => name.endsWith(".tar"))!;
    const bytes = readFileSync(join(path, shard));
    const buckets = await json("bucket list");
    writeFileSync(join(path, shard), bytes.subarray(1));
    const cut = await run(`restore ${path} --new-bucket never`);
    expect([cut.code, cut.error]).toEqual([1, expect.stringContaining(`bytes, want ${bytes.length}`)]);
    rmSync(join(path, shard));
    expect((await run(`restore ${path} --new-bucket never`)).error).toContain(`${shard} is missing`);
    for (const name of readdirSync(path).filter((each) => each.endsWith(".manifest"))) writeFileSync(join(path, name), "{}");
    expect((await run(`restore ${path}`)).error).toContain("is no manifest");
    expect((await run(`restore ${folder}`)).code).toBe(2);
    expect((await run("restore /nowhere")).code).toBe(2);
    expect(await json("bucket list")).toEqual(buckets);
  });

  test("of everything: what came after the backup is gone, and what was deleted is back", async () => {
    expect((await run(`backup ${join(folder, "saved")}`)).code).toBe(0);
    await run("bucket delete -n to-gzip");
    await json("bucket create -n later");
    const { code, out, error } = await run(`restore ${join(folder, "saved")} --full`);
    expect([code, error]).toEqual([0, ""]);
    expect(out).toMatch(/^restored everything, [1-9]\d* shards\n$/);
    expect(await count("to-gzip")).toEqual(["30"]);
    expect(await run("bucket list -n later --json")).toMatchObject({ code: 1, error: expect.stringContaining('bucket "later" not found') });
  });
});
