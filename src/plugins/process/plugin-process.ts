// One Python process: runs calls one at a time, answers what the plugin asks of the server, and ends what does not end by itself.
import type { Subprocess } from "bun";
import { LIMITS } from "../../model/limits.ts";
import type { PluginFailure, PluginFailureKind, PluginLogLevel, PluginOutcome } from "../plugin-call.ts";
import type { PluginRun } from "../plugin-runtime.ts";
import { FrameReader, frameParts, GarbageError } from "./frames.ts";
import { BOOT, bootData } from "./host-source.ts";
import type { CallFrame } from "./payload.ts";
import { ResidentWatch } from "./resident-watch.ts";
import { finished, type RunRequests } from "./run-requests.ts";

/** How long a plugin has to end after KeyboardInterrupt. */
const GRACE_MS = 2000;
/** Of ../python/frames.py: what the server sent did not fit the memory limit. */
const EXIT_MEMORY = 77;
const PRINT_LINE_MAX = 4096;

export interface ProcessOptions {
  readonly python: string;
  /** The working folder of plugins. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly memoryBytesMax: number;
  /** 0 = no limit. */
  readonly timeMsMax: number;
  /** What the plugin prints, and what it logs when no run is under way. */
  readonly onPrinted: (text: string, level: PluginLogLevel) => void;
}

/** What a process is asked to run. */
export interface ProcessCall extends PluginRun {
  readonly frame: CallFrame;
  readonly requests: RunRequests;
}

/** The run that is under way. */
interface CurrentRun extends ProcessCall {
  readonly settle: (outcome: PluginOutcome) => void;
  readonly over: AbortController;
  /** Why it is being ended, if it is. */
  cause: PluginFailure | null;
  /** The plugin's function has returned: what it wrote is being stored. */
  hasReturned: boolean;
}

type Python = Subprocess<"pipe", "pipe", "pipe">;

export class PluginProcess {
  /** Values that the trigger keeps in this process. */
  cachedValues = 0;
  /** It takes no further call. */
  isSpent = false;
  /** Since when it has had no run; of a clock that never goes back. */
  idleSinceMs = performance.now();
  /** Resolves when the process and what it forked are gone. */
  readonly ended: Promise<void>;
  private readonly python: Python;
  private readonly reader = new FrameReader();
  private run: CurrentRun | null = null;
  private printedBytes = 0;
  private sending: Promise<unknown> = Promise.resolve();

  /** @throws Error when there is no such program */
  constructor(private readonly options: ProcessOptions) {
    const { python, folder, environment, memoryBytesMax } = options;
    // -I: neither variables nor the user's own packages change what is loaded; -u: what is printed is seen at once
    this.python = Bun.spawn([python, "-I", "-u", "-X", "utf8", "-c", BOOT], {
      ...{ cwd: folder, env: { ...environment }, stdin: "pipe", stdout: "pipe", stderr: "pipe" },
    });
    this.write([bootData({ memoryBytesMax })]);
    void this.readFrames();
    void this.readPrinted();
    this.ended = this.python.exited.then(() => this.exited());
  }

  get pid(): number {
    return this.python.pid;
  }

  /** Never rejects. After a failure other than of the plugin's own code the process is spent. */
  async call(call: ProcessCall): Promise<PluginOutcome> {
    if (call.signal.aborted) return failed(stopped());
    this.printedBytes = 0;
    const { promise, resolve } = Promise.withResolvers<PluginOutcome>();
    const run: CurrentRun = { ...call, settle: resolve, over: new AbortController(), cause: null, hasReturned: false };
    this.run = run;
    const { timeMsMax, memoryBytesMax } = this.options;
    const onAbort = () => this.end(stopped(), GRACE_MS);
    call.signal.addEventListener("abort", onAbort);
    const timer = timeMsMax === 0 ? undefined : setTimeout(() => this.end(timedOut(timeMsMax), GRACE_MS), timeMsMax);
    const watch = new ResidentWatch(this.pid, memoryBytesMax, () => this.end(outOfMemory(memoryBytesMax), 0));
    try {
      this.write(frameParts(call.frame.head, call.frame.blobs));
      return await promise;
    } finally {
      clearTimeout(timer);
      watch.stop();
      call.signal.removeEventListener("abort", onAbort);
      run.over.abort();
      this.idleSinceMs = performance.now();
    }
  }

  /** At once, with what it forked. */
  kill(): void {
    this.isSpent = true;
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      this.python.kill("SIGKILL"); // it has no group of its own yet, or is gone
    }
  }

  /** Ends the run for a reason: KeyboardInterrupt, and after `graceMs` the process. */
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
    // what the process does not read any more is of no use to it
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
    // raised because it was to end
    if (own !== null && run.cause !== null) this.settle(failed({ ...run.cause, traceback: own.traceback }));
    else if (own !== null) this.settle(failed(own));
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

  /** Lines of output and of tracebacks that nobody caught. */
  private async readPrinted(): Promise<void> {
    const decoder = new TextDecoder();
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

export function failure(kind: PluginFailureKind, message: string): PluginFailure {
  return { kind, message, traceback: null };
}

export function stopped(): PluginFailure {
  return failure("stopped", "the run was stopped");
}

function timedOut(milliseconds: number): PluginFailure {
  return failure("timeout", `the run took longer than ${milliseconds / 1000} s (--plugin-time-limit)`);
}

function outOfMemory(bytesMax: number): PluginFailure {
  return failure("memory", `the plugin's process took more than ${Math.round(bytesMax / 2 ** 20)} MiB (--plugin-mem-limit)`);
}
