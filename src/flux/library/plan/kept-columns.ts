// `keep` and `drop`: which columns stay. Directly behind the storage they are reduced with what follows.
import type { ScriptRun } from "../../interpret/script-run.ts";
import { gathered, type StreamNode, type Tables } from "../../tables/stream.ts";
import { FluxTable } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import { TableMerge } from "../merge-tables.ts";
import type { NativeBody, NativeCall } from "../native-call.ts";
import { located, streamOf } from "../operator.ts";
import { isPlainPushed, type KeptTag, PushedNode, type ReduceWish, type StorageDescribe, type StorageReduce } from "../universe/pushed.ts";
import { COUNTS } from "../universe/sources.ts";
import { KeepOperation, NumberedOperation, SortOperation, WindowOperation } from "./operations.ts";

type IsKept = (label: string) => boolean;
type Placed = (inputs: readonly Tables[], run: ScriptRun) => Tables;

interface KeptColumns {
  readonly isKept: IsKept;
  /** Of a list; null: a function chooses. */
  readonly list: { readonly names: readonly string[]; readonly isExcept: boolean } | null;
}

/** Columns by a list or by a function of their label. */
function keptColumns(call: NativeCall, what: "keep" | "drop"): KeptColumns {
  if (call.has("columns") === call.has("fn")) {
    throw new FluxError(
      call.has("fn")
        ? `${what} error: both column list and predicate provided`
        : `${what} error: neither column list nor predicate function provided`,
    );
  }
  const isExcept = what === "drop";
  if (call.has("columns")) {
    const names = call.strings("columns");
    const set = new Set(names);
    return { isKept: (label) => set.has(label) !== isExcept, list: { names, isExcept } };
  }
  const test = call.function("fn").prepare(["column"]);
  return { isKept: (label) => (test(label) === true) !== isExcept, list: null };
}

function kept(what: "keep" | "drop"): NativeBody {
  return (call) => {
    const { isKept, list } = keptColumns(call, what);
    const input = call.stream();
    const body = ([tables]: readonly Tables[]) => {
      if (list !== null && !list.isExcept) wantColumns(input, list.names);
      // tables that become one have their rows in the order of the tables
      input.showOrder();
      return withColumns(tables!, isKept);
    };
    // rows differ in both within a series, or are all equal
    const canReduce = list !== null && isKept("_time") === isKept("_value");
    if (!canReduce || !(input instanceof PushedNode) || input.reduce === null || input.state.isGrouped || input.state.isWindowed) {
      return streamOf(call, [input], body, list === null || list.isExcept ? {} : { operation: new KeepOperation(list.names) });
    }
    return new KeptNode(call, input, list, isKept, located(call, body, false));
  };
}

export const keep = kept("keep");
export const drop = kept("drop");

/** Columns that are no tags. */
const OF_ROWS: readonly string[] = ["_start", "_stop", "_time", "_value"];

/** Series with fewer columns: those whose keys become equal are one table. */
class KeptNode extends PushedNode {
  private readonly onlyName: string | null;

  constructor(call: NativeCall, input: PushedNode, list: NonNullable<KeptColumns["list"]>, isKept: IsKept, placed: Placed) {
    const apart = { ...list, needsOneField: false };
    const hasValues = isKept("_value");
    const reduce: StorageReduce = function* (run, wish) {
      if (!hasValues) {
        // values of any types may be together where they are left out
        const one = { ...wish, shown: null, reduction: { ...wish.reduction, oneTypeOf: null } };
        return isAnyRow(wish) ? yield* keptOf(yield* input.reduce!(run, one), isKept) : null;
      }
      const reduction = { ...wish.reduction, oneTypeOf: oneTypeOf(wish, isKept), isPartial: wish.reduction.fn === "mean" };
      // rows of one table differ in time and value alone, which the reduction gives
      if (wish.reduction.oneTypeOf === null && !hasOrder(wish)) reduction.apart = apart;
      const tables = yield* input.reduce!(run, { ...wish, reduction, shown: null });
      return yield* keptOf(tables, (label) => isKept(label) || label === COUNTS);
    };
    const [tag, ...others] = list.isExcept ? [] : list.names;
    const describe: StorageDescribe = function* (run, question, filters) {
      const isOfTag = others.length === 0 && question.kind === "values" && question.tag === tag;
      return isOfTag && input.describe !== null ? yield* input.describe(run, question, filters) : null;
    };
    // windows behind it are not the storage's
    super(
      call.site?.name ?? "",
      [input],
      call.site?.location ?? null,
      placed,
      { isGrouped: true, isWindowed: false },
      { reduce, describe },
    );
    this.onlyName = others.length === 0 && tag !== undefined && !OF_ROWS.includes(tag) ? tag : null;
  }

  override get keptTag(): KeptTag | null {
    const [series] = this.inputs;
    const { onlyName: tag } = this;
    return this.readers <= 1 && tag !== null && series instanceof PushedNode && isPlainPushed(series) ? { tag, series } : null;
  }

  override get isPushed(): boolean {
    return false;
  }
}

/** Whether one row of each series tells as much as all of them, whichever it is. */
function isAnyRow({ reduction: { fn, runs, ownTimes } }: ReduceWish): boolean {
  return fn === "first" && runs === null && !ownTimes;
}

function* keptOf(tables: readonly FluxTable[] | null, isKept: IsKept): Generator<null, readonly FluxTable[] | null, void> {
  return tables === null ? null : yield* gathered(withColumns(tables, isKept));
}

/** What a group behind it wants, and tables that become one. */
function oneTypeOf({ reduction }: ReduceWish, isKept: IsKept): "each field" | "all fields" {
  return isKept("_field") && reduction.oneTypeOf !== "all fields" ? "each field" : "all fields";
}

/** Whether the rows' order among all series decides. */
function hasOrder({ reduction: { fn, ownTimes } }: ReduceWish): boolean {
  return ownTimes || fn === "first" || fn === "last";
}

/** Other columns than these need not be computed. */
function wantColumns({ readers, operation, inputs }: StreamNode, labels: readonly string[]): void {
  if (readers > 1) return;
  if (operation instanceof WindowOperation) operation.columnsWanted = labels;
  else if (operation instanceof SortOperation) wantColumns(inputs[0]!, [...labels, ...operation.columns]);
  else if (operation instanceof NumberedOperation) wantColumns(inputs[0]!, labels);
}

/** Only the columns that are kept; tables whose keys become equal are put together. */
function* withColumns(input: Tables, isKept: IsKept): Tables {
  const merge = new TableMerge();
  const choices = new Map<string, boolean>();
  const choose = (label: string) => {
    let choice = choices.get(label);
    if (choice === undefined) {
      choice = isKept(label);
      choices.set(label, choice);
    }
    return choice;
  };
  for (const table of input) {
    yield null;
    if (table === null) continue;
    const columns = table.columns.filter(({ label }) => choose(label));
    // as recorded: rows without columns are none
    merge.append(table.key.filter(choose), columns.length === 0 ? new FluxTable(table.key, [], 0) : table.with(columns));
  }
  yield* merge.tables();
}
