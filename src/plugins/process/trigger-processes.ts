// The process pool of one trigger: one process, or several if its runs may overlap. Runs wait for a free process. A process that failed
// is replaced after an exponentially growing pause.
import { LIMITS } from "../../model/limits.ts";
import type { PluginFailure, PluginOutcome } from "../plugin-call.ts";
import { failure, type PluginProcess, type ProcessCall, stopped } from "./plugin-process.ts";

const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 10_000;

export interface TriggerProcessesParts {
  readonly processesMax: number;
  /** Each process runs a single call. */
  readonly isOnce: boolean;
  /** Starts a process, unless `signal` is aborted before its turn. @throws Error if it cannot be started, or is not wanted any more */
  readonly start: (signal: AbortSignal) => Promise<PluginProcess>;
}

/** The processes of one trigger. Owned: call `stop`. */
export class TriggerProcesses {
  private readonly processes = new Set<PluginProcess>();
  /** Processes assigned to a run, including runs that are starting or ending. */
  private readonly busy = new Set<PluginProcess>();
  private readonly runs = new Set<Promise<unknown>>();
  private readonly waiting: (() => void)[] = [];
  private startingCount = 0;
  /** Failures since the last successful run. */
  private failureCount = 0;
  private readonly stopping = new AbortController();

  constructor(private readonly parts: TriggerProcessesParts) {}

  /** Never rejects. */
  async run(call: ProcessCall): Promise<PluginOutcome> {
    if (this.waiting.length >= LIMITS.pluginWaitingMax) {
      return failed(failure("busy", `${this.waiting.length} runs of the trigger wait already`));
    }
    const run = this.runIn({ ...call, signal: AbortSignal.any([call.signal, this.stopping.signal]) });
    this.runs.add(run);
    void run.then(() => this.runs.delete(run));
    return run;
  }

  /** Number of processes, including those that are starting. */
  get count(): number {
    return this.processes.size + this.startingCount;
  }

  /** Idle processes. */
  get idle(): readonly PluginProcess[] {
    return [...this.processes].filter((process) => !this.busy.has(process) && !process.isSpent);
  }

  /** Retires all processes, because the interpreter has changed. */
  renew(): void {
    for (const process of this.processes) {
      process.isSpent = true;
      if (!this.busy.has(process)) process.kill();
    }
  }

  /** Ends all runs and processes. */
  async stop(): Promise<void> {
    this.stopping.abort();
    for (const wake of this.waiting.splice(0)) wake();
    await Promise.all(this.runs);
    for (const process of this.processes) process.kill();
    await Promise.all([...this.processes].map(({ ended }) => ended));
  }

  private async runIn(call: ProcessCall): Promise<PluginOutcome> {
    const process = await this.acquire(call.signal);
    if (process === null) return failed(stopped());
    if (process instanceof Error) return failed(failure("no-python", process.message));
    const outcome = await process.call(call);
    this.release(process, outcome);
    return outcome;
  }

  /** Returns null if the run was stopped while it waited, an error if no process can be started. */
  private async acquire(signal: AbortSignal): Promise<PluginProcess | Error | null> {
    for (;;) {
      if (signal.aborted) return null;
      const [free] = this.idle;
      if (free !== undefined) {
        this.busy.add(free);
        return free;
      }
      if (this.usable + this.startingCount < this.parts.processesMax) return this.start(signal);
      await this.turn(signal);
    }
  }

  private get usable(): number {
    return [...this.processes].filter((process) => !process.isSpent).length;
  }

  private async start(signal: AbortSignal): Promise<PluginProcess | Error | null> {
    this.startingCount++;
    try {
      if (this.failureCount > 0) await pause(Math.min(PAUSE_MS_MIN * 2 ** (this.failureCount - 1), PAUSE_MS_MAX), signal);
      if (signal.aborted) return null;
      const process = await this.parts.start(signal);
      this.processes.add(process);
      this.busy.add(process);
      void process.ended.then(() => {
        this.processes.delete(process);
        this.busy.delete(process);
        this.waiting.shift()?.();
      });
      return process;
    } catch (error) {
      if (signal.aborted) return null;
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      this.startingCount--;
      // a failed start lets the next waiting run try
      this.waiting.shift()?.();
    }
  }

  /** Waits until a process may be free. */
  private turn(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => {
      signal.removeEventListener("abort", leave);
      resolve();
    };
    const leave = () => {
      const at = this.waiting.indexOf(wake);
      if (at >= 0) this.waiting.splice(at, 1);
      resolve();
    };
    this.waiting.push(wake);
    signal.addEventListener("abort", leave, { once: true });
    return promise;
  }

  private release(process: PluginProcess, { failure: own }: PluginOutcome): void {
    const isBad = own !== null && own.kind !== "stopped" && (process.isSpent || own.kind === "timeout");
    this.failureCount = isBad ? this.failureCount + 1 : 0;
    this.busy.delete(process);
    if (process.isSpent || this.parts.isOnce) process.kill();
    this.waiting.shift()?.();
  }
}

function failed(reason: PluginFailure): PluginOutcome {
  return { failure: reason, response: null, writes: [] };
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}
