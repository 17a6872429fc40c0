// What a script may use: steps, nested calls, memory, and time between two pauses. All of them end in an error of the script.
import { FluxError } from "../values/flux-error.ts";

export interface RunLimits {
  /** Calls and operators that a script may evaluate between two pauses. */
  readonly stepsMax: number;
  /** Calls in each other. */
  readonly depthMax: number;
  /** Cells that tables may hold at a time, with 8 bytes each. */
  readonly cellsMax: number;
  /** Approximate bytes of arrays, records and texts that may be made between two pauses. */
  readonly bytesMax: number;
  /** Computation between two pauses. A worker that is away from its event loop for 5 s is given up. */
  readonly busyMsMax: number;
}

/** Limits for a statement that may take so much memory. */
export function limitsFor(memoryBytes: number): RunLimits {
  return { ...RUN_LIMITS, cellsMax: Math.min(RUN_LIMITS.cellsMax, memoryBytes / 8), bytesMax: Math.min(RUN_LIMITS.bytesMax, memoryBytes) };
}

export const RUN_LIMITS: RunLimits = {
  stepsMax: 50_000_000,
  depthMax: 500,
  cellsMax: 200_000_000,
  bytesMax: 1 << 30,
  busyMsMax: 2500,
};

/** Approximate bytes of an item of an array or a field of a record with its value. */
export const ITEM_BYTES = 32;
/** Steps between two looks at the clock; a power of two. */
const CHECK_STEPS = 1024;
/** What a native function reads or writes in about the time of a step. */
const STEP_BYTES = 1024;
/** Loops over rows pause after this time. */
const PAUSE_MS = 50;

/** What one run has used of its limits. */
export class RunUse {
  private steps = 0;
  private bytes = 0;
  private cells = 0;
  /** Most cells that were held at a time. */
  cellsPeak = 0;
  private depth = 0;
  private pausedAtMs = performance.now();
  /** True when a loop over rows should pause. */
  isPauseDue = false;

  /** @param watch throws when the statement was cancelled */
  constructor(
    private readonly limits: RunLimits,
    private readonly watch: () => void,
  ) {}

  /** One call or operator. @throws FluxError: the script does not come to an end */
  step(): void {
    if ((++this.steps & (CHECK_STEPS - 1)) === 0) this.check();
  }

  /** Work of a native function, in steps. @throws FluxError */
  work(steps: number): void {
    const before = this.steps;
    this.steps += steps;
    if (Math.floor(before / CHECK_STEPS) !== Math.floor(this.steps / CHECK_STEPS)) this.check();
  }

  /** Work of a native function on a text or an array of this size. @throws FluxError */
  workOn(bytes: number): void {
    if (bytes >= STEP_BYTES) this.work(Math.floor(bytes / STEP_BYTES));
  }

  /** @throws FluxError, or what the statement's cancellation throws */
  check(): void {
    if (this.steps > this.limits.stepsMax) throw new FluxError("the script takes too many steps");
    this.watch();
    const busyMs = performance.now() - this.pausedAtMs;
    if (busyMs > this.limits.busyMsMax)
      throw new FluxError(`the script computes for more than ${this.limits.busyMsMax} ms without a pause`);
    if (busyMs > PAUSE_MS) this.isPauseDue = true;
  }

  /** Others have run meanwhile: steps, bytes and time count anew. */
  pause(): void {
    this.steps = 0;
    this.bytes = 0;
    this.isPauseDue = false;
    this.pausedAtMs = performance.now();
  }

  /** Memory that values of the script are about to take. @throws FluxError: too much */
  charge(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.limits.bytesMax) throw new FluxError(`the script's values would take more than ${this.limits.bytesMax} bytes`);
    this.workOn(bytes);
  }

  /** @param count cells that a table is about to have, besides those that are held @throws FluxError: too many */
  checkCells(count: number): void {
    const { cellsMax } = this.limits;
    if (this.cells + count > cellsMax) throw new FluxError(`the script would need tables of more than ${cellsMax} cells`);
  }

  /** @throws FluxError: too many */
  holdCells(count: number): void {
    this.checkCells(count);
    this.cells += count;
    if (this.cells > this.cellsPeak) this.cellsPeak = this.cells;
  }

  releaseCells(count: number): void {
    this.cells -= count;
  }

  /** @throws FluxError: too many calls in each other */
  enter(): void {
    if (this.depth >= this.limits.depthMax) throw new FluxError("calls are nested too deep");
    this.depth++;
  }

  leave(): void {
    this.depth--;
  }
}
