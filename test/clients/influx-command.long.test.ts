// The vendor's command line client of the v2 line, unmodified, against real servers: setup, buckets, rows, tokens, users, mappings, tasks,
// pages, templates, replications, and a backup that is restored into another server.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestServer } from "../support/servers/server.ts";
import { installed, isInstalled } from "./native-programs.ts";

setDefaultTimeout(60_000);

const hasInflux = isInstalled("influx");
const TOKEN = "operator-token";

let folder: string;
let server: TestServer;
let other: TestServer;

interface Outcome {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** `token` null: no credentials, and another file of settings, which setting up writes. */
async function influx(args: readonly string[], { at = server, token = TOKEN as string | null, org = "o" } = {}): Promise<Outcome> {
  const settings = join(folder, token === null ? crypto.randomUUID() : "settings");
  const credentials = token === null ? {} : { INFLUX_TOKEN: token, INFLUX_ORG: org };
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, INFLUX_CONFIGS_PATH: settings, INFLUX_HOST: at.bucketsUrl, ...credentials };
  const child = Bun.spawn([installed("influx", "influx"), ...args], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [code, output, errors] = await Promise.all([child.exited, new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code, output, errors };
}

/** The output of a command that succeeds. */
async function done(...args: string[]): Promise<string> {
  const { code, output, errors } = await influx(args);
  expect([code, errors]).toEqual([0, ""]);
  return output;
}

async function shown<T>(...args: string[]): Promise<T> {
  return JSON.parse(await done(...args, "--json")) as T;
}

const setup = (org: string, token: string) => [
  "setup",
  "-u",
  "admin",
  "-p",
  "password12",
  "-o",
  org,
  "-b",
  "b",
  "-t",
  token,
  "-r",
  "0",
  "-f",
];

/** City and temperature, in the order of time. */
async function rows(at = server): Promise<string[]> {
  const script = `from(bucket: "b") |> range(start: 0) |> filter(fn: (r) => r._field == "temp") |> group() |> sort(columns: ["_time"])
    |> keep(columns: ["city", "_value"])`;
  const { code, output, errors } = await influx(["query", script, "--raw"], { at });
  expect([code, errors]).toEqual([0, ""]);
  return output.split("\n").flatMap((line) => /^,,0,(.+?)\r?$/.exec(line)?.[1] ?? []);
}

if (hasInflux) {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tsdb-influx-"));
    [server, other] = await Promise.all([TestServer.start({ withBuckets: true }), TestServer.start({ withBuckets: true })]);
    const made = await influx(setup("o", TOKEN), { token: null });
    expect([made.code, made.errors]).toEqual([0, ""]);
  });
  afterAll(async () => {
    await Promise.all([server.dispose(), other.dispose()]);
    rmSync(folder, { recursive: true });
  });

  test("lines and CSV are written, asked for and deleted", async () => {
    expect(await done("ping")).toBe("OK\n");
    await done("write", "-b", "b", "-p", "s", "weather,city=Oslo temp=1 1700000001\nweather,city=Bern temp=2,n=3i 1700000002");
    const csv = "#datatype measurement,tag,double,dateTime:RFC3339\nm,city,temp,time\nweather,Rome,3.5,2023-11-14T22:13:23Z\n";
    await Bun.write(join(folder, "rows.csv"), csv);
    await done("write", "-b", "b", "--format", "csv", "-f", join(folder, "rows.csv"));
    expect(await rows()).toEqual(["1,Oslo", "2,Bern", "3.5,Rome"]);
    const table = await done("query", 'from(bucket: "b") |> range(start: 0) |> filter(fn: (r) => r.city == "Rome")');
    expect(table).toContain("Table: keys: [_start, _stop, _field, _measurement, city]");
    await done("delete", "-b", "b", "--start", "2023-11-14T00:00:00Z", "--stop", "2023-11-15T00:00:00Z", "-p", 'city="Oslo"');
    expect(await rows()).toEqual(["2,Bern", "3.5,Rome"]);
  });

  test("buckets, tokens, users, organizations, secrets and mappings", async () => {
    const bucket = await shown<{ id: string; retentionRules: unknown[] }>("bucket", "create", "-n", "made", "-r", "72h");
    expect(bucket.retentionRules).toEqual([{ everySeconds: 259_200, shardGroupDurationSeconds: 86_400, type: "expire" }]);
    await done("bucket", "update", "-i", bucket.id, "-r", "96h");
    const names = (await shown<{ name: string }[]>("bucket", "list")).map(({ name }) => name);
    expect(names).toEqual(["_monitoring", "_tasks", "b", "made"]);
    const auth = await shown<{ id: string; token: string }>("auth", "create", "--read-bucket", bucket.id, "-d", "reader");
    const refused = await influx(["write", "-b", "made", "m v=1"], { token: auth.token });
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining("403 Forbidden: insufficient permissions for write")]);
    const tokens = await shown<{ id: string; status: string; permissions: string[] }[]>("auth", "list");
    expect(tokens.find(({ id }) => id === auth.id)).toMatchObject({
      status: "active",
      permissions: [expect.stringMatching(/^read:.*\/buckets\//)],
    });
    await done("auth", "delete", "-i", auth.id);
    await shown("user", "create", "-n", "ann", "-p", "password34");
    expect((await shown<{ name: string }[]>("user", "list")).map(({ name }) => name)).toEqual(["admin", "ann"]);
    expect(await done("org", "members", "list", "-n", "o")).toMatch(/admin\s+owner\s+active\n\w+\s+ann\s+member\s+active/);
    await done("secret", "update", "-k", "KEY", "-v", "value");
    expect(await done("secret", "list")).toContain("KEY");
    const mapping = await shown<{ id: string }>("v1", "dbrp", "create", "--db", "d", "--rp", "r", "--bucket-id", bucket.id);
    const mappings = await shown<{ database: string; virtual: boolean }[]>("v1", "dbrp", "list", "--bucket-id", bucket.id);
    expect(mappings.map(({ database, virtual }) => [database, virtual])).toEqual([
      ["d", false],
      ["made", true],
    ]);
    await done("v1", "dbrp", "delete", "--id", mapping.id);
    const legacy = await shown<{ id: string }>(
      ...["v1", "auth", "create", "--username", "old", "--password", "password56", "--read-bucket", bucket.id],
    );
    await done("v1", "auth", "delete", "--id", legacy.id);
    await done("bucket", "delete", "-i", bucket.id);
    const unknown = await influx(["bucket", "list"], { token: "nobody" });
    expect([unknown.code, unknown.errors]).toEqual([1, expect.stringContaining("401 Unauthorized: unauthorized access")]);
  });

  test("tasks, their runs and logs", async () => {
    const script = (every: string) =>
      `import "array"\noption task = {name: "t", every: ${every}}\narray.from(rows: [{_time: now(), _measurement: "m", _field: "f", _value: 1.0}]) |> to(bucket: "b")`;
    await Bun.write(join(folder, "task.flux"), script("1h"));
    const task = await shown<{ id: string; every: string }>("task", "create", "-f", join(folder, "task.flux"));
    expect(task.every).toBe("1h");
    expect((await shown<{ id: string }[]>("task", "list")).map(({ id }) => id)).toEqual([task.id]);
    expect(await shown("task", "update", "-i", task.id, "--status", "inactive")).toMatchObject({ status: "inactive", every: "1h" });
    await Bun.write(join(folder, "task.flux"), script("2h"));
    const changed = await shown("task", "update", "-i", task.id, "--status", "active", "-f", join(folder, "task.flux"));
    expect(changed).toMatchObject({ status: "active", every: "2h" });
    const runs = `${server.bucketsUrl}/api/v2/tasks/${task.id}/runs`;
    const forced = await fetch(runs, { method: "POST", headers: { authorization: `Token ${TOKEN}` }, body: "{}" });
    const { id: runID } = (await forced.json()) as { id: string };
    const ended = async () => (await shown<{ id: string; status: string }[]>("task", "run", "list", "--task-id", task.id))[0];
    while ((await ended())?.status !== "success") await Bun.sleep(50);
    expect(await ended()).toMatchObject({ id: runID, status: "success" });
    expect(await done("task", "log", "list", "--task-id", task.id, "--run-id", runID)).toContain("Completed(success)");
    expect(await done("task", "run", "retry", "--task-id", task.id, "--run-id", runID)).toContain(
      `Retry for task ${task.id}'s run ${runID}`,
    );
    expect(await done("task", "retry-failed", "--dry-run")).toContain("0 runs to be retried");
    await done("task", "delete", "-i", task.id);
    expect(await shown<unknown[]>("task", "list")).toEqual([]);
  });

  test("templates, stacks, dashboards and configurations of agents", async () => {
    const template = `apiVersion: influxdata.com/v2alpha1
kind: Label
metadata: {name: label-1}
spec: {name: plants, color: "#326BBA"}
---
apiVersion: influxdata.com/v2alpha1
kind: Bucket
metadata: {name: bucket-1}
spec: {name: garden, associations: [{kind: Label, name: label-1}]}
---
apiVersion: influxdata.com/v2alpha1
kind: Dashboard
metadata: {name: dash-1}
spec:
  name: Garden
  charts: [{kind: Markdown, name: note, note: "# plants", xPos: 0, yPos: 0, width: 2, height: 2}]
`;
    const file = join(folder, "garden.yml");
    await Bun.write(file, template);
    await done("template", "validate", "-f", file);
    await done("apply", "-f", file, "--force", "yes", "--quiet");
    const [stack] = await shown<{ id: string }[]>("stacks");
    expect(await done("dashboards")).toContain("Garden");
    const exported = async (...args: string[]) => {
      const objects = Bun.YAML.parse(await done("export", ...args)) as { kind: string; spec: { name: string } }[];
      return objects.map(({ kind, spec }) => `${kind} ${spec.name}`).sort();
    };
    expect(await exported("stack", stack!.id)).toEqual(["Bucket garden", "Dashboard Garden", "Label plants"]);
    expect(await exported("all", "--filter", "resourceKind=Bucket", "--filter", "labelName=plants")).toEqual([
      "Bucket garden",
      "Label plants",
    ]);
    await done("stacks", "update", "-i", stack!.id, "-n", "renamed");
    const made = await shown<{ id: string }>("stacks", "init", "-n", "empty");
    await done("stacks", "rm", "--stack-id", made.id, "--stack-id", stack!.id, "--force");
    expect((await shown<{ name: string }[]>("bucket", "list")).map(({ name }) => name)).not.toContain("garden");

    await Bun.write(join(folder, "agent.conf"), '[agent]\n  interval = "10s"\n');
    const agent = await shown<{ id: string }>("telegrafs", "create", "-n", "agent", "-d", "of a test", "-f", join(folder, "agent.conf"));
    await done("telegrafs", "update", "-i", agent.id, "-n", "renamed", "-f", join(folder, "agent.conf"));
    expect(await done("telegrafs")).toContain("renamed");
    await done("telegrafs", "rm", "-i", agent.id);
  });

  test("a bucket is replicated into another server", async () => {
    await using third = { server: await TestServer.start({ withBuckets: true }), [Symbol.asyncDispose]: () => third.server.dispose() };
    const begun = await influx(setup("third", "third-token"), { at: third.server, token: null });
    expect([begun.code, begun.errors]).toEqual([0, ""]);
    const headers = { authorization: "Token third-token" };
    const { orgs } = (await (await fetch(`${third.server.bucketsUrl}/api/v2/orgs`, { headers })).json()) as { orgs: { id: string }[] };
    const remote = await shown<{ id: string }>(
      ...["remote", "create", "-n", "third", "--remote-url", third.server.bucketsUrl],
      ...["--remote-api-token", "third-token", "--remote-org-id", orgs[0]!.id],
    );
    await done("remote", "update", "-i", remote.id, "-d", "described");
    const local = (await shown<{ id: string }[]>("bucket", "list", "-n", "b"))[0]!.id;
    const replication = await shown<{ id: string }>(
      ...["replication", "create", "-n", "r", "--remote-id", remote.id, "--local-bucket-id", local, "--remote-bucket", "b"],
    );
    await done("replication", "update", "-i", replication.id, "--max-age", "3600");
    await done("write", "-b", "b", "-p", "s", "weather,city=Lima temp=17.5 1700000009");
    const arrived = async () =>
      (await influx(["query", 'from(bucket: "b") |> range(start: 0)', "--raw"], { at: third.server, token: "third-token", org: "third" }))
        .output;
    while (!(await arrived()).includes("Lima")) await Bun.sleep(50);
    await done("replication", "delete", "-i", replication.id);
    await done("remote", "delete", "-i", remote.id);
    expect((await influx(["remote", "list"])).errors).toContain("no remote connections found");
  });

  test("a full backup, restored into another server, gives the same answers", async () => {
    const backup = join(folder, "backup");
    const made = await influx(["backup", backup]);
    expect(made.code).toBe(0);
    const before = await rows();
    const begun = await influx(setup("other", "other-token"), { at: other, token: null });
    expect([begun.code, begun.errors]).toEqual([0, ""]);
    const restored = await influx(["restore", "--full", backup], { at: other, token: "other-token", org: "" });
    const said = restored.errors.split("\n").filter((line) => !line.includes(" INFO: "));
    expect([restored.code, said]).toEqual([0, [expect.stringContaining("WARN: Restoring KV snapshot overwrote the operator token"), ""]]);
    expect(await rows(other)).toEqual(before);
    // tokens came with the backup
    const old = await influx(["bucket", "list"], { at: other, token: "other-token" });
    expect(old.errors).toContain("401 Unauthorized");
  });
} else {
  test("the command is not installed", () => expect(hasInflux).toBe(false));
}
