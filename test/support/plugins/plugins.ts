// A plugin runtime over a folder, with a host that records its calls. For tests; requires Python.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PluginFiles, replaceFile } from "../../../src/plugins/files/plugin-files.ts";
import { PluginRepository } from "../../../src/plugins/files/plugin-repository.ts";
import type { PluginCall, PluginCaller, PluginLogLine, PluginOutcome, PluginPayload } from "../../../src/plugins/plugin-call.ts";
import type { PluginHost, PluginHostWrite, PluginQuery } from "../../../src/plugins/plugin-host.ts";
import { Interpreter } from "../../../src/plugins/process/interpreter.ts";
import { SourceCheck } from "../../../src/plugins/process/source-check.ts";
import { PythonRuntime, type PythonRuntimeOptions } from "../../../src/plugins/python-runtime.ts";

/** Null if there is no Python, which is printed; tests of plugins are then skipped. */
export function pluginPython(): string | null {
  const path = Bun.which("python3");
  if (path === null) console.log("tests of plugins need python3, and there is none on the PATH: they do not run");
  return path;
}

/** Answers with the result of `rows`, and records statements and writes. */
class RecordingHost implements PluginHost {
  readonly statements: PluginQuery[] = [];
  readonly writes: { database: string; lines: string; noSync: boolean; writer: PluginCaller }[] = [];
  answer: (query: PluginQuery) => Promise<Uint8Array | ReadableStream<Uint8Array>> = () => Promise.resolve(rowsAnswer([], []));
  refuse: ((write: PluginHostWrite) => Error | null) | undefined;

  query(query: PluginQuery): Promise<Uint8Array | ReadableStream<Uint8Array>> {
    this.statements.push(query);
    return this.answer(query);
  }

  write(write: PluginHostWrite): Promise<void> {
    const refusal = this.refuse?.(write) ?? null;
    if (refusal !== null) return Promise.reject(refusal);
    this.writes.push({ ...write, lines: new TextDecoder().decode(write.lines) });
    return Promise.resolve();
  }
}

/** The format in which the host answers. */
export function rowsAnswer(columns: readonly string[], values: readonly unknown[][]): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ results: [{ series: [{ name: "", columns, values }] }] }));
}

export interface PluginRun {
  readonly outcome: PluginOutcome;
  readonly lines: readonly string[];
}

export interface PluginRunOptions {
  readonly caller?: PluginCaller;
  readonly args?: PluginCall["arguments"];
  readonly signal?: AbortSignal;
  readonly onLine?: () => void;
}

/** A plugin directory with a runtime. */
export class PluginBench {
  readonly folder = mkdtempSync(join(tmpdir(), "tsdb-plugins-"));
  readonly host = new RecordingHost();
  readonly printed: string[] = [];
  readonly runtime: PythonRuntime;
  readonly interpreter: Interpreter;
  readonly files: PluginFiles;
  /** Apply to processes that start after a change. */
  readonly limits: { memoryBytesMax: number; timeMsMax: number };

  constructor(
    options: Partial<Pick<PythonRuntimeOptions, "memoryBytesMax" | "timeMsMax" | "asyncRunsMax" | "processesMax">> & {
      repository?: string;
      environment?: PythonRuntimeOptions["environment"];
    } = {},
  ) {
    this.interpreter = new Interpreter({ python: null, virtualEnv: join(this.folder, ".venv"), environment: process.env });
    const repository = new PluginRepository({
      address: options.repository ?? "http://127.0.0.1:1/",
      onStale: (path, reason) => this.printed.push(`stale ${path}: ${reason}`),
      save: replaceFile,
    });
    this.files = new PluginFiles(this.folder, { repository, check: new SourceCheck(this.interpreter) });
    const { memoryBytesMax = 512 << 20, timeMsMax = 20_000, asyncRunsMax = 4, processesMax = 100 } = options;
    const parts = { memoryBytesMax, timeMsMax, asyncRunsMax, processesMax };
    this.limits = parts;
    this.runtime = new PythonRuntime(
      Object.assign(parts, {
        ...{ files: this.files, interpreter: this.interpreter, host: this.host, environment: options.environment ?? process.env },
        onPrinted: (_: string, text: string) => this.printed.push(text),
      }),
    );
  }

  /** A plugin of this source; the path. */
  plugin(name: string, source: string): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, source);
    return path;
  }

  async run(plugin: string, payload: PluginPayload, { caller, args = null, signal, onLine }: PluginRunOptions = {}): Promise<PluginRun> {
    const lines: string[] = [];
    const who = caller ?? { kind: "trigger", database: "db", trigger: "t", runAsync: false };
    const outcome = await this.runtime.run(
      { caller: who, plugin, payload, arguments: args },
      {
        signal: signal ?? new AbortController().signal,
        onLog: ({ level, text }: PluginLogLine) => {
          lines.push(`${level.toUpperCase()}: ${text}`);
          onLine?.();
        },
      },
    );
    return { outcome, lines };
  }

  async close(): Promise<void> {
    await this.runtime.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
