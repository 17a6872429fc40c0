// The query log tells its observer, and the page shows what the vendor's names promise.
import { expect, test } from "bun:test";
import Registry from "prom-client/lib/registry.js";
import { TsdbError } from "../../model/errors.ts";
import { QueryLog } from "../../query/query-log.ts";
import { DatabaseWrites } from "./database-writes.ts";
import { GrpcMetrics } from "./grpc-metrics.ts";
import { registerPermits } from "./permit-metrics.ts";
import { StatementMetrics } from "./statement-metrics.ts";

const STATEMENT = { database: "d", queryType: "sql", queryText: "SELECT 1" };

test("phases and times of statements", async () => {
  const registry = new Registry();
  const observer = new StatementMetrics(registry);
  let nowMs = 0;
  const log = new QueryLog({ entriesMax: 1, clockNs: () => 0n, nowMs: () => nowMs, observer });
  const whole = log.begin(STATEMENT);
  nowMs = 200;
  whole.permitted();
  whole.planned(30);
  nowMs = 1200;
  whole.fileCount = 3n;
  whole.ended();
  // the worker's own times may come late, and a second end is none
  whole.timed({ planMs: 30, computeMs: 700 });
  whole.ended();
  log.begin(STATEMENT).ended(new TsdbError("cancelled", "gone"));
  log.begin(STATEMENT).ended(new Error("broken"));
  log.begin(STATEMENT).permitted();
  log.begin(STATEMENT, { unlisted: true }).permitted();
  const exhausted = new TsdbError("query_limit", "Resources exhausted: too many groups");
  log.begin(STATEMENT, { unlisted: true }).ended(exhausted);
  observer.ended({ permitNs: null, planNs: null, executeNs: null, end2endNs: null, fileCount: null }, exhausted);
  observer.ended(
    { permitNs: null, planNs: null, executeNs: null, end2endNs: null, fileCount: null },
    new TsdbError("query_limit", "the query ran longer than 5 ms"),
  );
  observer.scanned({ chunks: [{ rowsReturned: 40 }, { rowsReturned: 2 }] as never });
  registerPermits(registry, () => ({ limit: 9, held: 3, heldMax: 7, waiting: 2, waitingMax: 5, givenUp: 4 }), observer.waits);
  const lines = (await registry.metrics()).split("\n");
  const prefix = "influxdb_iox_query_log";
  for (const line of [
    `${prefix}_phase_entered_total{phase="received"} 4`,
    `${prefix}_phase_entered_total{phase="permit"} 2`,
    `${prefix}_phase_entered_total{phase="planned"} 1`,
    `${prefix}_phase_entered_total{phase="success"} 1`,
    `${prefix}_phase_entered_total{phase="cancel"} 1`,
    `${prefix}_phase_entered_total{phase="fail"} 1`,
    `${prefix}_phase_current{phase="received"} 0`,
    `${prefix}_phase_current{phase="permit"} 1`,
    `${prefix}_phase_current{phase="planned"} 0`,
    `${prefix}_permit_duration_seconds_sum 0.2`,
    `${prefix}_plan_duration_seconds_sum 0.03`,
    // one second since the permit, without planning
    `${prefix}_execute_duration_seconds_sum 0.97`,
    `${prefix}_end2end_duration_seconds_sum 1.2`,
    `${prefix}_end2end_duration_seconds_count 3`,
    `${prefix}_compute_duration_seconds_sum 0.7`,
    `${prefix}_parquet_files_sum 3`,
    `${prefix}_num_rows_sum 42`,
    `${prefix}_ingester_response_rows_count 0`,
    "query_datafusion_query_execution_ooms_total 1",
    'iox_async_semaphore_permits_total{semaphore="query_execution"} 9',
    'iox_async_semaphore_permits_acquired{semaphore="query_execution"} 3',
    'iox_async_semaphore_holders_acquired_hwm{semaphore="query_execution"} 7',
    'iox_async_semaphore_holders_pending{semaphore="query_execution"} 2',
    'iox_async_semaphore_permits_pending_hwm{semaphore="query_execution"} 5',
    'iox_async_semaphore_holders_cancelled_while_pending_total{semaphore="query_execution"} 4',
    'iox_async_semaphore_acquire_duration_seconds_sum{semaphore="query_execution"} 0.2',
    'iox_async_semaphore_acquire_duration_seconds_count{semaphore="query_execution"} 1',
  ]) {
    expect(lines).toContain(line);
  }
});

test("calls of Arrow Flight by method and by their end", async () => {
  const registry = new Registry();
  const calls = new GrpcMetrics(registry);
  for (const bytes of [100, 5000]) calls.add({ path: "/a/DoGet", outcome: "ok", seconds: 0.25, bytes });
  calls.add({ path: "/a/DoGet", outcome: "client_error", seconds: 1, bytes: 0 });
  const lines = (await registry.metrics()).split("\n");
  for (const line of [
    'grpc_requests_total{path="/a/DoGet",status="ok"} 2',
    'grpc_requests_total{path="/a/DoGet",status="client_error"} 1',
    'grpc_request_duration_seconds_sum{path="/a/DoGet",status="ok"} 0.5',
    'grpc_response_body_size_bytes_bucket{le="128",path="/a/DoGet",status="ok"} 1',
    'grpc_response_body_size_bytes_sum{path="/a/DoGet",status="ok"} 5100',
  ]) {
    expect(lines).toContain(line);
  }
});

test("a page ends, however many databases there are", async () => {
  const registry = new Registry();
  const writes = new DatabaseWrites(registry);
  for (let i = 0; i < 3000; i++) writes.add(`d${i}`, { rows: 1, rejected: 0, bytes: 10 });
  writes.add("d0", { rows: 1, rejected: 2, bytes: 10 });
  writes.add('a"b\n\\', { rows: 5, rejected: 0, bytes: 0 });
  const lines = (await registry.metrics()).split("\n");
  expect(lines).toContain('influxdb3_write_lines_total{db="d0"} 2');
  expect(lines).toContain('influxdb3_write_lines_rejected_total{db="d0"} 2');
  expect(lines).toContain('influxdb3_write_lines_total{db=""} 2005');
  expect(lines.length).toBeLessThan(3100);
});
