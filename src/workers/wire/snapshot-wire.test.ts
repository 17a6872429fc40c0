// Snapshots arrive as they were sent, whatever was sent before; what has not changed is the same object as before, and is not sent again.
import { expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import { ColumnType, type TableDef, TIME_COLUMN } from "../../model/rows/column.ts";
import type { DictionaryView, Run } from "../../model/rows/run.ts";
import type { BlockSnapshot, DatabaseSnapshot, TableSnapshot } from "../../scan/snapshot.ts";
import { SnapshotReceiver, SnapshotSender, type WireSnapshot } from "./snapshot-wire.ts";

const REST = { catalog: [], isInternal: true, systemRows: { queries: [["q", 1n, null]] } };

const tableOf = (id: number): TableDef => ({ id, databaseId: 1, name: `t${id}`, columns: [TIME_COLUMN] });
const dictionaryOf = (id: number): DictionaryView => ({
  id,
  seriesCount: id,
  tags: [{ columnId: 1, codesPtr: id * 8, valuesPtr: id * 16, valueCount: 3 }],
});
const blockOf = (fileId: number, blockIndex = 0): BlockSnapshot => ({
  fileId,
  generation: 0,
  source: { kind: "path", path: `/${fileId}` },
  blockIndex,
  rowCount: 5,
  minTimeNs: -(2n ** 63n),
  maxTimeNs: BigInt(fileId),
  seqMin: 1,
  seqMax: 2 ** 40,
  unique: true,
});
const runOf = (number: number, dictionary: DictionaryView, columns?: Run["columns"]): Run => ({
  rowCount: number,
  // the end of the kernel's memory
  seriesPtr: 2 ** 32 - 64 * number,
  timePtr: number * 64,
  columns: columns ?? [{ columnId: 2, type: ColumnType.float, dataPtr: number * 128, validityPtr: 0 }],
  dictionary,
  sorted: number % 2 === 0,
  unique: number % 3 === 0,
  overlaps: number % 3 === 1 ? [{ minNs: BigInt(-number), maxNs: 2n ** 63n - 1n }] : undefined,
  ascending: number % 5 === 0,
  segment: number % 2 === 0 ? undefined : number,
  minTimeNs: BigInt(-number),
  maxTimeNs: 2n ** 63n - 1n,
  seqMin: number,
  seqMax: 2 ** 50 + number,
});

/** What a message is: a copy. */
function pair(tablesMax?: number) {
  const sender = new SnapshotSender(tablesMax);
  const gone: number[] = [];
  const segments: number[] = [];
  const receiver = new SnapshotReceiver({
    blockGone: ({ fileId }) => gone.push(fileId),
    segmentCame: (segment) => segments.push(segment),
    segmentGone: (segment) => segments.splice(segments.indexOf(segment), 1),
  });
  const wires: WireSnapshot[] = [];
  const send = (...tables: TableSnapshot[]): DatabaseSnapshot => {
    const wire = sender.encode({ tables, ...REST });
    wires.push(wire);
    const got = receiver.decode(structuredClone(wire));
    expect(got).toEqual({ tables, ...REST });
    return got;
  };
  return { send, gone, segments, last: () => wires.at(-1)!.tables[0]! };
}

const snapshot = (some: Partial<TableSnapshot> = {}): TableSnapshot => ({
  table: tableOf(1),
  retentionMinNs: ALL_TIME.minNs,
  tombstones: [],
  runs: [],
  blocks: [],
  indexes: [],
  ...some,
});

test("segments and blocks that stay are sent once", () => {
  const { send, last } = pair();
  const dictionary = dictionaryOf(1);
  const table = tableOf(1);
  const [first, second] = [runOf(1, dictionary), runOf(2, dictionary)];
  const blocks = [blockOf(1), blockOf(2)];
  const before = send(snapshot({ table, runs: [first, second], blocks }));
  expect(last().blocks!.added.length).toBe(2);
  // the second segment has grown: its columns lie where they were
  const after = send(snapshot({ table, runs: [first, { ...second, rowCount: 99 }], blocks: [...blocks] }));
  expect(last()).toMatchObject({ table: null, runs: { dictionaries: null, columns: null }, blocks: null });
  const tables = [before.tables[0]!, after.tables[0]!];
  expect(tables[0]!.table).toBe(tables[1]!.table);
  expect(tables[0]!.blocks).toBe(tables[1]!.blocks);
  expect(tables[0]!.runs[0]!.dictionary).toBe(tables[1]!.runs[1]!.dictionary);
  expect(tables[0]!.runs[1]!.columns).toBe(tables[1]!.runs[1]!.columns);
});

test("unchanged runs are the same list, and are not sent", () => {
  const { send, last } = pair();
  const dictionary = dictionaryOf(1);
  const [first, second] = [runOf(1, dictionary), runOf(2, dictionary)];
  const before = send(snapshot({ runs: [first, second] }));
  const after = send(snapshot({ runs: [first, second], sequence: 7 }));
  expect(last()).toMatchObject({ runs: null, sequence: 7 });
  expect(after.tables[0]!.runs).toBe(before.tables[0]!.runs);
  send(snapshot({ runs: [first] }));
  send(snapshot({ runs: [first, { ...second }] }));
  expect(last().runs!.columns!.added).toEqual([second.columns]);
});

test("a new file, a file that is gone, another order", () => {
  const { send, last, gone } = pair();
  const [a, b, c, d] = [blockOf(1), blockOf(2), blockOf(3), blockOf(4)];
  send(snapshot({ blocks: [a, b, c] }));
  send(snapshot({ blocks: [c, d, a] }));
  expect(last().blocks!.added).toEqual([d]);
  expect(gone).toEqual([2]);
  send(snapshot({ blocks: [] }));
  expect(gone).toEqual([2, 3, 4, 1]);
  // it is back, perhaps because its table's retention was made longer
  send(snapshot({ blocks: [a] }));
});

test("tables are forgotten on both sides", () => {
  const { send, last } = pair(2);
  const blocks = [blockOf(1)];
  const tables = [1, 2, 3].map((id) => snapshot({ table: tableOf(id), blocks }));
  for (const table of tables) send(table);
  send(tables[0]!);
  expect(last().blocks!.added.length).toBe(1);
  // 1 and 3 are remembered now
  send(tables[2]!);
  expect(last().blocks).toBe(null);
  send(...tables);
});

test("segmentCame and segmentGone are called for each segment", () => {
  const { send, segments } = pair(1);
  const dictionary = dictionaryOf(1);
  const runs = (...numbers: number[]) => numbers.map((number) => runOf(number, dictionary));
  send(snapshot({ runs: runs(1, 3) }));
  expect(segments).toEqual([1, 3]);
  // the second one is open still
  send(snapshot({ runs: runs(1, 3, 2) }));
  expect(segments).toEqual([1, 3]);
  send(snapshot({ runs: runs(3, 5) }));
  expect(segments).toEqual([3, 5]);
  send(snapshot({ table: tableOf(2), runs: runs(7) }));
  expect(segments).toEqual([7]);
  send(snapshot({ runs: runs(5) }));
  expect(segments).toEqual([5]);
});

const SEED = Number(process.env["SEED"] ?? 1);
test(`any sequence of snapshots, seed ${SEED}`, () => {
  const below = prng(SEED);
  const { send } = pair(3);
  let number = 0;
  const state = [1, 2, 3, 4, 5].map((id) => snapshot({ table: tableOf(id) }));
  for (let step = 0; step < 300; step++) {
    const at = below(state.length);
    const { table, runs, blocks } = state[at]!;
    const dictionary = runs.length === 0 || below(4) === 0 ? dictionaryOf(++number) : runs.at(-1)!.dictionary;
    const changes: Partial<TableSnapshot>[] = [
      { runs: [...runs, runOf(++number, dictionary)] },
      { runs: runs.map((run) => ({ ...run, rowCount: run.rowCount + 1, dictionary })) },
      { runs: runs.slice(1 + below(3)) },
      { blocks: [...blocks, blockOf(++number)] },
      { blocks: blocks.filter(() => below(3) > 0) },
      { blocks: blocks.toReversed() },
      { indexes: [{ fileId: 1, revision: ++number, source: { kind: "path" as const, path: "i" } }, ...state[at]!.indexes!] },
      { indexes: state[at]!.indexes!.filter(() => below(2) > 0) },
      { table: { ...table, columns: [...table.columns, { id: ++number, name: `c${number}`, type: ColumnType.integer }] } },
      { retentionMinNs: BigInt(++number), sequence: number, lastDeletion: number % 3 },
      { tombstones: [{ id: ++number, tableId: table.id, sequence: 5, range: ALL_TIME, tags: [{ columnId: 1, values: ["a", null] }] }] },
    ];
    state[at] = { ...state[at]!, ...changes[below(changes.length)]! };
    send(...state.filter(() => below(3) === 0));
  }
});

test("tables of a snapshot in several messages, between which those of another are", () => {
  const sender = new SnapshotSender(3);
  const segments: number[] = [];
  const receiver = new SnapshotReceiver({
    blockGone: () => {},
    segmentCame: (segment) => segments.push(segment),
    segmentGone: (segment) => segments.splice(segments.indexOf(segment), 1),
  });
  const dictionary = dictionaryOf(1);
  const older = [1, 2, 3, 4, 5].map((id) => snapshot({ table: tableOf(id), blocks: [blockOf(id)], runs: [runOf(id, dictionary)] }));
  const newer = older.map((table, i) => ({ ...table, blocks: i % 2 === 0 ? [blockOf(i + 10)] : table.blocks, sequence: 9 }));
  const send = (tables: readonly TableSnapshot[]) => receiver.decodeTables(structuredClone(sender.encodeTables(tables)));
  const [first, other, second] = [send(older.slice(0, 2)), send(newer), send(older.slice(2, 4))];
  const last = receiver.decode(structuredClone(sender.encode({ ...REST, tables: older.slice(4) })));
  expect([...first, ...second, ...last.tables]).toEqual(older);
  expect(other).toEqual(newer);
  // of the three tables that are remembered
  expect(segments.length).toBe(3 - [3, 4, 5].filter((id) => runOf(id, dictionary).segment === undefined).length);
});
