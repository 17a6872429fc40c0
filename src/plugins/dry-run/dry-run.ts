// Dry runs: a plugin runs on rows or a time of the request; the answer is what it logs and would write.
import { TsdbError } from "../../model/errors.ts";
import type { PluginDryRun, PluginDryRunResult } from "../../model/plugins.ts";
import type { PluginPayload } from "../plugin-call.ts";
import type { PluginRuntime } from "../plugin-runtime.ts";

/** Cache name of dry runs without one. */
const CACHE = "_shared_test";

/** Failures of the plugin are part of the answer.
 *  @throws TsdbError not_found, bad_request if the file is not a plugin, plugin without Python; overloaded if too many wait */
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

/** Creating a trigger reports these as failures of the engine; here they are errors of the request, which names the plugin. */
function refusal(error: unknown): unknown {
  if (!(error instanceof TsdbError) || error.kind !== "plugin") return error;
  if (error.details["isMissing"] === true) return new TsdbError("not_found", error.message, error.details);
  return error.details["isUnfit"] === true ? new TsdbError("bad_request", error.message, error.details) : error;
}
