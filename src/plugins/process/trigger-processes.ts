// The processes of one trigger: one, or several if its runs may overlap. A run waits for a free process. A process that ended badly is
// replaced after a pause that grows.
import { LIMITS } from "../../model/limits.ts";
import type { PluginFailure, PluginOutcome } from "../plugin-call.ts";
import { failure, type PluginProcess, type ProcessCall, stopped } from "./plugin-process.ts";

const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 10_000;

export interface TriggerProcessesParts {
  readonly processesMax: number;
  /** A process takes one call only. */
  readonly isOnce: boolean;
  /** A new process. @throws Error when it cannot be started */
  readonly start: () => Promise<PluginProcess>;
}

export class TriggerProcesses {
  private readonly processes = new Set<PluginProcess>();
  /** Those with a run, also one that is about to begin or has just ended. */
  private readonly busy = new Set<PluginProcess>();
  private readonly runs = new Set<Promise<unknown>>();
  private readonly waiting: (() => void)[] = [];
  private startingCount = 0;
  /** Bad ends since the last run that went well. */
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

  /** How many there are, those about to start included. */
  get count(): number {
    return this.processes.size + this.startingCount;
  }

  /** Processes that have nothing to do. */
  get idle(): readonly PluginProcess[] {
    return [...this.processes].filter((process) => !this.busy.has(process) && !process.isSpent);
  }

  /** Each process takes no further call: the interpreter has changed. */
  renew(): void {
    for (const process of this.processes) {
      process.isSpent = true;
      if (!this.busy.has(process)) process.kill();
    }
  }

  /** Ends what runs, and the processes. */
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

  /** Null: the run was stopped while it waited. An error: no process can be started. */
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
      const process = await this.parts.start();
      this.processes.add(process);
      this.busy.add(process);
      void process.ended.then(() => {
        this.processes.delete(process);
        this.busy.delete(process);
        this.waiting.shift()?.();
      });
      return process;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      this.startingCount--;
      // of those that wait for it, when it came to nothing
      this.waiting.shift()?.();
    }
  }

  /** Until a process may be free. */
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
