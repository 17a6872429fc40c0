// GET and POST /api/v3/query_sql_telemetry: what the token's most recent SQL statement read, and how long it took.
import { t } from "elysia";
import type { QueryTelemetry } from "../../model/telemetry/query-telemetry.ts";
import { operation } from "../docs/operation.ts";
import type { AppServices } from "../services.ts";
import { failureOf } from "../shared/errors.ts";
import { errorJson, json } from "../shared/respond.ts";
import { type Call, Routes } from "../shared/route.ts";
import { ErrorBody } from "../shared/write-schemas.ts";
import { requireUpgradedEngine } from "./upgraded-engine.ts";

const PATH = "/api/v3/query_sql_telemetry";

const count = (description: string) => t.Integer({ minimum: 0, description });

const Telemetry = t.Object({
  query_id: t.String({ description: "As in system.queries." }),
  execution_time_us: count("From the request to the end of the statement, microseconds."),
  chunks: t.Array(
    t.Object({
      chunk_id: t.String({ description: "Position of the scan in the statement, and its table." }),
      files_scanned: count("Files that were read."),
      blocks_processed: count("Blocks of files, and runs of rows in memory."),
      rows_read: count("Rows of the pages and runs that were read."),
      rows_returned: count("Rows, or groups, that were left."),
      bytes_read: count("Bytes from files."),
    }),
    { description: "One for each scan of a table." },
  ),
  cache_stats: t.Object({
    gen0_hits: count("Columns of files that were flushed, in memory."),
    gen0_misses: count("The same, read."),
    compacted_hits: count("Columns of compacted files, in memory."),
    compacted_misses: count("The same, read."),
  }),
});

/** Only with the extended edition. */
export const querySqlTelemetryRoutes = (services: AppServices) => {
  const routes = new Routes(services.access);
  if (services.edition !== "enterprise") return routes;
  const about = operation({
    tag: "Query",
    access: "any token",
    summary: "Statistics of the last SQL statement",
    description: "Of the most recent statement that this token sent, over HTTP or Arrow Flight, and that ended. Needs --use-pacha-tree.",
    answers: {
      200: { description: "The statistics.", content: { "application/json": Telemetry } },
      404: { description: "The token has sent no statement since the server started.", content: { "application/json": ErrorBody } },
      503: { description: "The server runs without --use-pacha-tree.", content: { "application/json": ErrorBody } },
    },
  });
  const answer = ({ caller }: Call<"any token">) => {
    try {
      requireUpgradedEngine(services);
      const telemetry = services.telemetry.of(caller.id);
      if (telemetry !== undefined) return json(200, shown(telemetry));
      return json(404, { error: "this token has sent no SQL statement since the server started" });
    } catch (error) {
      return errorJson(failureOf(error));
    }
  };
  return routes.get(PATH, about, answer).post(PATH, about, answer);
};

function shown({ queryId, executionTimeUs, chunks, cacheStats }: QueryTelemetry) {
  return {
    query_id: queryId,
    execution_time_us: executionTimeUs,
    chunks: chunks.map((chunk) => ({
      chunk_id: chunk.chunkId,
      files_scanned: chunk.filesScanned,
      blocks_processed: chunk.blocksProcessed,
      rows_read: chunk.rowsRead,
      rows_returned: chunk.rowsReturned,
      bytes_read: chunk.bytesRead,
    })),
    cache_stats: {
      gen0_hits: cacheStats.gen0Hits,
      gen0_misses: cacheStats.gen0Misses,
      compacted_hits: cacheStats.compactedHits,
      compacted_misses: cacheStats.compactedMisses,
    },
  };
}
