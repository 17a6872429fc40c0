// Columns and keys: `group`, `rename`, `duplicate`, `set`, `columns`, `keys`, `keyValues`.

import type { ApartTags } from "../../interpret/flux-source.ts";
import type { ScriptRun } from "../../interpret/script-run.ts";
import { columnTypeOfCell } from "../../tables/cell-type.ts";
import { FluxColumn } from "../../tables/column.ts";
import { ColumnBuilder } from "../../tables/column-builder.ts";
import { compareKeys } from "../../tables/key-order.ts";
import { eachTable, gathered, type StreamNode, type TableOrder, type Tables } from "../../tables/stream.ts";
import { cellText, FluxTable, GroupKey, TableBuilder } from "../../tables/table.ts";
import { FluxError, PiecesError, UnplacedError } from "../../values/flux-error.ts";
import { FluxRecord, isNull, kindOf, type Value } from "../../values/value.ts";
import { groupTables, type KeepLabel } from "../group-tables.ts";
import { checkNew, PieceMerge, TableMerge } from "../merge-tables.ts";
import type { NativeBody, NativeCall } from "../native-call.ts";
import { located, marked, operator, streamOf } from "../operator.ts";
import { DuplicateOperation, KeysOperation } from "../plan/operations.ts";
import { endRowsOf } from "../plan/row-limit.ts";
import { firstInOrder } from "../sort.ts";
import { storedGroups } from "../stored-groups.ts";
import {
  isPlainPushed,
  isRuleOff,
  type KeptTag,
  PushedNode,
  type ReduceWish,
  type StorageDescribe,
  type StorageReduce,
  valuesAlone,
} from "./pushed.ts";
import { COUNTS } from "./sources.ts";

export const group: NativeBody = (call) => {
  const mode = call.string("mode", "by");
  const columns = new Set(call.strings("columns", []));
  if (mode !== "by" && mode !== "except") throw new FluxError(`invalid group mode: must be "by" or "except"`);
  const input = call.stream();
  const isBy = mode !== "except";
  // times and values differ within a series
  const isOfSeries = isBy ? !columns.has("_time") && !columns.has("_value") : columns.has("_time") && columns.has("_value");
  const plain: KeepLabel = isBy ? (label) => columns.has(label) : (label) => !columns.has(label) && label !== COUNTS;
  const canPush = isBy && !isRuleOff(call.run, "PushDownGroupRule") && !columns.has("_time") && !columns.has("_value");
  const isOneTable = isBy && [...columns].every((label) => label === "_start" || label === "_stop");
  const oneTypeOf = plain("_field") ? ("each field" as const) : ("all fields" as const);
  const facts: GroupFacts = { canPush, isOneTable, oneTypeOf: isOfSeries ? oneTypeOf : null, names: [...columns], isBy };
  const body = (source: StreamNode, tables: Tables, order: TableOrder) =>
    canPush && isPlainPushed(source) ? storedGroups(tables, [...columns]) : groupTables(tables, plain, order);
  return new GroupNode(call, input, facts, { body, keep: plain });
};

type GroupBody = (source: StreamNode, tables: Tables, order: TableOrder) => Tables;

interface GroupFacts {
  readonly canPush: boolean;
  readonly isOneTable: boolean;
  /** What must have one type within a group; null: groups are not of series. */
  readonly oneTypeOf: "each field" | "all fields" | null;
  /** The columns of the key, or all others. */
  readonly names: readonly string[];
  readonly isBy: boolean;
}

/** Columns of reduced rows that series do not differ in, or that come in their order. */
const OF_ALL_SERIES: readonly string[] = ["_start", "_stop", "_time", "_value", "_measurement"];

/** Of groups behind each other only the last one counts. */
class GroupNode extends PushedNode {
  private readonly grouped: (inputs: readonly Tables[], run: ScriptRun) => Tables;
  private readonly keep: KeepLabel;

  constructor(
    call: NativeCall,
    input: StreamNode,
    private readonly facts: GroupFacts,
    { body, keep }: { readonly body: GroupBody; readonly keep: KeepLabel },
  ) {
    const read = ([tables]: readonly Tables[]) => body(this.source, tables!, this.order);
    const placed = located(call, (inputs) => (this.source === this.inputs[0] ? read(inputs) : withoutPlace(read(inputs))), false);
    const { oneTypeOf } = facts;
    const reduced: StorageReduce = (run, wish) => this.reducedGroups(run, wish, placed);
    super(
      "group",
      [input],
      call.site?.location ?? null,
      (_, run) => placed([this.opened(run)], run),
      { isGrouped: true, isWindowed: false },
      {
        reduce: oneTypeOf === null ? null : reduced,
        describe: (run, question, filters) => this.described(run, question, filters),
        isOneTable: facts.isOneTable,
      },
    );
    this.grouped = placed;
    this.keep = keep;
  }

  private *reducedGroups(
    run: ScriptRun,
    wish: ReduceWish,
    placed: (inputs: readonly Tables[], run: ScriptRun) => Tables,
  ): ReturnType<StorageReduce> {
    const { source } = this;
    if (!(source instanceof PushedNode) || source.reduce === null || source.state.isWindowed) return null;
    const { oneTypeOf } = this.facts;
    // the storage counts values of any types together, but not in windows
    const isCounted = wish.reduction.fn === "count" && wish.reduction.runs === null && this.isPushed;
    const reduction = {
      ...wish.reduction,
      oneTypeOf: isCounted ? null : oneTypeOf,
      isPartial: wish.reduction.fn === "mean",
      apart: this.apartTags(wish),
    };
    const tables = yield* source.reduce(run, { ...wish, reduction, shown: null });
    return tables === null ? null : yield* gathered(placed([tables], run));
  }

  /** What is left of kept columns has no other order than theirs. */
  private *described(...[run, question, filters]: Parameters<StorageDescribe>): ReturnType<StorageDescribe> {
    const { source } = this;
    const describe = source instanceof PushedNode && source.state.isGrouped ? source.describe : null;
    return describe === null ? null : yield* describe(run, question, filters);
  }

  override pieces(run: ScriptRun): Tables | null {
    return this.isPushed || this.readers > 1 ? null : groupTables(marked(this.opened(run)), this.keep, this.order, new PieceMerge());
  }

  /** The groups with whole numbers for values: the storage counts values of any types together. Null: it does not count here. */
  override counted(run: ScriptRun): Tables | null {
    return this.isPushed ? this.grouped([eachTable(this.source.open(run), withNumbers)], run) : null;
  }

  /** Tags that tell reduced rows apart; null: all, since the columns or the order of all series show in the answer. */
  private apartTags({ reduction: { fn }, columns }: ReduceWish): ApartTags | null {
    const { names, isBy } = this.facts;
    const apart = { names, isExcept: !isBy, needsOneField: false };
    // their rows have no other columns than the key's
    if (fn === "count" || fn === "sum" || fn === "mean" || fn === "squares") return apart;
    if ((fn !== "min" && fn !== "max") || columns === null || !isBy) return null;
    const others = columns.filter((label) => !names.includes(label) && !OF_ALL_SERIES.includes(label));
    if (others.some((label) => label !== "_field")) return null;
    // of rows with equal values, that of the first series counts
    return { ...apart, needsOneField: others.length > 0 };
  }

  private *opened(run: ScriptRun): Tables {
    const { source, firstWanted, columnWanted, facts, keep } = this;
    source.orderByRows();
    const isOfValues = run.pushesDown && columnWanted === "_value";
    if (firstWanted === null) return yield* isOfValues ? valuesAlone(source, source.open(run), keep) : source.open(run);
    const { labels, isDescending, count } = firstWanted;
    const isByTime = labels.length === 1 && labels[0] === "_time" && facts.oneTypeOf !== null;
    // each series has rows there: their columns show in those of the group
    const end = isByTime && source instanceof PushedNode ? yield* endRowsOf(source, { count, isLatest: isDescending }, run) : null;
    // rows that are not among the first of their own table are not among those of a group
    yield* eachTable(end === null ? source.open(run) : marked(end), (table) => {
      const isWhole = table.columns.every(({ label }) => !keep(label) || table.key.has(label));
      return isWhole ? firstInOrder(table, firstWanted) : table;
    });
  }

  private get source(): StreamNode {
    let [source] = this.inputs;
    while (source instanceof GroupNode && source.readers <= 1) [source] = source.inputs;
    return source!;
  }

  override get isPushed(): boolean {
    return this.facts.canPush && isPlainPushed(this.source);
  }

  override get listedTag(): KeptTag | null {
    const isOfAll = this.facts.isBy && this.facts.names.length === 0 && this.readers <= 1;
    return isOfAll && this.source instanceof PushedNode ? this.source.keptTag : null;
  }

  override get leavesOpen(): boolean {
    return !this.isPushed;
  }
}

/** Groups of groups: errors of their pieces have no place. */
function* withoutPlace(tables: Tables): Tables {
  try {
    yield* tables;
  } catch (error) {
    throw error instanceof PiecesError ? new PiecesError(error.message, new UnplacedError(`runtime error: ${error.message}`)) : error;
  }
}

/** The table with 0 for each value. */
function withNumbers(table: FluxTable): FluxTable {
  const values = table.column("_value");
  if (values === undefined || values.type === "int") return table;
  const builder = new ColumnBuilder("_value", "int", table.rowCount);
  for (let row = 0; row < table.rowCount; row++) {
    if (values.isNull(row)) builder.appendNull();
    else builder.append(0n);
  }
  return table.set(builder.build());
}

export const rename = operator((call) => {
  if (call.has("columns") === call.has("fn")) {
    throw new FluxError(
      call.has("fn")
        ? "rename error: both column list and map function provided"
        : "rename error: neither column list nor map function provided",
    );
  }
  const names = call.has("columns") ? call.record("columns") : null;
  for (const [, name] of names?.entries() ?? []) {
    if (typeof name !== "string") throw new FluxError(`rename error: columns object contains non-string value of type ${kindOf(name)}`);
  }
  const make = call.has("fn") ? call.function("fn").prepare(["column"]) : null;
  const renamed = (label: string): string => {
    const value = make === null ? (names!.get(label) ?? label) : make(label);
    if (typeof value !== "string") throw new FluxError("rename error: fn must return a string");
    return value;
  };
  return function* (input): Tables {
    const merge = new TableMerge();
    for (const table of input) {
      yield null;
      if (table === null) continue;
      for (const label of names?.labels() ?? []) {
        if (table.column(label) === undefined) throw new FluxError(`rename error: column "${label}" doesn't exist`);
      }
      merge.append(...renamedTable(table, renamed));
    }
    yield* merge.tables();
  };
});

function renamedTable(table: FluxTable, renamed: (label: string) => string): [GroupKey, FluxTable] {
  const columns = table.columns.map((column) => column.labelled(renamed(column.label)));
  columns.forEach(({ label }, i) => {
    const first = columns.findIndex((column) => column.label === label);
    if (first !== i) throw new FluxError(`column ${first} and ${i} have the same name ("${label}") which is not allowed`);
  });
  const key = new GroupKey(table.shownKey.columns.map((column) => ({ ...column, label: renamed(column.label) })));
  return [key, table.with(columns)];
}

export const duplicate: NativeBody = (call) => {
  const column = call.string("column");
  const as = call.string("as");
  return streamOf(call, [call.stream()], ([tables]) => duplicated(tables!, column, as), {
    operation: new DuplicateOperation(column, as),
  });
};

/** The tables with a copy of a column under another name. @throws FluxError if a table lacks the column */
export function* duplicated(input: Tables, column: string, as: string): Tables {
  const merge = new TableMerge();
  for (const table of input) {
    yield null;
    if (table === null) continue;
    const source = table.column(column);
    if (source === undefined) throw new FluxError(`duplicate error: column "${column}" doesn't exist`);
    const made = table.set(source.labelled(as));
    const value = table.key.get(column);
    // a key column that is written over keeps its place in the key only with one value
    const key = table.key.has(as)
      ? value === undefined
        ? table.key.filter((label) => label !== as)
        : table.key.with({ ...value, label: as })
      : table.key;
    merge.append(key, made);
  }
  yield* merge.tables();
}

export const set = operator((call) => {
  const values = FluxRecord.of({ [call.string("key")]: call.string("value") });
  return (input) => setColumns(input, values, call.stream());
});

/** Columns with one value each, in place of those of their labels or at the end. */
export function* setColumns(input: Tables, values: FluxRecord, source: StreamNode): Tables {
  source.showOrder();
  const merge = new TableMerge();
  for (const table of input) {
    yield null;
    if (table === null) continue;
    let made = table;
    let { key } = table;
    for (const [label, value] of values.entries()) {
      const type = columnTypeOfCell(label, value);
      made = made.set(FluxColumn.constant(label, type, value, table.rowCount));
      if (key.has(label)) key = key.with({ label, type, value });
    }
    merge.append(key, made);
  }
  yield* merge.tables();
}

export const columns = operator((call) => {
  const column = call.string("column", "_value");
  return (input) =>
    eachTable(input, (table) =>
      labelTable(
        table.key,
        column,
        table.columns.map(({ label }) => label),
      ),
    );
});

export const keys = operator(
  (call) => {
    const column = call.string("column", "_value");
    const labelsOf = ({ key }: FluxTable) => key.columns.map(({ label }) => label);
    return (input) => eachTable(input, (table) => labelTable(table.key, column, labelsOf(table)));
  },
  "tables",
  (call) => ({ operation: new KeysOperation(call.string("column", "_value")) }),
);

function labelTable(key: GroupKey, column: string, labels: readonly string[]): FluxTable {
  checkNew(column, key.columns);
  const builder = new TableBuilder(key);
  for (const { label, type } of key.columns) builder.column(label, type);
  builder.column(column, "string");
  for (const each of labels) {
    for (const { label, type, value } of key.columns) builder.column(label, type).append(value);
    builder.column(column, "string").append(each);
    builder.endRow();
  }
  return builder.build();
}

export const keyValues = operator((call) => {
  if (!call.has("keyColumns")) throw new FluxError("neither column list nor predicate function provided");
  const labels = call.strings("keyColumns");
  const valuesOf = (table: FluxTable): FluxTable => {
    const missing = labels.filter((label) => table.column(label) === undefined);
    if (missing.length === labels.length) {
      const known = table.columns.map(({ label }) => label).join(" ");
      throw new FluxError(`received table with columns [${known}] not having key columns [${missing.join(" ")}]`);
    }
    const sources = labels.flatMap((label) => table.column(label) ?? []);
    const first = sources[0]!;
    if (sources.some(({ type }) => type !== first.type)) throw new FluxError("keyColumns must all be the same type");
    const { key } = table;
    for (const label of ["_key", "_value"]) checkNew(label, key.columns);
    const builder = new TableBuilder(key);
    for (const { label, type } of key.columns) builder.column(label, type);
    builder.column("_key", "string");
    builder.column("_value", first.type);
    const seen = new Set<string>();
    const add = (source: FluxColumn, value: Value) => {
      // as recorded: one of the nulls of all columns counts
      const text = isNull(value) ? "" : JSON.stringify([source.label, cellText(value)]);
      if (seen.has(text)) return;
      seen.add(text);
      for (const { label, type, value: each } of key.columns) builder.column(label, type).append(each);
      builder.column("_key", "string").append(source.label);
      builder.column("_value", first.type).append(value);
      builder.endRow();
    };
    for (let row = 0; row < table.rowCount; row++) for (const source of sources) add(source, source.get(row));
    return builder.build();
  };
  return function* (input): Tables {
    const made = [];
    for (const table of input) {
      yield null;
      if (table !== null) made.push(valuesOf(table));
    }
    yield* made.sort((a, b) => compareKeys(a.key, b.key));
  };
});

/** A table without rows that has the key and the columns of another one. */
export function emptyLike(table: FluxTable): FluxTable {
  return new FluxTable(
    table.key,
    table.columns.map((column) => column.slice(0, 0)),
    0,
  );
}
