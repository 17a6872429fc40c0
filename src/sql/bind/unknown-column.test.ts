// What is said of a column that there is not: the vendor's recorded sentences, for what DuckDB says of the same statements.
import { expect, test } from "bun:test";
import { unknownColumn } from "./unknown-column.ts";

const KINDS = { name: "kinds", columns: ["time", "u", "k", "b", "f"] };
const ITEMS = { name: "items", columns: ["weight", "item", "time", "label"] };
const CPU = { name: "Cpu", columns: ["Usage", "time"] };

test.each([
  // op-245, err-026, ord-064, name-034, name-075 of test/vectors/v3/sql.jsonl; of fewer columns
  [
    'Referenced column "nope" not found in FROM clause!\nCandidate bindings: "f"',
    [KINDS],
    "No field named nope. Valid fields are kinds.b, kinds.f, kinds.k, kinds.time, kinds.u.",
  ],
  ['Referenced column "shop" not found in FROM clause!', [], "No field named shop."],
  ['Referenced column "usage" not found in FROM clause!', [CPU], "No field named usage. Did you mean 'Cpu.Usage'?."],
  [
    'Table "items" does not have a column named "nope"\n\nCandidate bindings: : "label"',
    [ITEMS],
    "No field named items.nope. Valid fields are items.item, items.label, items.time, items.weight.",
  ],
  [
    'Referenced column "no pe" not found in FROM clause!',
    [{ name: "A b", columns: ['q"'] }],
    'No field named "no pe". Valid fields are "A b"."q""".',
  ],
  // of a subquery without tables
  [
    'Referenced column "nope" not found in FROM clause!\nCandidate bindings: "a", "b"',
    [],
    'No field named nope. Valid fields are "a", "b".',
  ],
] as const)("%s", (message, tables, expected) => {
  expect(unknownColumn(message, tables)).toBe(`Schema error: ${expected}`);
});

test("the table in front of a column", () => {
  const message = 'Referenced table "nope" not found!\nCandidate tables: "items"';
  const fields = "Valid fields are items.item, items.label, items.time, items.weight.";
  // name-076
  expect(unknownColumn(message, [ITEMS], ["nope", "item"])).toBe(`Schema error: No field named nope.item. ${fields}`);
  expect(unknownColumn(message, [ITEMS], Array(1000).fill("nope"))).toBe(`Schema error: No field of a table named nope. ${fields}`);
  expect(unknownColumn(message, [ITEMS])).toBe(`Schema error: No field of a table named nope. ${fields}`);
});

test("messages that name no column are left as they are", () => expect(unknownColumn("Conversion Error: nope", [KINDS])).toBeNull());

test("of many columns some are listed", () => {
  const columns = Array.from({ length: 500 }, (_, i) => `column_${1000 + i}`);
  const text = unknownColumn('Referenced column "x" not found in FROM clause!', [{ name: "t", columns }])!;
  expect(text).toEndWith("t.column_1099, and 400 more.");
});
