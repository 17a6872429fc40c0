// Packed messages: what comes out is what went in, whatever the worker was sent in between.
import { expect, test } from "bun:test";
import { ALL_TIME } from "../../model/query/scan.ts";
import { ColumnType } from "../../model/rows/column.ts";
import type { DatabaseSnapshot, SnapshotNeed, TableSnapshot } from "../../scan/snapshot.ts";
import type { ToQueryWorker } from "./messages.ts";
import { packAnswer, StatementPacker, StatementUnpacker, unpackAnswer } from "./packed-messages.ts";
import { SnapshotReceiver, SnapshotSender } from "./snapshot-wire.ts";

type StatementMessage = Extract<ToQueryWorker, { type: "query" }>;

const REST = { catalog: [], isInternal: false, systemRows: {} };
const TIMES = { planMs: 0.25, computeMs: 1.5 };
const CACHE = { bytes: 1, files: 2, gen0Hits: 3, gen0Misses: 4, compactedHits: 5, compactedMisses: 6, bytesRead: 7 };
const END = { rowCount: 3, scans: [], times: TIMES, cache: CACHE };

const need = (...tables: string[]): SnapshotNeed => ({ tables, wholeCatalog: false, systemTables: [] });

function tableOf(id: number, more: Partial<TableSnapshot> = {}): TableSnapshot {
  const table = { id, databaseId: 1, name: `t${id}`, columns: [{ id: 0, name: "time", type: ColumnType.time }] };
  return {
    table,
    retentionMinNs: ALL_TIME.minNs,
    sequence: 1,
    lastDeletion: 0,
    tombstones: [],
    runs: [],
    blocks: [],
    indexes: [],
    ...more,
  };
}

/** Main and a worker: statements arrive with the snapshots that the worker decodes of them. */
class Line {
  readonly packer = new StatementPacker();
  readonly types: string[] = [];
  private readonly sender = new SnapshotSender();
  private readonly unpacker = new StatementUnpacker();
  private readonly receiver = new SnapshotReceiver({ blockGone: () => {}, segmentCame: () => {}, segmentGone: () => {} });
  private id = 0;

  send(need: SnapshotNeed, snapshot: DatabaseSnapshot, more: Partial<StatementMessage> = {}): DatabaseSnapshot {
    const early = { need, snapshot: this.sender.encode(snapshot) };
    const message: StatementMessage = {
      type: "query",
      id: ++this.id,
      database: "d",
      statement: "s",
      format: "json",
      params: {},
      early,
      ...more,
    };
    const posted = structuredClone(this.packer.pack(message));
    this.types.push(posted.type);
    const got = this.unpacker.unpack(posted) as StatementMessage;
    expect({ ...got, early: null }).toMatchObject({ ...message, early: null });
    expect(got.early!.need).toEqual(need);
    return this.receiver.decode(got.early!.snapshot);
  }
}

test("an unchanged snapshot is sent once more by its number", () => {
  const line = new Line();
  const [wanted, snapshot] = [need("t1"), { ...REST, tables: [tableOf(1)] }];
  for (let i = 0; i < 4; i++) expect(line.send(wanted, snapshot)).toEqual(snapshot);
  expect(line.types).toEqual(["query", "query", "packed query", "packed query"]);
});

test("a snapshot that changed, also by another statement's message, is what the worker gets", () => {
  const line = new Line();
  const [one, both] = [need("t1"), need("t1", "t2")];
  const first = tableOf(1);
  const other = tableOf(2);
  const states = [
    first,
    tableOf(1, { sequence: 2 }),
    tableOf(1, { sequence: 3, lastDeletion: 1 }),
    first,
    tableOf(1, { retentionMinNs: 5n }),
  ];
  for (const round of [0, 1, 2]) {
    for (const state of states) {
      for (const _ of [0, 1, 2]) {
        expect(line.send(both, { ...REST, tables: [state, other] })).toEqual({ ...REST, tables: [state, other] });
        expect(line.send(one, { ...REST, tables: [state] })).toEqual({ ...REST, tables: [state] });
      }
    }
    expect(line.types.filter((type) => type === "packed query").length).toBeGreaterThan(round * 10);
  }
});

test.each([
  ["deletions", { ...REST, tables: [tableOf(1, { tombstones: [{ id: 1 } as never] })] }],
  ["system rows", { ...REST, tables: [tableOf(1)], systemRows: { queries: [] } }],
  ["the server's own database", { ...REST, tables: [tableOf(1)], isInternal: true }],
  ["caches", { ...REST, tables: [tableOf(1)], caches: [] }],
  ["a list of tables", { ...REST, tables: [tableOf(1)], catalog: [tableOf(1).table] }],
])("with %s it is sent whole", (_, snapshot) => {
  const line = new Line();
  for (let i = 0; i < 3; i++) expect(line.send(need("t1"), snapshot as DatabaseSnapshot)).toEqual(snapshot as DatabaseSnapshot);
  expect(line.types).toEqual(["query", "query", "query"]);
});

test("more statements than are remembered: the earliest are sent whole again", () => {
  const line = new Line();
  const snapshots = Array.from({ length: 300 }, (_, i) => [need(`t${i}`), { ...REST, tables: [tableOf(i)] }] as const);
  for (let round = 0; round < 4; round++) for (const [wanted, snapshot] of snapshots) expect(line.send(wanted, snapshot)).toEqual(snapshot);
  expect(line.types).not.toContain("packed query");
  const [wanted, snapshot] = snapshots[0]!;
  for (let i = 0; i < 2; i++) expect(line.send(wanted, snapshot)).toEqual(snapshot);
  expect(line.types.at(-1)).toBe("packed query");
});

test("parameters and options arrive, with and without a snapshot", () => {
  const line = new Line();
  const more = { place: 4, params: { a: 1n, b: null }, memoryBytesMax: 5, describe: true };
  for (let i = 0; i < 3; i++) line.send(need("t1"), { ...REST, tables: [tableOf(1)] }, more);
  const bare: StatementMessage = { type: "query", id: 9, database: "d", statement: "é'\n\0", format: "csv", params: {} };
  expect(new StatementUnpacker().unpack(structuredClone(line.packer.pack(bare)))).toEqual(bare);
});

test("an answer arrives byte by byte, large ones without a copy", () => {
  const all = Uint8Array.from({ length: 256 }, (_, i) => i);
  for (const bytes of [new Uint8Array(0), all, all.subarray(100, 200), new Uint8Array(16 << 10).fill(255)]) {
    const packed = packAnswer({ type: "answer", id: 1, contentType: "x", bytes, end: END })!;
    const answer = unpackAnswer(structuredClone(packed));
    expect({ ...answer, bytes: null }).toEqual({ type: "answer", id: 1, contentType: "x", bytes: null, end: END } as never);
    const got = (answer as typeof answer & { bytes: Uint8Array }).bytes;
    expect([...got]).toEqual([...bytes]);
    expect(got.buffer.byteLength).toBe(bytes.length);
  }
  expect(packAnswer({ type: "answer", id: 1, contentType: "x", bytes: new Uint8Array((16 << 10) + 1), end: END })).toBeNull();
});
