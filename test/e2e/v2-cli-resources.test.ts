// `tsdb v2 …` with what servers do for others: templates and stacks, remotes and replications, dashboards.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SetUpCli } from "../support/servers/v2-cli.ts";

setDefaultTimeout(60_000);

let cli: SetUpCli;

beforeAll(async () => {
  cli = await SetUpCli.start();
});
afterAll(() => cli.dispose());

const run: SetUpCli["run"] = (...args) => cli.run(...args);
const json: SetUpCli["json"] = (...args) => cli.json(...args);
const table: SetUpCli["table"] = (...args) => cli.table(...args);

test("a template is applied into a stack, exported, and gone with the stack", async () => {
  const template = `apiVersion: influxdata.com/v2alpha1
kind: Label
metadata:
  name: label-1
spec:
  name: from-template
---
apiVersion: influxdata.com/v2alpha1
kind: Bucket
metadata:
  name: bucket-1
spec:
  name: made-of-template
  associations:
    - kind: Label
      name: label-1
`;
  const { id: stack } = await json("stacks init -n s1 -d text");
  expect(await run("template validate -f -", { input: template })).toEqual({ code: 0, out: "", error: "" });
  expect((await run("template validate -f -", { input: template.replace("bucket-1", "Bucket_1") })).code).toBe(1);
  const applied = await run(`apply -f - --yes --stack-id ${stack}`, { input: template });
  expect([applied.code, applied.error]).toEqual([0, ""]);
  expect(applied.out).toContain(`Stack ID: ${stack}\n`);
  const { id: bucket } = (await json("bucket list -n made-of-template"))[0];
  const [row] = await json(`stacks -i ${stack}`);
  expect(row.resources.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual(["Bucket", "Label"]);
  const path = join(cli.folder, "exported.yml");
  expect((await run(`export --buckets ${bucket} -f ${path}`)).code).toBe(0);
  const documents = Bun.YAML.parse(readFileSync(path, "utf8")) as { kind: string; spec: { name: string } }[];
  expect(documents.map(({ kind, spec }) => [kind, spec.name]).toSorted()).toEqual([
    ["Bucket", "made-of-template"],
    ["Label", "from-template"],
  ]);
  expect((await run("export all --filter resourceKind=Bucket --filter labelName=from-template")).out).toContain("made-of-template");
  expect((await run(`export stack ${stack}`)).out).toContain("made-of-template");
  expect((await run(`stacks rm -i ${stack} --force`)).code).toBe(0);
  expect((await run("bucket list -n made-of-template")).code).toBe(1);
});

test("remotes and replications", async () => {
  const { id: bucket } = await json("bucket create -n replicated");
  const remote = await json(
    "remote create -n r1 --remote-url http://127.0.0.1:1 --remote-api-token their --remote-org-id 0000000000000001",
  );
  expect((await json("remote list -n r1")).map(({ id }: { id: string }) => id)).toEqual([remote.id]);
  expect((await json(`remote update -i ${remote.id} -n r2`)).name).toBe("r2");
  const made = await json(`replication create -n p1 --remote-id ${remote.id} --local-bucket-id ${bucket} --remote-bucket far`);
  expect(made).toMatchObject({ name: "p1", remoteID: remote.id, maxQueueSizeBytes: 67_108_860, maxAgeSeconds: 604_800 });
  expect((await json(`replication update -i ${made.id} --max-age 60`)).maxAgeSeconds).toBe(60);
  expect((await table(`replication list --remote-id ${remote.id}`))[1]!.slice(0, 2)).toEqual([made.id, "p1"]);
  // a remote that is used stays
  expect((await run(`remote delete -i ${remote.id}`)).code).toBe(1);
  expect((await run(`replication delete -i ${made.id}`)).code).toBe(0);
  expect((await run(`remote delete -i ${remote.id}`)).code).toBe(0);
});

test("dashboards are listed", async () => {
  const { token } = Bun.TOML.parse(readFileSync(cli.configs, "utf8"))["default" as never] as { token: string };
  const [{ id: orgID }] = await json("org list -n home");
  const body = JSON.stringify({ orgID, name: "cpu", description: "of hosts" });
  const headers = { authorization: `Token ${token}`, "content-type": "application/json" };
  const made = await fetch(`${cli.url}/api/v2/dashboards`, { method: "POST", headers, body });
  const { id } = (await made.json()) as { id: string };
  const wanted = [
    ["ID", "OrgID", "Name", "Description", "Num Cells"],
    [id, orgID, "cpu", "of hosts", "0"],
  ];
  expect(await table("dashboards")).toEqual(wanted);
  expect(await table(`dashboards -i ${id}`)).toEqual(wanted);
});

test("configurations of agents", async () => {
  const config = '[[outputs.influxdb_v2]]\n  bucket = "first"\n';
  const { id } = await json("telegrafs create -n agent -d text -f -", { input: config });
  expect((await run(`telegrafs -i ${id}`)).out).toBe(config);
  const kept = async () => {
    const { name, description, metadata } = await json(`telegrafs -i ${id}`);
    return { name, description, ...metadata };
  };
  expect((await run(`telegrafs update -i ${id} -n renamed`)).code).toBe(0);
  expect(await kept()).toEqual({ name: "renamed", description: "text", buckets: ["first"] });
  expect((await run(`telegrafs update -i ${id} -f -`, { input: config.replace("first", "second") })).code).toBe(0);
  expect(await kept()).toEqual({ name: "renamed", description: "text", buckets: ["second"] });
  expect((await run("telegrafs create -n wrong -f -", { input: "[agent" })).error).toContain("the configuration is not TOML");
  // with the line of names
  expect(await table("telegrafs")).toHaveLength(2);
  expect((await run(`telegrafs rm -i ${id}`)).code).toBe(0);
  expect(await table("telegrafs")).toHaveLength(1);
});
