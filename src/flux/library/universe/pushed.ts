// Operators that the reference leaves to its storage: their answers have another order of columns and rows than the same operators have
// behind anything else, and clients see that. A node says what it may hand on to the next.
import type { Reduction, SeriesAnswer, SeriesQuestion, ValueTest } from "../../interpret/flux-source.ts";
import type { ScriptRun } from "../../interpret/script-run.ts";
import type { SourceLocation } from "../../parse/ast.ts";
import { FluxColumn } from "../../tables/column.ts";
import { eachTable, StreamNode, type Tables, type TimeBounds } from "../../tables/stream.ts";
import { type FluxTable, GroupKey } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import { FluxArray, type FluxFunction, Time } from "../../values/value.ts";
import type { FirstRows } from "../plan/operations.ts";

/** `from` without a range: nothing can be read yet. */
export class FromNode extends StreamNode {
  constructor(
    location: SourceLocation | null,
    bucket: string,
    readonly bucketId: (run: ScriptRun) => string,
    /** What is wrong with the read even if it has a range; null for nothing. */
    readonly rangeProblem: string | null = null,
  ) {
    super("from", [], location, () => {
      throw new FluxError(`BUG: a read of "${bucket}" without a range`);
    });
    this.planProblem = rangeProblem ?? `cannot submit unbounded read to "${bucket}"; try bounding 'from' with a call to 'range'`;
  }
}

export interface PushedState {
  /** After `group`: a window or an aggregate ends it. */
  readonly isGrouped: boolean;
  /** After `window`: only an aggregate may follow. */
  readonly isWindowed: boolean;
}

/** Rows outside of it are not wanted. */
export interface TimePart {
  readonly fromNs?: bigint;
  /** Exclusive. */
  readonly untilNs?: bigint;
}

/** Reads a range of a bucket for filters that follow: what they refuse may be left out. */
export type StorageRead = (run: ScriptRun, filters: readonly FluxFunction[], part?: TimePart) => Tables;

export interface ReduceWish {
  readonly reduction: Reduction;
  /** Labels of the columns that are read, besides the value and the times; null: unknown. */
  readonly columns: readonly string[] | null;
  /** Labels of the columns that the tables need besides the value and the time, not in their keys; null: all. */
  readonly shown: readonly string[] | null;
  readonly filters: readonly FluxFunction[];
  readonly values: readonly ValueTest[];
}

/** The tables of an operator with rows that the source has reduced; null: it cannot. */
export type StorageReduce = (run: ScriptRun, wish: ReduceWish) => Generator<null, readonly FluxTable[] | null, void>;

/** An answer about the series of an operator, after filters; null: rows have to be read. */
export type StorageDescribe = (
  run: ScriptRun,
  question: SeriesQuestion,
  filters: readonly FluxFunction[],
) => Generator<null, SeriesAnswer | null, void>;

/** Tables of whole series with a column for each field, after filters. */
export type StorageRows = (run: ScriptRun, filters: readonly FluxFunction[]) => Tables;

export interface PushedFacts {
  readonly bounds?: TimeBounds | null;
  /** Of rows that nothing but filters has changed. */
  readonly read?: StorageRead | null;
  readonly reduce?: StorageReduce | null;
  readonly describe?: StorageDescribe | null;
  readonly rows?: StorageRows | null;
  /** All rows are in one table, if there are any. */
  readonly isOneTable?: boolean;
}

/** A tag, and the series whose columns were more. */
export interface KeptTag {
  readonly tag: string;
  readonly series: PushedNode;
}

/** What comes out of the storage. */
export class PushedNode extends StreamNode {
  readonly read: StorageRead | null;
  readonly reduce: StorageReduce | null;
  readonly describe: StorageDescribe | null;
  readonly rows: StorageRows | null;
  readonly isOneTable: boolean;
  /** What its only reader wants of each table: other rows may be left out. Null: all. Known when streams are opened. */
  firstWanted: FirstRows | null = null;
  /** The only column of each table that its only reader looks at, besides the key. Null: all. Known when streams are opened. */
  columnWanted: string | null = null;

  constructor(
    name: string,
    inputs: readonly StreamNode[],
    location: SourceLocation | null,
    body: (inputs: readonly Tables[], run: ScriptRun) => Tables,
    readonly state: PushedState,
    { bounds = inputs[0]?.bounds ?? null, read = null, reduce = null, describe = null, rows = null, isOneTable = false }: PushedFacts = {},
  ) {
    super(name, inputs, location, body, null, bounds);
    this.read = read;
    this.reduce = reduce;
    this.describe = describe;
    this.rows = rows;
    this.isOneTable = isOneTable;
  }

  /** Whether the reference leaves this to its storage: nothing else reads what it is made of. Known when the script is evaluated. */
  get isPushed(): boolean {
    const [input] = this.inputs;
    return !(input instanceof PushedNode) || pushedState(input) !== null;
  }

  /** The only tag that is left of series, in the tables of each. To be asked when streams are opened. */
  get keptTag(): KeptTag | null {
    return null;
  }

  /** The tag of which the storage's index lists the values. To be asked when streams are opened. */
  get listedTag(): KeptTag | null {
    return null;
  }

  /** Whether a filter of series tests fields: then the storage looks at the series themselves, not at the index of tags. */
  get testsFields(): boolean {
    const [input] = this.inputs;
    return input instanceof PushedNode && input.testsFields;
  }

  /** Tables in pieces of one schema each, for readers of rows that need not have the same; null: those that the node gives. */
  pieces(_: ScriptRun): Tables | null {
    return null;
  }

  /** Tables to count the values of; null: those that the node gives. */
  counted(_: ScriptRun): Tables | null {
    return null;
  }
}

/** What the storage hands on to the only reader of the input, or null. To be asked when streams are opened. */
export function pushedState(input: StreamNode | undefined): PushedState | null {
  return input instanceof PushedNode && input.readers <= 1 && input.isPushed ? input.state : null;
}

/** Tells the input of an aggregate what it needs. Called before rows are read. */
export function wantColumn(input: StreamNode, label: string): void {
  if (input instanceof PushedNode && input.readers <= 1) input.columnWanted = label;
}

/** Tables of `source` with their values and the columns that `keep` wants. All of them where others could collide in a group: of series
 *  only the values can be of several types. */
export function valuesAlone(source: StreamNode, tables: Tables, keep: (label: string) => boolean): Tables {
  if (!(source instanceof PushedNode) || source.read === null || source.state.isGrouped) return tables;
  return eachTable(tables, (table) =>
    table.with(
      table.columns.filter(({ label }) => label === "_value" || keep(label)),
      table.key,
    ),
  );
}

/** Whether the script switches a rule of the reference's planner off: operators then have the form that they have behind other sources. */
export function isRuleOff(run: ScriptRun, rule: string): boolean {
  const rules = run.importPackage("planner").get("disablePhysicalRules");
  return rules instanceof FluxArray && rules.items.includes(rule);
}

/** Whether rows of series come as the storage has them. */
export function isPlainPushed(input: StreamNode | undefined): boolean {
  const state = pushedState(input);
  return state !== null && !state.isGrouped && !state.isWindowed;
}

/** As recorded: reduced to one row for each series, rows of the storage begin in 1970 or later. */
export function sinceEpoch(input: StreamNode, tables: Tables): Tables {
  if (!isPlainPushed(input) || input.bounds === null || input.bounds.startNs >= 0n) return tables;
  return eachTable(tables, (table) => {
    const since = (label: string) => label === "_start";
    const columns = table.columns.map((column) =>
      since(column.label) ? FluxColumn.constant("_start", "time", EPOCH, table.rowCount) : column,
    );
    const key = table.key.columns.map((column) => (since(column.label) ? { ...column, value: EPOCH } : column));
    return table.with(columns, new GroupKey(key));
  });
}

const EPOCH = new Time(0n);

/** The node, marked as computed by the storage. */
export class PushedForm extends PushedNode {
  override readonly isInner = true;

  constructor(made: StreamNode, state: PushedState) {
    super(
      made.name,
      [made],
      made.location,
      ([tables]) => {
        // a storage that computes gives each table when it has it
        if (this.isPushed) this.handsOn = made.handsOn = true;
        return tables!;
      },
      state,
    );
  }

  override get isPushed(): boolean {
    return pushedState(this.inputs[0]?.inputs[0]) !== null;
  }

  override showOrder(): void {
    this.inputs[0]!.showOrder();
  }
}
