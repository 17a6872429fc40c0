// What a worker is sent of a statement's snapshot: many tables in several messages, a turn of the event loop each.
import { expect, test } from "bun:test";
import { ALL_TIME } from "../../model/query/scan.ts";
import { ColumnType } from "../../model/rows/column.ts";
import type { TableSnapshot } from "../../scan/snapshot.ts";
import type { ToQueryWorker } from "../wire/messages.ts";
import { SnapshotReceiver, SnapshotSender } from "../wire/snapshot-wire.ts";
import { TABLES_PER_MESSAGE, WorkerRun } from "./worker-run.ts";

const REST = { catalog: [], isInternal: false, systemRows: {} };
const turn = () => new Promise((resolve) => setImmediate(resolve));

function tables(count: number): TableSnapshot[] {
  return Array.from({ length: count }, (_, id) => ({
    table: { id, databaseId: 1, name: `t${id}`, columns: [{ id: 0, name: "time", type: ColumnType.time }] },
    ...{ retentionMinNs: ALL_TIME.minNs, tombstones: [], runs: [], blocks: [], indexes: [] },
  }));
}

function started() {
  const posted: ToQueryWorker[] = [];
  const words = { take: () => null, give: () => {}, stop: () => false, withdraw: () => false } as never;
  const worker = { snapshots: new SnapshotSender(), words, nowMs: () => 0, post: (message: ToQueryWorker) => posted.push(message) };
  return { run: new WorkerRun(7, null, worker, () => {}), posted };
}

test("many tables are sent in several messages, and are the snapshot together", async () => {
  const { run, posted } = started();
  const all = tables(2 * TABLES_PER_MESSAGE + 1);
  run.send({ snapshot: { ...REST, tables: all }, release: () => {} });
  expect(posted.map(({ type }) => type)).toEqual(["tables"]);
  for (let i = 0; i < 4; i++) await turn();
  expect(posted.map(({ type }) => type)).toEqual(["tables", "tables", "snapshot"]);
  const receiver = new SnapshotReceiver({ blockGone: () => {}, segmentCame: () => {}, segmentGone: () => {} });
  const got = posted.flatMap((message) => {
    if (message.type === "tables") return receiver.decodeTables(message.tables);
    return message.type === "snapshot" ? receiver.decode(message.snapshot).tables : [];
  });
  expect(got).toEqual(all);
});

test("few are sent in one, and none of a statement that has ended", async () => {
  const few = started();
  few.run.send({ snapshot: { ...REST, tables: tables(TABLES_PER_MESSAGE) }, release: () => {} });
  expect(few.posted.map(({ type }) => type)).toEqual(["snapshot"]);
  const { run, posted } = started();
  let released = 0;
  run.send({ snapshot: { ...REST, tables: tables(3 * TABLES_PER_MESSAGE) }, release: () => released++ });
  run.end();
  for (let i = 0; i < 4; i++) await turn();
  expect([posted.length, released]).toEqual([1, 1]);
});

test("many are not sent with the statement", () => {
  let released = 0;
  const early = { snapshot: { ...REST, tables: tables(TABLES_PER_MESSAGE + 1) }, release: () => released++ };
  expect([started().run.sendEarly(early), released]).toEqual([undefined, 1]);
});
