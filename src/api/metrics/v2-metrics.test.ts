// The families of port 8086: names and labels as scrapers see them, and a bound on the number of series.
import { expect, test } from "bun:test";
import { type RunCounts, sortedFamilies, V2Metrics, type V2Totals } from "./v2-metrics.ts";

const RUNS: RunCounts = {
  ...{ active: 2, ended: { success: 3, failed: 1, canceled: 0 }, lagSeconds: 1.5, runSeconds: 0.25 },
  ...{ busyShare: 0.0625, scheduledCount: 9, releasedCount: 4 },
};
const TOTALS: V2Totals = {
  ...{
    buckets: 3,
    dashboards: 8,
    organizations: 1,
    users: 2,
    tokens: 4,
    scrapers: 5,
    tasks: 6,
    telegrafs: 9,
    remotes: 10,
    replications: 7,
  },
};

function metrics(totals: () => V2Totals | null = () => TOTALS) {
  return new V2Metrics({
    ...{ version: "v2.8.0", commit: "abc", cpus: 2, upMs: () => 1500, totals, runs: () => RUNS, replications: () => [] },
    metadata: () => ({ reads: 11, writes: 12 }),
  });
}

const REQUEST = { method: "GET", route: "/api/v2/buckets/:bucketID", status: 200, seconds: 0.02, agent: "influx-client/1.35.0 (node)" };

/** Lines of a family without its description. */
async function lines(of: V2Metrics, family: string): Promise<string[]> {
  return (await of.render()).split("\n").filter((line) => line.startsWith(family) && !line.startsWith("#"));
}

test("the server, its age and its resources", async () => {
  const found = await lines(metrics(), "influxdb_");
  expect(found).toEqual([
    expect.stringMatching(/^influxdb_info\{version="v2.8.0",commit="abc",arch="\w+",os="\w+",cpus="2"\} 1$/),
    "influxdb_uptime_seconds 1.5",
    "influxdb_buckets_total 3",
    "influxdb_dashboards_total 8",
    "influxdb_organizations_total 1",
    "influxdb_users_total 2",
    "influxdb_tokens_total 4",
    "influxdb_scrapers_total 5",
    "influxdb_tasks_total 6",
    "influxdb_telegrafs_total 9",
    "influxdb_remotes_total 10",
    "influxdb_replications_total 7",
  ]);
});

test("before the log is replayed there are none that are known", async () => {
  const starting = metrics(() => null);
  expect(await lines(starting, "influxdb_buckets_total")).toEqual(["influxdb_buckets_total 0"]);
});

test("requests by route, status and client, without versions and ids", async () => {
  const counted = metrics();
  counted.request(REQUEST);
  counted.request({ ...REQUEST, seconds: 3 });
  counted.request({ ...REQUEST, route: undefined, status: 404, agent: null });
  const labels = 'handler="platform",method="GET",path="/api/v2/buckets/:id",status="2XX",response_code="200",user_agent="influx-client"';
  expect(await lines(counted, "http_api_requests_total")).toEqual([
    `http_api_requests_total{${labels}} 2`,
    'http_api_requests_total{handler="platform",method="GET",path="other",status="4XX",response_code="404",user_agent="unknown"} 1',
  ]);
  const times = await lines(counted, "http_api_request_duration_seconds");
  expect(times).toContain(`http_api_request_duration_seconds_bucket{le="0.01",${labels}} 0`);
  expect(times).toContain(`http_api_request_duration_seconds_bucket{le="0.025",${labels}} 1`);
  expect(times).toContain(`http_api_request_duration_seconds_count{${labels}} 2`);
});

test("writes and queries by endpoint, and their bytes", async () => {
  const counted = metrics();
  for (const route of ["/api/v2/write", "/write", "/api/v2/write"]) counted.request({ ...REQUEST, method: "POST", route, status: 204 });
  counted.request({ ...REQUEST, method: "POST", route: "/api/v2/query" });
  counted.wrote("stored", { rows: 5, rejected: 0, bytes: 100 });
  counted.wrote("partial", { rows: 2, rejected: 1, bytes: 20 });
  counted.wrote("rejected", { rows: 0, rejected: 4, bytes: 3 });
  counted.wrote("failed", { rows: 0, rejected: 0, bytes: 0 });
  const end = counted.queryBegins();
  const failed = counted.queryBegins();
  expect(await lines(counted, "qc_all_active")).toEqual(["qc_all_active 2"]);
  end("success", 5000, 0.01);
  failed("compile_error", 0, 0.002);
  expect(await lines(counted, "http_write_request")).toEqual([
    'http_write_request_count{endpoint="/api/v2/write",status="204"} 2',
    'http_write_request_count{endpoint="/write",status="204"} 1',
    "http_write_request_bytes 123",
  ]);
  expect(await lines(counted, "storage_")).toEqual([
    "storage_shard_write_count 4",
    "storage_shard_write_sum 7",
    "storage_shard_write_dropped_sum 1",
    "storage_shard_write_err_count 2",
    "storage_shard_write_err_sum 4",
  ]);
  expect(await lines(counted, "http_query_")).toEqual([
    'http_query_request_count{endpoint="/api/v2/query",status="200"} 1',
    "http_query_response_bytes 5000",
  ]);
  expect(await lines(counted, "qc_")).toEqual(
    expect.arrayContaining([
      'qc_requests_total{result="success"} 1',
      'qc_requests_total{result="compile_error"} 1',
      'qc_requests_total{result="queue_error"} 0',
      "qc_all_active 0",
      "qc_all_duration_seconds_count 2",
    ]),
  );
});

test("tasks and records under the names of the vendor's dashboards", async () => {
  expect(await lines(metrics(), "task_scheduler_")).toEqual([
    "task_scheduler_current_execution 2",
    "task_scheduler_total_schedule_calls 9",
    "task_scheduler_total_schedule_fails 0",
    "task_scheduler_total_release_calls 4",
    "task_scheduler_total_execution_calls 6",
    "task_scheduler_total_execute_failure 1",
    "task_scheduler_schedule_delay_sum 1.5",
    "task_scheduler_schedule_delay_count 6",
    "task_scheduler_execute_delta_sum 0.25",
    "task_scheduler_execute_delta_count 4",
  ]);
  expect(await lines(metrics(), "task_executor_workers")).toEqual(["task_executor_workers_busy 0.0625"]);
  expect(await lines(metrics(), "boltdb_")).toEqual(["boltdb_reads_total 11", "boltdb_writes_total 12"]);
});

test("families of all texts in one order, and the mark at the end", async () => {
  const other = "# HELP b two\n# TYPE b counter\nb 1\n\n# HELP z last\n# TYPE z gauge\nz 2\n# EOF\n";
  const sorted = sortedFamilies(await metrics().render(), other);
  const names = [...sorted.matchAll(/^# HELP (\w+)/gm)].map(([, name]) => name!);
  expect(names).toEqual(names.toSorted());
  expect(names).toContain("b");
  expect(sorted).toStartWith("# HELP b two\n# TYPE b counter\nb 1\n");
  expect(sorted).toEndWith("z 2\n# EOF\n");
  expect(sorted.match(/# EOF/g)).toHaveLength(1);
});

test("made-up methods and names of clients make no series without end", async () => {
  const counted = metrics();
  for (let i = 0; i < 1000; i++) counted.request({ ...REQUEST, method: `M${i}`, agent: `client-${i}"\n{}` });
  const found = await lines(counted, "http_api_requests_total");
  expect(found.length).toBe(51);
  expect(found.at(-1)).toEndWith('user_agent="other"} 950');
});
