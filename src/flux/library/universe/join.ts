// The old `join`: equal values in the columns of `on`; columns of one name get the names of their streams.
import type { ScriptRun } from "../../interpret/script-run.ts";
import { type FluxColumn, NO_ROW } from "../../tables/column.ts";
import { RowNumbers } from "../../tables/row-numbers.ts";
import { rowComparison } from "../../tables/row-order.ts";
import { StreamNode, type Tables } from "../../tables/stream.ts";
import { cellText, type FluxTable, GroupKey, FluxTable as Table } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import { kindOf } from "../../values/value.ts";
import type { NativeBody } from "../native-call.ts";
import { streamOf } from "../operator.ts";
import { sortSeries } from "../series-sort.ts";
import { sortedInSteps } from "../sort.ts";

const METHODS: readonly string[] = ["inner"];

export const join: NativeBody = (call) => {
  const on = call.strings("on");
  if (on.length === 0) throw new FluxError("at least one column in 'on' column list is required");
  const method = call.string("method", "inner");
  if (!METHODS.includes(method)) throw new FluxError(`${method} is not a valid join type`);
  const sides = [...call.record("tables").entries()].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, stream] of sides) {
    if (!(stream instanceof StreamNode))
      throw new FluxError(`expected ${JSON.stringify(name)} to be stream type; instead got ${kindOf(stream)}`);
  }
  const streams = sides.map(([, stream]) => stream as StreamNode);
  const names = sides.map(([name]) => name) as [string, string];
  const node = streamOf(call, streams, ([left, right], run) => joinStreams(left!, right!, { on, names, run }));
  return ofTwoParents(node);
};

/** The node, which cannot start unless it joins two streams. */
export function ofTwoParents(node: StreamNode): StreamNode {
  if (node.inputs.length === 2 && node.inputs[0] !== node.inputs[1]) return node;
  node.onStart = () => {
    throw new FluxError("failed to initialize execute state: joins currently must only have two parents");
  };
  return node;
}

interface Joining {
  readonly on: readonly string[];
  readonly names: readonly [string, string];
  readonly run: ScriptRun;
}

function* joinStreams(left: Tables, right: Tables, joining: Joining): Tables {
  const { on, run } = joining;
  const order = [...on].sort();
  const rights: FluxTable[] = [];
  for (const table of right) {
    yield null;
    if (table !== null) rights.push(yield* sortedForJoin(table, order));
  }
  const candidates = new Candidates(rights, on);
  for (const each of left) {
    yield null;
    if (each === null) continue;
    const table = yield* sortedForJoin(each, order);
    for (const other of candidates.of(table)) {
      const made = joinTables(table, other, joining);
      if (made !== null && !made.isEmpty) yield made;
      run.pause();
      yield null;
    }
  }
}

/** Rows that compare as equal keep their order in longer tables: sorting these as the reference does would be one long step. */
const UNSTABLE_ROWS_MAX = 65_536;

/** As the reference sorts both sides, where rows that compare as equal do not keep their order. */
function* sortedForJoin(table: FluxTable, labels: readonly string[]): Generator<null, FluxTable, void> {
  if (table.rowCount > UNSTABLE_ROWS_MAX) return yield* sortedInSteps(table.inOnePiece(), labels, false);
  const columns = labels.flatMap((label) => table.column(label) ?? []);
  const rows = Array.from({ length: table.rowCount }, (_, row) => row);
  const order = rowComparison(columns);
  sortSeries(rows, (a, b) => order(a, b) < 0);
  return table.inOnePiece().take(Uint32Array.from(rows));
}

/** The tables of one side by those columns of `on` that are in their keys. */
class Candidates {
  private readonly groups = new Map<
    string,
    { readonly labels: readonly string[]; readonly tables: Map<string, FluxTable[]>; all: FluxTable[] }
  >();

  constructor(tables: readonly FluxTable[], on: readonly string[]) {
    for (const table of tables) {
      const labels = on.filter((label) => table.key.has(label));
      const name = JSON.stringify(labels);
      let group = this.groups.get(name);
      if (group === undefined) {
        group = { labels, tables: new Map(), all: [] };
        this.groups.set(name, group);
      }
      group.all.push(table);
      const text = keyText(table, labels);
      const same = group.tables.get(text);
      if (same === undefined) group.tables.set(text, [table]);
      else same.push(table);
    }
  }

  /** Those that may have rows in common with the table. */
  *of(table: FluxTable): Iterable<FluxTable> {
    for (const { labels, tables, all } of this.groups.values()) {
      yield* labels.every((label) => table.key.has(label)) ? (tables.get(keyText(table, labels)) ?? []) : all;
    }
  }
}

function keyText({ key }: FluxTable, labels: readonly string[]): string {
  return JSON.stringify(labels.map((label) => cellText(key.get(label)!.value)));
}

/** Null when the keys rule out that any row matches. */
function joinTables(left: FluxTable, right: FluxTable, { on, names, run }: Joining): FluxTable | null {
  for (const label of on) {
    const a = left.key.get(label);
    const b = right.key.get(label);
    if (a !== undefined && b !== undefined && cellText(a.value) !== cellText(b.value)) return null;
  }
  const pairs = matchingRows(left, right, on, run);
  if (pairs === null) return null;
  const isShared = (label: string) => left.column(label) !== undefined && right.column(label) !== undefined;
  const renamed = (label: string, side: 0 | 1) => (isShared(label) && !on.includes(label) ? `${label}_${names[side]}` : label);
  const columns: FluxColumn[] = [
    ...left.columns.map((column) => column.take(pairs.left).labelled(renamed(column.label, 0))),
    ...right.columns
      .filter(({ label }) => !(on.includes(label) && isShared(label)))
      .map((column) => column.take(pairs.right).labelled(renamed(column.label, 1))),
  ];
  columns.sort((a, b) => (a.label < b.label ? -1 : 1));
  const key = [
    ...left.key.columns.map((column) => ({ ...column, label: renamed(column.label, 0) })),
    ...right.key.columns
      .filter(({ label }) => !(on.includes(label) && isShared(label) && left.key.has(label)))
      .map((column) => ({ ...column, label: renamed(column.label, 1) })),
  ];
  key.sort((a, b) => (a.label < b.label ? -1 : 1));
  return new Table(new GroupKey(key), columns, pairs.left.length);
}

/** Rows of both sides that match, the left ones in their order; null when a side lacks a column. */
function matchingRows(
  left: FluxTable,
  right: FluxTable,
  on: readonly string[],
  run: ScriptRun,
): { readonly left: Uint32Array; readonly right: Uint32Array } | null {
  const a = on.flatMap((label) => left.column(label) ?? []);
  const b = on.flatMap((label) => right.column(label) ?? []);
  if (a.length < on.length || b.length < on.length) return null;
  if (a.some(({ type }, i) => type !== b[i]!.type)) return { left: new Uint32Array(0), right: new Uint32Array(0) };
  const rows = new RowNumbers(on.length);
  const numbers = rows.add(b, 0, right.rowCount);
  const { starts, order } = grouped(numbers, rows.count);
  const found = rows.find(a, 0, left.rowCount);
  let count = 0;
  for (const number of found) if (number !== NO_ROW) count += starts[number + 1]! - starts[number]!;
  run.checkCells(count * (left.columns.length + right.columns.length));
  const pairs = { left: new Uint32Array(count), right: new Uint32Array(count) };
  for (let row = 0, at = 0; row < found.length; row++) {
    const number = found[row]!;
    if (number === NO_ROW) continue;
    for (let i = starts[number]!; i < starts[number + 1]!; i++, at++) {
      pairs.left[at] = row;
      pairs.right[at] = order[i]!;
    }
  }
  return pairs;
}

/** Rows by their numbers: those of number `n` are `order[starts[n]]` to `order[starts[n + 1] - 1]`, in their order. */
function grouped(numbers: Uint32Array, count: number): { readonly starts: Uint32Array; readonly order: Uint32Array } {
  const starts = new Uint32Array(count + 1);
  for (const number of numbers) starts[number + 1]!++;
  for (let i = 0; i < count; i++) starts[i + 1]! += starts[i]!;
  const next = starts.slice();
  const order = new Uint32Array(numbers.length);
  for (let row = 0; row < numbers.length; row++) order[next[numbers[row]!]!++] = row;
  return { starts, order };
}
