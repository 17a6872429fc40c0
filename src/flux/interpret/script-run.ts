// One run of a script: its clock, limits, options and packages.
import type { SourceLocation } from "../parse/ast.ts";
import { FluxError } from "../values/flux-error.ts";
import { Duration, FluxFunction, FluxRecord, type PackageValue, type TableStream, Time, type Value } from "../values/value.ts";
import type { FluxSource } from "./flux-source.ts";

export interface RunLimits {
  /** Calls and operators that a script may evaluate between two pauses. */
  readonly stepsMax: number;
  /** Calls in each other. */
  readonly depthMax: number;
  /** Cells that tables may hold at a time. */
  readonly cellsMax: number;
}

const UTC = FluxRecord.of({ zone: "UTC", offset: new Duration(0n, 0n) });
export const RUN_LIMITS: RunLimits = { stepsMax: 50_000_000, depthMax: 500, cellsMax: 200_000_000 };

/** Where a call stands, for errors and for profiles. */
export interface CallSite {
  readonly location: SourceLocation;
  /** Of the function. */
  readonly name: string;
}

/** What a run needs from the packages that it imports. */
export interface RunPackages {
  load(path: string, run: ScriptRun): PackageValue;
}

export class ScriptRun {
  private steps = 0;
  private depth = 0;
  /** Above 0 within functions that tables and arrays call for each item: errors there have no place of their own. */
  private inItems = 0;
  private readonly packages = new Map<string, PackageValue>();
  /** By package path and name: what `option` statements have set. */
  readonly options = new Map<string, Value>();
  /** Streams of expression statements, in their order. */
  readonly results: TableStream[] = [];
  /** Where the call stands that a native function answers. */
  site: CallSite | null = null;

  constructor(
    readonly now: Time,
    readonly source: FluxSource,
    private readonly library: RunPackages,
    readonly limits: RunLimits = RUN_LIMITS,
  ) {}

  /** @throws FluxError: the script does not come to an end */
  step(): void {
    if (++this.steps > this.limits.stepsMax) throw new FluxError("the script takes too many steps");
  }

  /** Steps count anew: others have run meanwhile. */
  pause(): void {
    this.steps = 0;
  }

  call<T>(body: () => T): T {
    if (this.depth >= this.limits.depthMax) throw new FluxError("calls are nested too deep");
    this.depth++;
    try {
      return body();
    } finally {
      this.depth--;
    }
  }

  eachItem<T>(body: () => T): T {
    this.inItems++;
    try {
      return body();
    } finally {
      this.inItems--;
    }
  }

  get isInItems(): boolean {
    return this.inItems > 0;
  }

  importPackage(path: string): PackageValue {
    let found = this.packages.get(path);
    if (found === undefined) {
      found = this.library.load(path, this);
      this.packages.set(path, found);
    }
    return found;
  }

  /** The option `location`: `{zone, offset}`. */
  get location(): FluxRecord {
    return (this.options.get("universe.location") ?? UTC) as FluxRecord;
  }

  /** What `now()` gives. */
  get nowTime(): Time {
    const option = this.options.get("universe.now");
    const value = option instanceof FluxFunction ? option.call(new Map()) : this.now;
    return value instanceof Time ? value : this.now;
  }
}
