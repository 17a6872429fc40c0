// `filter`, `map`, `reduce`: functions of rows.
import { foldedRecord } from "../../columnar/fold.ts";
import { compiled, mappedTable, matchingRows } from "../../columnar/row-loops.ts";
import { Closure } from "../../interpret/closure.ts";
import type { ScriptRun } from "../../interpret/script-run.ts";
import type { Expression, SourceLocation } from "../../parse/ast.ts";
import { FluxColumn } from "../../tables/column.ts";
import { eachTable, gathered, StreamNode, type TableOrder, type Tables } from "../../tables/stream.ts";
import { type FluxTable, GroupKey, RowRecord } from "../../tables/table.ts";
import type { MemberTypes } from "../../types/function-types.ts";
import type { FluxColumnType } from "../../values/column-type.ts";
import { DecodeError, FluxError, PiecesError, SourceError, UnplacedError } from "../../values/flux-error.ts";
import { type FluxFunction, FluxRecord, isNull, kindOf, NULL, type Value } from "../../values/value.ts";
import { asTheyCame } from "../arrival.ts";
import { CollisionError, TableMerge } from "../merge-tables.ts";
import type { NativeBody } from "../native-call.ts";
import { haveOperandTypes, recordTypes, rowTypes } from "../operand-types.ts";
import { inputErrorOf, located, marked, operator, streamOf } from "../operator.ts";
import { membersOf } from "../plan/read-members.ts";
import { isAlwaysTrue, NOT_STORABLE, type StorableFilter, storableFilter } from "../plan/storable-filter.ts";
import { columnTypeOf, RowAppender } from "../row-appender.ts";
import { checkColumns, checkOperands, isVectorized, rowError, rowRecord } from "../row-errors.ts";
import {
  isPlainPushed,
  isRuleOff,
  type PushedFacts,
  PushedNode,
  type PushedState,
  type StorageRead,
  type StorageReduce,
} from "./pushed.ts";
import { type FilterParts, filterParts } from "./wanted-series.ts";

/** Rows between two pauses. */
const PAUSE_ROWS = 4096;

export const filter: NativeBody = (call) => {
  const fn = call.function("fn");
  const onEmpty = call.string("onEmpty", "drop");
  if (onEmpty !== "drop" && onEmpty !== "keep") throw new FluxError(`onEmpty must be keep or drop, was ${JSON.stringify(onEmpty)}`);
  const keepsEmpty = onEmpty === "keep";
  const input = call.stream();
  // as recorded: a filter that lets all rows pass is none
  if (isAlwaysTrue(fn) && (keepsEmpty || !isStoredSeries(input))) return input;
  const storable = keepsEmpty || isRuleOff(call.run, "PushDownFilterRule") ? NOT_STORABLE : storableFilter(fn);
  let made: StreamNode | null = null;
  const apply = located(
    call,
    ([tables], run) => {
      const pieces = input instanceof PushedNode ? input.pieces(run) : null;
      const isPushed = storable.isWhole && isPlainPushed(input);
      const { tags, conditions } = isOfStorage(input) ? storable : NOT_STORABLE;
      const how = { keepsEmpty, isPushed, tags, conditions };
      const filtered = eachTable(pieces === null ? tables! : marked(pieces), (table) => filteredTable(table, fn, how, run));
      return pieces === null ? filtered : joined(filtered, made?.order ?? "keys");
    },
    true,
  );
  const location = call.site?.location ?? null;
  const { read, state } = input instanceof PushedNode ? input : NOT_STORED;
  if (state === null || state.isGrouped || state.isWindowed || keepsEmpty || read === null) {
    made = new StreamNode(call.site?.name ?? "", [input], location, apply);
    made.flow = "rows";
    made.passesTables = true;
    // groups are put together from pieces here
    made.handsOn = state === null || !state.isGrouped;
    return made;
  }
  // series that the function refuses as a whole need not be read
  const filtered: StorageRead = (run, filters, part) => apply([read(run, [fn, ...filters], part)], run);
  const parts = input instanceof PushedNode ? filterParts(fn) : null;
  const reduce = parts === null || !(input instanceof PushedNode) ? null : reducedFilter(input.reduce, fn, parts, apply);
  const { describe, rows } = wholeSeries(input, fn, parts);
  return new FilterNode(input, location, { read: filtered, reduce, describe, rows }, { state, storable, fn });
};

/** Rows that a filter leaves, reduced: what it says about series as a whole holds for reduced rows too. */
function reducedFilter(
  reduce: StorageReduce | null,
  fn: FluxFunction,
  parts: FilterParts,
  apply: (inputs: readonly Tables[], run: ScriptRun) => Tables,
): StorageReduce | null {
  if (reduce === null) return null;
  return function* (run, wish) {
    const { columns, filters, values } = wish;
    // what the function tests has to be a column of the reduced rows
    const reduction = parts.isDecided ? wish.reduction : { ...wish.reduction, apart: null };
    // reduced rows of these are no rows that the function can test
    if (!parts.isDecided && parts.values.length > 0 && !["min", "max", "first", "last"].includes(reduction.fn)) return null;
    const shown = parts.isDecided ? wish.shown : null;
    const tables = yield* reduce(run, { reduction, columns, shown, filters: [fn, ...filters], values: [...parts.values, ...values] });
    if (tables === null || parts.isDecided) return tables;
    return yield* gathered(apply([tables], run));
  };
}

/** Neighbours of one key put together. Those before an error of the pieces are given all the same. */
function* joined(pieces: Tables, order: TableOrder): Tables {
  let merge = new TableMerge();
  let latest: GroupKey | null = null;
  try {
    for (const table of pieces) {
      if (table === null) {
        yield null;
        continue;
      }
      if (latest !== null && table.key.text !== latest.text) {
        yield* merge.tables(order);
        merge = new TableMerge();
      }
      if (table.pieceNumbers.length > 0) merge.appendNumbered(table.key, table);
      else merge.append(table.key, table);
      latest = table.key;
    }
  } catch (error) {
    if (!(error instanceof CollisionError)) yield* merge.tables(order);
    throw error;
  }
  yield* merge.tables(order);
}

/** Rows of whole series, filtered or not: a filter of these may be read as a stream of its own. */
function isStoredSeries(input: StreamNode): boolean {
  return input instanceof PushedNode && input.read !== null && !input.state.isGrouped && !input.state.isWindowed;
}

const NOT_STORED = { read: null, state: null } as const;

class FilterNode extends PushedNode {
  constructor(
    input: StreamNode,
    location: SourceLocation | null,
    reading: PushedFacts & { readonly read: StorageRead },
    private readonly facts: { readonly state: PushedState; readonly storable: StorableFilter; readonly fn: FluxFunction },
  ) {
    super("filter", [input], location, (_, run) => reading.read(run, []), facts.state, reading);
    this.handsOn = true;
  }

  override get testsFields(): boolean {
    return super.testsFields || membersOf(this.facts.fn).has("_field");
  }

  override get isPushed(): boolean {
    return this.facts.storable.isWhole && super.isPushed;
  }

  /** Conditions of filters behind each other are those of one. */
  get isOfStorage(): boolean {
    return isOfStorage(this.inputs[0]!);
  }
}

/** Whether the storage tests what it can of a filter behind the node. To be asked when streams are opened. */
function isOfStorage(input: StreamNode): boolean {
  return input instanceof FilterNode && input.readers <= 1 ? input.isOfStorage : isPlainPushed(input);
}

/** What the source can say and read of series, where the filter chooses among whole ones. */
function wholeSeries(input: StreamNode, fn: FluxFunction, parts: FilterParts | null): Pick<PushedNode, "describe" | "rows"> {
  if (!(input instanceof PushedNode) || parts === null || !parts.isDecided || parts.values.length > 0) {
    return { describe: null, rows: null };
  }
  const { describe, rows } = input;
  return {
    describe: describe === null ? null : (run, question, filters) => describe(run, question, [fn, ...filters]),
    rows: rows === null ? null : (run, filters) => rows(run, [fn, ...filters]),
  };
}

interface FilterFacts {
  readonly keepsEmpty: boolean;
  readonly isPushed: boolean;
  /** Where one is absent, it is tested as the empty text. */
  readonly tags: ReadonlySet<string>;
  /** What the storage tests: a value of another type does not pass. */
  readonly conditions: readonly Expression[];
}

/** The table with empty texts in place of absent tags, to be tested. */
function withEmptyTags(table: FluxTable, tags: ReadonlySet<string>): FluxTable {
  const absent = [...tags].filter((tag) => table.column(tag) === undefined);
  if (absent.length === 0) return table;
  return table.with([...table.columns, ...absent.map((tag) => FluxColumn.constant(tag, "string", "", table.rowCount))]);
}

function* filteredTable(table: FluxTable, fn: FluxFunction, how: FilterFacts, run: ScriptRun): Tables {
  const { keepsEmpty, tags, conditions } = how;
  const tested = withEmptyTags(table, tags);
  const members: MemberTypes = new Map([["r", rowTypes(tested)]]);
  if (conditions.length === 0 && !table.isEmpty) checkOperands("filter", fn, members);
  const rows = run.rowFunctions === "compiled" ? yield* compiled(() => matchingRows(tested, fn)) : null;
  // rows that the storage refuses are not seen here
  const checkKept = (count: number) => {
    if (conditions.length > 0 && !how.isPushed && count > 0) checkColumns("filter", fn, members);
  };
  if (rows !== null) {
    run.pause();
    checkKept(rows.length);
    const left = keptRows(table, rows, keepsEmpty);
    if (left !== null) yield left;
    return;
  }
  const test = fn.prepare(["r"]);
  const row = rowRecord(tested, fn);
  const isLoose = how.isPushed || conditions.some((each) => !haveOperandTypes(each, fn, members));
  const kept: number[] = [];
  for (row.row = 0; row.row < table.rowCount; row.row++) {
    if (row.row % PAUSE_ROWS === PAUSE_ROWS - 1 || run.use.isPauseDue) {
      run.pause();
      yield null;
    }
    let result: Value | null = null;
    while (result === null) {
      try {
        result = isLoose ? run.loosely(() => test(row)) : test(row);
      } catch (error) {
        yield* run.outside.wait(rowError("filter", fn, error));
      }
    }
    run.outside.done();
    if (result === true) kept.push(row.row);
    else if (typeof result !== "boolean" && !isNull(result)) throw new FluxError(`type conflict: bool != ${kindOf(result)}`);
  }
  checkKept(kept.length);
  const left = keptRows(table, Uint32Array.from(kept), keepsEmpty);
  if (left !== null) yield left;
}

function keptRows(table: FluxTable, rows: Uint32Array, keepsEmpty: boolean): FluxTable | null {
  if (rows.length === 0 && !keepsEmpty) return null;
  return rows.length === table.rowCount ? table : table.take(rows);
}

/** `{r with}`: nothing is set. */
function isEmptyExtension(body: Expression): boolean {
  if (body.type === "ParenExpression") return isEmptyExtension(body.expression);
  return body.type === "ObjectExpression" && body.with !== undefined && body.properties.length === 0;
}

/** As recorded: tables that cannot be put together have no place where a map works on whole columns. */
function* unplaced(made: Tables): Tables {
  try {
    yield* made;
  } catch (error) {
    const cause = inputErrorOf(error) ?? error;
    if (!(cause instanceof CollisionError) && !(cause instanceof SourceError)) throw error;
    if (cause instanceof DecodeError) throw error;
    const own = new UnplacedError(`runtime error: ${cause.message}`, cause.code);
    // tables of its own go to its reader in pieces
    throw cause === error && cause instanceof CollisionError ? new PiecesError(cause.message, own) : own;
  }
}

export const map: NativeBody = (call) => {
  const input = call.stream();
  const fn = call.function("fn");
  call.bool("mergeKey", false);
  if (fn instanceof Closure && fn.body !== null && isEmptyExtension(fn.body))
    throw new UnplacedError("extensible records must have at least one field");
  const keepsOrder = isVectorized(fn);
  const make = fn.prepare(["r"], keepsOrder ? "columns" : "rows");
  const body = function* (tables: Tables, run: ScriptRun): Tables {
    const merge = new TableMerge();
    input.orderByRows();
    const pieces = input instanceof PushedNode ? input.pieces(run) : null;
    for (const table of asTheyCame(pieces === null ? tables : marked(pieces))) {
      if (table === null) {
        yield null;
        continue;
      }
      if (table.isEmpty) continue;
      checkOperands("map", fn, new Map([["r", rowTypes(table)]]));
      const whole = run.rowFunctions === "compiled" ? yield* compiled(() => mappedTable(table, fn, keepsOrder)) : null;
      // also between many tables of few rows
      yield null;
      run.pause();
      merge.endTable();
      if (whole !== null) {
        merge.append(whole.key, whole.inPiecesOf(table));
        continue;
      }
      const row = rowRecord(table, fn);
      const rows = new RowAppender(merge, table, keepsOrder);
      let piece = 0;
      for (row.row = 0; row.row < table.rowCount; row.row++) {
        if (row.row === table.pieceEnds[piece]) {
          merge.endPieces();
          piece++;
        }
        if (row.row % PAUSE_ROWS === PAUSE_ROWS - 1 || run.use.isPauseDue) {
          run.pause();
          yield null;
        }
        let made: Value | null = null;
        while (made === null) {
          try {
            made = make(row);
          } catch (error) {
            yield* run.outside.wait(rowError("map", fn, error));
          }
        }
        run.outside.done();
        if (!(made instanceof FluxRecord)) throw new FluxError(`map function must return an object, got ${kindOf(made)}`);
        rows.append(made);
      }
    }
    merge.endTable();
    yield* merge.tables(node.order);
  };
  const placed = keepsOrder ? (tables: Tables, run: ScriptRun) => unplaced(body(tables, run)) : body;
  const node = streamOf(call, [input], ([tables], run) => placed(tables!, run), { flow: "open" });
  return node;
};

export const reduce = operator((call) => {
  const fn = call.function("fn");
  const step = fn.prepare(["r", "accumulator"]);
  const identity = call.record("identity");
  return (input, run) => {
    const keys = new Set<string>();
    return eachTable(input, function* (table) {
      checkOperands(
        "reduce",
        fn,
        new Map([
          ["r", rowTypes(table)],
          ["accumulator", recordTypes(identity)],
        ]),
      );
      const folded = run.rowFunctions === "compiled" ? yield* compiled(() => foldedRecord(table, fn, identity)) : null;
      run.pause();
      const row = rowRecord(table, fn);
      let accumulator: Value = folded ?? identity;
      for (row.row = 0; folded === null && row.row < table.rowCount; row.row++) {
        if (row.row % PAUSE_ROWS === PAUSE_ROWS - 1 || run.use.isPauseDue) {
          run.pause();
          yield null;
        }
        let next: Value | null = null;
        while (next === null) {
          try {
            next = step(row, accumulator);
          } catch (error) {
            yield* run.outside.wait(rowError("reduce", fn, error));
          }
        }
        run.outside.done();
        // the record of a row is that of the next one soon
        accumulator = next instanceof RowRecord ? next.copy() : next;
      }
      if (!(accumulator instanceof FluxRecord)) throw new FluxError(`reduce function must return an object, got ${kindOf(accumulator)}`);
      const record = accumulator;
      const key = reducedKey(table.key, record);
      if (keys.has(key.text)) throw new FluxError(`two reducers writing result to the same table`);
      keys.add(key.text);
      yield table.with([], key).with(reducedColumns(key, record), key).slice(0, 1);
    });
  };
});

function reducedKey(key: GroupKey, record: FluxRecord): GroupKey {
  return new GroupKey(
    key.columns.map((column) => {
      const value = record.get(column.label);
      if (value === undefined) return column;
      // rows of a group that lack its tag have a null of no type
      if (value === NULL) return { ...column, value };
      return { label: column.label, type: columnTypeOf(column.label, value) as FluxColumnType, value };
    }),
  );
}

function reducedColumns(key: GroupKey, record: FluxRecord): FluxColumn[] {
  const columns = key.columns.map(({ label, type, value }) => FluxColumn.constant(label, type, value, 1));
  const added = [...record.entries()].filter(([label]) => !key.has(label)).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  for (const [label, value] of added) {
    const type = columnTypeOf(label, value);
    if (isNull(value) || type === "invalid") throw new FluxError(`null values are not supported for "${label}" in the reduce() function`);
    columns.push(FluxColumn.constant(label, type, value, 1));
  }
  return columns;
}
