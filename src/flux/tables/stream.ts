// Streams of tables: a plan node opens its inputs and yields tables; null is a pause.
import type { ScriptRun } from "../interpret/script-run.ts";
import type { SourceLocation } from "../parse/ast.ts";
import { FluxError } from "../values/flux-error.ts";
import { TableStream } from "../values/value.ts";
import type { FluxTable } from "./table.ts";

export type Tables = Iterable<FluxTable | null>;

/** Stop is exclusive. */
export interface TimeBounds {
  readonly startNs: bigint;
  readonly stopNs: bigint;
}

/** From the first of all starts to the last of all stops; null when none is known. */
export function boundsOf(inputs: readonly { readonly bounds: TimeBounds | null }[]): TimeBounds | null {
  let all: TimeBounds | null = null;
  for (const { bounds } of inputs) {
    if (bounds === null || bounds === all || bounds.startNs >= bounds.stopNs) continue;
    const { startNs, stopNs }: TimeBounds = all ?? bounds;
    all = {
      startNs: startNs < bounds.startNs ? startNs : bounds.startNs,
      stopNs: stopNs > bounds.stopNs ? stopNs : bounds.stopNs,
    };
  }
  return all ?? inputs.find(({ bounds }) => bounds !== null)?.bounds ?? null;
}

/** What an operator takes at once in the reference, which shows in the words of errors: whole tables, or rows as they come, of tables that
 *  end as those of its input do; or it ends its tables with the stream. */
export type Flow = "tables" | "rows" | "open";

/** Of the tables that an operator has collected: that of their keys, or that of their first rows. */
export type TableOrder = "keys" | "first rows" | "arrival";

/** One operator of a script with its inputs. */
export class StreamNode extends TableStream {
  override readonly isStream = true;
  /** What `range` has set: windows end there. */
  readonly bounds: TimeBounds | null;
  readonly isInner: boolean;
  /** Streams of the plan that have this one as an input: known when the plan is checked. */
  readers = 0;
  flow: Flow = "tables";
  /** Of what `map` and `group` collect. Most readers put tables in the order of keys themselves in the reference; the rows of those that do
   *  not show the order of first rows. */
  order: TableOrder = "keys";
  isOrderShown = false;
  /** Whether the pieces that tables were put together from are told apart behind it. */
  keepsPieces = true;
  /** Whether tables pass one by one, those of equal keys too. */
  passesTables = false;
  private keysRepeat: boolean | null = null;
  /** Whether it puts tables in the order of keys in the reference though rows pass. */
  sortsTables = false;
  /** Whether its tables have left one by one when a later one fails: clients keep them. */
  handsOn = false;
  /** What is wrong with the plan here, whatever the rows are; null for nothing. */
  planProblem: string | null = null;
  /** Called before any stream of the script is opened. @throws FluxError */
  onStart: ((run: ScriptRun) => void) | null = null;

  constructor(
    readonly name: string,
    readonly inputs: readonly StreamNode[],
    readonly location: SourceLocation | null,
    private readonly body: (inputs: readonly Tables[], run: ScriptRun) => Tables,
    /** Of a `yield`: the result's name. */
    readonly resultName: string | null = null,
    bounds: TimeBounds | null = boundsOf(inputs),
    /** Of an operator that writes: the name of its kind. */
    readonly effect: string | null = null,
    /** Part of another operator to clients. */
    isInner = false,
    /** What the operator was asked for, where its reader looks at it to choose its own form. */
    readonly operation: object | null = null,
  ) {
    super();
    for (const input of inputs) input.readers++;
    this.bounds = bounds;
    this.isInner = isInner;
  }

  /** What has to be right in the plan besides the operator itself. */
  get planInputs(): readonly StreamNode[] {
    return this.inputs;
  }

  /** Whether its tables end with the stream. An operator that takes whole tables then fails at that end, where no call is known. */
  get leavesOpen(): boolean {
    return this.flow === "open" || (this.flow === "rows" && this.inputs.some((input) => input.leavesOpen));
  }

  /** Whether several of its tables may have one key. Kept: each of a long row of operators asks the one before. */
  get repeatsKeys(): boolean {
    this.keysRepeat ??= this.passesTables && (this.inputs.length === 0 || this.inputs.some((input) => input.repeatsKeys));
    return this.keysRepeat;
  }

  /** Its only reader wants the order of first rows, if tables are collected here or where they come from. Called before rows are read. */
  orderByRows(): void {
    if (this.readers > 1) return;
    this.order = "first rows";
    this.showOrder();
    if (this.flow === "rows" && !this.sortsTables && this.inputs.length === 1) this.inputs[0]!.orderByRows();
  }

  /** The order of its tables shows in the answer: it cannot be any. */
  showOrder(): void {
    this.isOrderShown = true;
    if (this.handsOn && this.inputs.length === 1) this.inputs[0]!.showOrder();
  }

  open(run: ScriptRun): Tables {
    const tables = this.tables(run, null);
    return run.profile === null ? tables : run.profile.timed(this, tables);
  }

  /** What it makes of these tables in place of those of its only input. */
  over(tables: Tables, run: ScriptRun): Tables {
    return this.tables(run, [tables]);
  }

  private *tables(run: ScriptRun, given: readonly Tables[] | null): Tables {
    const held = new HeldCells(run);
    try {
      const inputs = (given ?? this.inputs.map((input) => input.open(run))).map((tables) => held.counted(tables));
      for (const table of this.body(inputs, run)) {
        if (table !== null) held.release();
        yield table === null || this.keepsPieces ? table : table.inOnePiece();
      }
    } catch (error) {
      if (!this.handsOn || this.leavesOpen) run.isGathered = true;
      throw error;
    } finally {
      held.release();
    }
  }
}

/** A table takes about as much memory as this many cells, besides those of its rows; */
const TABLE_CELLS = 160;
/** each of its columns as this many. */
const COLUMN_CELLS = 24;
/** And a text about as much as this many. */
const TEXT_CELLS = 3;

/** Cells of the tables that an operator has taken and not answered yet: it may keep all of them. */
export class HeldCells {
  private count = 0;

  constructor(private readonly run: ScriptRun) {}

  *counted(input: Tables): Tables {
    for (const table of input) {
      if (table !== null) this.hold(table);
      yield table;
    }
  }

  /** @throws FluxError: there are too many */
  hold(table: FluxTable): void {
    const count = cellCount(table);
    this.run.use.holdCells(count);
    this.count += count;
  }

  release(): void {
    this.run.use.releaseCells(this.count);
    this.count = 0;
  }
}

/** Cells of a column with one value for all rows take no room. */
function cellCount({ columns, rowCount }: FluxTable): number {
  let count = TABLE_CELLS + columns.length * COLUMN_CELLS;
  for (const { mask, type } of columns) if (mask !== 0) count += type === "string" ? rowCount * TEXT_CELLS : rowCount;
  return count;
}

/** Calls `each` with every table and yields what it gives. */
export function* eachTable(input: Tables, each: (table: FluxTable) => Iterable<FluxTable | null> | FluxTable | null): Tables {
  for (const table of input) {
    if (table === null) {
      yield null;
      continue;
    }
    const made = each(table);
    if (made === null) continue;
    if ("key" in made) yield made;
    else yield* made;
  }
}

/** All tables at once, at the end of the input. */
export function* collect(input: Tables, use: (tables: FluxTable[]) => Tables): Tables {
  const tables: FluxTable[] = [];
  for (const table of input) {
    if (table === null) yield null;
    else tables.push(table);
  }
  yield* use(tables);
}

/** The tables of a stream, without pauses. */
export function drain(input: Tables): FluxTable[] {
  const tables: FluxTable[] = [];
  for (const table of input) if (table !== null) tables.push(table);
  return tables;
}

/** The error for a column that a table lacks. */
export function missingColumn(label: string): FluxError {
  return new FluxError(`no column "${label}" exists`);
}

/** The result of steps, without their pauses. */
export function finished<T>(steps: Generator<null, T, void>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value as T;
  }
}

/** The tables of a stream, with its pauses: `const tables = yield* gathered(input)`. */
export function* gathered(input: Tables): Generator<null, FluxTable[], void> {
  const tables: FluxTable[] = [];
  for (const table of input) {
    if (table === null) yield null;
    else tables.push(table);
  }
  return tables;
}
