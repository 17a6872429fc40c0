// Health, ping, metrics, the documentation, and what holds on every path.
import { expect, test } from "bun:test";
import { createApp } from "../../src/api/app.ts";
import type { ServerStatus } from "../../src/api/services.ts";
import { CLUSTER_UUID, fakes, outcome, PROCESS_ID, rejected } from "./fakes.ts";

const STATES: [status: ServerStatus, code: number, body: string][] = [
  [{ state: "ready" }, 200, "OK"],
  [{ state: "replaying" }, 500, "replaying"],
  [{ state: "replaying", reason: "40 % of the log" }, 500, "replaying: 40 % of the log"],
  [{ state: "failed", reason: "cannot sync wal/3: disk full" }, 500, "failed: cannot sync wal/3: disk full"],
  [{ state: "stopping" }, 500, "stopping"],
];

test.each(STATES)("health of %j is %d", async (status, code, body) => {
  const { send } = fakes({ status: () => status });
  for (const path of ["/health", "/api/v1/health"]) {
    const response = await send("GET", path);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await outcome(response)).toEqual([code, body]);
  }
});

test.each([
  ["enterprise", "3.9.0", "Enterprise"],
  ["core", "3.8.0", "Core"],
] as const)("ping of the %s edition", async (edition, version, build) => {
  const { send } = fakes({ edition });
  for (const method of ["GET", "POST"]) {
    const response = await send(method, "/ping");
    expect(await outcome(response)).toEqual([200, { version: `v${version}`, revision: "abc1234", process_id: PROCESS_ID }]);
    const { headers } = response;
    expect([headers.get("x-tsdb-version"), headers.get("x-tsdb-build")]).toEqual([`v${version}`, build]);
    expect([headers.get("x-influxdb-version"), headers.get("x-influxdb-build")]).toEqual([version, build]);
    expect(headers.get("x-request-id")).toBe(headers.get("request-id"));
  }
});

const PINGS: [client: string, method: string, path: string, headers: Record<string, string>, status: number][] = [
  // they refuse any other status
  ["Go", "GET", "/ping", { "user-agent": "InfluxDBClient" }, 204],
  ["Go, with a time limit", "GET", "/ping?wait_for_leader=5s", { "user-agent": "mine" }, 204],
  ["Python", "GET", "/ping", { "user-agent": "python-requests/2.32", accept: "application/x-msgpack" }, 204],
  ["Python, another method", "POST", "/ping", { accept: "application/x-msgpack" }, 204],
  ["one without a body", "GET", "/ping?verbose=false&wait_for_leader=5s", {}, 204],
  // the order's answer
  ["one with a body", "GET", "/ping?verbose=true", { "user-agent": "InfluxDBClient" }, 200],
  ["one with a body and a time limit", "GET", "/ping?verbose=true&wait_for_leader=5s", {}, 200],
  ["the shell", "GET", "/ping", { "user-agent": "InfluxDBShell/1.6.7" }, 200],
  ["Java", "GET", "/ping", { "user-agent": "influxdb-java" }, 200],
  ["Telegraf", "GET", "/ping", { "user-agent": "Telegraf/1.37" }, 200],
  ["curl", "GET", "/ping", { "user-agent": "curl/8", accept: "*/*" }, 200],
  ["any that takes JSON", "GET", "/ping", { accept: "application/json, application/x-msgpack" }, 200],
  // whatever the client
  ["Go, HEAD", "HEAD", "/ping", { "user-agent": "InfluxDBClient" }, 404],
  ["a time limit, HEAD", "HEAD", "/ping?wait_for_leader=5s", {}, 404],
];

test.each(PINGS)("ping by %s: %s %s with %j is %d", async (_, method, path, headers, status) => {
  const response = await fakes().send(method, path, { headers: { ...headers, "x-request-id": "mine" } });
  expect(response.status).toBe(status);
  const text = await response.text();
  if (status === 404) return;
  expect(response.headers.get("x-influxdb-version")).toBe("3.9.0");
  expect(response.headers.get("request-id")).toBe("mine");
  expect(text === "").toBe(status === 204);
});

const NOT_FOUND: [method: string, path: string][] = [
  ["GET", "/"],
  ["GET", "/nothing"],
  ["GET", "/api/v3/write_lp?db=d"],
  ["PUT", "/write?db=d"],
  ["DELETE", "/ping"],
  ["POST", "/health"],
  ["GET", "/health/"],
  ["GET", "/Health"],
  ["GET", "//health"],
  ["PURGE", "/ping"],
];

test.each(NOT_FOUND)("%s %s is not found", async (method, path) => {
  const { send } = fakes();
  const response = await send(method, path);
  expect(await outcome(response)).toEqual([404, "Not found"]);
  expect(response.headers.get("cluster-uuid")).toBe(CLUSTER_UUID);
});

const ELSEWHERE: [method: string, path: string, where: RegExp][] = [
  ["POST", "/api/v2/query?org=o", /SQL is at \/api\/v3\/query_sql/],
  ["GET", "/api/v2/buckets", /\/api\/v3\/configure\/database/],
  ["POST", "/api/v2/authorizations", /\/api\/v3\/configure\/token/],
  ["GET", "/api/v2/health", /\/health/],
  ["GET", "/api/v2/orgs", /\/api\/v3/],
  ["GET", "/api/v2", /\/api\/v3/],
  ["POST", "/api/v3/write?db=d", /\/api\/v3\/write_lp/],
  ["POST", "/api/v3/query", /\/api\/v3\/query_sql/],
  ["POST", "/api/v1/prom/write", /\/write/],
  ["POST", "/arrow.flight.protocol.FlightService/DoGet", /port 8183/],
];

test.each(ELSEWHERE)("%s %s is not found, and told where it is", async (method, path, where) => {
  const response = await fakes().send(method, path);
  expect(await outcome(response)).toEqual([404, { error: "Not found", code: "not found", message: expect.stringMatching(where) }]);
});

test.each(["/ping", "/health", "/metrics", "/docs", "/write", "/nothing"])("HEAD %s is not found", async (path) => {
  expect((await fakes().send("HEAD", path)).status).toBe(404);
});

test.each(["/ping", "/api/v3/query_sql", "/api/v3/write_lp?db=d", "/nothing/at/all"])("OPTIONS %s", async (path) => {
  const response = await fakes().send("OPTIONS", path);
  expect([response.status, await response.text()]).toEqual([204, ""]);
  expect(Object.fromEntries(response.headers)).toEqual({
    "access-control-allow-headers": "*",
    "access-control-allow-methods": "*",
    "access-control-allow-origin": "*",
    "access-control-max-age": "86400",
    "cluster-uuid": CLUSTER_UUID,
  });
});

test("metrics count by route pattern, never by raw path", async () => {
  let next = rejected(0, 10);
  const { send, services } = fakes({ write: () => next });
  await send("POST", "/api/v3/write_lp?db=d", { body: "x".repeat(40) });
  next = rejected(3, 7);
  await send("POST", "/write?db=e", { body: "x".repeat(60) });
  const answers = [await send("GET", "/api/v3/query_sql?db=d&q=a"), await send("GET", "/api/v3/query_sql?db=d")];
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  const notFound = "Not found".length;
  await send("GET", "/secret/1");
  await send("GET", "/secret/2");
  await send("PURGE", "/secret/3");
  services.metrics.walSynced(0.002, 100);
  services.metrics.store.add({ op: "put", result: "success", seconds: 0.002, bytes: 70, objects: 1 });
  services.metrics.store.add({ op: "put", result: "success", seconds: 0.002, bytes: 200, objects: 1 });
  services.metrics.store.add({ op: "list", result: "error", seconds: 3, bytes: 0, objects: 0 });
  const response = await send("GET", "/metrics");
  expect(response.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  const page = await response.text();
  const lines = page.split("\n");
  for (const line of [
    'http_requests_total{method="POST",path="/api/v3/write_lp",status="204"} 1',
    'http_requests_total{method="POST",path="/write",status="400"} 1',
    'http_requests_total{method="GET",path="/api/v3/query_sql",status="200"} 1',
    'http_requests_total{method="GET",path="/api/v3/query_sql",status="400"} 1',
    'http_requests_total{method="GET",path="other",status="404"} 2',
    'http_requests_total{method="other",path="other",status="404"} 1',
    'http_request_duration_seconds_count{method="GET",path="/api/v3/query_sql"} 2',
    'http_request_duration_seconds_bucket{le="+Inf",method="GET",path="other"} 2',
    'http_response_body_size_bytes_sum{method="POST",path="/api/v3/write_lp"} 0',
    'http_response_body_size_bytes_count{method="POST",path="/api/v3/write_lp"} 1',
    `http_response_body_size_bytes_sum{method="GET",path="/api/v3/query_sql"} ${Buffer.byteLength(texts.join(""))}`,
    'http_response_body_size_bytes_count{method="GET",path="/api/v3/query_sql"} 2',
    `http_response_body_size_bytes_sum{method="GET",path="other"} ${2 * notFound}`,
    "tsdb_write_lines_total 17",
    'influxdb3_write_lines_total{db="d"} 10',
    'influxdb3_write_lines_total{db="e"} 7',
    "tsdb_write_lines_rejected_total 3",
    'influxdb3_write_lines_rejected_total{db="d"} 0',
    'influxdb3_write_lines_rejected_total{db="e"} 3',
    "tsdb_write_bytes_total 100",
    'influxdb3_write_bytes_total{db="d"} 40',
    'influxdb3_write_bytes_total{db="e"} 60',
    'tsdb_writes_total{outcome="stored"} 1',
    'tsdb_writes_total{outcome="partial"} 1',
    'tsdb_queries_total{outcome="answered"} 1',
    'tsdb_queries_total{outcome="refused"} 1',
    "tsdb_queries_running 0",
    "tsdb_query_first_byte_seconds_count 1",
    "tsdb_query_duration_seconds_count 2",
    "tsdb_query_bytes_total 2",
    'tsdb_wal_sync_duration_seconds_bucket{le="0.001"} 0',
    'tsdb_wal_sync_duration_seconds_bucket{le="0.0025"} 1',
    "tsdb_wal_sync_duration_seconds_sum 0.002",
    "tsdb_wal_synced_bytes_total 100",
    'object_store_op_duration_seconds_bucket{le="0.001",op="put",result="success"} 0',
    'object_store_op_duration_seconds_bucket{le="0.0025",op="put",result="success"} 2',
    'object_store_op_duration_seconds_sum{op="list",result="error"} 3',
    'object_store_transfer_bytes_total{op="put"} 270',
    'object_store_transfer_objects_total{op="put"} 2',
    'object_store_transfer_bytes_hist_bucket{le="128",op="put"} 1',
    'object_store_transfer_bytes_hist_sum{op="put"} 270',
    'object_store_transfer_objects_hist_count{op="list"} 1',
    'object_store_transfer_objects_total{op="list"} 0',
    "tsdb_buffer_bytes 11",
    "tsdb_series 20",
    "tsdb_series_bytes 21",
    "tsdb_series_evictions_total 22",
    "tsdb_catalog_operations_total 23",
    "influxdb3_catalog_operations_total 23",
  ]) {
    expect(lines).toContain(line);
  }
  expect(page).not.toContain("secret");
  expect(page).toEndWith("# EOF\n");
});

test("the documents name every route and load nothing from elsewhere", async () => {
  const { send, services } = fakes();
  const document = (await (await send("GET", "/openapi.json")).json()) as {
    openapi: string;
    paths: Record<string, Record<string, unknown>>;
  };
  expect(document.openapi).toBe("3.1.0");
  const operations = Object.entries(document.paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`));
  // which routes there are, access.test.ts says
  const hidden = ({ hooks }: { readonly hooks?: { readonly detail?: { readonly hide?: boolean } } }) => hooks?.detail?.hide === true;
  const routes = createApp(services).routes.filter((route) => !hidden(route) && !/^\/(?:docs|openapi\.json)$/.test(route.path));
  const pathOf = (path: string) => path.replace(/:(\w+)/g, "{$1}").replace("*", "{request_path}");
  expect(operations.sort()).toEqual(routes.map(({ method, path }) => `${method.toLowerCase()} ${pathOf(path)}`).sort());
  expect(operations).toContain("post /write");
  expect(document.paths["/write"]!["post"]).toMatchObject({
    parameters: expect.arrayContaining([
      { name: "db", in: "query", required: true, description: "Database; made by the first write.", schema: { type: "string" } },
    ]),
  });
  const page = await (await send("GET", "/docs")).text();
  for (const path of Object.keys(document.paths)) expect(page).toContain(`<code>${path}</code>`);
  expect(page).not.toMatch(/<script|<link|<img|@import|url\(|src=/);
});
