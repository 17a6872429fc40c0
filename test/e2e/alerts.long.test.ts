// From rows to messages: checks write statuses to `_monitoring`, rules send them to receivers on this machine. Scripts run at times that
// the test gives; expected messages are those of the services' own documentation, and of the recorded conversations.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { Sink } from "../vectors/v2/sink.ts";

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const MINUTE_MS = 60_000;
const START_MS = Date.parse("2026-03-01T12:00:00Z");

let server: TestServer;
let sink: Sink;
let orgID: string;
let names = 0;

type Body = Readonly<Record<string, unknown>>;
const at = (minutes: number) => new Date(START_MS + minutes * MINUTE_MS).toISOString().replace(".000Z", "Z");
const ns = (minutes: number) => `${START_MS + minutes * MINUTE_MS}000000`;

async function send(method: string, path: string, body?: unknown): Promise<string> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const headers = { authorization: "Token tok", "content-type": "application/json" };
  const response = await fetch(server.bucketsUrl + path, { method, headers, ...(body === undefined ? {} : { body: text }) });
  const answer = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer}`);
  return answer;
}
const make = async (path: string, body: Body) => JSON.parse(await send("POST", path, { orgID, ...body })) as Record<string, string>;
const write = (bucket: string, lines: string) => send("POST", `/api/v2/write?org=o&bucket=${bucket}`, lines);

/** Runs a script as of `minutes`, with options of packages. */
async function run(flux: string, minutes: number, options = ""): Promise<string> {
  const extern = options === "" ? null : JSON.parse(await send("POST", "/api/v2/query/ast", { query: options })).ast.files[0];
  const dialect = { header: true, annotations: [] };
  return send("POST", "/api/v2/query?org=o", { query: flux, type: "flux", now: at(minutes), dialect, extern });
}
const script = async (path: string, id: string) => (JSON.parse(await send("GET", `${path}/${id}/query`)) as { flux: string }).flux;
/** The script itself, without a task. */
const runCheck = async (id: string, minutes: number) => run(await script("/api/v2/checks", id), minutes);
const runRule = async (id: string, minutes: number, options = "") => run(await script("/api/v2/notificationRules", id), minutes, options);

/** Rows of `_monitoring`, each as the values of the columns. */
async function monitored(measurement: string, columns: readonly string[], filter: string): Promise<string[][]> {
  const read = measurement === "statuses" ? "from" : "logs";
  const query = `import "influxdata/influxdb/monitor"
    monitor.${read}(start: ${at(-600)}, stop: ${at(600)}, fn: (r) => ${filter}) |> group() |> sort(columns: ["_time", "host", "_level"])
      |> keep(columns: [${columns.map((each) => JSON.stringify(each)).join(", ")}])`;
  const [head, ...lines] = (await run(query, 0)).trim().split("\r\n");
  const places = columns.map((each) => (head ?? "").split(",").indexOf(each));
  return lines.map((line) => places.map((place) => line.split(",")[place]!));
}

const QUERY = 'from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._measurement == "cpu" and r._field == "usage")';
const newCheck = (changes: Body) => ({
  ...{ name: `check ${++names}`, type: "threshold", status: "inactive", every: "1m", query: { text: QUERY } },
  statusMessageTemplate: "$" + "{r._check_name}: $" + "{r.host} is $" + "{r._level}",
  ...changes,
});
const newRule = (endpoint: Record<string, string>, changes: Body) => ({
  ...{ name: `rule ${++names}`, type: endpoint["type"], endpointID: endpoint["id"], status: "inactive", every: "1m" },
  ...{ messageTemplate: "said: $" + "{r._message}", statusRules: [{ currentLevel: "ANY" }] },
  ...changes,
});
const ofCheck = (check: string) => ({ tagRules: [{ key: "_check_id", value: check, operator: "equal" }] });
/** A status as a check writes it. */
const status = (check: string, level: string, minutes: number, host = "a") =>
  `statuses,_check_id=${check},_check_name=chk,_level=${level},_source_measurement=cpu,_type=threshold,host=${host} ` +
  `_message="it is ${level}",_source_timestamp=${ns(minutes)}i,usage=95.5 ${ns(minutes)}`;
const taken = () => sink.requests.splice(0).map(({ method, path, headers, body }) => ({ method, path, headers, body: JSON.parse(body) }));

beforeAll(async () => {
  server = await TestServer.start({ withBuckets: true, flags: ["--flux-allow-private-network", "--v2-default-bucket-retention", "0"] });
  sink = new Sink();
  orgID = JSON.parse(await send("POST", "/api/v2/setup", SETUP)).org.id;
  // the system bucket forgets what is older than a week
  const { buckets } = JSON.parse(await send("GET", "/api/v2/buckets?org=o&name=_monitoring")) as { buckets: { id: string }[] };
  await send("PATCH", `/api/v2/buckets/${buckets[0]!.id}`, { retentionRules: [{ type: "expire", everySeconds: 0 }] });
});
afterAll(() => Promise.all([server.dispose(), sink.stop()]));

describe("checks", () => {
  test("a threshold check: a level for each series, with its tags and message", async () => {
    const lines = ["a usage=95", "b usage=70", "c usage=5", "d usage=50"].map((each) => `cpu,host=${each} ${ns(-0.5)}`);
    await write("b", [...lines, `cpu,host=e usage=99 ${ns(-2)}`, `mem,host=f usage=99 ${ns(-0.5)}`].join("\n"));
    const thresholds = [
      { type: "greater", value: 80, level: "CRIT" },
      { type: "range", min: 60, max: 80, within: true, level: "WARN" },
      { type: "lesser", value: 10, level: "OK" },
    ];
    const { id, name } = await make("/api/v2/checks", newCheck({ thresholds, tags: [{ key: "team", value: "ops" }] }));
    await runCheck(id!, 0);
    const columns = ["_time", "host", "_level", "_message", "_source_timestamp", "usage", "team", "_type", "_check_name"];
    const rest = [ns(-0.5), "ops", "threshold", name!];
    const row = (host: string, level: string, usage: string) => {
      return [at(0), host, level, `${name}: ${host} is ${level}`, rest[0]!, usage, ...rest.slice(1)];
    };
    // e is older than the period, f another measurement
    expect(await monitored("statuses", columns, `r._check_id == "${id}"`)).toEqual([
      row("a", "crit", "95"),
      row("b", "warn", "70"),
      row("c", "ok", "5"),
      row("d", "unknown", "50"),
    ]);
  });

  test("a deadman check: what has reported and no longer does", async () => {
    await write("b", [`beat,host=a up=1 ${ns(-8)}`, `beat,host=b up=1 ${ns(-1)}`, `beat,host=c up=1 ${ns(-30)}`].join("\n"));
    const text = 'from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._measurement == "beat")';
    const deadman = { type: "deadman", timeSince: "5m", staleTime: "10m", level: "CRIT", query: { text } };
    const { id } = await make("/api/v2/checks", newCheck(deadman));
    await runCheck(id!, 0);
    // c is stale: it is forgotten
    expect(await monitored("statuses", ["host", "_level", "_type"], `r._check_id == "${id}"`)).toEqual([
      ["a", "crit", "deadman"],
      ["b", "ok", "deadman"],
    ]);
  });

  test("a custom check runs as it is written", async () => {
    await write("b", `disk,host=a free=3 ${ns(-0.5)}`);
    const text = `import "influxdata/influxdb/monitor"
      import "influxdata/influxdb/v1"
      option task = {name: "mine", every: 1m, offset: 0s}
      check = {_check_id: "", _check_name: "mine", _type: "custom", tags: {}}
      from(bucket: "b") |> range(start: -1m) |> filter(fn: (r) => r._measurement == "disk") |> v1.fieldsAsCols()
        |> monitor.check(data: check, messageFn: (r) => "low", info: (r) => r.free < 5.0)`;
    const { id } = await make("/api/v2/checks", newCheck({ name: "mine", type: "custom", query: { text } }));
    await runCheck(id!, 0);
    expect(await monitored("statuses", ["host", "_level", "_message"], `r._check_id == "${id}"`)).toEqual([["a", "info", "low"]]);
  });
});

describe("messages", () => {
  const CHECK = "000000000000000a";
  /** Sends one status that is crit, and gives the only message, with the rule. */
  async function sent(endpoint: Body, rule: Body = {}, options = "") {
    const made = await make("/api/v2/notificationEndpoints", { name: `endpoint ${++names}`, status: "active", ...endpoint });
    const check = names.toString(16).padStart(16, CHECK.slice(0, 15));
    await write("_monitoring", status(check, "crit", -0.5));
    const ruled = await make("/api/v2/notificationRules", newRule(made, { ...rule, ...ofCheck(check) }));
    taken();
    await runRule(ruled["id"]!, 0, options);
    const messages = taken();
    expect(messages.length).toBe(1);
    const filter = `r._notification_rule_id == "${ruled["id"]}"`;
    const logged = await monitored("notifications", ["_time", "_sent", "_level", "_message", "_notification_endpoint_name"], filter);
    return { ...messages[0]!, rule: ruled, endpoint: made, check, logged };
  }
  const log = (isSent: boolean, endpoint: Record<string, string>) => [[at(0), String(isSent), "crit", "it is crit", endpoint["name"]!]];

  test("Slack", async () => {
    const { method, path, headers, body, logged, endpoint } = await sent(
      { type: "slack", url: `${sink.url}/slack`, token: "xoxb" },
      { channel: "#ops" },
    );
    expect([method, path, headers["authorization"], headers["content-type"]]).toEqual([
      "POST",
      "/slack",
      "Bearer xoxb",
      "application/json",
    ]);
    expect(body).toEqual({ channel: "#ops", attachments: [{ color: "danger", text: "said: it is crit", mrkdwn_in: ["text"] }] });
    expect(logged).toEqual(log(true, endpoint));
  });

  test.each<[string, Body, string | undefined]>([
    ["none", {}, undefined],
    ["basic", { username: "ann", password: "p:w" }, `Basic ${btoa("ann:p:w")}`],
    ["bearer", { token: "t" }, "Bearer t"],
  ])("HTTP with authentication %s", async (authMethod, secrets, authorization) => {
    const given = { type: "http", url: `${sink.url}/hook`, method: "POST", authMethod, ...secrets };
    const { method, path, headers, body, rule, check, logged, endpoint } = await sent(given);
    expect([method, path, headers["authorization"], headers["content-type"]]).toEqual([
      ...["POST", "/hook", authorization, "application/json"],
    ]);
    expect(body).toEqual({
      ...{ _check_id: check, _check_name: "chk", _level: "crit", _measurement: "notifications", _message: "it is crit" },
      ...{ _notification_endpoint_id: endpoint["id"], _notification_endpoint_name: endpoint["name"] },
      ...{ _notification_rule_id: rule["id"], _notification_rule_name: rule["name"], _source_measurement: "cpu" },
      ...{ _source_timestamp: Number(ns(-0.5)), _status_timestamp: Number(ns(-0.5)), _type: "threshold", _version: 1 },
      ...{ _start: at(-2), _stop: at(0), _time: at(0), host: "a", usage: 95.5 },
    });
    expect(logged).toEqual(log(true, endpoint));
  });

  test("PagerDuty", async () => {
    const options = `import "pagerduty"\noption pagerduty.defaultURL = "${sink.url}/v2/enqueue"`;
    const given = { type: "pagerduty", clientURL: "http://localhost:8086/orgs/x", routingKey: "R0" };
    const { method, path, headers, body, rule, logged, endpoint } = await sent(given, {}, options);
    expect([method, path, headers["accept"]]).toEqual(["POST", "/v2/enqueue", "application/vnd.pagerduty+json;version=2"]);
    expect(body).toEqual({
      ...{ routing_key: "R0", event_action: "trigger", client: "influxdata", client_url: "http://localhost:8086/orgs/x" },
      dedup_key: expect.stringMatching(/^[0-9a-f]{64}$/),
      payload: {
        ...{ summary: "it is crit", timestamp: at(-0.5), source: rule["name"], severity: "critical", component: "" },
        ...{ group: "cpu", class: "chk" },
      },
    });
    expect(logged).toEqual(log(true, endpoint));
  });

  test("Telegram", async () => {
    const options = `import "contrib/sranka/telegram"\noption telegram.defaultURL = "${sink.url}/bot"`;
    const given = { type: "telegram", token: "123:abc", channel: "-100" };
    const { method, path, headers, body, logged, endpoint } = await sent(
      given,
      { parseMode: "HTML", disableWebPagePreview: true },
      options,
    );
    expect([method, path, headers["content-type"]]).toEqual(["POST", "/bot123:abc/sendMessage", "application/json; charset=utf-8"]);
    expect(body).toEqual({
      ...{ chat_id: "-100", text: "said: it is crit", parse_mode: "HTML" },
      ...{ disable_web_page_preview: true, disable_notification: true },
    });
    expect(logged).toEqual(log(true, endpoint));
  });

  test("what a receiver refuses is logged as not sent", async () => {
    const given = { type: "http", url: `${sink.url}/status/500`, method: "POST", authMethod: "none" };
    const { logged, endpoint } = await sent(given);
    expect(logged).toEqual(log(false, endpoint));
  });

  test("a secret that there is not fails the run, and sends nothing", async () => {
    await expect(sent({ type: "slack", url: `${sink.url}/slack`, token: "secret: nothing" })).rejects.toThrow("secret not found");
    expect(taken()).toEqual([]);
  });

  test("neither answers nor scripts have the secrets", async () => {
    const shown = await Promise.all([
      send("GET", `/api/v2/notificationEndpoints?orgID=${orgID}&limit=100`),
      send("GET", `/api/v2/orgs/${orgID}/secrets`),
    ]);
    for (const secret of ["xoxb", "p:w", "123:abc", "R0"]) expect(shown.join()).not.toContain(secret);
  });
});

describe("which statuses are sent", () => {
  /** By minute. */
  const history = ["ok", "crit", "crit", "warn", "ok", "crit"];

  test.each<[string, readonly Body[], readonly number[]]>([
    ["a level", [{ currentLevel: "CRIT" }], [1, 2, 5]],
    ["two levels", [{ currentLevel: "OK" }, { currentLevel: "WARN" }], [0, 3, 4]],
    ["any level", [{ currentLevel: "ANY" }], [0, 1, 2, 3, 4, 5]],
    ["a change to a level", [{ currentLevel: "CRIT", previousLevel: "OK" }], [1, 5]],
    ["a change from any level", [{ currentLevel: "OK", previousLevel: "ANY" }], [4]],
    ["a change to any level", [{ currentLevel: "ANY", previousLevel: "CRIT" }], [3]],
    ["any change", [{ currentLevel: "ANY", previousLevel: "ANY" }], [1, 3, 4, 5]],
    ["a change that there is not", [{ currentLevel: "INFO", previousLevel: "OK" }], []],
  ])("%s", async (_, statusRules, minutes) => {
    const check = (++names).toString(16).padStart(16, "b");
    await write("_monitoring", history.map((level, minute) => status(check, level, minute)).join("\n"));
    const endpoint = await make("/api/v2/notificationEndpoints", {
      ...{ name: `endpoint ${++names}`, type: "http", status: "active", url: `${sink.url}/hook`, method: "POST", authMethod: "none" },
    });
    const rule = await make("/api/v2/notificationRules", newRule(endpoint, { statusRules, ...ofCheck(check) }));
    taken();
    // run by run, as a task does: the minutes from the last run on
    for (let minute = 1; minute <= history.length; minute++) await runRule(rule["id"]!, minute);
    expect(taken().map(({ body }) => body._status_timestamp)).toEqual(minutes.map((each) => Number(ns(each))));
  });
});

describe("as tasks", () => {
  const [CHECKS, RULES] = ["/api/v2/checks", "/api/v2/notificationRules"];
  interface Run {
    readonly status: string;
    readonly log: readonly { readonly message: string }[];
  }

  /** A run of the task as of `minutes`, once it has ended. */
  async function ended(taskID: string, minutes: number): Promise<Run> {
    const { id } = JSON.parse(await send("POST", `/api/v2/tasks/${taskID}/runs`, { scheduledFor: at(minutes) }));
    for (;;) {
      const run = JSON.parse(await send("GET", `/api/v2/tasks/${taskID}/runs/${id}`)) as Run;
      if (/success|failed|canceled/.test(run.status)) return run;
      await Bun.sleep(10);
    }
  }
  const shown = async (path: string, id: string) => JSON.parse(await send("GET", `${path}/${id}`)) as Record<string, string>;
  const hook = (changes: Body = {}) =>
    make("/api/v2/notificationEndpoints", {
      ...{ name: `endpoint ${++names}`, type: "http", status: "active", url: `${sink.url}/hook`, method: "POST", authMethod: "none" },
      ...changes,
    });
  const active = { status: "active" };

  test("rows become a status, the status a message, and both resources show it", async () => {
    await write("b", `cpu,host=task usage=95 ${ns(29.5)}`);
    const thresholds = [{ type: "greater", value: 80, level: "CRIT" }];
    const check = await make(CHECKS!, newCheck({ ...active, thresholds }));
    const rule = await make(RULES!, newRule(await hook(), { ...active, ...ofCheck(check["id"]!) }));
    expect(await ended(check["taskID"]!, 30)).toMatchObject({ status: "success" });
    taken();
    expect(await ended(rule["taskID"]!, 30.5)).toMatchObject({ status: "success" });
    expect(taken().map(({ body }) => [body._level, body.host, body._message])).toEqual([
      ["crit", "task", `${check["name"]}: task is crit`],
    ]);
    expect(await shown(CHECKS!, check["id"]!)).toMatchObject({ lastRunStatus: "success", status: "active" });
    expect(await shown(RULES!, rule["id"]!)).toMatchObject({ lastRunStatus: "success" });
  });

  test("by their schedules, without being asked", async () => {
    const thresholds = [{ type: "greater", value: 80, level: "WARN" }];
    const text = 'from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._measurement == "live" and r._field == "v")';
    const every = { every: "1s", ...active };
    const check = await make(CHECKS!, newCheck({ ...every, thresholds, query: { text } }));
    taken();
    await make(RULES!, newRule(await hook(), { ...every, ...ofCheck(check["id"]!), statusRules: [{ currentLevel: "WARN" }] }));
    for (const endMs = Date.now() + 20_000; sink.requests.length === 0 && Date.now() < endMs; await Bun.sleep(100)) {
      await write("b", `live,host=now v=99 ${Date.now()}000000`);
    }
    expect(taken()[0]?.body).toMatchObject({ _check_id: check["id"], _level: "warn", host: "now", v: 99 });
    await send("DELETE", `${CHECKS}/${check["id"]}`);
  });

  test("a run that fails says why, at the resource too", async () => {
    const check = "000000000000cafe";
    await write("_monitoring", status(check, "crit", 39.5));
    const rule = await make(RULES!, newRule(await hook({ authMethod: "bearer", token: "secret: gone" }), { ...active, ...ofCheck(check) }));
    const run = await ended(rule["taskID"]!, 40);
    expect([run.status, run.log.map(({ message }) => message).join("\n")]).toEqual(["failed", expect.stringContaining("secret not found")]);
    expect(await shown(RULES!, rule["id"]!)).toMatchObject({ lastRunStatus: "failed", lastRunError: "Completed(failed)" });
  });

  test("a message that cannot be sent does not show the token in its address", async () => {
    const check = "000000000000beef";
    await write("_monitoring", status(check, "crit", -0.5));
    const endpoint = await make("/api/v2/notificationEndpoints", {
      ...{ name: `endpoint ${++names}`, type: "telegram", status: "active", token: "4711:hidden-token", channel: "-1" },
    });
    const rule = await make(RULES!, newRule(endpoint, ofCheck(check)));
    const options = 'import "contrib/sranka/telegram"\noption telegram.defaultURL = "http://127.0.0.1:1/bot"';
    const failure = await runRule(rule["id"]!, 0, options).catch((error: Error) => error.message);
    expect(failure).toContain("127.0.0.1:1/bot***/sendMessage");
    expect(failure).not.toContain("hidden-token");
  });

  test("the task of a rule follows its endpoint", async () => {
    const endpoint = await hook();
    const rule = await make(RULES!, newRule(endpoint, active));
    const task = async () => shown("/api/v2/tasks", rule["taskID"]!);
    expect(await task()).toMatchObject({ status: "active", flux: await script(RULES!, rule["id"]!) });
    const path = `/api/v2/notificationEndpoints/${endpoint["id"]}`;
    await send("PUT", path, { ...endpoint, name: `moved ${++names}`, url: `${sink.url}/moved` });
    expect((await task())["flux"]).toContain("/moved");
    await send("PATCH", path, { status: "inactive" });
    expect(await task()).toMatchObject({ status: "inactive" });
    await send("PATCH", path, { status: "active" });
    expect(await task()).toMatchObject({ status: "active" });
    await send("DELETE", path);
    expect(await task()).toMatchObject({ status: "inactive" });
    // it can still be changed and deleted
    await send("PATCH", `${RULES}/${rule["id"]}`, { name: "alone" });
    await send("DELETE", `${RULES}/${rule["id"]}`);
    await expect(task()).rejects.toThrow("404");
  });
});
