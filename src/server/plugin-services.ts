// The processing engine's Python side, put together from the configuration: files, packages, the runtime, and what plugins may ask of the
// server.
import { join, resolve } from "node:path";
import type { PluginConfig } from "../cli/flags/plugin-flags.ts";
import type { Log } from "../cli/logger.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import type { PluginDryRun, PluginDryRunResult, PluginService, PluginTrigger } from "../model/plugins.ts";
import type { QueryService } from "../model/query/query.ts";
import type { SystemRow } from "../model/system-table.ts";
import { Precision } from "../model/time/precision.ts";
import type { TriggerWriter, WriteResult, WriteService } from "../model/write.ts";
import { dryRun } from "../plugins/dry-run/dry-run.ts";
import { testedTables } from "../plugins/dry-run/tested-lines.ts";
import { PluginFiles, replaceFile } from "../plugins/files/plugin-files.ts";
import { PluginRepository } from "../plugins/files/plugin-repository.ts";
import { PackageManager } from "../plugins/packages/package-manager.ts";
import type { PluginCaller } from "../plugins/plugin-call.ts";
import type { PluginHost, PluginHostWrite, PluginQuery } from "../plugins/plugin-host.ts";
import { Interpreter } from "../plugins/process/interpreter.ts";
import { SourceCheck } from "../plugins/process/source-check.ts";
import { PythonRuntime } from "../plugins/python-runtime.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import { scheduleOf } from "../triggers/schedule.ts";
import { parseTriggerSpec } from "../triggers/spec.ts";

/** A body of a plugin's lines: more lines are several bodies. */
const BODY_BYTES_MAX = 4 << 20;
const NEWLINE = 0x0a;
const EVERY_SECOND = "* * * * * *";

export interface PluginServicesParts {
  /** Null: the server was started without --plugin-dir. */
  readonly config: PluginConfig | null;
  readonly catalog: Catalog;
  readonly kernel: Kernel;
  readonly log: Log;
  readonly queries: QueryService;
  readonly writes: WriteService;
  readonly maxRequestBytes: number;
  /** How rows that a plugin writes are marked. */
  readonly writerOf: (caller: PluginCaller) => TriggerWriter | undefined;
}

/** Of a server with --plugin-dir. */
export interface PluginParts {
  readonly runtime: PythonRuntime;
  readonly files: PluginFiles;
  readonly packages: PackageManager;
}

/** What every call of the processing engine is answered without --plugin-dir. */
function engineOff(kind: "plugin" | "not_found" = "plugin"): TsdbError {
  return new TsdbError(kind, "Plugin error: Node not configured with plugin directory");
}

/** @throws TsdbError config when --plugin-dir is no folder */
export function createPlugins({ config, log, ...parts }: PluginServicesParts): PluginParts | null {
  if (config === null) return null;
  const { python, repository: address, memoryBytesMax, timeMsMax, asyncRunsMax, packageManager } = config;
  const environment = process.env;
  // processes of plugins have another working folder
  const folder = resolve(config.folder);
  const virtualEnv = config.virtualEnv === null ? join(folder, ".venv") : resolve(config.virtualEnv);
  const path = python?.includes("/") === true ? resolve(python) : python;
  const interpreter = new Interpreter({ python: path, virtualEnv, environment });
  const onStale = (path: string, reason: string) => log.warn("a plugin is used as it was downloaded before", { path, reason });
  const repository = new PluginRepository({ address, onStale, save: replaceFile });
  const files = new PluginFiles(folder, { repository, check: new SourceCheck(interpreter) });
  const runtime = new PythonRuntime({
    ...{ files, interpreter, host: new ServerHost(parts), environment, memoryBytesMax, timeMsMax, asyncRunsMax },
    processesMax: LIMITS.pluginProcessesMax,
    onPrinted: (of, text, level) => log[level](text, { of }),
  });
  const packages = new PackageManager({
    ...{ manager: packageManager, interpreter, folder: files.folder, environment },
    onInstalled: () => runtime.renew(),
    onCommand: (command) => log.info("packages", { command: command.join(" ") }),
  });
  return { runtime, files, packages };
}

/** Without authorization: creating a trigger requires an admin token. */
class ServerHost implements PluginHost {
  constructor(private readonly parts: Pick<PluginServicesParts, "queries" | "writes" | "maxRequestBytes" | "writerOf">) {}

  async query({ database, statement, params, signal }: PluginQuery): Promise<Uint8Array | ReadableStream<Uint8Array>> {
    const answer = await this.parts.queries.query({ database, statement, params, format: "plugin", queryType: "sql", signal });
    return answer.body;
  }

  async write({ database, lines, noSync, writer: caller }: PluginHostWrite): Promise<void> {
    const { writes, maxRequestBytes, writerOf } = this.parts;
    const writer = writerOf(caller);
    for (const part of bodies(lines, Math.min(BODY_BYTES_MAX, maxRequestBytes))) {
      const body = await writes.receive(part.byteLength);
      let result: WriteResult;
      try {
        body.append(part);
        result = await body.write({ database, precision: Precision.nanosecond, acceptPartial: true, noSync, writer });
      } finally {
        body.release();
      }
      const [first] = result.lineErrors;
      if (first === undefined) continue;
      const others = result.rejectedCount > 1 ? ` (and ${result.rejectedCount - 1} more)` : "";
      throw new TsdbError("bad_request", `line ${first.lineNumber}: ${first.errorMessage}: ${first.originalLine.slice(0, 200)}${others}`);
    }
  }
}

/** Parts of at most `bytesMax` that end with whole lines; a line that is longer is a part of its own. */
function* bodies(lines: Uint8Array, bytesMax: number): Generator<Uint8Array> {
  for (let at = 0; at < lines.byteLength; ) {
    let end = Math.min(at + bytesMax, lines.byteLength);
    if (end < lines.byteLength) {
      const last = lines.lastIndexOf(NEWLINE, end - 1);
      const next = lines.indexOf(NEWLINE, end);
      end = last >= at ? last + 1 : next < 0 ? lines.byteLength : next + 1;
    }
    yield lines.subarray(at, end);
    at = end;
  }
}

/** Behind the routes for administrators. */
export class Plugins implements PluginService {
  constructor(
    private readonly plugins: PluginParts | null,
    private readonly parts: Pick<PluginServicesParts, "catalog" | "kernel">,
  ) {}

  createFile(name: string, content: string): Promise<void> {
    return this.on().files.create(name, content);
  }

  updateFile(trigger: PluginTrigger, content: string): Promise<void> {
    return this.on().files.update(this.pluginOf(trigger), content);
  }

  updateFolder(trigger: PluginTrigger, files: readonly { readonly path: string; readonly content: string }[]): Promise<void> {
    return this.on().files.updateFolder(this.pluginOf(trigger), files);
  }

  /** Of system.plugin_files: the files of all triggers. */
  fileRows(): SystemRow[] {
    const { plugins } = this;
    if (plugins === null) return [];
    return this.parts.catalog.liveTriggers().flatMap(({ name, plugin }) => {
      const rows = plugins.files.list(plugin);
      return rows.map(
        (file): SystemRow => [name, file.name, file.path, BigInt(file.bytes), BigInt(Math.trunc(file.modifiedMs)) * 1_000_000n],
      );
    });
  }

  installPackages(packages: readonly string[]): Promise<void> {
    return this.on().packages.install(packages);
  }

  installRequirements(location: string): Promise<void> {
    return this.on().packages.installRequirements(location);
  }

  async testWrites(run: PluginDryRun, lineProtocol: string): Promise<PluginDryRunResult> {
    const { runtime } = this.testable(run.database);
    const { catalog, kernel } = this.parts;
    const databaseId = catalog.findDatabase(run.database)!.id;
    const tables = testedTables(kernel, new TextEncoder().encode(lineProtocol), {
      nowNs: BigInt(Date.now()) * 1_000_000n,
      columnsOf: (table) => catalog.findTable(databaseId, table)?.columns.map(({ name }) => name) ?? [],
    });
    return dryRun(runtime, run, { kind: "writes", tables });
  }

  async testSchedule(run: PluginDryRun, schedule: string | null): Promise<PluginDryRunResult & { readonly timeMs: number | null }> {
    const { runtime } = this.testable(run.database);
    const timeMs = nextTime(schedule ?? EVERY_SECOND);
    if (timeMs === null) throw new TsdbError("bad_request", "the schedule has no next time");
    return { ...(await dryRun(runtime, run, { kind: "schedule", timeMs })), timeMs };
  }

  /** @throws TsdbError not_found without --plugin-dir, unknown_database */
  private testable(database: string): PluginParts {
    if (this.plugins === null) throw engineOff("not_found");
    if (this.parts.catalog.findDatabase(database) === undefined) {
      throw new TsdbError("unknown_database", `the requested resource was not found: ${database}`, { database });
    }
    return this.plugins;
  }

  private on(): PluginParts {
    if (this.plugins === null) throw engineOff();
    return this.plugins;
  }

  /** @throws TsdbError plugin when no trigger has the name, bad_request when several do, with different plugins */
  private pluginOf({ name, database }: PluginTrigger): string {
    const { catalog } = this.parts;
    const isMeant = (databaseId: number) => database === null || catalog.databaseById(databaseId)?.name === database;
    const named = catalog.liveTriggers().filter((trigger) => trigger.name === name && isMeant(trigger.databaseId));
    const [plugin, other] = new Set(named.map((trigger) => trigger.plugin));
    if (plugin === undefined) throw new TsdbError("plugin", `plugin not found: ${name}`);
    if (other !== undefined)
      throw new TsdbError("bad_request", `triggers named ${name} of several databases have different plugins; name one by db`);
    return plugin;
  }
}

/** `every:` and `cron:`, or the fields of cron alone. */
function nextTime(text: string): number | null {
  const spec = parseTriggerSpec(/^\s*(?:every|cron):/.test(text) ? text : `cron:${text}`);
  return scheduleOf(spec)?.next(Date.now()) ?? null;
}
