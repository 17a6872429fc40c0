// Lists of tables reach the worker as they were when they were sent, however they are cut, changed, forgotten and mixed.
import { expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { type TableDef, TIME_COLUMN } from "../../model/rows/column.ts";
import { CatalogReceiver, CatalogSender } from "./catalog-wire.ts";

const tableOf = (id: number, columnCount = 1): TableDef => ({
  ...{ id, databaseId: 1, name: `t${id}` },
  columns: Array.from({ length: columnCount }, (_, column) => ({ ...TIME_COLUMN, id: column })),
});

/** Both sides, and a message between them: a copy. */
function pair(partSize: number, othersMax: number) {
  const sender = new CatalogSender(partSize, othersMax);
  const receiver = new CatalogReceiver();
  const ahead = (catalog: readonly TableDef[], from: number): number | null => {
    const part = sender.ahead(catalog, from);
    if (part !== null) receiver.add(structuredClone(part.tables));
    return part?.end ?? null;
  };
  const send = (catalog: readonly TableDef[]) => {
    const wire = sender.encode(catalog);
    expect(receiver.decode(structuredClone(wire))).toEqual([...catalog]);
    return wire;
  };
  return { ahead, send };
}

test("a long list goes in parts of tables and columns, and what is known does not go again", () => {
  const { ahead, send } = pair(10, 100);
  // 4 to a table with its 3 columns: the third reaches 10
  const catalog = Array.from({ length: 7 }, (_, i) => tableOf(i, 3));
  expect([ahead(catalog, 0), ahead(catalog, 3), ahead(catalog, 6)]).toEqual([3, 6, null]);
  expect(send(catalog).added).toEqual([catalog[6]!]);
  expect(ahead(catalog, 0)).toBeNull();
  expect(send(catalog).added).toEqual([]);
  const changed = catalog.with(2, tableOf(2, 4));
  expect(ahead(changed, 0)).toBeNull();
  expect(send(changed).added).toEqual([changed[2]!]);
});

test("two lists that differ in all their tables, sent in turn, come to their ends", () => {
  const { ahead, send } = pair(2, 100);
  const [a, b] = [Array.from({ length: 50 }, (_, i) => tableOf(i)), Array.from({ length: 50 }, (_, i) => tableOf(i, 2))];
  let fromA: number | null = 0;
  let fromB: number | null = 0;
  let turns = 0;
  while (fromA !== null || fromB !== null) {
    if (fromA !== null) fromA = ahead(a, fromA);
    if (fromB !== null) fromB = ahead(b, fromB);
    expect(++turns).toBeLessThanOrEqual(51);
  }
  send(a);
  send(b);
});

test.each([1, 2, 3])("lists that change at random, seed %d", (seed) => {
  const below = prng(seed);
  const { ahead, send } = pair(5, 4);
  const databases: TableDef[][] = [[], [], []];
  let [nextId, forgotten] = [0, 0];
  for (let step = 0; step < 500; step++) {
    const tables = databases[below(3)]!;
    if (below(2) === 0) tables.push(tableOf(nextId++, 1 + below(4)));
    if (below(3) === 0 && tables.length > 0) tables.splice(below(tables.length), 1);
    const place = below(Math.max(1, tables.length));
    if (below(3) === 0 && tables.length > 0) tables[place] = tableOf(tables[place]!.id, 1 + below(4));
    const catalog = [...databases[below(3)]!];
    for (let from: number | null = 0; from !== null && below(5) > 0; ) from = ahead(catalog, from);
    forgotten += send(catalog).forgotten.length;
  }
  expect(forgotten).toBeGreaterThan(0);
});
