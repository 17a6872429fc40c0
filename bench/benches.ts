// The list of benchmarks, in the order of the table.
import { backup } from "./backup.ts";
import { caches } from "./caches.ts";
import { codec } from "./codec.ts";
import { corners } from "./corners.ts";
import { diskSize } from "./disk-size.ts";
import { exportDay } from "./export.ts";
import { fileIndex } from "./file-index.ts";
import { flight } from "./flight.ts";
import { flux } from "./flux.ts";
import { fluxScript } from "./flux-script.ts";
import { importDay } from "./import.ts";
import { ingest } from "./ingest.ts";
import { ingestCaches } from "./ingest-caches.ts";
import { ingestLines } from "./ingest-lines.ts";
import { ingestShapes } from "./ingest-shapes.ts";
import { ingestSmall } from "./ingest-small.ts";
import { manySeries } from "./many-series.ts";
import { memory } from "./memory.ts";
import { parseLine } from "./parse-line.ts";
import { query } from "./query.ts";
import { queryGrowth } from "./query-growth.ts";
import { queryHalfLoad } from "./query-half-load.ts";
import { querySmall } from "./query-small.ts";
import { queryUnderLoad } from "./query-under-load.ts";
import { replay } from "./replay.ts";
import { replication } from "./replication.ts";
import { sqlPlan } from "./sql-plan.ts";
import { stalls } from "./stalls.ts";
import { start } from "./start.ts";
import { startFull } from "./start-full.ts";
import { statementGrowth } from "./statement-growth.ts";
import type { Bench } from "./support/bench.ts";
import { tasks } from "./tasks.ts";
import { triggers } from "./triggers.ts";
import { v1Query } from "./v1-query.ts";
import { v2Buckets } from "./v2-buckets.ts";
import { v2Ingest } from "./v2-ingest.ts";

export const BENCHES: readonly Bench[] = [
  parseLine,
  codec,
  ingest,
  ingestShapes,
  ingestSmall,
  ingestLines,
  v2Ingest,
  v2Buckets,
  ingestCaches,
  tasks,
  triggers,
  replication,
  backup,
  exportDay,
  importDay,
  diskSize,
  query,
  corners,
  manySeries,
  v1Query,
  flux,
  caches,
  fileIndex,
  queryGrowth,
  querySmall,
  queryHalfLoad,
  queryUnderLoad,
  flight,
  sqlPlan,
  fluxScript,
  memory,
  stalls,
  statementGrowth,
  replay,
  start,
  startFull,
];
