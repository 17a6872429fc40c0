// Runs of a task: they have the rights of the user who owns it, as they are when the run starts, not those of its sender or of a token;
// they can be retried, and know when the last one succeeded.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { until } from "./replication-world.ts";

const OPERATOR = "operator-token";
const READS = 'from(bucket: "b") |> range(start: -1h)';
const WRITES = `import "array"
array.from(rows: [{_time: 2024-01-01T00:00:00Z, _measurement: "m", _field: "f", _value: 1.0}]) |> to(bucket: "b")`;

let server: TestServer;
let orgID = "";
let userID = "";
/** Of the user, with all permissions that a token can have. */
let token = "";

interface Run {
  readonly id: string;
  readonly status: string;
  readonly scheduledFor: string;
  readonly log?: readonly { readonly message: string }[];
}

// biome-ignore lint/suspicious/noExplicitAny: each answer has another form
async function send(method: string, path: string, body?: object, as = OPERATOR): Promise<any> {
  const init = { method, headers: { authorization: `Token ${as}` }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await fetch(server.bucketsUrl + path, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === "" ? null : JSON.parse(text);
}

beforeAll(async () => {
  server = await TestServer.start({ withBuckets: true });
  const setup = { username: "admin", password: "password12", org: "o", bucket: "b", token: OPERATOR };
  orgID = (await send("POST", "/api/v2/setup", setup)).org.id;
  userID = (await send("POST", "/api/v2/users", { name: "owner" })).id;
  await send("POST", `/api/v2/orgs/${orgID}/members`, { id: userID });
  const permissions = ["read", "write"].flatMap((action) =>
    ["tasks", "buckets", "orgs"].map((type) => ({ action, resource: { type, orgID } })),
  );
  token = (await send("POST", "/api/v2/authorizations", { orgID, userID, permissions })).token;
}, 60_000);
afterAll(() => server?.dispose());

/** A task of the user that runs only when it is asked to. */
async function taskOf(script: string): Promise<string> {
  const [imports, rest] = script.startsWith("import")
    ? [script.slice(0, script.indexOf("\n") + 1), script.slice(script.indexOf("\n") + 1)]
    : ["", script];
  const flux = `${imports}option task = {name: "t", cron: "0 0 1 1 *"}\n${rest}`;
  const task = await send("POST", "/api/v2/tasks", { orgID, flux }, token);
  expect(task.ownerID).toBe(userID);
  return task.id;
}

/** Asked for by the operator, who may do everything. */
async function ended(path: string, body: object): Promise<Run> {
  const { id, taskID } = await send("POST", path, body);
  let run: Run = { id, status: "", scheduledFor: "" };
  await until(async () => {
    run = await send("GET", `/api/v2/tasks/${taskID}/runs/${id}`);
    return ["success", "failed", "canceled"].includes(run.status);
  });
  return run;
}

async function csvOf(script: string): Promise<string> {
  const headers = { authorization: `Token ${OPERATOR}`, "content-type": "application/vnd.flux" };
  const response = await fetch(`${server.bucketsUrl}/api/v2/query?org=o`, { method: "POST", headers, body: script });
  expect(response.status).toBe(200);
  return response.text();
}

const hasRows = async () => (await csvOf(READS.replace("-1h", "0"))).includes("_value");

const runOf = (taskID: string) => ended(`/api/v2/tasks/${taskID}/runs`, {});
const saidBy = ({ log }: Run) => (log ?? []).map(({ message }) => message).join("\n");

test("a member reads and does not write, an owner of the organization does both, and neither does once inactive or deleted", async () => {
  const [reads, writes] = [await taskOf(READS), await taskOf(WRITES)];
  expect((await runOf(reads)).status).toBe("success");
  const refused = await runOf(writes);
  expect([refused.status, saidBy(refused)]).toEqual(["failed", expect.stringContaining("user not authorized to write")]);
  expect(await hasRows()).toBe(false);

  await send("DELETE", `/api/v2/orgs/${orgID}/members/${userID}`);
  await send("POST", `/api/v2/orgs/${orgID}/owners`, { id: userID });
  expect((await runOf(writes)).status).toBe("success");
  expect(await hasRows()).toBe(true);

  await send("PATCH", `/api/v2/users/${userID}`, { status: "inactive" });
  for (const id of [reads, writes]) expect((await runOf(id)).status).toBe("failed");
  await send("PATCH", `/api/v2/users/${userID}`, { status: "active" });
  expect((await runOf(reads)).status).toBe("success");

  await send("DELETE", `/api/v2/users/${userID}`);
  for (const id of [reads, writes]) expect((await runOf(id)).status).toBe("failed");
}, 60_000);

test("a run that is retried is made again for the same time", async () => {
  const { id: taskID } = await send("POST", "/api/v2/tasks", { orgID, flux: `option task = {name: "r", cron: "0 0 1 1 *"}\n${READS}` });
  const first = await ended(`/api/v2/tasks/${taskID}/runs`, { scheduledFor: "2024-03-05T12:00:00Z" });
  const second = await ended(`/api/v2/tasks/${taskID}/runs/${first.id}/retry`, {});
  expect([first.status, second.status]).toEqual(["success", "success"]);
  expect([first.scheduledFor, second.scheduledFor]).toEqual(["2024-03-05T12:00:00Z", "2024-03-05T12:00:00Z"]);
  expect(second.id).not.toBe(first.id);
}, 60_000);

test("a script asks when its task last succeeded, and gets what it says while there is no such time", async () => {
  const flux = `import "array"
import "influxdata/influxdb/tasks"
option task = {name: "l", cron: "0 0 1 1 *"}
array.from(rows: [{_time: now(), _measurement: "last", _field: "f", _value: string(v: tasks.lastSuccess(orTime: 2000-01-01T00:00:00Z))}])
  |> to(bucket: "b")`;
  const { id: taskID } = await send("POST", "/api/v2/tasks", { orgID, flux });
  for (const scheduledFor of ["2024-03-05T12:00:00Z", "2024-03-05T13:00:00Z"]) {
    expect((await ended(`/api/v2/tasks/${taskID}/runs`, { scheduledFor })).status).toBe("success");
  }
  const script =
    'from(bucket: "b") |> range(start: 0) |> filter(fn: (r) => r._measurement == "last") |> keep(columns: ["_time", "_value"])';
  const rows = [...(await csvOf(script)).matchAll(/(2024-\S+Z),(2\S+Z)/g)].map(([, time, value]) => [time, value]);
  expect(rows).toEqual([
    ["2024-03-05T12:00:00Z", "2000-01-01T00:00:00.000000000Z"],
    ["2024-03-05T13:00:00Z", "2024-03-05T12:00:00.000000000Z"],
  ]);
}, 60_000);
