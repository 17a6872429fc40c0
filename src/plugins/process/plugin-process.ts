// One Python process: runs calls one at a time, answers the plugin's requests to the server, and enforces its limits.
import type { Subprocess } from "bun";
import { LIMITS } from "../../model/limits.ts";
import type { PluginFailure, PluginFailureKind, PluginLogLevel, PluginOutcome } from "../plugin-call.ts";
import type { PluginRun } from "../plugin-runtime.ts";
import { FrameReader, frameParts, GarbageError } from "./frames.ts";
import { BOOT, type BootOptions, bootData } from "./host-source.ts";
import { MARK, type MarkedProcesses } from "./marked-processes.ts";
import type { CallFrame } from "./payload.ts";
import { ResidentWatch } from "./resident-watch.ts";
import { finished, type RunRequests } from "./run-requests.ts";

/** Grace period between KeyboardInterrupt and SIGKILL. */
const GRACE_MS = 2000;
/** For the interpreter to start, before the time limit of the run begins. */
const START_MS_MAX = 60_000;
/** Exit code of ../python/frames.py: a received frame exceeded the memory limit. */
const EXIT_MEMORY = 77;
const PRINT_LINE_MAX = 4096;

export interface ProcessOptions extends BootOptions {
  readonly python: string;
  /** Working directory of plugins. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Identifies the process and all that it starts. */
  readonly mark: string;
  readonly marked: MarkedProcesses;
  /** 0 = no limit. */
  readonly timeMsMax: number;
  /** Receives the plugin's output, and log lines outside of a run. */
  readonly onPrinted: (text: string, level: PluginLogLevel) => void;
}

/** A call for a process. */
export interface ProcessCall extends PluginRun {
  readonly frame: CallFrame;
  readonly requests: RunRequests;
}

/** The current run. */
interface CurrentRun extends ProcessCall {
  readonly settle: (outcome: PluginOutcome) => void;
  readonly over: AbortController;
  /** The reason for which it is being ended; null: none. */
  cause: PluginFailure | null;
  /** The plugin's function has returned, and its writes are being stored. */
  hasReturned: boolean;
}

type Python = Subprocess<"pipe", "pipe", "pipe">;

/** One Python process. Owned: call `kill`. */
export class PluginProcess {
  /** Number of values that the trigger caches in this process. */
  cachedValues = 0;
  /** True: it accepts no further call. */
  isSpent = false;
  /** Start of its idle time, by a monotonic clock. */
  idleSinceMs = performance.now();
  /** Resolves when the process and its children have ended. */
  readonly ended: Promise<void>;
  /** Resolves when the interpreter waits for calls, or has ended. */
  readonly started: Promise<void>;
  private readonly onReady: () => void;
  private readonly python: Python;
  private readonly reader = new FrameReader();
  private run: CurrentRun | null = null;
  private isReady = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private printedBytes = 0;
  private sending: Promise<unknown> = Promise.resolve();

  /** @throws Error if the program does not exist */
  constructor(private readonly options: ProcessOptions) {
    const { python, folder, environment, mark, marked, memoryBytesMax, niceness } = options;
    // -I: environment variables and user packages do not affect imports; -u: output is not buffered
    this.python = Bun.spawn([python, "-I", "-u", "-X", "utf8", "-c", BOOT], {
      ...{ cwd: folder, env: { ...environment, [MARK]: mark }, stdin: "pipe", stdout: "pipe", stderr: "pipe" },
    });
    this.write([bootData({ memoryBytesMax, niceness })]);
    void this.readFrames();
    void this.readPrinted();
    this.ended = this.python.exited.then(() => this.exited()).then(() => marked.kill(mark));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.started = Promise.race([promise, this.ended]);
    this.onReady = resolve;
  }

  get pid(): number {
    return this.python.pid;
  }

  /** Never rejects. After a failure that is not an exception of the plugin's code the process is spent. */
  async call(call: ProcessCall): Promise<PluginOutcome> {
    if (call.signal.aborted) return failed(stopped());
    this.printedBytes = 0;
    const { promise, resolve } = Promise.withResolvers<PluginOutcome>();
    const run: CurrentRun = { ...call, settle: resolve, over: new AbortController(), cause: null, hasReturned: false };
    this.run = run;
    const { memoryBytesMax } = this.options;
    const onAbort = () => this.end(stopped(), GRACE_MS);
    call.signal.addEventListener("abort", onAbort);
    if (this.isReady) this.limitTime();
    else this.timer = setTimeout(() => this.end(notStarted(), 0), START_MS_MAX);
    const watch = new ResidentWatch(this.pid, memoryBytesMax, () => this.end(outOfMemory(memoryBytesMax), 0));
    try {
      this.write(frameParts(call.frame.head, call.frame.blobs));
      return await promise;
    } finally {
      clearTimeout(this.timer);
      watch.stop();
      call.signal.removeEventListener("abort", onAbort);
      run.over.abort();
      this.idleSinceMs = performance.now();
    }
  }

  /** Ends an idle process in favor of another trigger's. */
  evict(): Promise<void> {
    const { cachedValues } = this;
    if (cachedValues > 0)
      this.options.onPrinted(`the process ends for another trigger's, and its ${cachedValues} cached values with it`, "warn");
    this.kill();
    return this.ended;
  }

  /** Kills the process group immediately. */
  kill(): void {
    this.isSpent = true;
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      this.python.kill("SIGKILL"); // it has no group of its own yet, or is gone
    }
  }

  private limitTime(): void {
    const { timeMsMax } = this.options;
    clearTimeout(this.timer);
    if (timeMsMax > 0) this.timer = setTimeout(() => this.end(timedOut(timeMsMax), GRACE_MS), timeMsMax);
  }

  /** Ends the run with a cause: KeyboardInterrupt, and SIGKILL after `graceMs`. */
  private end(cause: PluginFailure, graceMs: number): void {
    const { run } = this;
    if (run === null || run.cause !== null || run.hasReturned) return;
    run.cause = cause;
    run.over.abort();
    if (graceMs === 0) {
      this.kill();
      return;
    }
    this.python.kill("SIGINT");
    const timer = setTimeout(() => {
      if (this.run === run) this.kill();
    }, graceMs);
    timer.unref();
  }

  private settle(outcome: PluginOutcome): void {
    const { run } = this;
    this.run = null;
    run?.settle(outcome);
  }

  private write(parts: readonly Uint8Array[]): void {
    const { stdin } = this.python;
    // a process that no longer reads is replaced
    this.sending = this.sending.then(async () => {
      for (const part of parts) stdin.write(part);
      await stdin.flush();
    });
    this.sending.catch(() => this.kill());
  }

  private async readFrames(): Promise<void> {
    try {
      for await (const chunk of this.python.stdout) {
        for (const { head, blob } of this.reader.take(chunk)) this.received(head, blob);
      }
    } catch (error) {
      const message = error instanceof GarbageError ? error.message : `${error}`;
      if (this.run !== null) this.run.cause ??= failure("garbage", `the plugin's process sent ${message}`);
      this.kill();
    }
  }

  private received(head: Readonly<Record<string, unknown>>, blob: Uint8Array): void {
    const { run } = this;
    switch (head["t"]) {
      case "ready":
        // the plugin's own code might send it again
        if (!this.isReady && run !== null) this.limitTime();
        this.isReady = true;
        this.onReady();
        return;
      case "log":
        this.logged(head);
        return;
      case "done":
        if (run === null) throw new GarbageError("the end of a run that is over");
        this.cachedValues = typeof head["cached"] === "number" ? head["cached"] : 0;
        void this.done(run, head, blob);
        return;
      default:
        void this.answer(head, blob);
    }
  }

  private logged(head: Readonly<Record<string, unknown>>): void {
    const { level, text } = head;
    if ((level !== "info" && level !== "warn" && level !== "error") || typeof text !== "string")
      throw new GarbageError("a log line of no level");
    if (this.run === null) this.options.onPrinted(text, level);
    else this.run.onLog({ level, text });
  }

  /** The plugin's function has returned or raised. */
  private async done(run: CurrentRun, head: Readonly<Record<string, unknown>>, blob: Uint8Array): Promise<void> {
    const outcome = finished(head, blob);
    if (outcome instanceof GarbageError) {
      run.cause ??= failure("garbage", `the plugin's process sent ${outcome.message}`);
      this.kill();
      return;
    }
    const { failure: own } = outcome;
    if (own !== null && own.kind === "memory") this.isSpent = true;
    // raised by the interrupt
    if (own !== null && run.cause !== null) this.settle(failed({ ...run.cause, traceback: own.traceback }));
    // a plugin that interrupts itself, as timers of libraries do, is stopped by nobody else: the run has failed
    else if (own !== null) this.settle(failed(own.kind === "stopped" ? { ...own, kind: "exception" } : own));
    else {
      run.hasReturned = true;
      this.settle(await run.requests.store(outcome));
    }
  }

  /** A request of the plugin to the server. */
  private async answer(head: Readonly<Record<string, unknown>>, blob: Uint8Array): Promise<void> {
    const { id } = head;
    if (this.run === null) {
      this.write(frameParts({ t: "reply", id, error: "no run is under way: what a plugin's thread asks between runs is not answered" }));
      return;
    }
    const { requests, over } = this.run;
    try {
      for await (const { reply, data } of requests.answer(head, blob, over.signal)) {
        this.write(frameParts({ ...reply, id }, [data]));
        await this.sending;
      }
    } catch (error) {
      if (error instanceof GarbageError && this.run !== null) {
        this.run.cause ??= failure("garbage", `the plugin's process sent ${error.message}`);
      }
      this.kill();
    }
  }

  /** Forwards output and uncaught tracebacks line by line. */
  private async readPrinted(): Promise<void> {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    let rest = "";
    for await (const chunk of this.python.stderr) {
      const isFull = this.printedBytes > LIMITS.pluginPrintBytesMax;
      this.printedBytes += chunk.byteLength;
      if (isFull) continue;
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop()!;
      if (rest.length > PRINT_LINE_MAX) {
        lines.push(rest);
        rest = "";
      }
      for (const line of lines) if (line !== "") this.options.onPrinted(line.slice(0, PRINT_LINE_MAX), "info");
      if (this.printedBytes > LIMITS.pluginPrintBytesMax)
        this.options.onPrinted("the plugin prints too much: the rest is left out", "warn");
    }
    if (rest !== "") this.options.onPrinted(rest, "info");
  }

  private exited(): void {
    const { exitCode, signalCode } = this.python;
    this.kill(); // what it forked
    const { run } = this;
    if (run === null || run.hasReturned) return;
    const how = signalCode === null ? `with exit code ${exitCode}` : `by ${signalCode}`;
    const own =
      exitCode === EXIT_MEMORY
        ? outOfMemory(this.options.memoryBytesMax)
        : failure("exit", `the plugin's process ended ${how} during a run`);
    this.settle(failed(run.cause ?? own));
  }
}

function failed(reason: PluginFailure): PluginOutcome {
  return { failure: reason, response: null, writes: [] };
}

/** A failed run with its reason. */
export function failure(kind: PluginFailureKind, message: string): PluginFailure {
  return { kind, message, traceback: null };
}

/** The failure of a run that was stopped. */
export function stopped(): PluginFailure {
  return failure("stopped", "the run was stopped");
}

function notStarted(): PluginFailure {
  return failure("no-python", `Python did not start within ${START_MS_MAX / 1000} s`);
}

function timedOut(milliseconds: number): PluginFailure {
  return failure("timeout", `the run took longer than ${milliseconds / 1000} s (--plugin-time-limit)`);
}

function outOfMemory(bytesMax: number): PluginFailure {
  return failure("memory", `the plugin's process took more than ${Math.round(bytesMax / 2 ** 20)} MiB (--plugin-mem-limit)`);
}
