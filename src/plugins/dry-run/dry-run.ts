// Dry runs: a plugin gets rows or a time that the request brings, and what it logs and would write is the answer.
import { TsdbError } from "../../model/errors.ts";
import type { PluginDryRun, PluginDryRunResult } from "../../model/plugins.ts";
import type { PluginPayload } from "../plugin-call.ts";
import type { PluginRuntime } from "../plugin-runtime.ts";

/** What dry runs without a name share. */
const CACHE = "_shared_test";

/** Never fails for what the plugin does.
 *  @throws TsdbError not_found, bad_request when it is no plugin, plugin without Python; overloaded when too many wait */
export async function dryRun(runtime: PluginRuntime, run: PluginDryRun, payload: PluginPayload): Promise<PluginDryRunResult> {
  const { filename, database, cacheName, arguments: given } = run;
  const plugin = await runtime.locate(filename, payload.kind).catch((error: unknown) => {
    throw refusal(error);
  });
  const logLines: string[] = [];
  const { failure, writes } = await runtime.run(
    { caller: { kind: "test", database, cacheName: cacheName ?? CACHE }, plugin, payload, arguments: given },
    { signal: new AbortController().signal, onLog: ({ level, text }) => logLines.push(`${level.toUpperCase()}: ${text}`) },
  );
  if (failure?.kind === "busy") throw new TsdbError("overloaded", failure.message);
  const byDatabase = Map.groupBy(writes, (write) => write.database);
  const lines = [...byDatabase].map(([name, all]) => [name, all.map(({ line }) => line)] as const);
  const errors = failure === null ? [] : [failure.traceback?.trimEnd() ?? failure.message];
  return { logLines, writes: Object.fromEntries(lines), errors };
}

/** Creating a trigger reports these as failures of the engine; here the request names the plugin, and is wrong. */
function refusal(error: unknown): unknown {
  if (!(error instanceof TsdbError) || error.kind !== "plugin") return error;
  if (error.details["isMissing"] === true) return new TsdbError("not_found", error.message, error.details);
  return error.details["isUnfit"] === true ? new TsdbError("bad_request", error.message, error.details) : error;
}
