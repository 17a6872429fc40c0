// A real server process for tests and benchmarks: spawned on a free port with a folder of its own, awaited until healthy, killed or stopped
// by the caller. Failures are reported with the server's output.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { missingVariables } from "../../../src/cli/process/environment.ts";
import { PROGRAM, PROGRAM_CACHE } from "./program.ts";

const START_DEADLINE_MS = 30_000;
const STOP_DEADLINE_MS = 30_000;
/** A start takes a few hundred milliseconds; asking more often costs it more processor time than is won. */
const POLL_MS = 5;
/** Only the end of the server's output is kept. */
const OUTPUT_CHARACTERS_MAX = 64 * 1024;

export interface ServerOptions {
  /** The program with its first arguments; default: PROGRAM. */
  readonly command?: readonly string[];
  /** After `serve` and the flags that this class sets, so that a test may override them. */
  readonly flags?: readonly string[];
  /** The whole environment; default: this process's without its TSDB_ variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Kept if given; otherwise a temporary folder that is removed with the server. */
  readonly dataDir?: string;
  readonly cwd?: string;
  /** Default: requests need no tokens. If true, only /health is open. */
  readonly withAuth?: boolean;
  /** Arrow Flight on a free port; default: none. */
  readonly withFlight?: boolean;
  /** The bucket-based API on a free port; default: none. */
  readonly withBuckets?: boolean;
}

/** A server process. Owned: call `dispose`. */
export class TestServer {
  /** `http://127.0.0.1:port`, different after every start. */
  url = "";
  /** `host:port` of Arrow Flight, if enabled. */
  flightAddress = "";
  /** `http://127.0.0.1:port` of the bucket-based API, if enabled. */
  bucketsUrl = "";
  /** From spawn to the first healthy answer. */
  startMs = 0;
  readonly dataDir: string;
  private readonly folder: string;
  private process: Subprocess<"ignore", "pipe", "pipe"> | undefined;
  private captured = "";
  private captures: Promise<void>[] = [];
  private startCount = 0;
  private flags: readonly string[];

  private constructor(private readonly options: ServerOptions) {
    this.folder = mkdtempSync(join(tmpdir(), "tsdb-test-"));
    this.flags = options.flags ?? [];
    this.dataDir = options.dataDir ?? join(this.folder, "data");
  }

  /** @throws Error with the server's output when it exits or is not healthy within 30 s */
  static async start(options: ServerOptions = {}): Promise<TestServer> {
    const server = new TestServer(options);
    try {
      await server.spawn();
    } catch (error) {
      await server.dispose();
      throw error;
    }
    return server;
  }

  get pid(): number {
    return this.running().pid;
  }

  /** The end of what the server printed on standard output and standard error, over all its starts. */
  get output(): string {
    return this.captured;
  }

  /** Waits until the output matches the pattern: output may arrive later than answers. */
  async untilOutput(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.captured);
      if (found !== null) return found;
      await Bun.sleep(POLL_MS);
    }
  }

  /** Sends the signal and waits for the end. After SIGKILL nothing is flushed. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const process = this.running();
    this.process = undefined;
    process.kill(signal);
    await process.exited;
  }

  /** Waits for a server that ends by itself; returns its exit code. */
  async ended(): Promise<number> {
    const code = await this.running().exited;
    this.process = undefined;
    return code;
  }

  /** Requests a stop and kills the server `milliseconds` later, at whatever point of the shutdown. */
  async stopAndKill(milliseconds: number): Promise<void> {
    const process = this.running();
    process.kill("SIGTERM");
    await Promise.race([Bun.sleep(milliseconds), process.exited]);
    await this.kill("SIGKILL");
  }

  /** Requests a stop like a supervisor. Returns the exit code. @throws Error if it does not end within 30 s */
  async stop(): Promise<number> {
    const process = this.running();
    process.kill("SIGTERM");
    const code = await Promise.race([process.exited, Bun.sleep(STOP_DEADLINE_MS).then(() => undefined)]);
    if (code === undefined) {
      await this.kill();
      throw new Error(`the server did not stop within ${STOP_DEADLINE_MS} ms of SIGTERM\n${this.report()}`);
    }
    this.process = undefined;
    return code;
  }

  /** Restarts on the same folder, after `kill` or `stop`. `flags` replace the original ones. */
  async restart(flags?: readonly string[]): Promise<void> {
    if (this.process !== undefined) await this.stop();
    if (flags !== undefined) this.flags = flags;
    await this.spawn();
  }

  /** Restarts and kills after `milliseconds`, at whatever point of the startup. */
  async restartAndKill(milliseconds: number): Promise<void> {
    if (this.process !== undefined) throw new Error("the server is running");
    const child = this.launch(join(this.folder, `listener-${++this.startCount}`));
    await Promise.race([Bun.sleep(milliseconds), child.exited]);
    if (child.exitCode !== null) throw new Error(`the server ended (exit code ${child.exitCode}) while it started\n${this.report()}`);
    await this.kill();
  }

  /** Ends the process in any state and removes the temporary folder. */
  async dispose(): Promise<void> {
    if (this.process !== undefined) await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }

  /** Rows of a SQL statement as objects. @throws Error with the server's answer unless it is 200 */
  async sql<Row = Record<string, unknown>>(database: string, statement: string): Promise<Row[]> {
    const query = new URLSearchParams({ db: database, q: statement, format: "json" });
    const response = await fetch(`${this.url}/api/v3/query_sql?${query}`);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${statement}: ${response.status} ${text}\n${this.report()}`);
    return JSON.parse(text) as Row[];
  }

  private launch(listenerFile: string): Subprocess<"ignore", "pipe", "pipe"> {
    const command = this.options.command ?? PROGRAM;
    const child = Bun.spawn(
      [
        ...command,
        "serve",
        ...["--data-dir", this.dataDir, "--http-bind", "127.0.0.1:0", "--tcp-listener-file-path", listenerFile],
        // hundreds of servers on one disk
        ...["--disk-reserve", "256KiB"],
        ...["--password-hash-memory", "19MiB"],
        ...["--flight-bind", this.options.withFlight ? "127.0.0.1:0" : "none"],
        ...["--v2-http-bind", this.options.withBuckets ? "127.0.0.1:0" : "off"],
        ...(this.options.withAuth ? ["--disable-authz", "health"] : ["--without-auth"]),
        ...this.flags,
      ],
      {
        cwd: this.options.cwd ?? this.folder,
        env: this.options.env ?? plainEnvironment(),
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      },
    );
    this.process = child;
    endWithThisProcess(child);
    this.captures = [this.capture(child.stdout), this.capture(child.stderr)];
    return child;
  }

  private async spawn(): Promise<void> {
    const listenerFile = join(this.folder, `listener-${++this.startCount}`);
    const startedMs = performance.now();
    const earlier = flightAddressesIn(this.captured).length;
    const earlierV2 = v2AddressesIn(this.captured).length;
    const child = this.launch(listenerFile);
    const deadlineMs = startedMs + START_DEADLINE_MS;
    const address = await this.poll(child, deadlineMs, "write its address", () => addressIn(listenerFile));
    this.url = `http://${address}`;
    await this.poll(child, deadlineMs, "become healthy", async () => {
      const health = await fetch(`${this.url}/health`).catch(() => undefined);
      await health?.arrayBuffer();
      return health?.status === 200 ? true : undefined;
    });
    this.startMs = performance.now() - startedMs;
    if (this.options.withBuckets) {
      this.bucketsUrl = `http://${await this.poll(child, deadlineMs, "listen for buckets", () => v2AddressesIn(this.captured)[earlierV2])}`;
    }
    if (!this.options.withFlight) return;
    const newAddress = () => flightAddressesIn(this.captured)[earlier];
    this.flightAddress = await this.poll(child, deadlineMs, "listen for Arrow Flight", newAddress);
  }

  private async poll<T>(
    child: Subprocess,
    deadlineMs: number,
    what: string,
    look: () => T | undefined | Promise<T | undefined>,
  ): Promise<T> {
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (child.exitCode !== null || child.signalCode !== null) {
        // the last output may still be in the pipe
        await Promise.all(this.captures);
        this.process = undefined;
        throw new Error(
          `the server ended (${child.signalCode ?? `exit code ${child.exitCode}`}) before it could ${what}\n${this.report()}`,
        );
      }
      if (performance.now() > deadlineMs) throw new Error(`the server did not ${what} within ${START_DEADLINE_MS} ms\n${this.report()}`);
      await Bun.sleep(POLL_MS);
    }
  }

  private async capture(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      this.captured = (this.captured + decoder.decode(chunk, { stream: true })).slice(-OUTPUT_CHARACTERS_MAX);
    }
  }

  private report(): string {
    return this.captured === "" ? "(it printed nothing)" : `It printed:\n${this.captured.trimEnd()}`;
  }

  private running(): Subprocess<"ignore", "pipe", "pipe"> {
    if (this.process === undefined) throw new Error("the server is not running");
    return this.process;
  }
}

/** Kills the child if this process exits before it, by an error or a signal that ends in `process.exit`. */
export function endWithThisProcess(child: Subprocess): void {
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  void child.exited.then(() => process.off("exit", kill));
}

/** Addresses of Arrow Flight in the log, one per start. */
function flightAddressesIn(output: string): string[] {
  return [...output.matchAll(/flight.*listening.*address=(\S+)/g)].map(([, address]) => address!);
}

/** The same for the bucket-based API. */
function v2AddressesIn(output: string): string[] {
  return [...output.matchAll(/v2.*listening.*address=(\S+)/g)].map(([, address]) => address!);
}

/** The address in the file, once its line is complete. */
function addressIn(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  return /^(?:https?:\/\/)?(\S+:\d+)/.exec(readFileSync(file, "utf8"))?.[1];
}

/** This process's environment without variables that configure a server. */
export function plainEnvironment(): Record<string, string> {
  // not a flag: servers use the same setting as their suite
  const isFlag = (name: string) => name.startsWith("TSDB_") && name !== "TSDB_POISON_MEMORY";
  const entries = Object.entries(process.env).filter(([name, value]) => value !== undefined && !isFlag(name));
  const environment = { ...(Object.fromEntries(entries) as Record<string, string>), TSDB_CACHE_DIR: PROGRAM_CACHE };
  // a server restarts itself for them, hundreds of times
  return { ...environment, ...missingVariables(environment) };
}
