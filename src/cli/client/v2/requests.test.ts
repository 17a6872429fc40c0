// What the commands ask a server for, which answers from a table: methods, paths and bodies are those of the public contract.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Ran, runCli } from "../../../../test/support/servers/v2-cli.ts";
import { V2_COMMANDS } from "./commands.ts";

const ORG = "0000000000000001";
const folder = mkdtempSync(join(tmpdir(), "tsdb-v2-requests-"));

type Asked = readonly [request: string, body?: unknown];
let asked: Asked[] = [];
let answers: Record<string, unknown> = {};
let server: Bun.Server<undefined>;

beforeAll(() => {
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const key = `${request.method} ${pathname}`;
      const text = await request.text();
      asked.push(text === "" ? [`${key}${search}`] : [`${key}${search}`, JSON.parse(text)]);
      expect(request.headers.get("authorization")).toBe("Token tok");
      if (!Object.hasOwn(answers, key)) return Response.json({ code: "not found", message: `no ${key}` }, { status: 404 });
      const answer = answers[key];
      if (answer === null) return new Response(null, { status: 204 });
      if (answer instanceof Response) return answer.clone();
      return typeof answer === "string" ? new Response(answer) : Response.json(answer);
    },
  });
});
afterAll(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  asked = [];
  answers = {};
});

const environmentOf = (): Record<string, string> => ({
  HOME: folder,
  INFLUX_HOST: server.url.origin,
  INFLUX_TOKEN: "tok",
  INFLUX_ORG_ID: ORG,
});
const run = (args: readonly string[], input = ""): Promise<Ran> => runCli(["v2", ...args], environmentOf(), input);
const words = (text: string) => text.split(" ");

describe("remotes and replications", () => {
  const REMOTE = { id: "a1", orgID: ORG, name: "r", remoteURL: "http://far:8086", remoteOrgID: null, allowInsecureTLS: false };
  const REPLICATION = {
    id: "b1",
    orgID: ORG,
    name: "p",
    remoteID: "a1",
    localBucketID: "c1",
    RemoteBucketName: "far",
    maxQueueSizeBytes: 67108860,
  };

  test.each<[args: string, answers: Record<string, unknown>, asked: Asked[]]>([
    [
      "remote create -n r --remote-url http://far:8086 --remote-api-token their --remote-org-id 02",
      { "POST /api/v2/remotes": REMOTE },
      [
        [
          "POST /api/v2/remotes",
          { orgID: ORG, name: "r", remoteURL: "http://far:8086", remoteAPIToken: "their", remoteOrgID: "02", allowInsecureTLS: false },
        ],
      ],
    ],
    ["remote list -n r", { "GET /api/v2/remotes": { remotes: [REMOTE] } }, [[`GET /api/v2/remotes?orgID=${ORG}&name=r`]]],
    [
      "remote update -i a1 --allow-insecure-tls",
      { "PATCH /api/v2/remotes/a1": REMOTE },
      [["PATCH /api/v2/remotes/a1", { allowInsecureTLS: true }]],
    ],
    [
      "remote delete -i a1",
      { "GET /api/v2/remotes/a1": REMOTE, "DELETE /api/v2/remotes/a1": null },
      [["GET /api/v2/remotes/a1"], ["DELETE /api/v2/remotes/a1"]],
    ],
    [
      "replication create -n p --remote-id a1 --local-bucket-id c1 --remote-bucket far --drop-non-retryable-data",
      { "POST /api/v2/replications": REPLICATION },
      [
        [
          "POST /api/v2/replications",
          {
            ...{ orgID: ORG, name: "p", remoteID: "a1", localBucketID: "c1", remoteBucketName: "far", dropNonRetryableData: true },
            ...{ maxQueueSizeBytes: 67108860, maxAgeSeconds: 604800 },
          },
        ],
      ],
    ],
    [
      "replication update -i b1 --no-drop-non-retryable-data --max-age 60 --max-queue-bytes 33554430",
      { "PATCH /api/v2/replications/b1": REPLICATION },
      [["PATCH /api/v2/replications/b1", { dropNonRetryableData: false, maxAgeSeconds: 60, maxQueueSizeBytes: 33554430 }]],
    ],
    [
      "replication list --remote-id a1",
      { "GET /api/v2/replications": { replications: [REPLICATION] } },
      [[`GET /api/v2/replications?orgID=${ORG}&remoteID=a1`]],
    ],
    [
      "replication delete -i b1",
      { "GET /api/v2/replications/b1": REPLICATION, "DELETE /api/v2/replications/b1": null },
      [["GET /api/v2/replications/b1"], ["DELETE /api/v2/replications/b1"]],
    ],
  ])("%s", async (args, given, wanted) => {
    answers = given;
    const { code, out, error } = await run(words(args));
    expect([code, error]).toEqual([0, ""]);
    expect(asked).toEqual(wanted);
    expect(out).toMatch(args.startsWith("remote") ? /^ID\tName\tOrg ID.*\na1\tr\t/ : /^ID\tName\tOrg ID.*\nb1\tp\t.*\tfar\t/);
  });

  test("what is missing or contradicts itself is said before anything is asked", async () => {
    for (const args of [
      "remote create -n r",
      "replication create -n p --remote-id a1 --local-bucket-id c1",
      "replication update -i b1 --drop-non-retryable-data --no-drop-non-retryable-data",
      "replication update -i b1 --max-age soon",
    ]) {
      expect(await run(words(args))).toMatchObject({ code: 2, out: "" });
    }
    expect(asked).toEqual([]);
  });
});

test("dashboards: all pages, or those of the ids", async () => {
  const dashboard = (n: number) => ({ id: `d${n}`, orgID: ORG, name: `n${n}`, description: "", cells: [{}, {}] });
  answers = { "GET /api/v2/dashboards": { dashboards: [dashboard(1)] }, "GET /api/v2/dashboards/d2": dashboard(2) };
  expect((await run(["dashboards"])).out).toMatch(/^ID\tOrgID.*\nd1\t.*\tn1\t.*\t2\n$/);
  expect((await run(["dashboards", "-i", "d2", "--hide-headers"])).out).toMatch(/^d2\t/);
  expect(asked.map(([request]) => request)).toEqual([
    `GET /api/v2/dashboards?orgID=${ORG}&limit=100&offset=0`,
    "GET /api/v2/dashboards/d2",
  ]);
});

test("Telegraf configurations: what is not given stays", async () => {
  const kept = { id: "t1", orgID: ORG, name: "n", description: "d", config: "[agent]\n", metadata: { buckets: ["b"] } };
  answers = {
    ...{ "GET /api/v2/telegrafs/t1": kept, "PUT /api/v2/telegrafs/t1": kept, "POST /api/v2/telegrafs": kept },
    "DELETE /api/v2/telegrafs/t1": null,
  };
  expect((await run(["telegrafs", "-i", "t1"])).out).toBe("[agent]\n");
  expect((await run(["telegrafs", "update", "-i", "t1", "-n", "new"])).code).toBe(0);
  expect((await run(["telegrafs", "create", "-n", "n", "-f", "-"], "[agent]")).code).toBe(0);
  expect((await run(["telegrafs", "rm", "-i", "t1"])).code).toBe(0);
  expect(asked.filter(([request]) => !request.startsWith("GET"))).toEqual([
    ["PUT /api/v2/telegrafs/t1", { orgID: ORG, name: "new", description: "d", config: "[agent]\n", metadata: { buckets: ["b"] } }],
    ["POST /api/v2/telegrafs", { orgID: ORG, name: "n", description: "", config: "[agent]" }],
    ["DELETE /api/v2/telegrafs/t1"],
  ]);
});

describe("templates", () => {
  const BUCKET = { apiVersion: "influxdata.com/v2alpha1", kind: "Bucket", metadata: { name: "b-1" }, spec: { name: "b" } };
  const LABEL = { ...BUCKET, kind: "Label", metadata: { name: "l-1" } };
  const DIFF = { buckets: [{ kind: "Bucket", templateMetaName: "b-1", stateStatus: "new", id: 0, new: { name: "b" }, old: null }] };
  const APPLY = "POST /api/v2/templates/apply";

  test("are tried, shown, confirmed and applied", async () => {
    const yaml = `${Bun.YAML.stringify(BUCKET)}\n---\n${Bun.YAML.stringify(LABEL)}\n---\n`;
    mkdirSync(join(folder, "templates/below"), { recursive: true });
    writeFileSync(join(folder, "templates/a.yml"), yaml);
    writeFileSync(join(folder, "templates/below/b.json"), JSON.stringify([LABEL]));
    writeFileSync(join(folder, "templates/notes.txt"), "no template");
    answers = { [APPLY]: { diff: DIFF, summary: { missingSecrets: ["s"] }, stackID: "abc" } };
    const key = "-----BEGIN KEY-----\nabc=\nother=zz";
    const values = ["--secret", "k=a=b", "--secret", `pem=${key}`, "--env-ref", "e=1", "--filter", "kind=Task"];
    const args = ["apply", "-f", join(folder, "templates"), "-R", ...values];
    const refused = await run(args, "no\n");
    expect([refused.code, asked.length]).toEqual([1, 1]);
    const applied = await run([...args, "--filter", "resource=Label.l-1"], "y\n");
    expect([applied.code, applied.out]).toEqual([0, "Kind\tPackage Name\tState\tID\tName\nBucket\tb-1\t\tnew\t\tb\nStack ID: abc\n"]);
    expect(applied.error).toContain("secrets without a value: s;");
    const body = {
      orgID: ORG,
      templates: [
        { sources: [join(folder, "templates/a.yml")], contents: [BUCKET, LABEL] },
        { sources: [join(folder, "templates/below/b.json")], contents: [LABEL] },
      ],
      envRefs: { e: "1" },
      secrets: { k: "a=b", pem: key },
      actions: [
        { action: "skipKind", properties: { kind: "Task" } },
        { action: "skipResource", properties: { kind: "Label", resourceTemplateName: "l-1" } },
      ],
    };
    expect(asked.slice(1)).toEqual([
      [APPLY, { ...body, dryRun: true }],
      [APPLY, { ...body, dryRun: false }],
    ]);
  });

  test("with problems are not applied", async () => {
    answers = {
      [APPLY]: {
        diff: DIFF,
        errors: [{ kind: "Bucket", fields: ["root", "spec"], reason: "too short" }],
        summary: { missingEnvRefs: ["x"] },
      },
    };
    const { code, error } = await run(["apply", "-f", "-", "--yes"], JSON.stringify(BUCKET));
    expect([code, asked.length]).toEqual([1, 1]);
    expect(error).toBe(
      "Bucket root.spec: too short\nthe environment reference x has no value; --env-ref x=VALUE gives it one\n" +
        "Apply command failed: the template was not applied\n",
    );
    expect((await run(["template", "validate", "-f", "-"], JSON.stringify(BUCKET))).code).toBe(1);
    expect(asked.at(-1)![1]).toMatchObject({ dryRun: true });
  });

  test("that the server refuses have its reasons, with their places", async () => {
    const errors = [{ kind: "Bucket", fields: ["root", "metadata", "name"], idxs: [2, null, null], reason: "too long" }];
    const refusal = { errors, code: "unprocessable entity", message: "unprocessable entity" };
    answers = { [APPLY]: Response.json(refusal, { status: 422 }) };
    const text = "Bucket root[2].metadata.name: too long\n";
    const applied = await run(["apply", "-f", "-", "--yes"], JSON.stringify(BUCKET));
    expect(applied).toMatchObject({ code: 1, out: "", error: `${text}Apply command failed: the template was not applied\n` });
    const validated = await run(["template", "validate", "-f", "-"], JSON.stringify(BUCKET));
    expect(validated).toMatchObject({ code: 1, error: text });
    answers = { [APPLY]: Response.json({ message: "no" }, { status: 422 }) };
    expect((await run(["template", "validate", "-f", "-"], "{}")).error).toContain("422");
  });

  test.each([
    [["apply"], ""],
    [["apply", "-f", "-"], '{"a":'],
    [["apply", "-f", "/nowhere.yml"], ""],
    [["apply", "-f", "-", "--filter", "Bucket"], "{}"],
    [["apply", "-f", "-", "--secret", "k"], "{}"],
    [["apply", "-f", "-", "-e", "jsonnet"], "{}"],
    [["export"], ""],
    [["export", "all", "--filter", "x=y"], ""],
    [["stacks", "update", "-i", "s", "--addResource", "x"], ""],
  ])("%j is invalid", async (args, input) => {
    expect(await run(args, input)).toMatchObject({ code: 2, out: "" });
    expect(asked).toEqual([]);
  });

  test("of standard input cannot be confirmed there", async () => {
    answers = { [APPLY]: { diff: DIFF } };
    expect((await run(["apply", "-f", "-"], "{}")).code).toBe(2);
    expect(asked).toHaveLength(1);
  });

  test("are exported by ids, names, filters and stacks", async () => {
    answers = { "POST /api/v2/templates/export": "- a\n" };
    expect((await run(["export", "--buckets", "1,2", "--task-names", "t", "--telegraf-configs", "3"])).out).toBe("- a\n");
    await run(["export", "all", "--filter", "labelName=l", "--filter", "resourceKind=Bucket"]);
    const path = join(folder, "out.yml");
    expect((await run(["export", "stack", "s1", "-f", path])).out).toBe("");
    expect(readFileSync(path, "utf8")).toBe("- a\n");
    expect(asked.map(([, body]) => body)).toEqual([
      {
        resources: [
          { kind: "Bucket", id: "1" },
          { kind: "Bucket", id: "2" },
          { kind: "Task", name: "t" },
          { kind: "Telegraf", id: "3" },
        ],
      },
      { orgIDs: [{ orgID: ORG, resourceFilters: { byLabel: ["l"], byResourceKind: ["Bucket"] } }] },
      { stackID: "s1" },
    ]);
  });

  test("belong to stacks", async () => {
    const stack = { id: "s1", orgID: ORG, eventType: "create", name: "n", resources: [], sources: [], urls: ["u"] };
    answers = {
      ...{ "GET /api/v2/stacks": { stacks: [stack] }, "POST /api/v2/stacks": stack, "PATCH /api/v2/stacks/s1": stack },
      ...{ "POST /api/v2/stacks/s1/uninstall": stack, "DELETE /api/v2/stacks/s1": null },
    };
    expect((await run(["stacks", "-i", "s1", "-i", "s2", "-n", "n"])).out).toMatch(/^ID\tOrgID.*\ns1\t.*\ttrue\tn\t/);
    expect((await run(["stacks", "init", "-n", "n", "-d", "d", "-u", "http://a", "-u", "http://b"])).code).toBe(0);
    expect((await run(["stacks", "update", "-i", "s1", "--addResource", "Bucket=7"])).code).toBe(0);
    expect((await run(["stacks", "rm", "-i", "s1"], "no\n")).code).toBe(1);
    expect((await run(["stacks", "rm", "-i", "s1", "--force"])).out).toBe("stack s1 deleted\n");
    expect(asked).toEqual([
      [`GET /api/v2/stacks?orgID=${ORG}&stackID=s1&stackID=s2&name=n`],
      ["POST /api/v2/stacks", { orgID: ORG, name: "n", description: "d", urls: ["http://a", "http://b"] }],
      ["PATCH /api/v2/stacks/s1", { additionalResources: [{ kind: "Bucket", resourceID: "7" }] }],
      [`POST /api/v2/stacks/s1/uninstall?orgID=${ORG}`],
      [`DELETE /api/v2/stacks/s1?orgID=${ORG}`],
    ]);
  });
});

test("a backup is restored to a server whose connection has another organization", async () => {
  const backup = join(folder, "backup");
  mkdirSync(backup, { recursive: true });
  const file = { fileName: "empty", size: 0 };
  const buckets = ["old", "older"].map((organizationName, i) => ({
    ...{ organizationID: `${i}`, organizationName, bucketID: `${i}`, bucketName: "b", retentionPolicies: [] },
  }));
  writeFileSync(join(backup, "empty"), "");
  writeFileSync(join(backup, "1.manifest"), JSON.stringify({ kv: file, sql: file, buckets, shards: {} }));
  const configs = join(folder, "elsewhere");
  writeFileSync(configs, '[here]\nurl = "http://none"\norg = "new"\nactive = true\n');
  answers = { "GET /api/v2/orgs": { orgs: [{ id: ORG }] }, "POST /api/v2/restore/bucketMetadata": { shardMappings: null } };
  const restore = (...args: string[]) => run(["restore", backup, "--configs-path", configs, ...args]);
  expect((await restore()).out).toBe("restored bucket b of old, 0 shards\nrestored bucket b of older, 0 shards\n");
  expect((await restore("-o", "older")).out).toBe("restored bucket b of older, 0 shards\n");
  expect((await restore("--org-id", "0")).out).toBe("restored bucket b of old, 0 shards\n");
  expect(await restore("-o", "new")).toMatchObject({ code: 1, out: "" });
});

test("users are listed page by page", async () => {
  const users = Array.from({ length: 100 }, (_, i) => ({ id: String(i), name: `u${i}` }));
  answers = { "GET /api/v2/users": { users } };
  // the second page is the last one
  const second = run(["user", "list", "--json"]);
  while (asked.length < 1) await new Promise((resolve) => setImmediate(resolve));
  answers = { "GET /api/v2/users": { users: users.slice(0, 7) } };
  expect(JSON.parse((await second).out)).toHaveLength(107);
  expect(asked).toEqual([["GET /api/v2/users?limit=100&offset=0"], ["GET /api/v2/users?limit=100&offset=100"]]);
});

test("runs between two times: the public contract calls these afterTime and beforeTime", async () => {
  answers = { "GET /api/v2/tasks/t1/runs": { runs: [{ id: "r1", status: "failed" }] } };
  const times = words("--after 2026-01-01T00:00:00Z --before 2026-02-01T00:00:00Z");
  await run(["task", "run", "list", "-i", "t1", ...times, "--limit", "7"]);
  await run(["task", "retry-failed", "-i", "t1", ...times, "--run-limit", "7", "--dry-run"]);
  const request = "GET /api/v2/tasks/t1/runs?afterTime=2026-01-01T00%3A00%3A00Z&beforeTime=2026-02-01T00%3A00%3A00Z&limit=7";
  expect(asked).toEqual([[request], [request]]);
});

test("runs that failed are made again, of all tasks", async () => {
  answers = {
    "GET /api/v2/tasks": { tasks: [{ id: "t1" }, { id: "t2" }] },
    "GET /api/v2/tasks/t1/runs": {
      runs: [
        { id: "r1", status: "failed" },
        { id: "r2", status: "success" },
      ],
    },
    "GET /api/v2/tasks/t2/runs": { runs: null },
    "POST /api/v2/tasks/t1/runs/r1/retry": { id: "r3" },
  };
  expect((await run(["task", "retry-failed", "--dry-run"])).out).toBe("run r1 of task t1 would be made again\n1 failed run\n");
  expect(asked.some(([request]) => request.startsWith("POST"))).toBe(false);
  expect((await run(["task", "retry-failed"])).out).toBe("run r1 of task t1 is made again\n1 failed run\n");
  expect(asked.filter(([request]) => request.startsWith("POST"))).toEqual([["POST /api/v2/tasks/t1/runs/r1/retry", {}]]);
  expect((await run(["task", "run", "retry", "--task-id", "t1", "--run-id", "r1"])).out).toContain("is made again as r3");
});

describe("a server that fails", () => {
  const VALUES: Readonly<Record<string, string>> = {
    ...{ name: "x", id: "1", bucket: "b", key: "k", value: "v", member: "m", username: "u", password: "password12", db: "d", rp: "r" },
    ...{
      start: "2026-01-01T00:00:00Z",
      stop: "2026-01-02T00:00:00Z",
      "task-id": "1",
      "run-id": "1",
      "remote-url": "http://x",
      yes: "true",
    },
    ...{ "remote-api-token": "t", "remote-id": "1", "local-bucket-id": "1", "remote-bucket": "b", "stack-id": "1", operator: "true" },
    ...{ "bucket-id": "1", buckets: "1", status: "active", force: "yes" },
  };
  // the file of connections needs no server, a restore reads its folder first, and a shell reads this process's input
  const ASKING = V2_COMMANDS.filter(
    ({ words: [, first, second] }) => !["config", "setup", "restore"].includes(first!) && second !== "shell",
  );

  test.each(ASKING.map((command) => [command.words.slice(1).join(" "), command] as const))(
    "%s",
    async (name, { words: all, options, positionals }) => {
      const script = join(folder, "script");
      writeFileSync(script, "{}");
      const given = options.filter((option) => Object.hasOwn(VALUES, option.name) && !(name === "v1 auth create" && option.name === "id"));
      const file =
        options.some((option) => option.name === "file") && !name.startsWith("export") && name !== "write" ? [`--file=${script}`] : [];
      const args = [
        ...all,
        ...(positionals.length > 0 && file.length === 0 ? ["x"] : []),
        ...file,
        ...given.map((option) => `--${option.name}=${option.value === null ? "true" : VALUES[option.name]}`),
      ];
      using failing = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        fetch: () => new Response('{"code":"x","message":"no"}', { status: 500 }),
      });
      const failed = await runCli([...args, `--host=${failing.url.origin}`], environmentOf());
      expect([failed.code, failed.out]).toEqual([1, ""]);
      expect(failed.error).toMatch(/^\w.* command failed: server responded with error \[500 Internal Server Error\]: no\n$/);
      const foreign = await withAnswer("<html>", (host) => runCli([...args, `--host=${host}`], environmentOf()));
      expect(foreign.code === 0 || foreign.code === 1).toBe(true);
      await failing.stop(true);
      const absent = await runCli([...args, `--host=${failing.url.origin}`], environmentOf());
      expect([absent.code, absent.out]).toEqual([1, ""]);
      expect(absent.error).toContain(" command failed: no server at ");
      expect(await runCli([...all, "--no-such-option"], environmentOf())).toMatchObject({ code: 2, out: "" });
    },
  );

  async function withAnswer(text: string, use: (host: string) => Promise<Ran>): Promise<Ran> {
    using other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(text) });
    return await use(other.url.origin);
  }
});
