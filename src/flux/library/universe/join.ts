// The old `join`: equal values in the columns of `on`; columns of one name get the names of their streams.
import type { FluxColumn } from "../../tables/column.ts";
import { drain, StreamNode, type Tables } from "../../tables/stream.ts";
import { cellText, type FluxTable, GroupKey, FluxTable as Table } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import { isNull } from "../../values/value.ts";
import type { NativeBody } from "../native-call.ts";
import { streamOf } from "../operator.ts";
import { sorted } from "./shape.ts";

const METHODS: readonly string[] = ["inner"];

export const join: NativeBody = (call) => {
  const method = call.string("method", "inner");
  if (!METHODS.includes(method)) throw new FluxError(`${method} is not a valid join type`);
  const on = call.strings("on", []);
  const sides = [...call.record("tables").entries()].sort(([a], [b]) => (a < b ? -1 : 1));
  const streams = sides.map(([, stream]) => stream).filter((stream) => stream instanceof StreamNode);
  if (streams.length !== 2) throw new FluxError("joins currently must only have two parents");
  if (streams[0] === streams[1]) throw new FluxError("joins currently must only have two parents");
  const names = sides.map(([name]) => name) as [string, string];
  return streamOf(call, streams, ([left, right]) => joinStreams(left!, right!, on, names));
};

function* joinStreams(left: Tables, right: Tables, on: readonly string[], names: readonly [string, string]): Tables {
  const rights = drain(right).map((table) => sorted(table, on, false));
  for (const each of left) {
    yield null;
    if (each === null) continue;
    const table = sorted(each, on, false);
    for (const other of rights) {
      const made = joinTables(table, other, on, names);
      if (made !== null && !made.isEmpty) yield made;
      yield null;
    }
  }
}

/** Null when the keys rule out that any row matches. */
function joinTables(left: FluxTable, right: FluxTable, on: readonly string[], names: readonly [string, string]): FluxTable | null {
  for (const label of on) {
    const [a, b] = [left.key.get(label), right.key.get(label)];
    if (a !== undefined && b !== undefined && cellText(a.value) !== cellText(b.value)) return null;
  }
  const pairs = matchingRows(left, right, on);
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
      .filter(({ label }) => !(on.includes(label) && isShared(label)))
      .map((column) => ({ ...column, label: renamed(column.label, 1) })),
  ];
  key.sort((a, b) => (a.label < b.label ? -1 : 1));
  return new Table(new GroupKey(key), columns, pairs.left.length);
}

/** Rows of both sides that match, the left ones in their order. */
function matchingRows(
  left: FluxTable,
  right: FluxTable,
  on: readonly string[],
): { readonly left: Uint32Array; readonly right: Uint32Array } | null {
  const [a, b] = [left, right].map((table) => on.map((label) => table.column(label)));
  if (a!.some((column) => column === undefined) || b!.some((column) => column === undefined)) return null;
  const rows = new Map<string, number[]>();
  for (let row = 0; row < right.rowCount; row++) {
    const text = rowText(b as FluxColumn[], row);
    const found = rows.get(text);
    if (found === undefined) rows.set(text, [row]);
    else found.push(row);
  }
  const [lefts, rights]: [number[], number[]] = [[], []];
  for (let row = 0; row < left.rowCount; row++) {
    for (const other of rows.get(rowText(a as FluxColumn[], row)) ?? []) {
      lefts.push(row);
      rights.push(other);
    }
  }
  return { left: Uint32Array.from(lefts), right: Uint32Array.from(rights) };
}

export function rowText(columns: readonly FluxColumn[], row: number): string {
  return JSON.stringify(
    columns.map((column) => {
      const value = column.get(row);
      return isNull(value) ? null : [column.type, cellText(value)];
    }),
  );
}
