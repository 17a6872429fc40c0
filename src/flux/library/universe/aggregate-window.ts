// `window`, and `window |> count | sum | mean |> duplicate(as: "_time") |> window(every: inf)`, which `aggregateWindow` and
// `timedMovingAverage` are made of: the reference computes it in one step, in its storage or behind it.
import type { ScriptRun } from "../../interpret/script-run.ts";
import { FluxColumn, newCells } from "../../tables/column.ts";
import { inKeyOrder } from "../../tables/key-order.ts";
import { collect, eachTable, StreamNode, type TableOrder, type Tables } from "../../tables/stream.ts";
import { FluxTable, type GroupKey } from "../../tables/table.ts";
import type { FluxColumnType } from "../../values/column-type.ts";
import { FluxError, SourceError, UnplacedError } from "../../values/flux-error.ts";
import { TableMerge } from "../merge-tables.ts";
import type { NativeBody } from "../native-call.ts";
import { located } from "../operator.ts";
import { NumberedWindows } from "../plan/numbered-windows.ts";
import {
  AggregateOperation,
  DuplicateOperation,
  FillEmptyOperation,
  RowsOperation,
  SelectorOperation,
  WindowOperation,
} from "../plan/operations.ts";
import { isReduceFunction, reducedOr } from "../plan/reduced.ts";
import { type WindowsOfRows, windowedTable } from "../plan/reduced-windows.ts";
import { wholeWindows } from "../windows/whole-windows.ts";
import type { Aggregate, ByWindows } from "../windows/window-rows.ts";
import { aggregated, unsupported } from "./aggregates.ts";
import { filledEmpty } from "./fill.ts";
import { isPlainPushed, PushedForm, PushedNode, type StorageReduce } from "./pushed.ts";
import { isStorableWindow, WINDOWS_MAX, wholeKey, windowed, windowOptions } from "./window.ts";
import type { WindowOptions } from "./window-bounds.ts";

const AT_ONCE: readonly string[] = ["count", "sum", "mean"];

type StreamBody = (inputs: readonly Tables[], run: ScriptRun) => Tables;

interface AggregateWindow {
  readonly source: StreamNode;
  /** Of `window`, and the form of it that the storage has. */
  readonly splits: readonly StreamNode[];
  /** Of what is done to each window. */
  readonly steps: readonly StreamNode[];
  /** The others before the last window. */
  readonly ends: readonly StreamNode[];
  /** The bound that becomes the time. */
  readonly time: "_start" | "_stop";
  readonly isFilled: boolean;
  readonly window: WindowOperation;
  /** Of the only step; null: there are others. */
  readonly operation: AggregateOperation | SelectorOperation | null;
}

export const window: NativeBody = (call) => {
  const input = call.stream();
  const options = windowOptions(call);
  const isStorable = isStorableWindow(call);
  const operation = new WindowOperation(options, isStorable);
  const placed = located(
    call,
    ([tables]) => {
      const isJoined = options.windows !== null && isWindowed(input);
      return isJoined ? joined(tables!, options) : windowed(tables!, options, true, orderOf(made));
    },
    false,
    { failsAtEnd: () => input.leavesOpen },
  );
  const isLast = isWhole(operation);
  const made: StreamNode = new StreamNode(
    "window",
    [input],
    call.site?.location ?? null,
    (inputs, run) => {
      const body = isLast ? inOneStep(made, options, placed) : placed;
      const tables = body(inputs, run);
      return made.isOrderShown && orderOf(made) === "keys" ? collect(tables, inKeyOrder) : tables;
    },
    null,
    input.bounds,
    null,
    false,
    operation,
  );
  made.keepsPieces = false;
  if (input.bounds === null || options.problem !== null) made.onStart = () => checkWindow(input, options, isStorable);
  if (!(input instanceof PushedNode) || input.state.isGrouped || input.state.isWindowed) return made;
  if (options.windows === null && operation.hasPlainColumns) return new PushedForm(made, input.state);
  return isStorable ? new PushedForm(made, { isGrouped: false, isWindowed: true }) : made;
};

/** Whether it may be the last of an `aggregateWindow`. */
function isWhole(operation: object | null): boolean {
  if (!(operation instanceof WindowOperation)) return false;
  return operation.options.windows === null && !operation.options.createEmpty && operation.hasPlainColumns;
}

/** Whether tables of one series may be several windows of it. */
function isWindowed(node: StreamNode): boolean {
  const seen = new Set([node]);
  // a script may have more operators in a row than calls fit on the stack
  for (const { operation, inputs } of seen) {
    if (operation instanceof WindowOperation) {
      if (operation.options.windows !== null) return true;
    } else for (const input of inputs) seen.add(input);
  }
  return false;
}

/** Windows of windows: those with equal bounds are one. */
function* joined(input: Tables, options: WindowOptions): Tables {
  const merge = new TableMerge();
  const series = new Set<string>();
  for (const table of input) {
    yield null;
    if (table === null) continue;
    // one of its tables makes the windows without rows
    const { text } = wholeKey(table.key, options);
    const createEmpty = options.createEmpty && !series.has(text);
    series.add(text);
    for (const window of windowed([table], { ...options, createEmpty })) {
      yield null;
      if (window !== null) merge.append(window.key, window);
    }
  }
  yield* merge.tables();
}

/** @throws FluxError: there are no such windows */
function checkWindow(input: StreamNode, { bounds, problem }: WindowOptions, isStorable: boolean): void {
  const found = bounds === null ? "nil bounds passed to window; use range to set the window range" : problem;
  // the storage finds it when it reads
  if (found !== null) throw new FluxError(isStorable && isPlainPushed(input) ? found : `failed to initialize execute state: ${found}`);
}

/** The steps before the last window, or null: they are something else, or others read them too. */
function aggregateWindow(last: StreamNode): AggregateWindow | null {
  const [time] = last.inputs;
  if (!isAlone(time) || !(time.operation instanceof DuplicateOperation)) return null;
  const { column, as } = time.operation;
  if (as !== "_time" || (column !== "_start" && column !== "_stop")) return null;
  let [made] = time.inputs;
  const ends = [time];
  const isFilled = isAlone(made) && made.operation instanceof FillEmptyOperation;
  if (isFilled) {
    ends.unshift(made!);
    [made] = made!.inputs;
  }
  const steps: StreamNode[] = [];
  while (isAlone(made) && made.operation instanceof RowsOperation) {
    steps.unshift(made);
    [made] = made.inputs;
  }
  const splits = isAlone(made) ? [made] : [];
  // the form that the storage has is the window itself
  if (made instanceof PushedNode && made.isInner) splits.unshift(made.inputs[0]!);
  const window = splits[0]?.operation;
  if (!(window instanceof WindowOperation) || !window.hasPlainColumns || window.options.windows === null) return null;
  const [first] = steps;
  if (first === undefined) return null;
  const { operation } = first;
  const isOne = steps.length === 1 && (operation instanceof AggregateOperation || operation instanceof SelectorOperation);
  return { source: splits[0]!.inputs[0]!, splits, steps, ends, time: column, isFilled, window, operation: isOne ? operation : null };
}

function isAlone(node: StreamNode | undefined): node is StreamNode {
  return node !== undefined && node.readers <= 1;
}

/** Tables of the last window with columns and errors as the reference has them. */
function inOneStep(last: StreamNode, options: WindowOptions, body: StreamBody): StreamBody {
  return (inputs, run) => {
    const found = aggregateWindow(last);
    if (found === null) return body(inputs, run);
    const all = () => computed(last, found, options, { inputs, run, body });
    const left = leftToSource(found);
    if (left === null) return all();
    const { reduce, how } = left;
    return reducedOr(
      run,
      reduce,
      {
        fn: how.fn,
        runs: how.windows.runs,
        ownTimes: false,
        latest: latestOf(last, found),
        columns: columnsOf(last),
        shown: columnsOf(last),
      },
      (tables) => windowTables(tables, how, orderOf(last)),
      all,
    );
  };
}

/** Null: all windows are wanted, or a table may have none among the latest. */
function latestOf({ operation }: StreamNode, { source, window }: AggregateWindow): number | null {
  if (!(operation instanceof WindowOperation) || window.options.createEmpty) return null;
  return source instanceof PushedNode && source.isOneTable ? operation.latestWanted : null;
}

function columnsOf({ operation }: StreamNode): readonly string[] | null {
  return operation instanceof WindowOperation ? operation.columnsWanted : null;
}

interface LeftWindows {
  readonly reduce: StorageReduce;
  readonly how: WindowsOfRows;
}

/** Null: the source cannot compute these windows. */
function leftToSource(found: AggregateWindow): LeftWindows | null {
  const { source, window, time, isFilled, operation } = found;
  const { windows, bounds, createEmpty } = window.options;
  if (operation === null) return null;
  const fn = operation instanceof SelectorOperation ? operation.name : operation.aggregate.name;
  if (!(source instanceof PushedNode) || source.reduce === null || source.state.isWindowed || !isReduceFunction(fn)) return null;
  if (windows === null || bounds === null || operation.column !== "_value" || createEmpty !== isFilled) return null;
  const numbered = NumberedWindows.of(windows, bounds);
  if (numbered === null || (createEmpty && numbered.count > WINDOWS_MAX)) return null;
  return { reduce: source.reduce, how: { fn, windows: numbered, bounds, timeSource: time, createEmpty, isStored: inStorage(found) } };
}

function* windowTables(reduced: readonly FluxTable[], how: WindowsOfRows, order: TableOrder): Tables {
  const made: FluxTable[] = [];
  for (const table of reduced) {
    made.push(windowedTable(table, how));
    yield null;
  }
  yield* order === "keys" ? inKeyOrder(made) : made;
}

/** The steps over all rows. */
function computed(
  last: StreamNode,
  found: AggregateWindow,
  options: WindowOptions,
  { inputs, run, body }: { readonly inputs: readonly Tables[]; readonly run: ScriptRun; readonly body: StreamBody },
): Tables {
  const { operation } = found;
  const [aggregate, order] = [atOnce(found), orderOf(last)];
  if (aggregate !== null) {
    last.handsOn = true;
    return aggregatedWindows(found, aggregate, { options, order }, run);
  }
  if (inStorage(found)) {
    const tables = order === "keys" ? null : withoutTables(found, { options, order, body }, run);
    return eachTable(tables ?? body(inputs, run), (table) => arranged(table, operation!.column, true));
  }
  return withoutTables(found, { options, order, body }, run) ?? body(inputs, run);
}

/** The steps without a table for each window. Null: there have to be some. */
function withoutTables(
  found: AggregateWindow,
  { options, order, body }: { readonly options: WindowOptions; readonly order: TableOrder; readonly body: StreamBody },
  run: ScriptRun,
): Tables | null {
  const { source, window } = found;
  // a profile shows each operator
  if (run.windows === "by tables" || run.profile !== null || isWindowed(source)) return null;
  const { splits, steps, ends, time, isFilled } = found;
  const byTables = (made: Tables, rest: Tables) =>
    body([through(ends, inTurn(made, through(steps, through(splits, rest, run), run)), run)], run);
  const byWindows = steps.map((step) => (step.operation as RowsOperation).byWindows);
  if (byWindows.includes(null)) return null;
  const how = { window: window.options, isMerged: true, steps: byWindows as ByWindows[], isFilled, time, whole: options, order, byTables };
  return wholeWindows(source.open(run), how, run);
}

/** The only step, if the reference computes it with the windows. */
function atOnce({ operation }: AggregateWindow): AggregateOperation | null {
  return operation instanceof AggregateOperation && AT_ONCE.includes(operation.aggregate.name) ? operation : null;
}

/** Whether the reference's storage computes them: its tables come in its order then, with columns of its own. */
function inStorage(found: AggregateWindow | null): boolean {
  if (found === null) return false;
  const { source, window, operation } = found;
  const isOfValues = operation?.column === "_value" && (atOnce(found) !== null || operation instanceof SelectorOperation);
  return isOfValues && window.isStorable && isPlainPushed(source);
}

/** The order of the tables where it shows. */
function orderOf(last: StreamNode): TableOrder {
  if (!last.isOrderShown || !isWhole(last.operation)) return "keys";
  const found = aggregateWindow(last);
  return found !== null && (inStorage(found) || atOnce(found) !== null) ? "arrival" : "keys";
}

/** What the operators make of the tables, one after the other. */
function through(nodes: readonly StreamNode[], tables: Tables, run: ScriptRun): Tables {
  return nodes.reduce((made, node) => node.over(made, run), tables);
}

function* inTurn(...streams: readonly Tables[]): Tables {
  for (const stream of streams) yield* stream;
}

/** The steps over each table of the source. What fails at a table of the source leaves the windows of those before it. */
function* aggregatedWindows(
  found: AggregateWindow,
  { aggregate, column, byWindows }: AggregateOperation,
  { options, order }: { readonly options: WindowOptions; readonly order: TableOrder },
  run: ScriptRun,
): Tables {
  const { source, window, time, isFilled } = found;
  const isStored = inStorage(found);
  // tables leave as they began
  if (order === "arrival") source.orderByRows();
  /** The tables so far: their keys in the answer, and the types of what is aggregated. */
  const sources: { readonly key: GroupKey; readonly type: FluxColumnType }[] = [];
  let sourceError: unknown = null;
  function* full(): Tables {
    try {
      for (const table of source.open(run)) {
        if (table !== null) {
          const type = table.column(column)?.type ?? "float";
          if (!table.key.has(column) && aggregate.typeOf(type) === null) throw unsupportedWindows(aggregate, type, isStored);
          sources.push({ key: wholeKey(table.key, options), type });
        }
        yield table === null ? null : table.withKeyColumns();
      }
    } catch (error) {
      sourceError = error;
      if (!(error instanceof FluxError) || error instanceof SourceError) throw error;
    }
  }
  const byTables = (made: Tables, rest: Tables) => {
    const computed = inTurn(made, aggregated(windowed(rest, window.options, false), column, aggregate));
    const timed = eachTable(isFilled ? filledEmpty(computed) : computed, (table) => withTime(table, time));
    return windowed(timed, options, true, order);
  };
  const how = { window: window.options, isMerged: false, steps: [byWindows!], isFilled, time, whole: options, order, byTables };
  try {
    const seen = new Set<string>();
    for (const table of run.windows === "by tables" ? byTables([], full()) : wholeWindows(full(), how, run)) {
      if (table !== null) seen.add(table.key.text);
      yield table === null ? null : arranged(table, column, isStored);
    }
    // a table without windows, or with none that have rows, has a place in the answer
    for (const { key, type } of isStored ? [] : sources) {
      const made = seen.has(key.text) ? null : emptyResult(key, aggregate.typeOf(type), column);
      if (made !== null) yield arranged(made, column, false);
    }
    if (sourceError !== null) throw sourceError;
  } catch (error) {
    if (error instanceof SourceError) throw new UnplacedError(`runtime error: ${error.message}`);
    throw error === sourceError || !(error instanceof FluxError) ? error : ownError(error, column);
  }
}

function unsupportedWindows(aggregate: Aggregate, type: FluxColumnType, isStored: boolean): FluxError {
  const error = unsupported(aggregate.name, type, isStored);
  return isStored ? error : new UnplacedError(`runtime error: ${error.message}`);
}

/** Windows stay in the order of time, also where their bounds within the range are none. */
function withTime(table: FluxTable, time: "_start" | "_stop"): FluxTable {
  const bound = table.key.get(time)!;
  const made = table.set(table.column(time)!.labelled("_time"));
  return table.key.has("_time") ? made.with(made.columns, table.key.with({ ...bound, label: "_time" })) : made;
}

function emptyResult(key: GroupKey, type: FluxColumnType | null, label: string): FluxTable | null {
  if (type === null) return null;
  const inKey = key.columns.map((column) => FluxColumn.constant(column.label, column.type, column.value, 0));
  return new FluxTable(key, [...inKey, emptyColumn("_time", "time"), emptyColumn(label, type)], 0);
}

function emptyColumn(label: string, type: FluxColumnType): FluxColumn {
  return new FluxColumn(label, type, newCells(type, 0), null, 0);
}

function arranged(table: FluxTable, column: string, isPushed: boolean): FluxTable {
  const rank = ({ label }: FluxColumn): number => {
    if (isPushed && (label === "_start" || label === "_stop")) return 0;
    if (label === "_time") return 1;
    if (label === column) return isPushed ? 2 : 4;
    return 3;
  };
  // sorting is stable
  return table.with([...table.columns].sort((a, b) => rank(a) - rank(b)));
}

/** The step has no place of its own in the script. */
function ownError({ message }: FluxError, column: string): UnplacedError {
  if (message === 'missing time column "_time"') return new UnplacedError("runtime error: no time column: _time");
  return new UnplacedError(`runtime error: ${message === `no column "${column}" exists` ? `column "${column}" does not exist` : message}`);
}
