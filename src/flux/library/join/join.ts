// Package `join`: rows of tables with one group key, put together by a function.

import { Closure } from "../../interpret/closure.ts";
import { valuesEqual } from "../../interpret/operators.ts";
import type { Expression } from "../../parse/ast.ts";
import { drain, type StreamNode, type Tables } from "../../tables/stream.ts";
import { type FluxTable, type GroupKey, RowRecord } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import { type FluxFunction, FluxRecord, Null, type Value } from "../../values/value.ts";
import { TableMerge } from "../merge-tables.ts";
import type { LibraryPackage, NativeBody } from "../native-call.ts";
import { streamOf } from "../operator.ts";
import { rowText } from "../universe/join.ts";
import { appendTo } from "../universe/rows.ts";
import { compareCells, sorted } from "../universe/shape.ts";

const METHODS: readonly string[] = ["inner", "left", "right", "full"];

interface Pairs {
  readonly left: readonly string[];
  readonly right: readonly string[];
}

/** The columns that `on` compares. @throws FluxError: it is more than equalities of both sides joined by `and` */
function pairsOf(fn: FluxFunction): Pairs {
  const body = fn instanceof Closure ? fn.body : null;
  const pairs: Pairs & { left: string[]; right: string[] } = { left: [], right: [] };
  if (body === null || !collectPairs(body, pairs)) throw new FluxError("unsupported operation in join predicate");
  return pairs;
}

function collectPairs(node: Expression, pairs: { left: string[]; right: string[] }): boolean {
  if (node.type === "ParenExpression") return collectPairs(node.expression, pairs);
  if (node.type === "LogicalExpression")
    return node.operator === "and" && collectPairs(node.left, pairs) && collectPairs(node.right, pairs);
  if (node.type !== "BinaryExpression" || node.operator !== "==") return false;
  const [a, b] = [memberOf(node.left), memberOf(node.right)];
  if (a === null || b === null || a.side === b.side) return false;
  const [left, right] = a.side === "l" ? [a, b] : [b, a];
  pairs.left.push(left.label);
  pairs.right.push(right.label);
  return left.side === "l" && right.side === "r";
}

function memberOf(node: Expression): { readonly side: string; readonly label: string } | null {
  if (node.type !== "MemberExpression" || node.object.type !== "Identifier") return null;
  return { side: node.object.name, label: node.property.type === "Identifier" ? node.property.name : node.property.value };
}

const joinTables: NativeBody = (call) => {
  const method = call.string("method");
  if (!METHODS.includes(method)) throw new FluxError(`invalid argument for 'method' - must be "inner", "left", "right", or "full"`);
  const pairs = pairsOf(call.function("on"));
  const make = call.function("as").prepare(["l", "r"]);
  const inputs: readonly StreamNode[] = [call.stream("left"), call.stream("right")];
  if (inputs[0] === inputs[1]) throw new FluxError("joins currently must only have two parents");
  return streamOf(call, inputs, ([left, right]) => new Join(pairs, method, make).run(left!, right!));
};

class Join {
  private readonly merge = new TableMerge();
  private nullLeft: FluxRecord = new FluxRecord(new Map());
  private nullRight: FluxRecord = new FluxRecord(new Map());

  constructor(
    private readonly pairs: Pairs,
    private readonly method: string,
    private readonly make: (l: Value, r: Value) => Value,
  ) {}

  *run(left: Tables, right: Tables): Tables {
    const lefts = drain(left);
    const rights = drain(right);
    if (lefts.length === 0 || rights.length === 0) throw new FluxError("cannot join on an empty table");
    this.nullLeft = nullRow(lefts);
    this.nullRight = nullRow(rights);
    const rightOf = new Map(rights.map((table) => [table.key.text, table]));
    const keepsLeft = this.method === "left" || this.method === "full";
    const keepsRight = this.method === "right" || this.method === "full";
    for (const table of lefts) {
      yield null;
      const other = rightOf.get(table.key.text);
      rightOf.delete(table.key.text);
      if (other !== undefined) this.rows(table, other, keepsLeft, keepsRight);
      else if (keepsLeft) for (const row of rowsOf(table)) this.emit(table.key, row, this.nullRight);
    }
    if (keepsRight) for (const table of rightOf.values()) for (const row of rowsOf(table)) this.emit(table.key, this.nullLeft, row);
    yield* this.merge.tables();
  }

  /** Both sides in the order of the columns that are compared. */
  private rows(leftTable: FluxTable, rightTable: FluxTable, keepsLeft: boolean, keepsRight: boolean): void {
    const [left, right] = [sorted(leftTable, this.pairs.left, false), sorted(rightTable, this.pairs.right, false)];
    const [a, b] = [columnsOf(left, this.pairs.left), columnsOf(right, this.pairs.right)];
    const [l, r] = [new RowRecord(left), new RowRecord(right)];
    let [i, j] = [0, 0];
    while (i < left.rowCount || j < right.rowCount) {
      const order = i >= left.rowCount ? 1 : j >= right.rowCount ? -1 : compareRows(a, i, b, j);
      if (order < 0) {
        l.row = i++;
        if (keepsLeft) this.emit(left.key, l, this.nullRight);
      } else if (order > 0) {
        r.row = j++;
        if (keepsRight) this.emit(right.key, this.nullLeft, r);
      } else {
        const text = rowText(a, i);
        const from = j;
        for (; i < left.rowCount && rowText(a, i) === text; i++) {
          l.row = i;
          for (j = from; j < right.rowCount && compareRows(a, i, b, j) === 0; j++) {
            r.row = j;
            this.emit(left.key, l, r);
          }
        }
      }
    }
  }

  private emit(key: GroupKey, l: FluxRecord, r: FluxRecord): void {
    const made = this.make(l, r);
    if (!(made instanceof FluxRecord)) throw new FluxError("join: as must return a record");
    for (const { label, type, value } of key.columns) {
      const found = made.get(label);
      if (found !== undefined && valuesEqual(found, value)) continue;
      throw new FluxError(`join cannot modify group key: output record has a missing or invalid value for column '${label}:${type}'`);
    }
    appendTo(this.merge.builder(key), made);
  }
}

function columnsOf(table: FluxTable, labels: readonly string[]) {
  return labels.map((label) => {
    const column = table.column(label);
    if (column === undefined) throw new FluxError(`cannot set join columns in left table stream: table is missing column '${label}'`);
    return column;
  });
}

function compareRows(a: ReturnType<typeof columnsOf>, i: number, b: ReturnType<typeof columnsOf>, j: number): number {
  for (let c = 0; c < a.length; c++) {
    const [aNull, bNull] = [a[c]!.isNull(i), b[c]!.isNull(j)];
    // a null equals nothing
    if (aNull || bNull) return aNull ? -1 : 1;
    const order = compareCells(a[c]!.get(i), b[c]!.get(j));
    if (order !== 0) return order;
  }
  return 0;
}

function* rowsOf(table: FluxTable): Generator<FluxRecord> {
  const row = new RowRecord(table);
  for (row.row = 0; row.row < table.rowCount; row.row++) yield row;
}

/** A row of nulls with the types of the side's columns. */
function nullRow(tables: readonly FluxTable[]): FluxRecord {
  const fields = new Map<string, Value>();
  for (const { columns } of tables) for (const { label, type } of columns) fields.set(label, Null.of(type));
  return new FluxRecord(fields);
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
