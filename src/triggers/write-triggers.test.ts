// Which triggers a durable group of the log wakes.
import { expect, test } from "bun:test";
import { RowNotes } from "./row-notes.ts";
import type { WriteTrigger } from "./write-trigger.ts";
import { WriteTriggers } from "./write-triggers.ts";

const names: Record<number, string> = { 10: "m", 11: "n", 20: "m" };
const catalog = { tableById: (id: number) => (names[id] === undefined ? undefined : { name: names[id] }) as never };
const trigger = (name: string) => ({ name }) as unknown as WriteTrigger;

test("triggers of the database and of the table by its name, once each", () => {
  const triggers = new WriteTriggers();
  const [all, m, n, other, again] = ["all", "m", "n", "other", "again"].map(trigger) as [WriteTrigger, ...WriteTrigger[]] & WriteTrigger[];
  triggers.add(1, null, all!);
  triggers.add(1, "m", m!);
  triggers.add(1, "m", again!);
  triggers.add(1, "n", n!);
  triggers.add(2, "m", other!);
  const of = (...tables: [databaseId: number, tableId: number][]) => [
    ...triggers.of(
      tables.map(([databaseId, tableId]) => ({ databaseId, tableId })),
      catalog,
    ),
  ];
  expect(of()).toEqual([]);
  expect(of([1, 10])).toEqual([all, m, again] as never);
  expect(of([1, 10], [1, 11])).toEqual([all, m, again, n] as never);
  expect(of([2, 20])).toEqual([other] as never);
  // a table that the catalog has no more, a database without triggers
  expect(of([1, 99], [3, 10])).toEqual([all] as never);
  triggers.remove(1, null, all!);
  triggers.remove(1, "m", again!);
  triggers.remove(1, "m", again!);
  expect(of([1, 10], [1, 11])).toEqual([m, n] as never);
  for (const [name, each] of [
    ["m", m],
    ["n", n],
  ] as const) {
    triggers.remove(1, name, each!);
  }
  expect(of([1, 10], [2, 20])).toEqual([other] as never);
});

test("tables with rows in durable frames, again as long as newer frames are not durable", () => {
  const notes = new RowNotes(5);
  expect([notes.last({ databaseId: 1, tableId: null }), notes.last({ databaseId: 1, tableId: 10 })]).toEqual([5, 5]);
  notes.note(1, 10, 6);
  notes.note(1, 11, 6);
  notes.note(1, 10, 7);
  notes.note(1, 10, 8);
  expect([notes.last({ databaseId: 1, tableId: null }), notes.last({ databaseId: 1, tableId: 11 })]).toEqual([8, 6]);
  expect(notes.take(6)).toEqual([
    { databaseId: 1, tableId: 10 },
    { databaseId: 1, tableId: 11 },
  ]);
  expect(notes.take(7)).toEqual([{ databaseId: 1, tableId: 10 }]);
  expect(notes.take(8)).toEqual([{ databaseId: 1, tableId: 10 }]);
  expect(notes.take(9)).toEqual([]);
});
