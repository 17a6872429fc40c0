// A real server process for tests and benches: spawned on a free port with a folder of its own, awaited until it is healthy, killed or
// stopped by the caller. Whatever goes wrong is reported with what the server printed.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";

const ROOT = join(import.meta.dir, "../..");
const START_DEADLINE_MS = 30_000;
const STOP_DEADLINE_MS = 30_000;
const POLL_MS = 2;
/** What is kept of the server's output: its end. */
const OUTPUT_CHARACTERS_MAX = 64 * 1024;

export interface ServerOptions {
  /** The program with its first arguments; default: this Bun with src/main.ts. */
  readonly command?: readonly string[];
  /** After `serve` and the flags that this spawner needs, so a test may override them. */
  readonly flags?: readonly string[];
  /** The whole environment; default: this process's without its TSDB_ variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Kept when given; otherwise a temporary folder that goes with the server. */
  readonly dataDir?: string;
  readonly cwd?: string;
  /** Default: no tokens are asked for. With it, only /health is open. */
  readonly withAuth?: boolean;
  /** Arrow Flight on a free port; default: none. */
  readonly withFlight?: boolean;
  /** The bucket-based API on a free port; default: none. */
  readonly withBuckets?: boolean;
}

export class TestServer {
  /** `http://127.0.0.1:port`, another one after every start. */
  url = "";
  /** `host:port` of Arrow Flight, when it was asked for. */
  flightAddress = "";
  /** `http://127.0.0.1:port` of the bucket-based API, when it was asked for. */
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

  /** What the pattern finds in the output, once it is there: what a process prints comes later than what it answers. */
  async untilOutput(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.captured);
      if (found !== null) return found;
      await Bun.sleep(POLL_MS);
    }
  }

  /** Sends the signal and waits for the end. Nothing is flushed after SIGKILL. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const process = this.running();
    this.process = undefined;
    process.kill(signal);
    await process.exited;
  }

  /** Waits for a server that ends by itself; its exit code. */
  async ended(): Promise<number> {
    const code = await this.running().exited;
    this.process = undefined;
    return code;
  }

  /** Asks the server to stop and kills it `milliseconds` later, wherever the stop has got to. */
  async stopAndKill(milliseconds: number): Promise<void> {
    const process = this.running();
    process.kill("SIGTERM");
    await Promise.race([Bun.sleep(milliseconds), process.exited]);
    await this.kill("SIGKILL");
  }

  /** Asks the server to stop, as a supervisor would. Returns its exit code. @throws Error when it does not end within 30 s */
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

  /** Starts again on the same folder, after `kill` or `stop`. `flags` replace those it was made with. */
  async restart(flags?: readonly string[]): Promise<void> {
    if (this.process !== undefined) await this.stop();
    if (flags !== undefined) this.flags = flags;
    await this.spawn();
  }

  /** Starts again and kills after `milliseconds`, wherever the start has got to. */
  async restartAndKill(milliseconds: number): Promise<void> {
    if (this.process !== undefined) throw new Error("the server is running");
    const child = this.launch(join(this.folder, `listener-${++this.startCount}`));
    await Promise.race([Bun.sleep(milliseconds), child.exited]);
    if (child.exitCode !== null) throw new Error(`the server ended (exit code ${child.exitCode}) while it started\n${this.report()}`);
    await this.kill();
  }

  /** Ends the process whatever its state and removes the temporary folder. */
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
    const command = this.options.command ?? [process.execPath, join(ROOT, "src/main.ts")];
    const child = Bun.spawn(
      [
        ...command,
        "serve",
        ...["--data-dir", this.dataDir, "--http-bind", "127.0.0.1:0", "--tcp-listener-file-path", listenerFile],
        // hundreds of servers on one disk
        ...["--disk-reserve", "256KiB"],
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
        // what it printed last may still be in the pipe
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

/** Kills the child when this process exits before it, by an error or a signal that ends in `process.exit`. */
export function endWithThisProcess(child: Subprocess): void {
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  void child.exited.then(() => process.off("exit", kill));
}

/** Where the log says that Arrow Flight is, a place for each start. */
function flightAddressesIn(output: string): string[] {
  return [...output.matchAll(/flight.*listening.*address=(\S+)/g)].map(([, address]) => address!);
}

/** The same of the bucket-based API. */
function v2AddressesIn(output: string): string[] {
  return [...output.matchAll(/v2.*listening.*address=(\S+)/g)].map(([, address]) => address!);
}

/** The address in the file, once its line is complete. */
function addressIn(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  return /^(?:https?:\/\/)?(\S+:\d+)/.exec(readFileSync(file, "utf8"))?.[1];
}

/** This process's environment without what would configure a server. */
export function plainEnvironment(): Record<string, string> {
  // the one that is no flag: what a suite runs with its servers run with
  const isFlag = (name: string) => name.startsWith("TSDB_") && name !== "TSDB_POISON_MEMORY";
  const entries = Object.entries(process.env).filter(([name, value]) => value !== undefined && !isFlag(name));
  return Object.fromEntries(entries) as Record<string, string>;
}
