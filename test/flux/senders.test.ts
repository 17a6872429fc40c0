// Messages of the packages that send alerts, as they arrive at a server on this machine: method, path, headers and every member.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { csvRows } from "../../src/flux/library/csv/parse-csv.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { OUTGOING_LIMITS, outgoingHttp } from "../../src/outgoing/outgoing-http.ts";
import { MemorySource } from "./memory-source.ts";

interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
const arrived: Message[] = [];
let server: Bun.Server<undefined>;

beforeAll(() => {
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      arrived.push({
        method: request.method,
        path: pathname + search,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
      });
      if (pathname.startsWith("/metrics")) return new Response(METRICS);
      if (pathname.startsWith("/csv")) return new Response("a,b\r\n1,x\r\n");
      return new Response("ok", { status: pathname.startsWith("/refused") ? 403 : pathname.startsWith("/slack") ? 200 : 202 });
    },
  });
});
afterAll(() => server.stop(true));

const METRICS = `# TYPE requests counter
requests{code="200",path="/a\\"b"} 12 1709632800000
up 1
seconds_bucket{le="+Inf"} 3
`;

/** @returns the answer as CSV; U in the script stands for the server's URL */
async function run(script: string): Promise<string> {
  const query = {
    text: script.replaceAll("U/", `http://127.0.0.1:${server.port}/`),
    now: parseTime("2024-03-05T10:30:00Z")!,
    dialect: { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS },
    services: { http: (request: Parameters<typeof outgoingHttp>[0]) => outgoingHttp(request, { ...OUTGOING_LIMITS, allowsPrivate: true }) },
  };
  let body = "";
  for (const piece of answerQuery(query, fluxLibrary(), new MemorySource())) {
    if (piece instanceof Promise) await piece;
    else body += piece ?? "";
  }
  return body;
}

interface Expected {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json: unknown;
}
const JSON_TYPE = { "content-type": "application/json" };
const UTF8_TYPE = { "content-type": "application/json; charset=utf-8" };

const MESSAGES: readonly (readonly [name: string, imports: string, call: string, expected: Expected])[] = [
  [
    "slack",
    'import "slack"',
    'slack.message(url: "U/slack", token: "t", channel: "#ops", text: "żółw <1>", color: "#ff0000")',
    {
      path: "/slack",
      headers: { ...JSON_TYPE, authorization: "Bearer t" },
      json: { channel: "#ops", attachments: [{ color: "#ff0000", text: "żółw <1>", mrkdwn_in: ["text"] }] },
    },
  ],
  [
    "pagerduty",
    'import "pagerduty"',
    `pagerduty.sendEvent(pagerdutyURL: "U/pd", routingKey: "rk", client: "c", clientURL: "http://c", dedupKey: "dk", class: "cl", group: "g",
      severity: "critical", eventAction: "trigger", source: "src", component: "cmp", summary: "sum", timestamp: "2024-03-05T10:00:00Z",
      customDetails: {a: 1, b: "x"})`,
    {
      path: "/pd",
      headers: { ...JSON_TYPE, accept: "application/vnd.pagerduty+json;version=2" },
      json: {
        payload: {
          ...{ summary: "sum", timestamp: "2024-03-05T10:00:00Z", source: "src", component: "cmp", severity: "critical" },
          ...{ group: "g", class: "cl", custom_details: { a: 1, b: "x" } },
        },
        ...{ routing_key: "rk", dedup_key: "dk", event_action: "trigger", client: "c", client_url: "http://c" },
      },
    },
  ],
  [
    "telegram",
    'import "contrib/sranka/telegram"',
    'telegram.message(url: "U/bot", token: "T", channel: "-1", text: "hi", silent: false)',
    {
      path: "/botT/sendMessage",
      headers: UTF8_TYPE,
      json: { chat_id: "-1", text: "hi", parse_mode: "MarkdownV2", disable_web_page_preview: false, disable_notification: false },
    },
  ],
  [
    "discord",
    'import "contrib/chobbs/discord"\noption discord.discordURL = "U/hooks/"',
    'discord.send(webhookToken: "tok", webhookID: "id", username: "bot", content: "c")',
    { path: "/hooks/id/tok", headers: JSON_TYPE, json: { username: "bot", content: "c", avatar_url: "" } },
  ],
  [
    "teams",
    'import "contrib/sranka/teams"',
    `teams.message(url: "U/teams", title: "T", text: "${"x".repeat(80)}")`,
    {
      path: "/teams",
      headers: UTF8_TYPE,
      json: {
        "@type": "MessageCard",
        "@context": "http://schema.org/extensions",
        ...{ title: "T", text: "x".repeat(80), summary: `${"x".repeat(70)}...` },
      },
    },
  ],
  [
    "webexteams",
    'import "contrib/sranka/webexteams"',
    'webexteams.message(url: "U/webex", token: "t", roomId: "r", text: "a", markdown: "**a**")',
    {
      path: "/webex/v1/messages",
      headers: { ...UTF8_TYPE, authorization: "Bearer t" },
      json: { roomId: "r", text: "a", markdown: "**a**" },
    },
  ],
  [
    "pushbullet",
    'import "pushbullet"',
    'pushbullet.pushNote(url: "U/push", token: "t", title: "T", text: "x")',
    { path: "/push", headers: { ...JSON_TYPE, "access-token": "t" }, json: { type: "note", title: "T", body: "x" } },
  ],
  [
    "opsgenie",
    'import "contrib/sranka/opsgenie"',
    `opsgenie.sendAlert(url: "U/og", apiKey: "k", message: "m", description: "d", responders: ["user:ann", "team:ops"], tags: ["a"],
      actions: ["x"], entity: "e", details: "{\\"k\\":1}")`,
    {
      path: "/og",
      headers: { ...UTF8_TYPE, authorization: "GenieKey k" },
      json: {
        ...{ message: "m", alias: "m", description: "d", priority: "P3", tags: ["a"], actions: ["x"], visibleTo: [], entity: "e" },
        ...{ details: { k: 1 } },
        responders: [
          { type: "user", username: "ann" },
          { type: "team", name: "ops" },
        ],
      },
    },
  ],
  [
    "sensu",
    'import "contrib/sranka/sensu"',
    'sensu.event(url: "U", apiKey: "k", checkName: "my check", text: "t", status: 2, handlers: ["h"], entityName: "e/1")'.replace(
      '"U"',
      '"U/s"',
    ),
    {
      path: "/s/api/core/v2/namespaces/default/events",
      headers: { ...UTF8_TYPE, authorization: "Key k" },
      json: {
        entity: { entity_class: "proxy", metadata: { name: "e_1" } },
        check: { output: "t", state: "failing", status: 2, handlers: ["h"], interval: 60, metadata: { name: "my_check" } },
      },
    },
  ],
  [
    "victorops",
    'import "contrib/bonitoo-io/victorops"',
    'victorops.alert(url: "U/vo", messageType: "CRITICAL", entityID: "e", entityDisplayName: "E", stateMessage: "s", timestamp: 2024-03-05T10:00:00Z)',
    {
      path: "/vo",
      headers: JSON_TYPE,
      json: {
        ...{ message_type: "CRITICAL", entity_id: "e", entity_display_name: "E", state_message: "s" },
        ...{ state_start_time: 1709632800, monitoring_tool: "InfluxDB" },
      },
    },
  ],
  [
    "alerta",
    'import "contrib/bonitoo-io/alerta"',
    `alerta.alert(url: "U/al", apiKey: "k", resource: "r", event: "e", severity: "critical", service: ["s"], group: "g", value: "1", text: "t",
      tags: ["x"], attributes: {a: "b"}, type: "ty", timestamp: 2024-03-05T10:00:00.123456789Z)`,
    {
      path: "/al",
      headers: { ...JSON_TYPE, authorization: "Key k" },
      json: {
        ...{ resource: "r", event: "e", environment: "", severity: "critical", service: ["s"], group: "g", value: "1", text: "t" },
        ...{ tags: ["x"], attributes: { a: "b" }, origin: "InfluxDB", type: "ty", createTime: "2024-03-05T10:00:00.123Z" },
      },
    },
  ],
  [
    "zenoss",
    'import "contrib/bonitoo-io/zenoss"',
    'zenoss.event(url: "U/ze", username: "u", password: "p", device: "d", component: "c", eventClass: "/x", severity: "Critical", message: "m", tid: 7)',
    {
      path: "/ze",
      headers: { ...JSON_TYPE, authorization: `Basic ${btoa("u:p")}` },
      json: {
        ...{ action: "EventsRouter", method: "add_event", type: "rpc", tid: 7 },
        data: [
          {
            ...{
              summary: "",
              device: "d",
              component: "c",
              severity: "Critical",
              evclass: "/x",
              evclasskey: "",
              collector: "",
              message: "m",
            },
          },
        ],
      },
    },
  ],
  [
    "servicenow",
    'import "contrib/bonitoo-io/servicenow"',
    `servicenow.event(url: "U/sn", username: "u", password: "p", node: "n", metricType: "mt", resource: "r", metricName: "mn", messageKey: "k",
      description: "d", severity: "major", additionalInfo: {a: 1})`,
    {
      path: "/sn",
      headers: { ...JSON_TYPE, authorization: `Basic ${btoa("u:p")}` },
      json: {
        records: [
          {
            ...{ source: "Flux", node: "n", type: "mt", resource: "r", metric_name: "mn", message_key: "k", description: "d" },
            ...{ severity: "2", additional_info: '{"a":1}' },
          },
        ],
      },
    },
  ],
  [
    "bigpanda",
    'import "contrib/rhajek/bigpanda"',
    'bigpanda.sendAlert(url: "U/bp", token: "t", appKey: "a", status: bigpanda.statusFromLevel(level: "crit"), rec: {host: "h", check: "c"})',
    {
      path: "/bp",
      headers: { ...UTF8_TYPE, authorization: "Bearer t" },
      json: { host: "h", check: "c", app_key: "a", status: "critical" },
    },
  ],
];

test.each(MESSAGES)("%s: a message", async (_, imports, call, { path, headers = {}, json }) => {
  arrived.length = 0;
  const body = await run(`import "array"\n${imports}\nstatus = ${call}\narray.from(rows: [{status: status}])`);
  expect(arrived.length).toBe(1);
  const [message] = arrived;
  expect([message!.method, message!.path]).toEqual(["POST", path]);
  expect(message!.headers).toMatchObject(headers);
  expect(JSON.parse(message!.body)).toEqual(json);
  expect(body).toContain(path === "/slack" ? ",,0,200" : ",,0,202");
});

const ROWS =
  'array.from(rows: [{host: "a", v: 1.0, _level: "crit", _time: 2024-03-05T10:00:00Z}, {host: "b", v: 2.0, _level: "ok", _time: 2024-03-05T10:00:00Z}])';

/** What an endpoint adds to each row, by label. */
async function sent(script: string): Promise<Record<string, string>[]> {
  const [header, ...rows] = [...csvRows(await run(script))].filter((cells) => cells.length > 0 && !cells[0]!.startsWith("#"));
  return rows.filter((cells) => cells[2] !== "table").map((cells) => Object.fromEntries(header!.map((label, i) => [label, cells[i]!])));
}

test("an endpoint sends each row in order, once, and says whether it was taken", async () => {
  arrived.length = 0;
  const endpoint = 'slack.endpoint(url: "U/slack")(mapFn: (r) => ({channel: r.host, text: string(v: r.v), color: "good"}))()';
  const rows = await sent(`import "array"\nimport "slack"\n${ROWS} |> ${endpoint}`);
  expect(rows.map(({ host, _sent, _status }) => [host, _sent, _status])).toEqual([
    ["a", "true", "200"],
    ["b", "true", "200"],
  ]);
  expect(arrived.map(({ body }) => (JSON.parse(body) as { channel: string }).channel)).toEqual(["a", "b"]);
});

test("a refused message counts as not sent", async () => {
  const endpoint = 'discord.endpoint(webhookToken: "t", webhookID: "i", username: "u")(mapFn: (r) => ({content: r.host}))()';
  const rows = await sent(
    `import "array"\nimport "contrib/chobbs/discord"\noption discord.discordURL = "U/refused/"\n${ROWS} |> ${endpoint}`,
  );
  expect(rows.map(({ _sent, _status }) => [_sent, _status])).toEqual([
    ["false", "403"],
    ["false", "403"],
  ]);
});

test("pagerduty's endpoint joins events by the group key", async () => {
  arrived.length = 0;
  const mapFn = `(r) => ({routingKey: "k", client: "c", clientURL: "u", class: r._level, group: "g", severity: pagerduty.severityFromLevel(level: r._level),
      eventAction: pagerduty.actionFromLevel(level: r._level), source: r.host, summary: "s", timestamp: r._time})`;
  const rows = await sent(
    `import "array"\nimport "pagerduty"\n${ROWS} |> group(columns: ["host"]) |> pagerduty.endpoint(url: "U/pd")(mapFn: ${mapFn})()`,
  );
  expect(rows.map(({ _sent, _status, _body }) => [_sent, _status, _body])).toEqual([
    ["true", "202", "ok"],
    ["true", "202", "ok"],
  ]);
  const events = arrived.map(({ body }) => JSON.parse(body) as { dedup_key: string; event_action: string });
  expect(events.map((event) => event.event_action)).toEqual(["trigger", "resolve"]);
  const keys = rows.map((row) => row["_pagerdutyDedupKey"]!);
  expect(events.map((event) => event.dedup_key)).toEqual(keys);
  expect(new Set(keys).size).toBe(2);
});

test("monitor.notify logs what was sent", async () => {
  const script = `import "array"
import "http"
import "json"
import "influxdata/influxdb/monitor"
option monitor.log = (tables=<-) => tables
endpoint = http.endpoint(url: "U/hook")
${ROWS} |> map(fn: (r) => ({r with _measurement: "statuses"})) |> group(columns: ["_measurement", "host"])
  |> monitor.notify(endpoint: endpoint(mapFn: (r) => ({headers: {"X-A": r.host}, data: json.encode(v: r.v)})), data: {_notification_rule_id: "r"})`;
  arrived.length = 0;
  const rows = await sent(script);
  expect(rows.map(({ _measurement, _sent, _notification_rule_id }) => [_measurement, _sent, _notification_rule_id])).toEqual([
    ["notifications", "false", "r"],
    ["notifications", "false", "r"],
  ]);
  expect(arrived.map(({ body, headers }) => [body, headers["x-a"]])).toEqual([
    ["1", "a"],
    ["2", "b"],
  ]);
});

test("requests.do gives status, headers, body and duration", async () => {
  const call = 'requests.do(method: "PUT", url: "U/x?a=1", params: ["b": ["2", "3 4"]], headers: ["X-H": "v"], body: bytes(v: "data"))';
  const body = await run(
    `import "array"\nimport "http/requests"\nr = ${call}\narray.from(rows: [{s: r.statusCode, b: string(v: r.body), d: int(v: r.duration) > 0}])`,
  );
  expect(body).toContain(",,0,202,ok,true");
  expect(arrived.at(-1)).toMatchObject({ method: "PUT", path: "/x?a=1&b=2&b=3+4", body: "data", headers: { "x-h": "v" } });
});

test("csv from a URL, and two requests of one script", async () => {
  arrived.length = 0;
  const body = await run(
    'import "array"\nimport "experimental/http"\na = http.get(url: "U/csv")\nb = http.get(url: "U/b", headers: {h: string(v: a.body)})\n' +
      "array.from(rows: [{a: string(v: a.body), b: b.statusCode}])".replace("string(v: a.body), b", "a.statusCode, b"),
  ).catch((error: unknown) => String(error));
  // a header holds no line end
  expect(body).toContain("invalid header field value");
  expect(arrived.map(({ path }) => path)).toEqual(["/csv"]);
});

test("prometheus.scrape reads metrics", async () => {
  const startMs = Date.now();
  const rows = await run('import "experimental/prometheus"\nprometheus.scrape(url: "U/metrics")');
  const cells = [...csvRows(rows)].filter((each) => each.length > 5 && each[0] === "" && each[2] !== "table");
  // what has no time was read now, whatever the time of the script is
  const isNow = (cell: string) => Date.parse(cell) >= startMs && Date.parse(cell) <= Date.now();
  const shown = (each: string[]) => each.filter((cell) => !cell.startsWith("http")).map((cell) => (isNow(cell) ? "now" : cell));
  expect(cells.map((each) => shown(each.slice(3)))).toEqual([
    ["2024-03-05T10:00:00Z", "12", "prometheus", "requests", "200", '/a"b'],
    ["now", "1", "prometheus", "up"],
    ["now", "3", "prometheus", "seconds_bucket", "+Inf"],
  ]);
});
