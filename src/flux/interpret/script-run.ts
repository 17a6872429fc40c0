// One run of a script: its clock, limits, options and packages.
import type { SourceLocation } from "../parse/ast.ts";
import { Duration, FluxFunction, FluxRecord, type Items, type PackageValue, type TableStream, Time, type Value } from "../values/value.ts";
import type { FluxSource } from "./flux-source.ts";
import { OperandError } from "./operators.ts";
import { OutsideCalls } from "./outside.ts";
import { RUN_LIMITS, type RunLimits, RunUse } from "./run-limits.ts";
import type { FluxServices } from "./services.ts";

const UTC = FluxRecord.of({ zone: "UTC", offset: new Duration(0n, 0n) });

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

/** Measures the time that operators take. */
export interface OperatorClock {
  /** The items, with the clock running for the operator while it makes them; null is a pause. */
  timed<T>(operator: object, items: Iterable<T | null>): Iterable<T | null>;
}

/** What `option` statements have set. */
class SetOptions {
  private readonly byPath = new Map<string, Map<string, Value>>();

  get(path: string, name: string): Value | undefined {
    return this.byPath.get(path)?.get(name);
  }

  set(path: string, name: string, value: Value): void {
    let found = this.byPath.get(path);
    if (found === undefined) {
      found = new Map();
      this.byPath.set(path, found);
    }
    found.set(name, value);
  }
}

/** The state of one run of a script. */
export class ScriptRun {
  /** What the run has used of its limits. */
  readonly use: RunUse;
  /** Above 0 within functions that tables and arrays call for each item: errors there have no place of their own. */
  private inItems = 0;
  /** Above 0 within functions of rows. */
  private inRows = 0;
  /** Above 0 within functions of rows that the reference computes column by column. */
  private inColumns = 0;
  /** Whether an error has passed an operator that gives its tables at the end of its input: there is none of them then. */
  isGathered = false;
  /** Whether a comparison of values that do not compare is false. */
  isLoose = false;
  private readonly packages = new Map<string, PackageValue>();
  readonly options = new SetOptions();
  /** Streams of expression statements, in their order. */
  readonly results: TableStream[] = [];
  /** Whether `filter`, `map` and `reduce` may compute column by column: the answers are the same. */
  rowFunctions: "compiled" | "interpreted" = "compiled";
  /** Whether windows that come together again are computed at once, not by a table for each: the answers are the same. */
  windows: "at once" | "by tables" = "at once";
  /** Streams that write: each is a result unless another reads it. */
  readonly effects: TableStream[] = [];
  /** Whether operators are left to the source where it can do them: the answers are the same. */
  pushesDown = true;
  /** Values of time literals by their numbers; absent: those that the code was compiled with. */
  times: readonly Time[] = [];
  /** Where the call stands that a native function answers. */
  site: CallSite | null = null;
  /** Set where the script wants times of its operators. */
  profile: OperatorClock | null = null;
  /** Calls that this evaluation makes to what is outside. */
  readonly outside = new OutsideCalls();

  constructor(
    readonly now: Time,
    readonly source: FluxSource,
    private readonly library: RunPackages,
    limits: RunLimits = RUN_LIMITS,
    readonly services: FluxServices = {},
    watch: () => void = () => {},
  ) {
    this.use = new RunUse(limits, watch);
  }

  /** Others have run meanwhile. */
  pause(): void {
    this.use.pause();
  }

  /** @param count cells that a table is about to have @throws FluxError: too many */
  checkCells(count: number): void {
    this.use.checkCells(count);
  }

  /** Runs a function of the script: nulls and errors in it are those of ordinary code, also where a function of rows calls it. */
  call<T>(body: () => T): T {
    const { inItems, inRows, inColumns } = this;
    this.use.enter();
    this.inItems = 0;
    this.inRows = 0;
    this.inColumns = 0;
    try {
      return body();
    } catch (error) {
      if (inItems > 0 && error instanceof OperandError) error.isOfCall = true;
      throw error;
    } finally {
      this.inItems = inItems;
      this.inRows = inRows;
      this.inColumns = inColumns;
      this.use.leave();
    }
  }

  /** As the reference's storage compares: values of other types are neither equal nor in an order. */
  loosely<T>(body: () => T): T {
    this.isLoose = true;
    try {
      return body();
    } finally {
      this.isLoose = false;
    }
  }

  eachItem<T>(body: () => T, of: Items): T {
    this.use.enter();
    const row = of === "values" ? 0 : 1;
    const column = of === "columns" ? 1 : 0;
    this.inItems++;
    this.inRows += row;
    this.inColumns += column;
    try {
      return body();
    } finally {
      this.inItems--;
      this.inRows -= row;
      this.inColumns -= column;
      this.use.leave();
    }
  }

  /** Whether values come from rows: their nulls have the types of columns. */
  get isInRows(): boolean {
    return this.inRows > 0;
  }

  /** Whether values come from whole columns: more converts there. */
  get isInColumns(): boolean {
    return this.inColumns > 0;
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
    return (this.options.get("universe", "location") ?? UTC) as FluxRecord;
  }

  /** What `now()` gives. */
  get nowTime(): Time {
    const option = this.options.get("universe", "now");
    const value = option instanceof FluxFunction ? option.call(new Map()) : this.now;
    return value instanceof Time ? value : this.now;
  }
}
