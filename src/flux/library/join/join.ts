// Package `join`: rows of tables with one group key, put together by a function.

import { compiled, joinedTable } from "../../columnar/row-loops.ts";
import { Closure } from "../../interpret/closure.ts";
import { valuesEqual } from "../../interpret/operators.ts";
import type { ScriptRun } from "../../interpret/script-run.ts";
import { FluxColumn, takeOrNull } from "../../tables/column.ts";
import type { StreamNode, Tables } from "../../tables/stream.ts";
import { FluxTable, GroupKey, RowRecord } from "../../tables/table.ts";
import { FluxError, UnplacedError } from "../../values/flux-error.ts";
import { type FluxFunction, FluxRecord, type Value } from "../../values/value.ts";
import { TableMerge } from "../merge-tables.ts";
import type { LibraryPackage, NativeBody } from "../native-call.ts";
import { rowTypes } from "../operand-types.ts";
import { streamOf } from "../operator.ts";
import { RowLayout } from "../row-appender.ts";
import { checkOperands, rowError } from "../row-errors.ts";
import { sortedInSteps } from "../sort.ts";
import { ofTwoParents } from "../universe/join.ts";
import { MergedRows } from "./merged-rows.ts";
import { type Pairs, pairsOf, type Side } from "./predicate.ts";

const METHODS: readonly string[] = ["inner", "left", "right", "full"];

const joinTables: NativeBody = (call) => {
  const method = call.string("method");
  if (!METHODS.includes(method)) throw new FluxError(`invalid argument for 'method' - must be "inner", "left", "right", or "full"`);
  const pairs = pairsOf(call.function("on"));
  const fn = call.function("as");
  const inputs: readonly StreamNode[] = [call.stream("left"), call.stream("right")];
  const body = ([left, right]: readonly Tables[], run: ScriptRun) => new Join(pairs, method, fn, run).tables(left!, right!);
  return ofTwoParents(streamOf(call, inputs, body, { flow: "open", sourceContext: () => "runtime error: " }));
};

/** Pairs of rows that the function gets at a time. */
const PART_PAIRS = 32_768;

class Join {
  private readonly merge = new TableMerge();
  private cellCount = 0;

  constructor(
    private readonly pairs: Pairs,
    private readonly method: string,
    private readonly fn: FluxFunction,
    private readonly run: ScriptRun,
  ) {}

  *tables(left: Tables, right: Tables): Tables {
    const lefts: FluxTable[] = [];
    const rights: FluxTable[] = [];
    for (const table of left) yield* this.gathered(table, "left", lefts);
    for (const table of right) yield* this.gathered(table, "right", rights);
    checkPairs(lefts, rights);
    for (const [side, tables] of [
      ["left", lefts],
      ["right", rights],
    ] as const) {
      if (tables.every(({ isEmpty }) => isEmpty)) throw new UnplacedError(nothingOn(side));
    }
    const [noLeft, noRight] = [emptyTable(lefts), emptyTable(rights)];
    const rightOf = new Map(rights.map((table) => [table.key.text, table]));
    const keepsLeft = this.method === "left" || this.method === "full";
    const keepsRight = this.method === "right" || this.method === "full";
    for (const table of lefts) {
      yield null;
      const other = rightOf.get(table.key.text);
      rightOf.delete(table.key.text);
      if (other !== undefined) yield* this.rows(table, other, keepsLeft, keepsRight);
      else yield* this.alone(table, noRight, keepsLeft, false);
    }
    for (const table of rightOf.values()) yield* this.alone(noLeft, table, false, keepsRight);
    yield* this.merge.tables();
  }

  private *gathered(table: FluxTable | null, side: Side, tables: FluxTable[]): Tables {
    if (table === null) yield null;
    else {
      if (!table.isEmpty) columnsOf(table, side, this.pairs);
      tables.push(table);
    }
  }

  /** A table without one on the other side: that is known at the end of both, and what is wrong then has no place. */
  private *alone(left: FluxTable, right: FluxTable, keepsLeft: boolean, keepsRight: boolean): Tables {
    try {
      if (keepsLeft || keepsRight) yield* this.rows(left, right, keepsLeft, keepsRight);
      else this.check(left, right);
    } catch (error) {
      throw error instanceof FluxError ? new UnplacedError(error.message, error.code) : error;
    }
  }

  /** @throws FluxError: the function cannot be called with rows of these tables */
  private check(left: FluxTable, right: FluxTable): void {
    const { fn } = this;
    if (!(fn instanceof Closure)) return;
    for (const [side, name, table] of [
      ["left", "l", left],
      ["right", "r", right],
    ] as const) {
      const labels = fn.labelsOf(name);
      if (labels === null) throw new FluxError(`error preparing ${side} side of join: MonoType is not a record`);
      const missing = [...labels].find((label) => table.column(label) === undefined);
      if (missing !== undefined) throw new FluxError(`error preparing ${side} side of join: table is missing label ${missing}`);
    }
    checkOperands(
      "join",
      fn,
      new Map([
        ["l", rowTypes(left)],
        ["r", rowTypes(right)],
      ]),
    );
  }

  /** Both sides in the order of the columns that are compared. */
  private *rows(leftTable: FluxTable, rightTable: FluxTable, keepsLeft: boolean, keepsRight: boolean): Tables {
    this.check(leftTable, rightTable);
    const left = yield* sortedInSteps(leftTable, this.pairs.left, false);
    const right = yield* sortedInSteps(rightTable, this.pairs.right, false);
    const key = leftTable.isEmpty && !rightTable.isEmpty ? right.key : left.key;
    const [a, b] = [columnsOf(left, "left", this.pairs), columnsOf(right, "right", this.pairs)];
    const matched = new MergedRows(a, b, left.rowCount, right.rowCount);
    for (const { lefts, rights } of matched.parts(keepsLeft, keepsRight, PART_PAIRS)) {
      const l = takenRows(left, lefts, key);
      const r = takenRows(right, rights, key);
      this.cellCount += lefts.length * (l.columns.length + r.columns.length);
      this.run.checkCells(this.cellCount);
      const made = this.run.rowFunctions === "compiled" ? yield* compiled(() => joinedTable(key, l, r, this.fn)) : null;
      if (made === null) this.interpret(key, l, r);
      else this.merge.append(key, made);
      this.run.pause();
      yield null;
    }
  }

  private made(call: () => Value): Value {
    try {
      return call();
    } catch (error) {
      throw rowError("join", this.fn, error);
    }
  }

  private interpret(key: GroupKey, left: FluxTable, right: FluxTable): void {
    const make = this.fn.prepare(["l", "r"]);
    const [l, r] = [new RowRecord(left), new RowRecord(right)];
    const rows = new RowLayout(this.merge.builder(key));
    for (let row = 0; row < left.rowCount; row++) {
      l.row = row;
      r.row = row;
      const made = this.made(() => make(l, r));
      if (!(made instanceof FluxRecord)) throw new FluxError("join: as must return a record");
      for (const { label, type, value } of key.columns) {
        const found = made.get(label);
        if (found !== undefined && valuesEqual(found, value)) continue;
        throw new FluxError(`join cannot modify group key: output record has a missing or invalid value for column '${label}:${type}'`);
      }
      rows.append(made);
    }
  }
}

function nothingOn(side: Side): string {
  return `error preparing ${side} side of join: cannot join on an empty table`;
}

/** What rows have is learnt from the first table with rows of each side. @throws FluxError: tables of one key meet before there is one */
function checkPairs(lefts: readonly FluxTable[], rights: readonly FluxTable[]): void {
  const firstWithRows = (tables: readonly FluxTable[]) => {
    const at = tables.findIndex(({ isEmpty }) => !isEmpty);
    return at < 0 ? tables.length : at;
  };
  const [firstLeft, firstRight] = [firstWithRows(lefts), firstWithRows(rights)];
  if (firstLeft === 0 && firstRight === 0) return;
  const placeOf = new Map(rights.map(({ key }, place) => [key.text, place]));
  for (const [place, { key }] of lefts.entries()) {
    const other = placeOf.get(key.text);
    if (other === undefined) continue;
    if (place < firstLeft) throw new FluxError(nothingOn("left"));
    if (other < firstRight) throw new FluxError(nothingOn("right"));
  }
}

/** A row that is missing has the values of the group. */
function takenRows(table: FluxTable, rows: Uint32Array, key: GroupKey): FluxTable {
  const taken = (column: FluxColumn): FluxColumn => {
    const ofKey = key.get(column.label);
    if (ofKey === undefined || ofKey.type !== column.type) return takeOrNull(column, rows);
    return FluxColumn.constant(ofKey.label, ofKey.type, ofKey.value, rows.length);
  };
  return new FluxTable(GroupKey.NONE, table.columns.map(taken), rows.length);
}

/** The columns that are compared. @throws FluxError: one is missing */
function columnsOf(table: FluxTable, side: Side, pairs: Pairs): FluxColumn[] {
  return pairs[side].map((label) => {
    const column = table.column(label);
    if (column === undefined) throw new FluxError(`cannot set join columns in ${side} table stream: table is missing column '${label}'`);
    return column;
  });
}

/** A table without rows that has the columns of all tables. */
function emptyTable(tables: readonly FluxTable[]): FluxTable {
  const columns = new Map<string, FluxColumn>();
  for (const table of tables) for (const column of table.columns) columns.set(column.label, column.slice(0, 0));
  return new FluxTable(GroupKey.NONE, [...columns.values()], 0);
}

export const JOIN: LibraryPackage = {
  path: "join",
  name: "join",
  source: `
builtin tables : (<-left: stream[L], right: stream[R], on: (l: L, r: R) => bool, as: (l: L, r: R) => A, method: string) => stream[A] where A: Record, L: Record, R: Record
inner = (left=<-, right, on, as) => tables(left: left, right: right, on: on, as: as, method: "inner")
left = (left=<-, right, on, as) => tables(left: left, right: right, on: on, as: as, method: "left")
right = (left=<-, right, on, as) => tables(left: left, right: right, on: on, as: as, method: "right")
full = (left=<-, right, on, as) => tables(left: left, right: right, on: on, as: as, method: "full")
time = (left=<-, right, as, method="inner") =>
    tables(left: left, right: right, on: (l, r) => l._time == r._time, as: as, method: method)
`,
  natives: { tables: joinTables },
};
